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


def score_of_states(states, depths, depth):
    """Return the score of the states (True for shared) of a contig's bins, whose depths are given."""
    changes = sum(one != other for one, other in itertools.pairwise([False, *states]))
    above = [there - 1.5 * depth for there in depths]
    gained = sum(value if shared else -value for shared, value in zip(states, above, strict=True))
    return gained - 5 * depth * changes


def depths_of_bins(length, reads):
    """Return how many reads touch each bin."""
    return [
        sum(start < first + BIN and end > first for start, end in reads) for first in range(0, length, BIN)
    ]


def best_score(depths, depth):
    """Return the largest score that states can have."""
    return max(
        score_of_states(states, depths, depth)
        for states in itertools.product((False, True), repeat=len(depths))
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


def pieces(contig, length, sites, reads, shared):
    """Return the pieces of a contig with its shared stretches: (contig, start, end, sites)."""
    found = []
    bounds = [0, *itertools.chain(*shared), length]
    for number, (low, high) in enumerate(itertools.pairwise(bounds)):
        there = [site for site in sites if low <= site < high]
        if number % 2 == 1 or not there:
            if high > low:
                found.append([contig, low, high, []])
            continue
        groups = runs(there, reads)
        for group, following in zip(groups, [*groups[1:], None], strict=True):
            end = following[0] if following else high
            found.append([contig, low, end, group])
            low = end
    joined = []
    for one in found:
        if joined and not one[3] and not joined[-1][3]:
            joined[-1][2] = one[2]
        else:
            joined.append(one)
    return joined


def opposite(cut, where):
    """Return pairs of pieces that are opposite, and how many bins are the same; most first."""

    def inside(piece, at):
        return cut[piece][3][0] <= at <= cut[piece][3][-1]

    met = [(a, b, one, other) for a, b, one, other in met_in(cut, where) if cut[a][3] and cut[b][3]]
    between = [pair for pair in met if inside(pair[0], pair[2][1]) and inside(pair[1], pair[3][1])]
    found = common(between, [sites[-1] + K - sites[0] if sites else 0 for _, _, _, sites in cut])
    paired = {piece for pair in found for piece in pair[:2]}
    for a, b, same in common(met, [end - start for _, start, end, _ in cut]):
        if a not in paired or b not in paired:
            paired |= {a, b}
            found.append((a, b, same))
    return found


def beside_shared(cut, where):
    """Return shared pieces, ones of a haplotype, and how many bins they have in common."""
    met = [
        (a, b, one, other) for a, b, one, other in met_in(cut, where) if bool(cut[a][3]) != bool(cut[b][3])
    ]
    found = common(met, [end - start for _, start, end, _ in cut])
    return [(b, a, same) if cut[a][3] else (a, b, same) for a, b, same in found]


def met_in(cut, where):
    """Return the pairs of pieces that have a k-mer, and where it starts in either."""
    piece_of = {}
    for i, (contig, start, end, _) in enumerate(cut):
        piece_of |= {(contig, at): i for at in range(start, end)}
    return [
        (piece_of[one], piece_of[other], one, other)
        for places in where.values()
        if 2 <= len(places) <= 3
        for one, other in itertools.combinations(sorted(places), 2)
        if piece_of[one] != piece_of[other]
    ]


def common(met, sizes):
    """Return pairs of pieces of given sizes that have enough bins in common, and how many; most first."""
    bins = {}
    for a, b, one, other in met:
        place = one if sizes[a] <= sizes[b] else other
        at = bins.setdefault((a, b), {})
        at[place[1] // BIN] = at.get(place[1] // BIN, 0) + 1
    found = []
    for (a, b), counts in bins.items():
        same = sum(count >= 100 for count in counts.values())
        if same >= min(50, max(10, min(sizes[a], sizes[b]) / BIN / 2)):
            found.append((a, b, same))
    return sorted(found, key=lambda pair: (-pair[2], pair[:2]))


def blocks(cut, pairs):
    """Return (block, haplotype) of each piece, (0, 0) where it is shared."""
    groups = [({piece}, set()) for piece in range(len(cut)) if cut[piece][3]]
    for a, b, _ in pairs:
        of_a = next(group for group in groups if a in group[0] | group[1])
        of_b = next(group for group in groups if b in group[0] | group[1])
        if of_a is of_b:
            continue
        groups.remove(of_a)
        groups.remove(of_b)
        with_a, against_a = of_a if a in of_a[0] else of_a[::-1]
        with_b, against_b = of_b if b in of_b[0] else of_b[::-1]
        groups.append((with_a | against_b, against_a | with_b))

    def bases(side):
        return sum(cut[piece][2] - cut[piece][1] for piece in side)

    result, so_far = [(0, 0)] * len(cut), [0, 0]
    ranked = sorted(groups, key=lambda group: -bases(group[0] | group[1]))
    for number, group in enumerate(ranked, start=1):
        shorter, longer = sorted(group, key=bases)
        order = (shorter, longer) if so_far[0] > so_far[1] else (longer, shorter)
        for haplotype, side in enumerate(order, start=1):
            so_far[haplotype - 1] += bases(side)
            for piece in side:
                result[piece] = number, haplotype
    return result
