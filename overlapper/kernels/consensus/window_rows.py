"""Rows cut to windows of targets and chosen by depth."""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.consensus.layers import Rows
from overlapper.runtime.compile.cache import njit

BIN = 256
"""Bases of a stretch, the unit in which depth is counted."""
MOST_ROWS = 1600
"""Most rows on a stretch: the votes of this many, of weight 40 at most, fit 16 bits."""
LEAST = 100
"""Least bases of a row on a window."""


@njit(nogil=True, cache=True)
def cut_rows(rows, windows):
    """Cut rows to windows of their targets, proportionally: along the line from corner to corner.

    Parameters
    ----------
    rows : Rows
        On whole targets.
    windows : Windows
        With the rows of each target, by its number, in ``first``.

    Returns
    -------
    first : ndarray of int64, shape (windows + 1,)
        Where the rows of each window start; they keep their order.
    cut : Rows
        On windows.
    of : ndarray of int64
        The number of the given row that each is cut from.
    """
    n = len(windows.target)
    first = np.zeros(n + 1, np.int64)
    for p in range(n):
        first[p + 1] = first[p]
        for r in range(windows.first[windows.target[p]], windows.first[windows.target[p] + 1]):
            first[p + 1] += _stays(rows, r, windows.start[p], windows.end[p])
    size = first[n]
    cut = Rows(
        np.empty(size, rows.read.dtype), np.empty(size, np.bool_), np.empty(size, np.int64),
        np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64),
        np.zeros(size, np.int32), np.zeros(size, np.int32),
    )  # fmt: skip
    of = np.empty(size, np.int64)
    size = 0
    for p in range(n):
        start, end = windows.start[p], windows.end[p]
        for r in range(windows.first[windows.target[p]], windows.first[windows.target[p] + 1]):
            if _stays(rows, r, start, end):
                low, high = max(rows.t_start[r], start), min(rows.t_end[r], end)
                run, rise = rows.r_end[r] - rows.r_start[r], rows.t_end[r] - rows.t_start[r]
                skipped = (low - rows.t_start[r]) * run // rise
                kept = (high - rows.t_start[r]) * run // rise
                cut.read[size], cut.reverse[size] = rows.read[r], rows.reverse[r]
                cut.t_start[size], cut.t_end[size] = low - start, high - start
                if rows.reverse[r]:
                    cut.r_start[size], cut.r_end[size] = rows.r_end[r] - kept, rows.r_end[r] - skipped
                else:
                    cut.r_start[size], cut.r_end[size] = rows.r_start[r] + skipped, rows.r_start[r] + kept
                of[size] = r
                size += 1
    return first, cut, of


@inner
def _stays(rows, r, start, end):
    """Return whether a row keeps enough bases on ``[start, end)`` of its target."""
    bases = min(rows.t_end[r], end) - max(rows.t_start[r], start)
    return bases > 0 and bases >= min(LEAST, rows.t_end[r] - rows.t_start[r])


@njit(nogil=True, cache=True)
def within_depth(window_first, t_start, t_end, max_depth):
    """Choose rows of windows, in order: a row is taken if too few earlier ones cover some stretch of it.

    A row that finds one stretch with `MOST_ROWS` rows is not taken either.

    Parameters
    ----------
    window_first : ndarray of int64, shape (windows + 1,)
        Where the rows of each window start.
    t_start, t_end : ndarray of int64
        Their intervals of the window.
    max_depth : int
        Rows that fill a stretch.

    Returns
    -------
    ndarray of bool
        Which rows are taken.
    """
    taken = np.zeros(len(t_start), np.bool_)
    depth = new_depth(t_end)
    for p in range(len(window_first) - 1):
        depth[:] = 0
        for r in range(window_first[p], window_first[p + 1]):
            least, most = depth_between(depth, t_start[r], t_end[r])
            taken[r] = least < max_depth and most < MOST_ROWS
            if taken[r]:
                add_depth(depth, t_start[r], t_end[r])
    return taken


@njit(nogil=True, cache=True)
def new_depth(t_end):
    """Return a depth of 0 for each stretch of `BIN` bases, as far as rows with these ends go."""
    furthest = np.int64(0)
    for r in range(len(t_end)):
        furthest = max(furthest, t_end[r])
    return np.zeros(furthest // BIN + 1, np.int64)


@inner
def depth_between(depth, t_start, t_end):
    """Return the least and the most rows on a stretch that an interval touches."""
    first = t_start // BIN
    least = most = depth[first]
    for stretch in range(first + 1, (t_end - 1) // BIN + 1):
        least, most = min(least, depth[stretch]), max(most, depth[stretch])
    return least, most


@inner
def add_depth(depth, t_start, t_end):
    """Count a row on all stretches that it touches."""
    for stretch in range(t_start // BIN, (t_end - 1) // BIN + 1):
        depth[stretch] += 1


@njit(nogil=True, cache=True)
def reach_beyond(first, t_start, t_end, others_first, others_start, others_end, least):
    """Return a mask of the rows that touch none of given intervals, or reach far enough beyond them.

    Parameters
    ----------
    first : ndarray of int64, shape (windows + 1,)
        Where the rows of each window start.
    t_start, t_end : ndarray of int64, shape (rows,)
    others_first, others_start, others_end : ndarray of int64
        The same of the other intervals, those of a window ascending by their starts.
    least : int

    Returns
    -------
    ndarray of bool, shape (rows,)
    """
    beyond = np.ones(len(t_start), np.bool_)
    for p in range(len(first) - 1):
        for r in range(first[p], first[p + 1]):
            place, most, touches = np.int64(t_start[r]), np.int64(0), False
            for other in range(others_first[p], others_first[p + 1]):
                if others_start[other] >= t_end[r] or most >= least:
                    break
                if others_end[other] > place:
                    touches = True
                    most = max(most, others_start[other] - place)
                    place = max(place, others_end[other])
            beyond[r] = not touches or max(most, t_end[r] - place) >= least
    return beyond
