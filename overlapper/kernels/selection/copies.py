"""Which differences between reads are between copies. Definitions are in `overlapper.extend.copies`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.packed import base_at
from overlapper.kernels.common.sorting import sort_few
from overlapper.kernels.selection.differences import LACKING, WORD
from overlapper.runtime.compile.cache import njit

_OTHER_BITS, _NUMBER_BITS = 4, 28
_NUMBER = np.int64((1 << _NUMBER_BITS) - 1)


class Pileups(NamedTuple):
    """The overlaps of every read, and the differences of every overlap.

    Attributes
    ----------
    first : ndarray of int64, shape (reads + 1,)
        Where the overlaps of each read start.
    row : ndarray of int64
        An overlap.
    side : ndarray of uint8
        0 where the read is its query, 1 for the target.
    start, end : ndarray of int32
        Its interval on the read.
    offsets : ndarray of int64
        Where the differences of each overlap start.
    place : ndarray of int32, shape (differences, 2)
    other : ndarray of uint8, shape (differences, 2)
    """

    first: np.ndarray
    row: np.ndarray
    side: np.ndarray
    start: np.ndarray
    end: np.ndarray
    offsets: np.ndarray
    place: np.ndarray
    other: np.ndarray


@njit(nogil=True, cache=True)
def in_runs(reads, rows, overlap, place, other, shortest):
    """Tell which differences are bases more or fewer in a run.

    Parameters
    ----------
    reads : PackedReads
    rows : ndarray of int32, shape (overlaps, 2)
        Query and target.
    overlap : ndarray of int64, shape (differences,)
    place : ndarray of int32, shape (differences, 2)
    other : ndarray of uint8, shape (differences, 2)
    shortest : int
        Bases of a run, at least, in the read that has more.

    Returns
    -------
    ndarray of bool, shape (differences,)
    """
    found = np.zeros(len(overlap), np.bool_)
    for number in range(len(overlap)):
        for side in range(2):
            if other[number, side] == LACKING:  # where this read has a base alone, its run starts
                read, start = rows[overlap[number], side], np.int64(place[number, side])
                first = np.int64(WORD) * reads.word_offsets[read]
                end, stop = start + 1, min(np.int64(reads.lengths[read]), start + shortest)
                base = base_at(reads.words, first + start)
                while end < stop and base_at(reads.words, first + end) == base:
                    end += 1
                found[number] = end - start >= shortest
    return found


@njit(nogil=True, cache=True)
def seen_again(piles, first, last, counts, again):
    """Mark the differences that several overlaps of a read show.

    Parameters
    ----------
    piles : Pileups
    first, last : int
        Reads, half open.
    counts : ndarray of bool, shape (differences,)
        Which to look at.
    again : ndarray of bool, shape (differences, 2)
        By the query, and by the target; written for these reads.
    """
    for read in range(first, last):
        keys, slots, numbers = _listed(piles, read, counts)
        begin = 0
        while begin < len(keys):
            end = begin + 1
            while end < len(keys) and keys[end] >> _NUMBER_BITS == keys[begin] >> _NUMBER_BITS:
                end += 1
            overlaps = 1
            for i in range(begin + 1, end):
                overlaps += slots[keys[i] & _NUMBER] != slots[keys[i - 1] & _NUMBER]
            for i in range(begin, end):
                which = keys[i] & _NUMBER
                again[numbers[which], piles.side[slots[which]]] = overlaps > 1
            begin = end


@njit(nogil=True, cache=True)
def _listed(piles, read, counts):
    """List the differences of a read that count, by place, then by what the other has.

    Returns
    -------
    keys : ndarray of int64
        Ascending; their lowest bits say which difference.
    slots : ndarray of int64
        Of the overlap of each, among those of the piles.
    numbers : ndarray of int64
        Of each among all differences.
    """
    size = 0
    for slot in range(piles.first[read], piles.first[read + 1]):
        size += piles.offsets[piles.row[slot] + 1] - piles.offsets[piles.row[slot]]
    keys, slots, numbers = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    n = 0
    for slot in range(piles.first[read], piles.first[read + 1]):
        side = piles.side[slot]
        for number in range(piles.offsets[piles.row[slot]], piles.offsets[piles.row[slot] + 1]):
            if counts[number]:
                place, other = np.int64(piles.place[number, side]), np.int64(piles.other[number, side])
                keys[n] = (place << _OTHER_BITS | other) << _NUMBER_BITS | n
                slots[n], numbers[n] = slot, number
                n += 1
    sort_few(keys[:n])
    return keys[:n], slots[:n], numbers[:n]


@njit(nogil=True, cache=True)
def confirm(piles, first, last, counts, differing, confirmed):
    """Mark the differences at places where the read is as those reads have it that differ least from it.

    Parameters
    ----------
    piles : Pileups
    first, last : int
        Reads, half open.
    counts : ndarray of bool, shape (differences,)
    differing : ndarray of int32, shape (overlaps,)
        Differences of each overlap that count.
    confirmed : ndarray of bool, shape (differences, 2)
        By the query, and by the target; written for these reads, where they count.
    """
    for read in range(first, last):
        keys, slots, numbers = _listed(piles, read, counts)
        here = np.zeros(piles.first[read + 1] - piles.first[read], np.int32)
        shift = _NUMBER_BITS + _OTHER_BITS
        begin = 0
        while begin < len(keys):
            end, place = begin, keys[begin] >> shift
            while end < len(keys) and keys[end] >> shift == place:
                here[slots[keys[end] & _NUMBER] - piles.first[read]] += 1
                end += 1
            sure = _is_confirmed(piles, read, place, differing, here)
            for i in range(begin, end):
                which = keys[i] & _NUMBER
                confirmed[numbers[which], piles.side[slots[which]]] = sure
                here[slots[which] - piles.first[read]] = 0
            begin = end


@njit(nogil=True, cache=True)
def _is_confirmed(piles, read, place, differing, here):
    """Tell whether two or more of the overlaps nearest to a read, elsewhere, do not differ at a place."""
    least = second = np.int64(1) << 40
    for slot in range(piles.first[read], piles.first[read + 1]):
        if piles.start[slot] <= place < piles.end[slot]:
            elsewhere = np.int64(differing[piles.row[slot]]) - here[slot - piles.first[read]]
            if elsewhere < least:
                least, second = elsewhere, least
            elif elsewhere < second:
                second = elsewhere
    agree = 0
    for slot in range(piles.first[read], piles.first[read + 1]):
        if piles.start[slot] <= place < piles.end[slot] and here[slot - piles.first[read]] == 0:
            agree += differing[piles.row[slot]] <= second
    return agree > 1
