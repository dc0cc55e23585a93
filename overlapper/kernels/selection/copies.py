"""Differences between copies, told from errors. Definitions are in `overlapper.extend.copies`."""

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
    """The overlaps of every read, and the differences of every overlap."""

    first: np.ndarray
    """int64, shape (reads + 1,); where the overlaps of each read start."""
    row: np.ndarray
    """int64; an overlap."""
    side: np.ndarray
    """uint8; 0 where the read is its query, 1 for the target."""
    start: np.ndarray
    end: np.ndarray
    """`start`, `end`: int32; its interval on the read."""
    offsets: np.ndarray
    """int64; where the differences of each overlap start."""
    place: np.ndarray
    """int32, shape (differences, 2)."""
    other: np.ndarray
    """uint8, shape (differences, 2)."""


@njit(nogil=True, cache=True)
def in_runs(reads, rows, overlap, place, other, shortest):
    """Return a mask of the differences in the length of a homopolymer run.

    Parameters
    ----------
    reads : PackedReads
    rows : ndarray of int32, shape (overlaps, 2)
        Query and target.
    overlap : ndarray of int64, shape (differences,)
    place : ndarray of int32, shape (differences, 2)
    other : ndarray of uint8, shape (differences, 2)
    shortest : int
        Least bases of the run in the read where it is longer.

    Returns
    -------
    ndarray of bool, shape (differences,)
    """
    found = np.zeros(len(overlap), np.bool_)
    for number in range(len(overlap)):
        for side in range(2):
            if other[number, side] == LACKING:  # this read alone has the base; its run starts there
                read, start = rows[overlap[number], side], np.int64(place[number, side])
                first = np.int64(WORD) * reads.word_offsets[read]
                end, stop = start + 1, min(np.int64(reads.lengths[read]), start + shortest)
                base = base_at(reads.words, first + start)
                while end < stop and base_at(reads.words, first + end) == base:
                    end += 1
                found[number] = end - start >= shortest
    return found


@njit(nogil=True, cache=True)
def seen_again(pileups, first, last, counts, again):
    """Mark the differences that several overlaps of a read show at the same place.

    Parameters
    ----------
    pileups : Pileups
    first, last : int
        Reads, half open.
    counts : ndarray of bool, shape (differences,)
        The differences that still count.
    again : ndarray of bool, shape (differences, 2)
        By the query, and by the target; written for these reads.
    """
    for read in range(first, last):
        keys, slots, numbers = _listed(pileups, read, counts)
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
                again[numbers[which], pileups.side[slots[which]]] = overlaps > 1
            begin = end


@njit(nogil=True, cache=True)
def _listed(pileups, read, counts):
    """List the differences of a read that count, by place, then by what the other read has.

    Returns
    -------
    keys : ndarray of int64
        Ascending; their lowest bits say which difference.
    slots : ndarray of int64
        Of the overlap of each, among those of the pileups.
    numbers : ndarray of int64
        Of each among all differences.
    """
    size = 0
    for slot in range(pileups.first[read], pileups.first[read + 1]):
        size += pileups.offsets[pileups.row[slot] + 1] - pileups.offsets[pileups.row[slot]]
    keys, slots, numbers = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    n = 0
    for slot in range(pileups.first[read], pileups.first[read + 1]):
        side = pileups.side[slot]
        for number in range(pileups.offsets[pileups.row[slot]], pileups.offsets[pileups.row[slot] + 1]):
            if counts[number]:
                place, other = np.int64(pileups.place[number, side]), np.int64(pileups.other[number, side])
                keys[n] = (place << _OTHER_BITS | other) << _NUMBER_BITS | n
                slots[n], numbers[n] = slot, number
                n += 1
    sort_few(keys[:n])
    return keys[:n], slots[:n], numbers[:n]


@njit(nogil=True, cache=True)
def confirm(pileups, first, last, counts, differing, confirmed):
    """Mark the differences at confirmed places: there the read is as the reads most like it are.

    Parameters
    ----------
    pileups : Pileups
    first, last : int
        Reads, half open.
    counts : ndarray of bool, shape (differences,)
    differing : ndarray of int32, shape (overlaps,)
        Differences of each overlap that count.
    confirmed : ndarray of bool, shape (differences, 2)
        By the query, and by the target; written for these reads, where they count.
    """
    for read in range(first, last):
        keys, slots, numbers = _listed(pileups, read, counts)
        here = np.zeros(pileups.first[read + 1] - pileups.first[read], np.int32)
        shift = _NUMBER_BITS + _OTHER_BITS
        begin = 0
        while begin < len(keys):
            end, place = begin, keys[begin] >> shift
            while end < len(keys) and keys[end] >> shift == place:
                here[slots[keys[end] & _NUMBER] - pileups.first[read]] += 1
                end += 1
            sure = _is_confirmed(pileups, read, place, differing, here)
            for i in range(begin, end):
                which = keys[i] & _NUMBER
                confirmed[numbers[which], pileups.side[slots[which]]] = sure
                here[slots[which] - pileups.first[read]] = 0
            begin = end


@njit(nogil=True, cache=True)
def _is_confirmed(pileups, read, place, differing, here):
    """Return whether two or more of the overlaps that differ least elsewhere do not differ at a place."""
    least = second = np.int64(1) << 40
    for slot in range(pileups.first[read], pileups.first[read + 1]):
        if pileups.start[slot] <= place < pileups.end[slot]:
            elsewhere = np.int64(differing[pileups.row[slot]]) - here[slot - pileups.first[read]]
            if elsewhere < least:
                least, second = elsewhere, least
            elif elsewhere < second:
                second = elsewhere
    agree = 0
    for slot in range(pileups.first[read], pileups.first[read + 1]):
        if pileups.start[slot] <= place < pileups.end[slot] and here[slot - pileups.first[read]] == 0:
            agree += differing[pileups.row[slot]] <= second
    return agree > 1
