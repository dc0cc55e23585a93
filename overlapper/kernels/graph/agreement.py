"""Stretches of unitigs on which reads agree. Definitions are in `overlapper.assembly.agreement`.

Bases of all unitigs are numbered through: the last one of a unitig is followed by the first one of the next.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.sorting import sort_few
from overlapper.runtime.compile.cache import njit


class Placed(NamedTuple):
    """Where reads lie on unitigs, and these; columns of `overlapper.correction.own_reads.OwnReads`."""

    unitig: np.ndarray
    read: np.ndarray
    start: np.ndarray
    reverse: np.ndarray
    r_start: np.ndarray
    r_end: np.ndarray
    """`unitig`, `read`, `start`, `reverse`, `r_start`, `r_end`: shape (n,)."""
    starts: np.ndarray
    """int64, shape (unitigs + 1,); number of the first base of each unitig, and how many bases there are."""
    circular: np.ndarray
    """bool, shape (unitigs,)."""


@inner
def _count(placed, row, reader, offsets):
    """Count one stretch of a reader, two on a circular unitig, as it may go on at the other end."""
    offsets[reader + 1] += 1 + placed.circular[placed.unitig[row]]


@inner
def _put(placed, row, reader, first, last, slots, begins, ends):
    """Write the stretch of a unitig that an interval of a placed read is, in its free slots."""
    low, high = np.int64(placed.r_start[row]), np.int64(placed.r_end[row])
    first, last = min(max(first, low), high), min(max(last, low), high)
    begin = placed.start[row] + (high - last if placed.reverse[row] else first - low)
    end = begin + last - first
    unitig, slot = placed.unitig[row], slots[reader]
    base, length = placed.starts[unitig], placed.starts[unitig + 1] - placed.starts[unitig]
    if placed.circular[unitig]:
        begin %= max(length, 1)
        end = begin + last - first
        begins[slot + 1], ends[slot + 1] = base, base + min(max(end - length, 0), length)
        slots[reader] += 1
    begins[slot], ends[slot] = base + min(max(begin, 0), length), base + min(max(end, 0), length)
    slots[reader] += 1


@njit(nogil=True, cache=True)
def stretches_by_read(reads, placed, query, q_start, q_end, target, t_start, t_end):
    """List the stretches of unitigs on which each read agrees: its own, and one for each overlap.

    Parameters
    ----------
    reads : int
        How many there are.
    placed : Placed
    query, q_start, q_end, target, t_start, t_end : ndarray, shape (overlaps,)

    Returns
    -------
    offsets : ndarray of int64, shape (reads + 1,)
    begins, ends : ndarray of int64
        Stretches of read ``i``, half open, at ``offsets[i]`` to ``offsets[i + 1]``; some are empty.
    """
    offsets, place = np.zeros(reads + 1, np.int64), np.full(reads, -1)
    for row in range(len(placed.read)):
        place[placed.read[row]] = row
        _count(placed, row, placed.read[row], offsets)
    for i in range(len(query)):
        if place[query[i]] >= 0:
            _count(placed, place[query[i]], target[i], offsets)
        if place[target[i]] >= 0:
            _count(placed, place[target[i]], query[i], offsets)
    for read in range(reads):
        offsets[read + 1] += offsets[read]
    begins, ends = np.empty(offsets[-1], np.int64), np.empty(offsets[-1], np.int64)
    slots = offsets[:-1].copy()
    for row in range(len(placed.read)):
        low, high = np.int64(placed.r_start[row]), np.int64(placed.r_end[row])
        _put(placed, row, placed.read[row], low, high, slots, begins, ends)
    for i in range(len(query)):
        q, t = place[query[i]], place[target[i]]
        if q >= 0:
            _put(placed, q, target[i], np.int64(q_start[i]), np.int64(q_end[i]), slots, begins, ends)
        if t >= 0:
            _put(placed, t, query[i], np.int64(t_start[i]), np.int64(t_end[i]), slots, begins, ends)
    return offsets, begins, ends


@njit(nogil=True, cache=True)
def unions(offsets, begins, ends, first, last):
    """Merge the stretches of each read that touch.

    Parameters
    ----------
    offsets, begins, ends : ndarray of int64
        As `stretches_by_read` returns them; those of these reads are left in no order.
    first, last : int
        Which reads, half open.

    Returns
    -------
    ndarray of int64, shape (n, 2)
        Begin and end of every merged stretch, by read; some are empty.
    """
    found, n = np.empty((offsets[last] - offsets[first], 2), np.int64), 0
    for read in range(first, last):
        low, high = offsets[read], offsets[read + 1]
        sort_few(begins[low:high])
        sort_few(ends[low:high])
        for i in range(low, high):
            # Where as many have ended as began before, none goes on.
            if i == low or begins[i] > ends[i - 1]:
                found[n, 0] = begins[i]
            if i + 1 == high or begins[i + 1] > ends[i]:
                found[n, 1] = ends[i]
                n += 1
    return found[:n].copy()
