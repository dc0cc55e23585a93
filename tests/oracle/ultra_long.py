"""What ultra-long reads join, by docs/algorithms/ultra-long.md, k-mer by k-mer."""

from itertools import pairwise

K = 31
COMPLEMENT = str.maketrans("ACGT", "TGCA")


def turned(bases):
    return bases[::-1].translate(COMPLEMENT)


def kmers(bases):
    return [(at, bases[at : at + K]) for at in range(len(bases) - K + 1)]


def unique(contigs):
    """Return the places, as (strand of a contig, first base), of k-mers that occur once, by k-mer."""
    places = {}
    for contig, bases in enumerate(contigs):
        for at, kmer in kmers(bases):
            places.setdefault(min(kmer, turned(kmer)), []).append((contig, at, kmer))
    found = {}
    for (contig, at, kmer), *more in places.values():
        if not more:
            found[kmer] = (2 * contig, at)
            found[turned(kmer)] = (2 * contig + 1, len(contigs[contig]) - K - at)
    return found


def visits(read, found):
    """Return visits, along the read: strands of contigs with the first and last anchor on both."""
    begun = []
    for at, kmer in kmers(read):
        if kmer not in found:
            continue
        node, on = found[kmer]
        for visit in reversed(begun[-64:]):
            along, on_contig = at - visit["last"], on - visit["on_last"]
            ahead = along >= K and on_contig >= K
            slack = 100 + max(along, on_contig) // 10 if ahead else 100
            if visit["node"] == node and abs(along - on_contig) <= slack:
                if ahead:
                    visit.update(last=at, on_last=on, anchors=visit["anchors"] + 1)
                i = begun.index(visit)
                begun[i], begun[-1] = begun[-1], begun[i]
                break
        else:
            begun.append({"node": node, "first": at, "last": at, "on": on, "on_last": on, "anchors": 1})
    kept = []
    for visit in sorted(begun, key=lambda visit: (-visit["anchors"], visit["first"], visit["node"])):
        begin, end = visit["first"], visit["last"] + K
        shared = [min(end, other["last"] + K) - max(begin, other["first"]) for other in kept]
        if visit["anchors"] >= 3 and all(2 * bases <= end - begin for bases in shared):
            kept.append(visit)
    return sorted(kept, key=lambda visit: visit["first"])


def ways(contigs, links, crowded, one, other):
    """Return all ways, as strands of contigs, between two visits."""
    distance = other["first"] - one["last"] - K
    slack = 100 + abs(distance) // 10
    found = []

    def go_on(walk, behind):
        for (source, target), overlap in links.items():
            if source != walk[-1]:
                continue
            begins = behind - overlap
            if target == other["node"] and abs(begins + other["on"] - distance) <= slack:
                found.append((*walk, target))
            if begins <= distance + slack and target >> 1 not in crowded:
                go_on((*walk, target), begins + len(contigs[target >> 1]))

    go_on((one["node"],), len(contigs[one["node"] >> 1]) - one["on_last"] - K)
    return found


def walks(contigs, links, reads):
    """Return the walks through two contigs or more, each in the smaller direction, one a read and stretch.

    ``links`` has the bases that two strands share, for both directions.
    """
    found, walked = unique(contigs), []
    of_contig = [node >> 1 for node, _ in found.values()]
    crowded = {contig for contig in range(len(contigs)) if of_contig.count(contig) >= 2 * 5_000}
    for read in reads:
        there = visits(read, found)
        walk = ()
        for one, other in pairwise(there):
            walk = walk or (one["node"],)
            both = ways(contigs, links, crowded, one, other)
            if len(both) == 1:
                walk += both[0][1:]
            else:
                walked.append(walk)
                walk = ()
        walked.append(walk)
    return sorted(min(walk, back(walk)) for walk in walked if len(walk) > 1)


def back(walk):
    return tuple(node ^ 1 for node in reversed(walk))


def passages(walked, links):
    """Return the passages that reads of these walks take; links are of both directions."""
    following = [walk[at:] for one in walked for walk in (one, back(one)) for at in range(len(walk))]

    def agree(walk):
        there = [other for other in following if other[0] == walk[0]]
        for steps in range(2, len(walk) + 1):
            with_it = sum(other[:steps] == walk[:steps] for other in there)
            short = walk[:steps]
            elsewhere = sum(other[: len(short)] != short[: len(other)] for other in there)
            if with_it < 2 or with_it < 3 * elsewhere:
                return False
        return True

    found = {walk[:steps] for walk in following for steps in range(2, len(walk) + 1)}
    both = {walk for walk in found if agree(walk) and agree(back(walk))}
    both = {walk for walk in both if walk[0] != walk[-1] ^ 1}
    while True:
        nearest = {walk for walk in both if not any(walk[: len(other)] == other for other in both - {walk})}
        taken = {walk for walk in nearest if back(walk) in nearest}
        reached = {node for walk in taken for node in walk[1:]}
        wrong = {
            walk for walk in taken if any(one == walk[0] and other not in reached for one, other in links)
        }
        if not wrong:
            return sorted({min(walk, back(walk)) for walk in taken})
        both -= wrong | {back(walk) for walk in wrong}
