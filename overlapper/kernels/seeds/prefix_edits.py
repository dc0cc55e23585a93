"""Edit distance and shared k-mers of two sequences behind places that match.

``D[i, j]`` is the least number of substitutions, insertions and deletions that turn the first i bases of
one sequence into the first j of the other. The kernel returns the smallest value of two rows: how well a
prefix of the first sequence matches any prefix of the second.

Neighbouring values differ by at most 1, so 64 rows of a column are two words of differences
(`overlapper.kernels.common.myers`).
"""

import numpy as np

from overlapper.kernels.common.myers import next_column
from overlapper.runtime.compile.cache import njit

_THREE = np.uint64(3)
_ONE = np.uint64(1)
_TOP = np.uint64(63)
_NONE = np.uint64(0)
_ALL = ~_NONE
_SCATTER = np.uint64(0x9E3779B97F4A7C15)
_MARK_BITS = 12
_MARK_SHIFT = np.uint64(64 - _MARK_BITS)

MARKS = 1 << _MARK_BITS
"""Marks of k-mers: ten times as many as k-mers of a stretch, so that few have one that another one left."""


@njit(nogil=True, cache=True)
def unpack_from(words, place, bases):
    """Unpack bases from a place on, down and complemented when the place is a bitwise complement."""
    reverse = place < 0
    step = -1 if reverse else 1
    at = ~place if reverse else place
    for i in range(len(bases)):
        base = (words[at // 32] >> np.uint64(2 * (at % 32))) & _THREE
        bases[i] = _THREE - base if reverse else base
        at += step


@njit(nogil=True, cache=True)
def row_minima(one, other, row):
    """Return the smallest distance in row ``row`` and in the last row.

    Parameters
    ----------
    one, other : ndarray of uint8
        Base codes; what is above 3 equals nothing.
    row : int
        1 to ``len(one)``.

    Returns
    -------
    int, int
    """
    blocks = (len(one) + 63) // 64
    equal = np.zeros((5, blocks), np.uint64)
    for i in range(len(one)):
        equal[min(one[i], 4), i >> 6] |= _ONE << np.uint64(i & 63)
    equal[4] = _NONE
    rises, falls = np.full(blocks, _ALL), np.zeros(blocks, np.uint64)
    row_block, row_bit = (row - 1) >> 6, np.uint64((row - 1) & 63)
    last_bit = np.uint64((len(one) - 1) & 63)
    at_row, at_last = np.int64(row), np.int64(len(one))
    least_at_row, least_at_last = at_row, at_last
    for j in range(len(other)):
        base = min(other[j], 4)
        # The first row rises by one a column.
        carry_up, carry_down = _ONE, _NONE
        for block in range(blocks):
            rises[block], falls[block], right_up, right_down = next_column(
                equal[base, block], rises[block], falls[block], carry_up, carry_down
            )
            if block == row_block:
                at_row += np.int64((right_up >> row_bit) & _ONE) - np.int64((right_down >> row_bit) & _ONE)
            if block == blocks - 1:
                at_last += np.int64((right_up >> last_bit) & _ONE) - np.int64((right_down >> last_bit) & _ONE)
            carry_up, carry_down = right_up >> _TOP, right_down >> _TOP
        least_at_row = min(least_at_row, at_row)
        least_at_last = min(least_at_last, at_last)
    return least_at_row, least_at_last


@njit(nogil=True, cache=True)
def pair_edits(words, one, other, slack, skip, length, edits):
    """Measure pairs of places: edits between bases ``skip`` and ``skip + length`` from each place.

    Parameters
    ----------
    words : ndarray of uint64
        Packed bases.
    one, other : ndarray of int64, shape (n,)
        Places as in `kmer_sample.sample`; ``skip + length + slack`` bases follow each.
    slack, skip, length : int
    edits : ndarray of int32, shape (n,)
        Receives the growth of the smallest distance from row ``skip`` to the last row.
    """
    first = np.empty(skip + length, np.uint8)
    second = np.empty(skip + length + slack, np.uint8)
    for i in range(len(one)):
        unpack_from(words, one[i], first)
        unpack_from(words, other[i], second)
        before, after = row_minima(first, second, skip)
        edits[i] = after - before


@njit(nogil=True, cache=True)
def _kmers_of(bases, k, kmers):
    """Write the k-mers of bases as numbers."""
    mask = (_ONE << np.uint64(2 * k)) - _ONE
    kmer = _NONE
    for i in range(len(bases)):
        kmer = ((kmer << np.uint64(2)) | np.uint64(bases[i])) & mask
        if i >= k - 1:
            kmers[i - k + 1] = kmer


@njit(nogil=True, cache=True)
def _mark_of(kmer):
    """Return which mark a k-mer has."""
    return np.int64((kmer * _SCATTER) >> _MARK_SHIFT)


@njit(nogil=True, cache=True)
def _count_found(kmers, among, marks):
    """Return how many k-mers are found among others.

    Most are not, which marks tell sooner; ``marks`` has room for `MARKS`, all of them false.
    """
    for kmer in among:
        marks[_mark_of(kmer)] = True
    count = 0
    for kmer in kmers:
        if marks[_mark_of(kmer)]:
            found = False
            for j in range(len(among)):  # to the end, so that it is vectorised
                found |= kmer == among[j]
            count += found
    for kmer in among:
        marks[_mark_of(kmer)] = False
    return count


@njit(nogil=True, cache=True)
def pair_kmers(words, one, other, slack, skip, length, k, shared):
    """Count the k-mers between bases ``skip`` and ``skip + length`` from one place that the other has, too.

    Parameters
    ----------
    words : ndarray of uint64
        Packed bases.
    one, other : ndarray of int64, shape (n,)
        Places as in `kmer_sample.sample`; ``skip + length + slack`` bases follow each, all of which are
        looked at behind ``other``.
    slack, skip, length : int
    k : int
        1 to 31, at most ``length``.
    shared : ndarray of int32, shape (n,)
        Receives how many of the ``length - k + 1`` k-mers are found.
    """
    first = np.empty(skip + length, np.uint8)
    second = np.empty(skip + length + slack, np.uint8)
    kmers = np.empty(length - k + 1, np.uint64)
    among = np.empty(len(second) - k + 1, np.uint64)
    marks = np.zeros(MARKS, np.bool_)
    for i in range(len(one)):
        unpack_from(words, one[i], first)
        unpack_from(words, other[i], second)
        _kmers_of(first[skip:], k, kmers)
        _kmers_of(second, k, among)
        shared[i] = _count_found(kmers, among, marks)
