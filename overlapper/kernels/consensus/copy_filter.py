"""The copy filter: rows of a window that are of the target's place, not of another copy of a repeat.

Reads of other copies overlap a read as far as reads of its own copy do, and may outnumber them. They differ
from it where the copies differ, many reads in the same way, while errors hit each read elsewhere. Definition:
``docs/algorithms/correction.md``, section 1.
"""

from __future__ import annotations

import math

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.sorting import sort_few
from overlapper.kernels.consensus.copy_sites import compare_at_sites
from overlapper.kernels.consensus.window_rows import add_depth, depth_between, new_depth, within_depth
from overlapper.runtime.compile.cache import njit

TOLERANCE = 2
"""Factor on the expected number of sites at which a row differs by error."""
FEWEST_ROWS = 10
"""Where fewer rows are of the same place, the rows that differ least are added up to this many."""
UNSURE = 240
"""Rows that may be of either place are taken while fewer than ``FEWEST_ROWS + (UNSURE e)**2`` are there, e
being the error rate: 13 where reads have another base at .8 percent (R10), 40 at 2.3 percent (CLR)."""
NEAR = 30
"""A row is near if it differs at a share of its bases of at most ``(NEAR e)**2``, e being the error rate: at
9 percent where reads err at 1 percent, at one in 4,000 where they err at one in 2,000, as HiFi reads do."""
SHARE = 1 << 20
"""Unit of the share of sites at which a row differs: one over this number."""


@njit(nogil=True, cache=True)
def chosen_rows(target, layers, starts, runs, rows, low, settings):
    """Return the layers of a crowded window that vote, and a mask of those that the copy filter keeps.

    Layers are those of the rows from ``low`` on; what these have at sites is written. Of the layers kept, as
    many vote as each stretch takes; on a leader all, if none was left out.
    """
    same = _are_chosen(target, layers, starts, runs, rows, low, settings)
    chosen = np.flatnonzero(same)
    if settings.target_leads and same.all():
        return chosen, same
    ends, on = np.array([0, len(chosen)]), low + chosen
    taken = within_depth(ends, rows.t_start[on], rows.t_end[on], settings.max_depth)
    return chosen[taken], same


@njit(nogil=True, cache=True)
def _are_chosen(target, layers, starts, runs, rows, low, settings):
    """Return a mask of the layers of a window that are of the target's place, or near if these are few."""
    same, share, near, compared, differing, wrong, total = _judged(
        target, layers, starts, runs, settings.strands
    )
    high = low + len(same)
    rows.agreeing[low:high], rows.differing[low:high] = compared - differing, differing
    t_start, t_end = rows.t_start[low:high], rows.t_end[low:high]
    if settings.target_votes:
        unsure = _are_unsure(same, compared, layers, len(target))
        same &= ~unsure
        _add_nearest(same, share, unsure, t_start, t_end, FEWEST_ROWS + _more(wrong, total))
    else:
        near[:] = layers.used[:-1]
    _add_nearest(same, share, near, t_start, t_end, FEWEST_ROWS)
    return same


@njit(nogil=True, cache=True)
def _judged(target, layers, starts, runs, strands):
    """Judge the rows of a window by the sites at which they differ from the target.

    Returns
    -------
    same : ndarray of bool, shape (rows,)
        Whether each row is of the target's place.
    share : ndarray of int64
        The share of its sites at which it differs, in parts of `SHARE`.
    near : ndarray of bool
        Whether it is near (`NEAR`).
    compared, differing : ndarray of int64
        At how many sites it is compared, and at how many of these it differs.
    wrong, total : int
        How many of how many bases of all rows are wrong.
    """
    compared, differing, wrong, total = compare_at_sites(target, layers, starts, runs, strands)
    n, all_wrong, all_total = len(compared), wrong.sum(), total.sum()
    same, share, near = np.empty(n, np.bool_), np.empty(n, np.int64), np.empty(n, np.bool_)
    for m in range(n):
        same[m] = layers.used[m] and differing[m] <= by_error(wrong[m], total[m], compared[m])
        share[m] = SHARE * differing[m] // max(1, compared[m])
        near[m] = layers.used[m] and differing[m] <= _bearable(all_wrong, all_total, total[m])
    return same, share, near, compared, differing, all_wrong, all_total


@njit(nogil=True, cache=True)
def _are_unsure(same, compared, layers, length):
    """Return a mask of the rows that are compared at no site, and share a column with one of another place.

    They may be of either place: among tandem copies most of them are of others.
    """
    others = np.zeros(length + 1, np.int64)
    for m in range(len(same)):
        if layers.used[m] and not same[m]:
            others[layers.start[m]] += 1
            others[layers.end[m]] -= 1
    # Columns before each one that rows of another place have.
    depth, before = np.int64(0), np.zeros(length + 1, np.int64)
    for c in range(length):
        depth += others[c]
        before[c + 1] = before[c] + (depth > 0)
    unsure = np.zeros(len(same), np.bool_)
    for m in range(len(same)):
        touches = before[layers.end[m]] > before[layers.start[m]]
        unsure[m] = same[m] and compared[m] == 0 and touches
    return unsure


@inner
def by_error(wrong, total, compared):
    """Return the most sites at which a row may differ by its own errors."""
    deviation = np.int64(math.sqrt(wrong * compared * total))
    return TOLERANCE * (wrong * compared + deviation) // total


@inner
def _more(wrong, total):
    """Return how many rows beyond `FEWEST_ROWS` keep those out that may be of either place; see `UNSURE`."""
    total = max(1, total)
    return (UNSURE * UNSURE * wrong // total) * wrong // total


@inner
def _bearable(wrong, total, bases):
    """Return the most sites at which a near row differs; see `NEAR`."""
    return NEAR * wrong * (NEAR * wrong * bases // total) // total


@njit(nogil=True, cache=True)
def _add_nearest(same, share, near, t_start, t_end, fewest):
    """Add near rows where rows are few, those that differ at the smallest share of sites first.

    A row is added if a stretch (`window_rows.BIN`) that it touches has fewer than ``fewest`` rows.
    """
    depth = new_depth(t_end)
    for m in np.flatnonzero(same):
        add_depth(depth, t_start[m], t_end[m])
    order = share * len(share) + np.arange(len(share))
    sort_few(order)
    for place in order:
        m = place % len(share)
        least, _ = depth_between(depth, t_start[m], t_end[m])
        if near[m] and not same[m] and least < fewest:
            same[m] = True
            add_depth(depth, t_start[m], t_end[m])
