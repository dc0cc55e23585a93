"""k-mers that tell haplotypes apart, looked up in reads: those of an assembly, of parents, and Hi-C.

CPU only. The table is one of `overlapper.kernels.seeds.kmer_table`; a row holds a hash and a label.
"""

import numpy as np

from overlapper.kernels.seeds.counting import ALL, NONE, canonical_kmers
from overlapper.kernels.seeds.kmer_table import CHUNK, choose, hash_chunk, new_chunk, row_of
from overlapper.runtime.compile.cache import njit

ENOUGH = 2
"""Reads of a parent that have a k-mer: an error of one read may make any."""
NO_LABEL, SEVERAL = -1, -2
"""Of reads without a k-mer of the table, and of those whose k-mers have different labels."""
LONGEST = 500
"""k-mers of the longest difference within a read; those of a repeat are farther apart."""
JUMP, SHARED, MOST_COPIES = 0.5, 1.5, 4.5
"""How far counts jump at a difference, from which count on a k-mer is of two haplotypes more likely than of
one, and of more than four; in depths of a haplotype."""


@njit(nogil=True, cache=True)
def add_labelled(table, words, first_word, place, label, k):
    """Add a k-mer of each place, with its label, unless the table has it already.

    Parameters
    ----------
    table : ndarray of uint64, shape (n, 2)
        With more rows than there are places; full of `NONE`.
    words : ndarray of uint64
        Packed contigs.
    first_word, place, label : ndarray of int64, shape (places,)
        Where the contig begins, the first base of the k-mer, and what to note of it.
    k : int
    """
    hashes, reverse, _ = new_chunk()
    for i in range(len(place)):
        canonical_kmers(words, first_word[i], place[i], place[i] + k, k, ALL, hashes, reverse)
        row = row_of(table, hashes[0])
        if hashes[0] != NONE and table[row, 0] == NONE:
            table[row, 0] = hashes[0]
            table[row, 1] = np.uint64(label[i])


@njit(nogil=True, cache=True)
def count_known(table, spans, first, last, k, most, counts):
    """Count the k-mers of spans ``[first, last)`` that a table has, each up to ``most`` times.

    Parameters
    ----------
    table : ndarray of uint64, shape (n, 2)
    spans : Spans
    first, last, k, most : int
    counts : ndarray of unsigned integers, shape (n,)
        Of each row; counted on.
    """
    hashes, reverse, chosen = new_chunk()
    for span in range(first, last):
        for at in range(spans.start[span], spans.stop[span] - k + 1, CHUNK):
            n = hash_chunk(spans, span, at, k, ALL, hashes, reverse)
            for i in chosen[: choose(table, hashes, n, np.uint64(0), NONE, chosen)]:
                row = row_of(table, hashes[i])
                if table[row, 0] == hashes[i] and counts[row] < most:
                    counts[row] += 1


@njit(nogil=True, cache=True)
def label_reads(table, spans, first, last, k, label):
    """Give each read of spans ``[first, last)`` the label that all of its k-mers in a table have.

    Parameters
    ----------
    table : ndarray of uint64, shape (n, 2)
    spans : Spans
    first, last, k : int
    label : ndarray of int32, shape (reads,)
        Changed; `NO_LABEL` before.
    """
    hashes, reverse, chosen = new_chunk()
    for span in range(first, last):
        read = spans.sequence[span]
        for at in range(spans.start[span], spans.stop[span] - k + 1, CHUNK):
            n = hash_chunk(spans, span, at, k, ALL, hashes, reverse)
            for i in chosen[: choose(table, hashes, n, np.uint64(0), NONE, chosen)]:
                row = row_of(table, hashes[i])
                if table[row, 0] == hashes[i]:
                    found = np.int64(table[row, 1])
                    if label[read] == NO_LABEL:
                        label[read] = found
                    elif label[read] != found:
                        label[read] = SEVERAL


@njit(nogil=True, cache=True)
def differences(table, counts, spans, k, depth):
    """Find differences of haplotypes within reads (``docs/algorithms/haplotypes.md``).

    Parameters
    ----------
    table : ndarray of uint64, shape (n, 2)
        With all k-mers of the spans.
    counts : ndarray of unsigned integers, shape (n,)
        How often all reads have them.
    spans : Spans
    k : int
    depth : float
        Of a haplotype.

    Returns
    -------
    shared, found : int
        k-mers that haplotypes share, and differences between them.
    """
    hashes, reverse, chosen = new_chunk()
    jump, least, most = JUMP * depth, SHARED * depth, MOST_COPIES * depth
    shared = found = 0
    for span in range(len(spans.start)):
        before, run, is_single = np.int64(-1), 0, False
        for at in range(spans.start[span], spans.stop[span] - k + 1, CHUNK):
            n = hash_chunk(spans, span, at, k, ALL, hashes, reverse)
            choose(table, hashes, n, np.uint64(0), NONE, chosen)
            for i in range(n):
                row = row_of(table, hashes[i])
                times = np.int64(counts[row]) if table[row, 0] == hashes[i] else np.int64(0)
                shared += least <= times < most
                if before >= 0 and before - times >= jump:
                    run, is_single = 0, before < most
                elif before >= 0 and times - before >= jump:
                    found += is_single and times < most and k <= run <= LONGEST
                    is_single = False
                is_single = is_single and jump <= times < least
                run += 1
                before = times
    return shared, found
