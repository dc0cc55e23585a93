"""Reads that end with a molecule.

Definitions are in `overlapper.graph.molecule_ends`; of reads that go on, in `overlapper.assembly.chimeras`.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.sorting import sort_few
from overlapper.runtime.compile.cache import njit

TOGETHER, GOES_ON = 1, 2
"""How a read ends with its overlap on another one: it has hardly more bases, or it has more."""


@njit(nogil=True, cache=True)
def count_together(query, target, reverse, extents, reads, ragged):
    """Count the reads that end with each read, and share more with it than any that goes on.

    Parameters
    ----------
    query, target : ndarray of int, shape (n,)
        Overlaps, on kept intervals.
    reverse : ndarray of bool, shape (n,)
    extents : ndarray of int32, shape (4, n)
        As `overlapper.kernels.graph.graph_edges.extents` returns them.
    reads : int
    ragged : int
        Most bases between the ends of reads that end together.

    Returns
    -------
    ndarray of int64, shape (reads, 2)
        At the end of the forward strand, and of the reverse complement, of each read.
    """
    together, longest_beyond = np.zeros((reads, 2), np.int64), np.zeros((reads, 2), np.int32)
    for row in range(len(query)):
        for side in range(4):
            read, end, beyond, shared = _at(query, target, reverse, extents, row, side)
            if beyond > ragged:
                longest_beyond[read, end] = max(longest_beyond[read, end], shared)
    for row in range(len(query)):
        for side in range(4):
            read, end, beyond, shared = _at(query, target, reverse, extents, row, side)
            together[read, end] += abs(beyond) <= ragged and shared > longest_beyond[read, end]
    return together


@inner
def _at(query, target, reverse, extents, row, side):
    """Return a read, one of its ends, how much further the other read goes there, and what both share."""
    strand, shared = side & 1, min(extents[2, row], extents[3, row])
    further = extents[1 - strand, row]
    if side < 2:
        return query[row], strand, -further, shared
    return target[row], strand ^ reverse[row], further, shared


@njit(nogil=True, cache=True)
def overlaps_by_read(query, q_start, q_end, target, t_start, t_end, reverse, lengths, rest, least):
    """Collect the overlaps on every read, from both sides.

    Parameters
    ----------
    query, q_start, q_end, target, t_start, t_end, reverse : ndarray, shape (n,)
    lengths : ndarray of int64, shape (reads,)
    rest : int
        Most bases that a read which ends with its overlap has beyond it.
    least : int
        Bases of an overlap that a read ends with, at least.

    Returns
    -------
    offsets : ndarray of int64, shape (reads + 1,)
    start, end : ndarray of int32
        Intervals on read ``i`` at ``offsets[i]`` to ``offsets[i + 1]``.
    begins, ends : ndarray of uint8
        Whether the other read begins, and ends, with the interval: `TOGETHER`, or `GOES_ON`; 0 of overlaps
        that are too short.
    """
    offsets = np.zeros(len(lengths) + 1, np.int64)
    for row in range(len(query)):
        offsets[query[row] + 1] += 1
        offsets[target[row] + 1] += 1
    for read in range(len(lengths)):
        offsets[read + 1] += offsets[read]
    fill = offsets[:-1].copy()
    start, end = np.empty(2 * len(query), np.int32), np.empty(2 * len(query), np.int32)
    begins, ends = np.empty(2 * len(query), np.uint8), np.empty(2 * len(query), np.uint8)
    for row in range(len(query)):
        q_rest, t_rest = lengths[query[row]] - q_end[row], lengths[target[row]] - t_end[row]
        long_enough = min(q_end[row] - q_start[row], t_end[row] - t_start[row]) >= least
        at_first = _how(q_start[row], rest, long_enough), _how(q_rest, rest, long_enough)
        at_last = _how(t_start[row], rest, long_enough), _how(t_rest, rest, long_enough)
        for side in range(2):
            read, other = (target[row], at_first) if side else (query[row], at_last)
            slot = fill[read]
            start[slot], end[slot] = (t_start[row], t_end[row]) if side else (q_start[row], q_end[row])
            begins[slot], ends[slot] = (other[1], other[0]) if reverse[row] else other
            fill[read] = slot + 1
    return offsets, start, end, begins, ends


@inner
def _how(beyond, rest, long_enough):
    """Return how a read ends with an overlap beyond which it has so many bases."""
    return np.uint8(long_enough * (TOGETHER if beyond <= rest else GOES_ON))


@njit(nogil=True, cache=True)
def within_molecules(
    offsets, start, end, begins, ends, lengths, first, last, clip, ragged, fewest, by_chance
):
    """Find the part of each read that is within one molecule.

    Parameters
    ----------
    offsets, start, end, begins, ends
        As `overlaps_by_read` gives them.
    lengths : ndarray of int64, shape (reads,)
    first, last : int
        Which reads, half open.
    clip, ragged, fewest, by_chance : int
        ``CLIP``, ``RAGGED``, ``FEWEST`` and ``BY_CHANCE`` of `overlapper.assembly.chimeras`.

    Returns
    -------
    ndarray of int64, shape (last - first, 2)
        Start and end of the part, half open.
    """
    parts = np.empty((last - first, 2), np.int64)
    most = 0
    for read in range(first, last):
        most = max(most, offsets[read + 1] - offsets[read])
    there = np.empty(most, np.int64)
    for read in range(first, last):
        low, high, length = offsets[read], offsets[read + 1], lengths[read]
        everywhere, inside = (np.int64(0), length), (ragged + 1, length - ragged - 1)
        first_base, last_base = length, np.int64(0)
        for row in range(low, high):
            first_base, last_base = min(first_base, start[row]), max(last_base, end[row])
        ending, end_at = _most_together(end, ends, TOGETHER, low, high, everywhere, ragged, there)
        beginning, begin_at = _most_together(start, begins, TOGETHER, low, high, everywhere, ragged, there)
        joined = min(ending, beginning) if abs(end_at - begin_at) <= clip else 0
        reach, crossing = _near(start, end, ends, low, high, 1, end_at, clip, ragged)
        is_end = ending >= fewest and (2 * ending >= reach if crossing == 0 else joined > crossing)
        reach, crossing = _near(start, end, begins, low, high, -1, begin_at, clip, ragged)
        is_begin = beginning >= fewest and (2 * beginning >= reach if crossing == 0 else joined > crossing)
        begin, behind = np.int64(0), length
        if is_end:
            begin, behind = _ended(begin, behind, end_at, length, last_base, clip, ragged)
        if is_begin:
            begin, behind = _begun(begin, behind, begin_at, length, first_base, clip, ragged)
        stopping, stop_at = _most_together(end, ends, GOES_ON, low, high, inside, ragged, there)
        crossing = _crossing(start, end, low, high, stop_at, length, clip, ragged)
        if stopping >= by_chance * max(crossing, 1) and fewest > crossing:
            begin, behind = _ended(begin, behind, stop_at, length, last_base, clip, ragged)
        starting, start_at = _most_together(start, begins, GOES_ON, low, high, inside, ragged, there)
        crossing = _crossing(start, end, low, high, start_at, length, clip, ragged)
        within = begin + clip <= start_at <= behind - clip or first_base >= start_at - clip
        if starting >= by_chance * max(crossing, 1) and fewest > crossing and within:
            begin, behind = _begun(begin, behind, start_at, length, first_base, clip, ragged)
        parts[read - first] = (begin, behind) if begin < behind else (0, length)
    return parts


@inner
def _ended(begin, behind, place, length, last_base, clip, ragged):
    """Return what is left of a part of a read that goes no further than a place, or begins there."""
    if place >= length - ragged:
        return begin, behind
    if 2 * place >= length or last_base <= place + clip:
        return begin, min(behind, place)
    return max(begin, place), behind


@inner
def _begun(begin, behind, place, length, first_base, clip, ragged):
    """Return what is left of a part of a read that begins at a place, or goes no further."""
    if place <= ragged:
        return begin, behind
    if 2 * place <= length or first_base >= place - clip:
        return max(begin, place), behind
    return begin, min(behind, place)


@inner
def _most_together(places, hows, how, low, high, among, ragged, there):
    """Return how many places where reads end so, in an interval, a window has at most, and their middle."""
    n = 0
    for row in range(low, high):
        if hows[row] == how and among[0] <= places[row] <= among[1]:
            there[n] = places[row]
            n += 1
    sort_few(there[:n])
    most, place, left = 0, np.int64(0), 0
    for right in range(n):
        while there[right] - there[left] > ragged:
            left += 1
        if right + 1 - left > most:
            most, place = right + 1 - left, there[(left + right) // 2]
    return most, place


@inner
def _near(start, end, hows, low, high, strand, place, clip, ragged):
    """Count the overlaps that reach a place from the left (strand 1) or right (-1), and that cross it.

    Those that stop there do not count.
    """
    reach, crossing = 0, 0
    for row in range(low, high):
        before, behind = start[row] <= place - clip, end[row] >= place + clip
        crossing += before and behind
        at = end[row] if strand > 0 else start[row]
        if not (hows[row] == GOES_ON and abs(at - place) <= ragged):
            reach += before and at >= place - clip if strand > 0 else behind and at <= place + clip
    return reach, crossing


@inner
def _crossing(start, end, low, high, place, length, clip, ragged):
    """Count the overlaps that have enough on either side of a place, or all that the read has there."""
    before, behind, crossing = max(place - clip, ragged), min(place + clip, length - ragged), 0
    for row in range(low, high):
        crossing += start[row] <= before and end[row] >= behind
    return crossing
