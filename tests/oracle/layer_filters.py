"""Which layers and bases have a vote, in plain Python (``docs/algorithms/correction.md``)."""

import itertools
import math
from fractions import Fraction

from tests.oracle.drafts import votes_at
from tests.oracle.layer_paths import bases_of
from tests.oracle.shares import chi_square, is_of_one_strand


def kind_in(layer, column):
    """The base that a layer has at a column, 4 for a gap of five columns or more; None for anything else."""
    kind = kind_at(layer, column)
    if kind != 4:
        return kind
    first = last = column
    while kind_at(layer, first - 1) == 4:
        first -= 1
    while kind_at(layer, last + 1) == 4:
        last += 1
    return 4 if last - first >= 4 else None


def leave_out(layers, length, alike, errors, strands):
    """Mark the layers that disagree with the target, and those known to be of its haplotype; how many are
    left out.
    """
    candidates, gaps = [], {}
    tells_gaps = alike[5][5] < max(max(row) for row in alike)
    for column in range(length):
        weight = votes_at(layers, column)[0]
        total = sum(weight)
        first, second = sorted(range(5), key=lambda kind: (-weight[kind], kind))[:2]
        if (
            not total
            or 100 * weight[second] < 10 * total
            or 100 * (weight[first] + weight[second]) < 80 * total
            or (4 in (first, second) and not tells_gaps)
        ):
            continue
        held = [{first: 0, second: 1}.get(kind_in(m, column)) for m in layers]
        of_kind = [[m["reverse"] for h, m in zip(held, layers, strict=True) if h == kind] for kind in (0, 1)]
        if min(map(len, of_kind)) >= 4 and not is_of_one_strand(*of_kind, strands):
            if 4 not in (first, second):
                candidates.append((column, held))
            else:
                gaps[column] = held.count((first, second).index(4)), held
    for _, group in itertools.groupby(enumerate(gaps), key=lambda place: place[1] - place[0]):
        column = max((c for _, c in group), key=lambda c: gaps[c][0])
        candidates.append((column, gaps[column][1]))
    candidates.sort(key=lambda candidate: candidate[0])
    sites = set()
    for a, (_, held) in enumerate(candidates):
        fewer, more = sorted((held.count(0), held.count(1)))
        if 10**6 * fewer >= 1_500_000 + alike[1][1] * (fewer + more):
            sites.add(a)
    for a in range(len(candidates)):
        for b in range(a + 1, min(len(candidates), a + 33)):
            if candidates[b][0] - candidates[a][0] < 30:
                continue
            both = [pair for pair in zip(candidates[a][1], candidates[b][1], strict=True) if None not in pair]
            straight = [pair for pair in both if pair[0] == pair[1]]
            crossed = [pair for pair in both if pair[0] != pair[1]]
            kept, against = (straight, crossed) if len(straight) >= len(crossed) else (crossed, straight)
            ones = sum(pair[0] for pair in kept)
            if min(ones, len(kept) - ones) >= 4 and 100 * len(against) <= 5 * len(both):
                sites |= {a, b}
    left = 0
    for number, layer in enumerate(layers[:-1]):
        agree = disagree = 0
        for s in sites:
            own, other = candidates[s][1][-1], candidates[s][1][number]
            if own is not None and other is not None:
                agree += own == other
                disagree += own != other
        layer["unlike"] = disagree > 0
        layer["agreeing"] += agree
        layer["differing"] += disagree
        layer["known"] = layer["used"] and agree > disagree
        expected = errors * (agree + disagree)
        explained = 1 + 2 * (expected + math.isqrt(10**6 * expected)) // 10**6
        if layer["used"] and disagree > (min(agree, explained) if layers[-1]["used"] else agree):
            layer["known"] = False
            left += 1
            layer["elsewhere"] = True
    for layer in layers:
        if layer["elsewhere"]:
            layer["used"] = False
    return left


def is_cis(layer):
    """Whether sites tell that a layer is of the target's copy."""
    return layer["agreeing"] >= 4 and layer["differing"] <= 1 + Fraction(layer["agreeing"], 64)


def kind_at(layer, column):
    """What a layer has at a column, 4 for a deletion; None if unknown, or where it does not vote."""
    if not layer["used"] or not layer["start"] <= column < layer["end"]:
        return None
    begin, end = bases_of(layer, column)
    return 4 if begin == end else layer["bases"][begin] if layer["bases"][begin] < 4 else None


def behind(layer, column):
    """How many bases a layer has inserted behind a column; None where it ends there, or has unknown ones."""
    if not layer["used"] or not layer["start"] <= column < layer["end"] - 1:
        return None
    begin, end = bases_of(layer, column)
    return 0 if end - begin < 2 else end - begin - 1 if layer["bases"][begin + 1] < 4 else None


def voters(draft, layers):
    """The layers that vote on columns at which haplotypes differ: the target and those of its haplotype.

    Six of these cover the column, four layers that are left differ from the draft or have bases inserted
    behind it, and those known and those left out do so in other shares.
    """
    deciding = {}
    for column, old in enumerate(draft):
        here = [m for m in layers if m["start"] <= column < m["end"]]
        known = [m for m in here if m["known"]]
        differ, insert, gain = set(), set(), set()
        for number, m in enumerate(here):
            begin, end = bases_of(m, column)
            if begin == end or m["bases"][begin] != old:
                differ.add(number)
            if end - begin > 1:
                insert.add(number)
            if end - begin > 1 and m["bases"][begin + 1] < 4:
                gain.add(number)
        left = {number for number, m in enumerate(here) if m["used"]}
        if len(known) < 6 or max(len(left & differ), len(left & gain)) < 4:
            continue
        if sides_differ(here, differ) or sides_differ(here, insert):
            deciding[column] = [*known, layers[-1]]
    return deciding


def sides_differ(layers, some):
    """Whether some layers are more of those known to be of the target's haplotype, or of those left out."""
    known = [number in some for number, m in enumerate(layers) if m["known"]]
    left_out = [number in some for number, m in enumerate(layers) if m["elsewhere"]]
    return chi_square(known, left_out) >= 8


def keep_own(draft, layers, alike, strands):
    """The columns in which the target keeps its base, or 4 for none, as nothing else has a vote there; and
    those behind which it keeps that nothing is inserted.
    """
    kept, ungained = {}, set()
    groups = [list(group) for _, group in itertools.groupby(range(len(draft)), key=draft.__getitem__)]
    for column, run in enumerate(group for group in groups for _ in group):
        kinds = [kind_at(m, column) for m in layers]
        lacking = [
            sum(kind_at(m, c) == 4 for c in run) for m, kind in zip(layers, kinds, strict=True) if kind == 4
        ]
        own = kinds[-1]
        if own is not None and is_divided(layers, kinds, own, strands, share(alike, len(run), lacking)):
            kept[column] = own
            for m, kind in zip(layers, kinds, strict=True):
                m["unlike"] = m["unlike"] or kind not in (own, None)
        gains = [behind(m, column) for m in layers]
        some = [gain and 1 for gain in gains]
        length = len(run) if run[-1] == column else 1
        if gains[-1] == 0 and is_divided(layers, some, 0, strands, share(alike, length, filter(None, gains))):
            ungained.add(column)
            for m, gain in zip(layers, gains, strict=True):
                m["unlike"] = m["unlike"] or bool(gain)
    return kept, ungained


def keep_stretches(draft, layers, alike, strands):
    """The columns in which no lack has a vote: the target has a base there, and layers lack nine columns in a
    row, more than a draft can gain.
    """
    kept = set()
    for column in range(len(draft)):
        kinds = [kind_at(m, column) for m in layers]
        own = kinds[-1]
        if own in (None, 4):
            continue
        told = [
            kind if kind == own or (kind == 4 and lacks_stretch(m, column)) else None
            for m, kind in zip(layers, kinds, strict=True)
        ]
        if is_divided(layers, told, own, strands, alike[1][-1]):
            kept.add(column)
    return kept


def lacks_stretch(layer, column):
    """Whether nine columns in a row that a layer lacks hold this one."""
    lacked = [kind_at(layer, c) == 4 for c in range(column - 8, column + 9)]
    return any(all(lacked[i : i + 9]) for i in range(9))


def share(alike, run, differences):
    """How many of a million layers may err alike in a run, where those that err do so by so many bases."""
    some = list(differences)
    mean = (2 * sum(some) + len(some)) // (2 * len(some)) if some else 1
    return alike[min(run, len(alike) - 1)][min(max(mean, 1), len(alike[0]) - 1)]


def is_divided(layers, kinds, own, strands, errors):
    """Whether what the target has is held by enough layers, and something else is, too."""
    told = [(kind, m["reverse"]) for m, kind in zip(layers, kinds, strict=True) if kind is not None]
    least = max(3 * 10**6, 1_500_000 + errors * len(told))
    held = []
    for kind in {kind for kind, _ in told}:
        having, others = ([strand for k, strand in told if (k == kind) is same] for same in (True, False))
        if 10**6 * len(having) >= least and not is_of_one_strand(having, others, strands):
            held.append(kind)
    return len(held) > 1 and own in held
