"""Which rows of a window are of the place of the target (``docs/algorithms/correction.md``, section 1)."""

import itertools
import math

from tests.oracle.shares import is_of_one_strand


def bases_at(layer, column):
    """The base that a layer pairs at a column; None where it has none or an unknown one."""
    if not layer["used"] or not layer["start"] <= column < layer["end"]:
        return None
    row = column - layer["start"]
    begin, end = layer["starts"][row : row + 2]
    return layer["bases"][begin] if end > begin and layer["bases"][begin] < 4 else None


def same_place(target, layers, target_votes, strands):
    """Whether each layer, all aligned to the target, is of its place, or added as it is near."""
    pairs = [[(bases_at(m, c), m["reverse"]) for m in layers] for c in range(len(target))]
    columns = [[pair for pair in column if pair[0] is not None] for column in pairs]
    wrong, total = 0, 1
    errors = [[1, 1] for _ in layers]
    for c, column in enumerate(columns):
        if len(held(column, 3, strands)) <= 1:
            bases = [base for base, _ in column]
            usual = max(range(4), key=lambda base: (bases.count(base), -base))
            wrong += len(bases) - bases.count(usual)
            total += len(bases)
            for m, (base, _) in enumerate(pairs[c]):
                errors[m][0] += base not in (None, usual)
                errors[m][1] += base is not None
    seen, places, alone = [], [], []
    for c, column in enumerate(columns):
        erring = 4 * wrong * len(column)
        common = held(column, 3 + erring // total, strands)
        if target[c] in common and len(common) > 1:
            bases = [bases_at(m, c) for m in layers]
            seen.append((target[c], [base if base in common else None for base in bases]))
            places.append(c)
            certain = held(column, 3 + 50 * erring // total, strands)
            alone.append(target[c] in certain and len(certain) > 1)
    seen = list(itertools.compress(seen, linked_sites(seen, places, alone, layers)))
    wrong, total = sum(w for w, _ in errors), sum(t for _, t in errors)
    n_sites, n_differing = compare(seen, len(layers))
    total = max(1, total)
    confirmed = []
    for own, bases in seen:
        there = [m for m, base in enumerate(bases) if base is not None]
        second = sorted(n_differing[m] for m in there)[1]
        near = [m for m in there if n_differing[m] <= second + 4 * wrong * n_sites[m] // total]
        if sum(bases[m] == own for m in near) >= 2:
            confirmed.append((own, bases))
    n_sites, n_differing = compare(confirmed, len(layers))
    for m, sites, differing in zip(layers, n_sites, n_differing, strict=True):
        m["agreeing"], m["differing"] = sites - differing, differing
    same = [
        m["used"] and differing <= 2 * (w * sites + math.isqrt(w * sites * t)) // t
        for m, sites, differing, (w, t) in zip(layers, n_sites, n_differing, errors, strict=True)
    ]
    near = [
        m["used"] and (not target_votes or differing <= 30 * wrong * (30 * wrong * t // total) // total)
        for m, differing, (_, t) in zip(layers, n_differing, errors, strict=True)
    ]
    shares = [2**20 * d // max(1, s) for d, s in zip(n_differing, n_sites, strict=True)]
    if target_votes:
        unsure = are_unsure(same, n_sites, layers)
        same = [taken and not either for taken, either in zip(same, unsure, strict=True)]
        add_nearest(same, shares, unsure, layers, 10 + 240 * 240 * wrong // total * wrong // total)
    add_nearest(same, shares, near, layers, 10)
    return same


def are_unsure(same, n_sites, layers):
    """Whether each layer is compared at no site, and has a column in common with one of another place."""
    others = [m for m, taken in zip(layers, same, strict=True) if m["used"] and not taken]
    return [
        taken and sites == 0 and any(max(m["start"], o["start"]) < min(m["end"], o["end"]) for o in others)
        for m, taken, sites in zip(layers, same, n_sites, strict=True)
    ]


def linked_sites(sites, places, alone, layers):
    """Which sites are linked or need no link; the more are, the more links by chance are allowed."""
    pairs, before = math.comb(len(sites), 2), max(1, sum(alone))
    found = [
        alone[a]
        or any(
            abs(places[a] - places[b]) >= 100
            and linked(sites[min(a, b)], sites[max(a, b)], layers, pairs, before)
            for b in range(len(sites))
        )
        for a in range(len(sites))
    ]
    return found if found == alone else linked_sites(sites, places, found, layers)


def linked(one, other, layers, pairs, before):
    """Whether layers differ at both sites, or at one of them, more often than by chance."""
    strands = [
        [
            (x != one[0], y != other[0])
            for x, y, m in zip(one[1], other[1], layers, strict=True)
            if x is not None and y is not None and bool(m["reverse"]) == strand
        ]
        for strand in (False, True)
    ]
    excess = variance = 0
    for differ in strands:
        n, a, b = len(differ), sum(x for x, _ in differ), sum(y for _, y in differ)
        if n > 1:
            excess += 64 * (differ.count((True, True)) * n - a * b) // n
            variance += 64 * a * (n - a) * b * (n - b) // (n * n * (n - 1))
    far = abs(excess) >= 3 * 64 and excess**2 >= 20 * 64 * variance
    return far and 100 * pairs * chance(strands, excess > 0) < before


def chance(strands, together):
    """At most how likely so many layers that differ at one site differ at the other, or do not."""
    found = 1.0
    for differ in strands:
        n, a = len(differ), sum(x for x, _ in differ)
        b, x = sum(y == together for _, y in differ), differ.count((True, together))
        found *= min(1.0, math.prod(((a - i) * (b - i) / ((i + 1) * (n - i)) for i in range(x)), start=1.0))
    return found


def add_nearest(same, shares, near, layers, fewest):
    """Add near ones that differ least to stretches of 256 bases in which fewer than so many are there."""
    stretches = [range(m["t_start"] // 256, (m["t_end"] - 1) // 256 + 1) for m in layers]
    taken = [stretches[m] for m in range(len(layers)) if same[m]]
    for m in sorted(range(len(layers)), key=lambda m: (shares[m], m)):
        few = any(sum(s in other for other in taken) < fewest for s in stretches[m])
        if near[m] and not same[m] and few:
            same[m] = True
            taken.append(stretches[m])


def held(column, least, strands):
    """The bases that at least so many layers have, and not by errors of one strand."""
    found = []
    for base in range(4):
        having, others = ([strand for b, strand in column if (b == base) is same] for same in (True, False))
        if len(having) >= least and not is_of_one_strand(having, others, strands):
            found.append(base)
    return found


def compare(sites, n):
    """At how many sites each layer is compared, and at how many it differs."""
    compared = [sum(bases[m] is not None for _, bases in sites) for m in range(n)]
    differing = [sum(bases[m] not in (None, own) for own, bases in sites) for m in range(n)]
    return compared, differing
