"""Overlaps in terms of ordered reads, sorted by read pair. Definitions are in `overlapper.graph.pairs`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.sorting import sort_few
from overlapper.runtime.compile.cache import njit

_STRAND_AND_PLACE = np.uint64(33)
_PLACE_BITS = np.uint64(32)
_PLACE = np.uint64(0xFFFFFFFF)


class Columns(NamedTuple):
    """The columns of `overlapper.tables.Intervals`."""

    query: np.ndarray
    target: np.ndarray
    reverse: np.ndarray
    q_start: np.ndarray
    q_end: np.ndarray
    t_start: np.ndarray
    t_end: np.ndarray


@njit(nogil=True, cache=True)
def rows_by_read(query, target, rank):
    """Group overlaps by the one of their reads that ranks first; those of a read with itself are left out.

    Parameters
    ----------
    query, target : arrays of int32, shape (n,)
    rank : array of int32, shape (reads,)

    Returns
    -------
    offsets : ndarray of int64, shape (reads + 1,)
    rows : ndarray of int64
        Row numbers of the overlaps of the read of rank ``i``, ascending, at ``offsets[i]`` to
        ``offsets[i + 1]``.
    """
    offsets = np.zeros(len(rank) + 1, np.int64)
    for row in range(len(query)):
        if query[row] != target[row]:
            offsets[min(rank[query[row]], rank[target[row]]) + 1] += 1
    for read in range(len(rank)):
        offsets[read + 1] += offsets[read]
    fill = offsets[:-1].copy()
    rows = np.empty(offsets[-1], np.int64)
    for row in range(len(query)):
        if query[row] != target[row]:
            read = min(rank[query[row]], rank[target[row]])
            rows[fill[read]] = row
            fill[read] += 1
    return offsets, rows


@njit(nogil=True, cache=True)
def order_pairs(overlaps, rank, offsets, rows, first, last, pairs, swapped):
    """Put the overlaps of some reads in order, the read that ranks first as query.

    By target, strand, the starts of both intervals, their ends; of equals, by row.

    Parameters
    ----------
    overlaps : Columns
    rank : array of int32, shape (reads,)
    offsets, rows : arrays
        As `rows_by_read` gives them; the rows of each read are put in order.
    first, last : int
        Ranks of the reads, half open.
    pairs : Columns
        Filled, at the places of the rows.
    swapped : ndarray of bool
        Filled likewise: whether query and target have changed places.
    """
    query, target, reverse = overlaps.query, overlaps.target, overlaps.reverse
    most = 0
    for read in range(first, last):
        most = max(most, offsets[read + 1] - offsets[read])
    keys = np.empty(most, np.uint64)
    ordered = np.empty(most, np.int64)
    for read in range(first, last):
        begin, size = offsets[read], offsets[read + 1] - offsets[read]
        for place in range(size):
            row = rows[begin + place]
            other = max(rank[query[row]], rank[target[row]])
            pair = np.uint64(other) << _STRAND_AND_PLACE | np.uint64(reverse[row]) << _PLACE_BITS
            keys[place] = pair | np.uint64(place)
        sort_few(keys[:size])
        for place in range(size):
            row = rows[begin + np.int64(keys[place] & _PLACE)]
            slot = place
            while (
                slot > 0
                and keys[slot - 1] >> _PLACE_BITS == keys[place] >> _PLACE_BITS
                and _lies_before(overlaps, rank, row, ordered[slot - 1])
            ):
                ordered[slot] = ordered[slot - 1]
                slot -= 1
            ordered[slot] = row
        for place in range(size):
            rows[begin + place] = ordered[place]
    _fill(overlaps, rank, rows, offsets[first], offsets[last], pairs, swapped)


@njit(nogil=True, cache=True)
def _lies_before(overlaps, rank, one, two):
    """Return whether a row comes before another one of the same pair and strand."""
    o = overlaps
    swap_one, swap_two = rank[o.query[one]] > rank[o.target[one]], rank[o.query[two]] > rank[o.target[two]]
    of_one = (o.q_start[one], o.t_start[one], o.q_end[one], o.t_end[one])
    of_two = (o.q_start[two], o.t_start[two], o.q_end[two], o.t_end[two])
    if swap_one:
        of_one = (of_one[1], of_one[0], of_one[3], of_one[2])
    if swap_two:
        of_two = (of_two[1], of_two[0], of_two[3], of_two[2])
    return of_one < of_two


@njit(nogil=True, cache=True)
def _fill(overlaps, rank, rows, first, last, pairs, swapped):
    query, target, reverse, q_start, q_end, t_start, t_end = overlaps
    pair_query, pair_target, pair_reverse, pair_q_start, pair_q_end, pair_t_start, pair_t_end = pairs
    for place in range(first, last):
        row = rows[place]
        one, two = rank[query[row]], rank[target[row]]
        swap = one > two
        swapped[place], pair_reverse[place] = swap, reverse[row]
        pair_query[place], pair_target[place] = (two, one) if swap else (one, two)
        pair_q_start[place], pair_t_start[place] = (
            (t_start[row], q_start[row]) if swap else (q_start[row], t_start[row])
        )
        pair_q_end[place], pair_t_end[place] = (t_end[row], q_end[row]) if swap else (q_end[row], t_end[row])
