"""Join of the k-mers of two blocks of reads, each sorted by k-mer.

CPU only.
"""

import numpy as np

from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def join_kmers(kmers, occurrences, other_kmers, other_occurrences, first_other, column_offsets, joined):
    """List the occurrences of the k-mers that two blocks share.

    Parameters
    ----------
    kmers, other_kmers : ndarray of int64, shapes (n,) and (m,)
        Numbers of k-mers, ascending.
    occurrences, other_occurrences : ndarray of int64, shapes (n,) and (m,)
        As in `overlapper.sketch.counting.KmerCounts`, reads numbered within their block.
    first_other : int
        Number that the first read of the other block is to have.
    column_offsets : ndarray of int64, shape (min(n, m) + 1,)
        Receives where the occurrences of each k-mer start.
    joined : ndarray of int64, shape (n + m,)
        Receives the occurrences: of each k-mer those of the first block, then those of the other.

    Returns
    -------
    int
        How many k-mers there are.
    """
    shift = np.int64(first_other) << 32
    i, j, columns, at = 0, 0, 0, 0
    column_offsets[0] = 0
    while i < len(kmers) and j < len(other_kmers):
        if kmers[i] < other_kmers[j]:
            i += 1
        elif kmers[i] > other_kmers[j]:
            j += 1
        else:
            kmer = kmers[i]
            while i < len(kmers) and kmers[i] == kmer:
                joined[at] = occurrences[i]
                i += 1
                at += 1
            while j < len(other_kmers) and other_kmers[j] == kmer:
                joined[at] = other_occurrences[j] + shift
                j += 1
                at += 1
            columns += 1
            column_offsets[columns] = at
    return columns


@njit(nogil=True, cache=True)
def keep_shared(kmers, occurrences, column_offsets, kept):
    """List the occurrences of the k-mers that a block has at least twice; arguments as for `join_kmers`."""
    columns, at = 0, 0
    column_offsets[0] = 0
    start = 0
    for stop in range(1, len(kmers) + 1):
        if stop < len(kmers) and kmers[stop] == kmers[start]:
            continue
        if stop - start >= 2:
            for i in range(start, stop):
                kept[at] = occurrences[i]
                at += 1
            columns += 1
            column_offsets[columns] = at
        start = stop
    return columns
