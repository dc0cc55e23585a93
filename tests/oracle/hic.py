"""Which phase blocks Hi-C pairs join, by docs/algorithms/haplotypes.md, k-mer by k-mer and link by link."""

from itertools import combinations
from math import log

K = 31
COMPLEMENT = str.maketrans("ACGT", "TGCA")


def canonical(kmer):
    return min(kmer, kmer[::-1].translate(COMPLEMENT))


def side_of(read, sides):
    """Return the side that all k-mers of a read have, those that any has; else None."""
    kmers = (canonical(read[at : at + K]) for at in range(len(read) - K + 1))
    found = {sides[kmer] for kmer in kmers if kmer in sides}
    return found.pop() if len(found) == 1 else None


def links(sites, pairs):
    """Return ends of each side, and links of each two of them, as dicts.

    ``sites`` has a k-mer and its side, (block, haplotype 0 or 1), in order; ``pairs`` two sequences each.
    """
    sides = {}
    for kmer, side in sites:
        sides.setdefault(canonical(kmer), side)
    ends, found = {}, {}
    for pair in pairs:
        both = [side_of(read, sides) for read in pair]
        for side in both:
            ends[side] = ends.get(side, 0) + 1
        key = tuple(sorted(both)) if None not in both else None
        found[key] = found.get(key, 0) + 1
    for counts in (ends, found):
        counts.pop(None, None)
    return ends, found


def chance(cis, links, share):
    """Bound the logarithm of the probability of so many cis links, where by chance ``share`` of all are."""
    if links == 0 or cis - share * links < 0.5 * (1 - share) * links:
        return 0.0
    parts = [(cis / links, share), ((links - cis) / links, 1 - share)]
    return -links * sum(found * log(found / expected) for found, expected in parts if found)


def join(blocks, ends, links):
    """Return, for each block, the first of those that it is joined with, and whether it is turned."""
    groups = [{block: 0} for block in range(blocks)]  # with the haplotype that is haplotype 0 of the group

    def ends_of(group, haplotype):
        return sum(ends.get((block, haplotype ^ turned), 0) for block, turned in group.items())

    def between(group, haplotype, other_group, other):
        found = 0
        for block, turned in group.items():
            for second, also in other_group.items():
                key = tuple(sorted([(block, haplotype ^ turned), (second, other ^ also)]))
                found += links.get(key, 0)
        return found

    while True:
        best = []
        for one, other in combinations(groups, 2):
            ways = [(a, b) for a in (0, 1) for b in (0, 1)]
            all_ = sum(between(one, a, other, b) for a, b in ways)
            if not all_:
                continue
            total = sum(ends_of(one, a) * ends_of(other, b) for a, b in ways)
            for differs in (0, 1):
                share = sum(ends_of(one, a) * ends_of(other, a ^ differs) for a in (0, 1)) / total
                cis = sum(between(one, a, other, a ^ differs) for a in (0, 1))
                best.append((chance(cis, all_, share), min(one), min(other), differs))
        if not best or min(best)[0] > log(0.01):
            break
        _, first, second, differs = min(best)
        one, other = (next(g for g in groups if min(g) == of) for of in (first, second))
        one.update({block: turned ^ differs for block, turned in other.items()})
        groups.remove(other)
    of = {block: (min(group), turned) for group in groups for block, turned in group.items()}
    return [of[block] for block in range(blocks)]
