"""Edit distance and shared k-mers of two sequences behind places that match.

CPU only.

``D[i, j]`` is the least number of substitutions, insertions and deletions that turn the first i bases of
one sequence into the first j of the other. The kernel returns the smallest value of two rows: how well a
prefix of the first sequence matches any prefix of the second.

Neighbouring values differ by at most 1, so 64 rows of a column are two words of differences
(`overlapper.kernels.common.myers`).
"""

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.myers import next_column
from overlapper.kernels.common.packed import base_at, trailing_zeros
from overlapper.runtime.compile.cache import njit

_ONE = np.uint64(1)
_TOP = np.uint64(63)
_NONE = np.uint64(0)
_ALL = ~_NONE
_SCATTER = np.uint64(0x9E3779B97F4A7C15)


@njit(nogil=True, cache=True)
def unpack_from(words, place, bases):
    """Unpack bases from a place on; a place that is a bitwise complement means backwards, complemented."""
    reverse = place < 0
    step = -1 if reverse else 1
    at = ~place if reverse else place
    for i in range(len(bases)):
        base = base_at(words, at)
        bases[i] = 3 - base if reverse else base
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
                equal[base, block], rises[block], falls[block], carry_up, carry_down, _ONE
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
def _words_of(bases, words):
    """Pack the 32 bases from each base on, the first one lowest; what lies beyond the last one is 0."""
    word = _NONE
    for i in range(len(bases) - 1, -1, -1):
        word = (word << np.uint64(2)) | np.uint64(bases[i])
        words[i] = word


@inner
def _slot_of(kmer, mask, words, table, bits):
    """Return the slot of a k-mer in a table of places, or the empty slot (-1) where its places would go."""
    slot = (kmer * _SCATTER) >> np.uint64(64 - bits)
    while table[slot] >= 0 and words[table[slot]] & mask != kmer:
        slot = (slot + _ONE) & np.uint64(len(table) - 1)
    return slot


@inner
def _shared_bases(word, here, other, words, table, later, bits, mask):
    """Return how many bases from one place on any other place has, too; any number if fewer than a k-mer."""
    most = 0
    there = table[_slot_of(word & mask, mask, words, table, bits)]
    while there >= 0:
        equal = trailing_zeros(word ^ words[there]) >> 1
        most = max(most, min(equal, other - there))
        there = later[there]
    return min(most, here)


@njit(nogil=True, cache=True)
def pair_kmers(words, one, other, slack, skip, length, ks, shared):
    """Count the k-mers on bases ``[skip, skip + length)`` behind one place that the other has, too.

    Places of the shortest k-mers are looked up, and tell of longer ones by the bases that they share.

    Parameters
    ----------
    words : ndarray of uint64
        Packed bases.
    one, other : ndarray of int64, shape (n,)
        Places as in `kmer_sample.sample`; ``skip + length + slack`` bases follow each, all of which are
        looked at behind ``other``.
    slack, skip, length : int
    ks : ndarray of int64, shape (m,)
        Ascending, 1 to 31, at most ``length``.
    shared : ndarray of int32, shape (n, m)
        Receives how many of the ``length - k + 1`` k-mers are found, for each k.
    """
    first = np.empty(skip + length, np.uint8)
    second = np.empty(skip + length + slack, np.uint8)
    of_first, of_second = np.empty(length, np.uint64), np.empty(len(second), np.uint64)
    shortest = ks[0]
    mask, n = (_ONE << np.uint64(2 * shortest)) - _ONE, len(second) - shortest + 1
    bits = np.int64(1)
    while 1 << bits < 2 * n:
        bits += 1
    table, later = np.empty(1 << bits, np.int32), np.empty(n, np.int32)
    for i in range(len(one)):
        unpack_from(words, one[i], first)
        unpack_from(words, other[i], second)
        _words_of(first[skip:], of_first)
        _words_of(second, of_second)
        table[:] = -1
        for there in range(n):
            slot = _slot_of(of_second[there] & mask, mask, of_second, table, bits)
            later[there] = table[slot]
            table[slot] = there
        shared[i] = 0
        for here in range(length - shortest + 1):
            bases = _shared_bases(
                of_first[here], length - here, len(second), of_second, table, later, bits, mask
            )
            for column in range(len(ks)):
                shared[i, column] += bases >= ks[column]
