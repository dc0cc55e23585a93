"""Differences of haplotypes within reads, by their definition, in plain Python."""

import itertools
from collections import Counter

K, LONGEST = 31, 500
COMPLEMENT = str.maketrans("ACGT", "TGCA")


def kmers(read):
    """Return the k-mers of a read, of either strand the same; None where a base is unknown."""
    found = [read[at : at + K] for at in range(len(read) - K + 1)]
    return [None if "N" in kmer else min(kmer, kmer[::-1].translate(COMPLEMENT)) for kmer in found]


def differences(reads, depth):
    """Return how many k-mers of reads are shared, and how many differences they have."""
    times = Counter(kmer for read in reads for kmer in kmers(read))
    shared = found = 0
    for read in reads:
        counts = [times[kmer] if kmer else None for kmer in kmers(read)]
        shared += sum(1.5 * depth <= n < 4.5 * depth for n in counts if n is not None)
        jumps = [0, *(0 if None in pair else pair[1] - pair[0] for pair in itertools.pairwise(counts))]
        falls = [at for at, jump in enumerate(jumps) if jump <= -depth / 2]
        rises = [at for at, jump in enumerate(jumps) if jump >= depth / 2]
        for first, behind in itertools.product(falls, rises):
            if K <= behind - first <= LONGEST and not any(first < at < behind for at in falls + rises):
                found += is_difference(counts[first - 1 : behind + 1], depth)
    return shared, found


def is_difference(counts, depth):
    """Return whether all counts but the first and the last one are of a haplotype between shared k-mers."""
    if None in counts:
        return False
    return (
        all(depth / 2 <= n < 1.5 * depth for n in counts[1:-1]) and max(counts[0], counts[-1]) < 4.5 * depth
    )
