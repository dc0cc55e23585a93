"""Places of seeds in the reads, a bit for each base, with ranks to count the seeds between two bases.

CPU and GPU: ../chain/cuda/chain_kernels.py counts seeds by it, too.

Marks and ranks are those of `overlapper.tables.seeding`. Ranks are modulo 2^32: the difference of two is
right, however many seeds there are.
"""

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.packed import popcount, prefetch
from overlapper.runtime.compile.cache import njit
from overlapper.tables.reads import BASES_PER_WORD
from overlapper.tables.seeding import WORDS_PER_RANK

U64 = np.uint64


@njit(nogil=True, cache=True)
def mark_positions(positions, starts, word_offsets, marks):
    """Set the bit of each position.

    Parameters
    ----------
    positions : ndarray of int32
    starts : ndarray of int64, shape (reads + 1,)
        Where the positions of each read start.
    word_offsets : ndarray of int64, shape (reads + 1,)
    marks : ndarray of uint32, shape (words,)
        In and out.
    """
    for read in range(len(starts) - 1):
        for i in range(starts[read], starts[read + 1]):
            word = word_offsets[read] + positions[i] // BASES_PER_WORD
            marks[word] |= np.uint32(U64(1) << U64(positions[i] % BASES_PER_WORD))


@njit(nogil=True, cache=True)
def mark_bases(bases, first_base, marks):
    """Set the bit of each base, counted through all words from ``first_base`` on, that is among the words.

    Parameters
    ----------
    bases : ndarray of int64
        In any order.
    first_base : int
    marks : ndarray of uint32, shape (words,)
        In and out.
    """
    n = U64(len(marks) * BASES_PER_WORD)
    for base in bases:
        place = U64(base - first_base)
        if place < n:
            marks[place // U64(BASES_PER_WORD)] |= np.uint32(U64(1) << (place % U64(BASES_PER_WORD)))


@njit(nogil=True, cache=True)
def count_marks(marks, word_offsets, ranks, starts):
    """Count the seeds before each rank, and before each read.

    Parameters
    ----------
    marks : ndarray of uint32, shape (words,)
    word_offsets : ndarray of int64, shape (reads + 1,)
    ranks : ndarray of uint32, shape (words // WORDS_PER_RANK + 1,)
        Out.
    starts : ndarray of int64, shape (reads + 1,)
        Out.
    """
    before, read = np.int64(0), 0
    for word in range(len(marks) + 1):
        while read < len(starts) and word_offsets[read] == word:
            starts[read] = before
            read += 1
        if word % WORDS_PER_RANK == 0:
            ranks[word // WORDS_PER_RANK] = before
        if word < len(marks):
            before += popcount(U64(marks[word]))


@inner
def fetch_marks(marks, ranks, base):
    """Prefetch the words that `marked_between` will read for a base."""
    word = base // BASES_PER_WORD
    prefetch(marks, word)
    prefetch(ranks, word // WORDS_PER_RANK)


@inner
def marked_between(marks, ranks, start, stop):
    """Return how many of the bases ``[start, stop)``, counted through all words, are marked."""
    return (_rank(marks, ranks, stop) - _rank(marks, ranks, start)) & np.int64(0xFFFFFFFF)


@inner
def _rank(marks, ranks, base):
    word = np.int64(base // BASES_PER_WORD)
    first = word // WORDS_PER_RANK
    n = np.int64(ranks[first])
    for before in range(first * WORDS_PER_RANK, word):
        n += popcount(U64(marks[before]))
    below = (U64(1) << U64(base % BASES_PER_WORD)) - U64(1)
    return n + popcount(U64(marks[word]) & below)
