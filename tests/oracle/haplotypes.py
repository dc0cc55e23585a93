"""Two haplotypes by the definition in docs/algorithms/haplotypes.md, piece by piece and k-mer by k-mer."""

import itertools

K, BIN = 31, 1000
COMPLEMENT = str.maketrans("ACGT", "TGCA")


def kmers(contigs):
    """Return where each k-mer is: a list of (contig, first base)."""
    where = {}
    for contig, bases in enumerate(contigs):
        turned = bases[::-1].translate(COMPLEMENT)
        for at in range(len(bases) - K + 1):
            other = turned[len(bases) - at - K : len(bases) - at]
            where.setdefault(min(bases[at : at + K], other), []).append((contig, at))
    return where


def score_of_states(states, above, depth):
    """Return the score of the states (True for shared) of a contig's bins, given what each adds in shared."""
    changes = sum(one != other for one, other in itertools.pairwise(states))
    gained = sum(value if shared else -value for shared, value in zip(states, above, strict=True))
    return gained - 5 * depth * changes


def depths_of_bins(length, reads):
    """Return how many reads touch each bin."""
    return [
        sum(start < first + BIN and end > first for start, end in reads) for first in range(0, length, BIN)
    ]


def sites_of(contig, where):
    """Return where the k-mers start that this contig alone has, up to three times."""
    few = [of for of in where.values() if len(of) <= 3 and {one for one, _ in of} == {contig}]
    return [at for of in few for _, at in of]


def contigs_of_bins(contig, length, where):
    """Return how many contigs have most of each bin: 1, 3, or else 2."""
    few = [of for of in where.values() if len(of) <= 3]
    having = [(len({one for one, _ in of}), at // BIN) for of in few for one, at in of if one == contig]
    return [
        next((contigs for contigs in (1, 3) if having.count((contigs, i)) >= BIN / 2), 2)
        for i in range(-(-length // BIN))
    ]


def scores_of_bins(contigs, length, reads, depth):
    """Return what each bin adds in shared state."""
    above = [there - 1.5 * depth for there in depths_of_bins(length, reads)]
    return [
        {1: score, 2: min(score, -0.5 * depth), 3: 0}[number]
        for number, score in zip(contigs, above, strict=True)
    ]


def best_score(above, depth):
    """Return the largest score that states can have."""
    return max(
        score_of_states(states, above, depth)
        for states in itertools.product((False, True), repeat=len(above))
    )


def runs(sites, reads):
    """Return sites in groups that reads join."""
    groups = [[sites[0]]]
    for one, other in itertools.pairwise(sites):
        if any(start <= one and end >= other + K for start, end in reads):
            groups[-1].append(other)
        else:
            groups.append([other])
    return groups


def pieces(contig, length, sites, contigs, reads, states, depth):
    """Return the pieces of a contig with its states: (contig, start, end, run or None, sites)."""
    depths = depths_of_bins(length, reads)
    deep = [number == 1 and there > 1.5 * depth for number, there in zip(contigs, depths, strict=True)]
    sites = [at for at in sites if not states[at // BIN] and not deep[at // BIN]]
    groups = runs(sites, reads) if sites else [[]]
    run_of = {at: number for number, group in enumerate(groups) for at in group}
    starts = {min(group) for group in groups if group}
    found, run = [], 0
    for at in range(length):
        shared = states[at // BIN]
        run = run_of.get(at, run)
        stretch_begins = at % BIN == 0 and (at == 0 or shared != states[at // BIN - 1])
        if stretch_begins and not shared:  # of the run of its first site, if it has one
            ends = next((i for i in range(at // BIN, len(states)) if states[i]), len(states)) * BIN
            run = next((run_of[site] for site in sites if at <= site < ends), run)
        if stretch_begins or (at in starts and found[-1][3] != run):
            found.append([contig, at, at, None if shared else run, []])
        found[-1][2] = at + 1
        if at in run_of:
            found[-1][4].append(at)
    return found


def opposite(cut, where):
    """Return pairs of opposite groups, (contig, run), and how many bins are the same; most first."""

    def inside(piece, at):
        return cut[piece][4] and cut[piece][4][0] <= at <= cut[piece][4][-1]

    groups = sorted({(contig, run) for contig, _, _, run, _ in cut if run is not None})
    met = met_in(cut, where)
    between = [pair for pair in met if inside(pair[0], pair[2][1]) and inside(pair[1], pair[3][1])]
    extents = [sites[-1] + K - sites[0] if sites else 0 for *_, sites in cut]
    found = common(cut, between, extents, groups)
    paired = {group for pair in found for group in pair[:2]}
    for a, b, same in common(cut, met, [end - start for _, start, end, *_ in cut], groups):
        if a not in paired or b not in paired:
            paired |= {a, b}
            found.append((a, b, same))
    return found


def met_in(cut, where):
    """Return the pairs of pieces that have a k-mer, and where it starts in either."""
    piece_of = {}
    for i, (contig, start, end, *_) in enumerate(cut):
        piece_of |= {(contig, at): i for at in range(start, end)}
    return [
        (piece_of[one], piece_of[other], one, other)
        for places in where.values()
        if 2 <= len(places) <= 3
        for one, other in itertools.combinations(sorted(places), 2)
        if piece_of[one] != piece_of[other]
    ]


def common(cut, met, sizes, groups):
    """Return pairs of groups that have enough bins in common, and how many; most first.

    ``sizes`` are those of pieces.
    """
    bins, size, same = {}, dict.fromkeys(groups, 0), {}
    for (contig, _, _, run, _), bases in zip(cut, sizes, strict=True):
        if run is not None:
            size[contig, run] += bases
    for a, b, one, other in met:
        place = one if sizes[a] <= sizes[b] else other
        at = bins.setdefault((a, b), {})
        at[place[1] // BIN] = at.get(place[1] // BIN, 0) + 1
    for (a, b), counts in bins.items():
        pair = tuple(
            sorted((cut[piece][0], -1 if cut[piece][3] is None else cut[piece][3]) for piece in (a, b))
        )
        if pair[0] != pair[1] and all(of in size for of in pair):
            same[pair] = same.get(pair, 0) + sum(count >= 100 for count in counts.values())
    found = [
        (a, b, bins)
        for (a, b), bins in same.items()
        if bins >= min(50, max(10, min(size[a], size[b]) / BIN / 2))
    ]
    return sorted(found, key=lambda pair: (-pair[2], pair[:2]))


def blocks(cut, pairs):
    """Return (block, haplotype) of each piece, (0, 0) where it is shared."""
    every = sorted({(contig, run) for contig, _, _, run, _ in cut if run is not None})
    sides = [({group}, set()) for group in every]
    opposed = {group for pair in pairs for group in pair[:2]}
    neighbours = [
        (group, min((abs(other[1] - group[1]), other) for other in beside)[1])
        for group in every
        if group not in opposed
        and (beside := [other for other in every if other[0] == group[0] and other != group])
    ]
    for a, b, are_opposite in [(a, b, True) for a, b, _ in pairs] + [(a, b, False) for a, b in neighbours]:
        of_a = next(two for two in sides if a in two[0] | two[1])
        of_b = next(two for two in sides if b in two[0] | two[1])
        if of_a is of_b:
            continue
        sides.remove(of_a)
        sides.remove(of_b)
        with_a, against_a = of_a if a in of_a[0] else of_a[::-1]
        with_b, against_b = of_b if (b in of_b[0]) == are_opposite else of_b[::-1]
        sides.append((with_a | against_b, against_a | with_b))

    def bases(side):
        return sum(end - start for contig, start, end, run, _ in cut if (contig, run) in side)

    result, so_far = {}, [0, 0]
    ranked = sorted(sides, key=lambda two: -bases(two[0] | two[1]))
    for number, two in enumerate(ranked, start=1):
        shorter, longer = sorted(two, key=bases)
        order = (shorter, longer) if so_far[0] > so_far[1] else (longer, shorter)
        for haplotype, side in enumerate(order, start=1):
            so_far[haplotype - 1] += bases(side)
            result |= dict.fromkeys(side, (number, haplotype))
    return [result.get((contig, run), (0, 0)) for contig, _, _, run, _ in cut]
