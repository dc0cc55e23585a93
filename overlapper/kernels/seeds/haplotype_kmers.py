"""k-mers of contigs that tell haplotypes apart, looked up in other reads: those of parents, and Hi-C.

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
def count_known(table, spans, first, last, k, counts):
    """Count the k-mers of spans ``[first, last)`` that a table has, each up to `ENOUGH` times.

    Parameters
    ----------
    table : ndarray of uint64, shape (n, 2)
    spans : Spans
    first, last, k : int
    counts : ndarray of uint8, shape (n,)
        Of each row; counted on.
    """
    hashes, reverse, chosen = new_chunk()
    for span in range(first, last):
        for at in range(spans.start[span], spans.stop[span] - k + 1, CHUNK):
            n = hash_chunk(spans, span, at, k, ALL, hashes, reverse)
            for i in chosen[: choose(table, hashes, n, np.uint64(0), NONE, chosen)]:
                row = row_of(table, hashes[i])
                if table[row, 0] == hashes[i] and counts[row] < ENOUGH:
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
