"""Which parent groups of sites are of, by docs/algorithms/haplotypes.md, k-mer by k-mer."""

K = 31
COMPLEMENT = str.maketrans("ACGT", "TGCA")


def canonical(kmer):
    return min(kmer, kmer[::-1].translate(COMPLEMENT))


def kmers_of(reads):
    """Return the k-mers that two reads have, or one has twice."""
    once, twice = set(), set()
    for read in reads:
        for at in range(len(read) - K + 1):
            kmer = canonical(read[at : at + K])
            (twice if kmer in once else once).add(kmer)
    return twice


def parents(sites, first, second):
    """Return the parent of each group, 1 or 2, or 0.

    ``sites`` has the k-mers of each group; ``first`` and ``second`` are the reads of the parents, or None.
    """
    seen, groups = set(), []
    for of_group in sites:
        kmers = [kmer for kmer in map(canonical, of_group) if not (kmer in seen or seen.add(kmer))]
        groups.append(kmers)
    has = [None if reads is None else kmers_of(reads) for reads in (first, second)]
    if all(kmers is not None for kmers in has):
        votes = [
            (
                sum(k in has[0] and k not in has[1] for k in kmers),
                sum(k in has[1] and k not in has[0] for k in kmers),
            )
            for kmers in groups
        ]
    else:
        one = has[0] if has[0] is not None else has[1]
        lacking = [sum(kmer not in one for kmer in kmers) for kmers in groups]
        share = sum(lacking) / sum(map(len, groups))
        votes = [
            (max(0, 2 * share * len(kmers) - lacks), lacks)
            for kmers, lacks in zip(groups, lacking, strict=True)
        ]
        if has[0] is None:
            votes = [vote[::-1] for vote in votes]
    return [0 if max(vote) < 10 else 1 if vote[0] > vote[1] else 2 for vote in votes]
