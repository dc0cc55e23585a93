"""X-drop extension with its live cells in memory, however many there are.

A part of `xdrop`, whose GPU twin is cuda/xdrop.py.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.vectors import (
    any_lane,
    lanes_above,
    lanes_below,
    largest,
    load,
    maximum,
    select,
    splat,
    store,
    width,
)
from overlapper.kernels.common.walks import (
    MARGIN,
    STRETCH,
    reach_query,
    reach_target,
    walk_buffers,
    walks_from_seed,
)
from overlapper.runtime.compile.cache import njit

_NONE = 1 << 62
"""First live row of an anti-diagonal that has none."""


@njit(nogil=True, cache=True)
def extend_banded(lanes, cells, reads, seeds, scheme, items, extensions):
    """Extend with the live rows in memory.

    Parameters
    ----------
    lanes : Lanes
    cells : ndarray of int8, int16 or int32
        Room for three anti-diagonals (`band_cells`) of a type that holds the scores (`band_for`).
    reads, seeds, scheme, items, extensions
        As in `extend_framed`.
    """
    q_codes, t_codes = walk_buffers(reads, seeds, items)
    for item in items:
        q_walk, t_walk = walks_from_seed(reads, seeds, item >> 1, (item & 1) == 1)
        score, q_bases, t_bases = _extend(lanes, cells, q_walk, t_walk, q_codes, t_codes, scheme)
        extensions[item, 0], extensions[item, 1], extensions[item, 2] = score, q_bases, t_bases


@njit(nogil=True, cache=True)
def _extend(lanes, cells, q_walk, t_walk, q_codes, t_codes, scheme):
    """Extend once; return score, query bases and target bases.

    An anti-diagonal is stored relative to the best score before it, with dead cells on both sides of the rows
    ``[first, end)`` as far as the next two anti-diagonals look.
    """
    match, gap, xdrop = scheme.match, scheme.gap, scheme.xdrop
    q_length, t_length = q_walk.length, t_walk.length
    q_at, t_at = MARGIN, len(t_codes) - MARGIN - 1
    q_done, t_done = np.int64(0), np.int64(0)
    dead = splat(lanes, cells, -xdrop - match - 1)
    threshold = splat(lanes, cells, -xdrop)
    # Where row 0 of an anti-diagonal is: this one, the last one, the one before.
    now, last, before = MARGIN, MARGIN + len(cells) // 3, MARGIN + len(cells) // 3 * 2
    for row_0 in (last, before):
        store(cells, row_0 - 1, dead)
        store(cells, row_0 - 1 + width(lanes), dead)
    cells[last] = 0
    last_first, last_end, before_first, before_end = 0, 1, _NONE, 0
    best, last_best, before_best, window_best = 0, 0, 0, 0
    best_d, best_row = 0, 0
    d, window_end = 0, 0
    window = scheme.stop_window if scheme.stop_window else STRETCH
    while True:
        window_end += window
        q_wanted = max(last_end, before_end) + window + width(lanes)
        q_done = reach_query(q_walk, q_done, q_wanted, q_codes)
        t_done = reach_target(t_walk, t_done, window_end, t_codes)
        while d < window_end:
            d += 1
            first = max(min(last_first, before_first + 1), d - t_length)
            end = min(max(last_end, before_end) + 1, q_length + 1)
            if first >= end:
                return best, best_row, best_d - best_row
            gap_score = splat(lanes, cells, last_best - best + gap)
            match_score = splat(lanes, cells, before_best - best + match)
            mismatch_score = splat(lanes, cells, before_best - best + scheme.mismatch)
            top = dead
            live_first, live_end = _NONE, 0
            for row in range(first, end, width(lanes)):
                q_bases = load(lanes, q_codes, q_at + row - 1)
                t_bases = load(lanes, t_codes, t_at + row + 1 - d)
                step_score = select(q_bases == t_bases, match_score, mismatch_score)
                beside = maximum(load(lanes, cells, last + row), load(lanes, cells, last + row - 1))
                diagonal = load(lanes, cells, before + row - 1)
                score = maximum(diagonal + step_score, beside + gap_score)
                live = score >= threshold
                store(cells, now + row, select(live, score, dead))
                top = maximum(top, score)
                if any_lane(live):
                    live_first = min(live_first, row + lanes_below(live))
                    live_end = row + width(lanes) - lanes_above(live)
            store(cells, now + end, dead)
            cells[now + first - 1] = -xdrop - match - 1
            before, last, now = last, now, before
            before_first, last_first = last_first, live_first
            before_end, last_end = last_end, min(live_end, end)
            before_best, last_best = last_best, best
            rise = largest(top)
            if rise > 0:
                best += rise
                best_d, best_row = d, _first_with(lanes, cells, rise, last + last_first) - last
        if scheme.stop_window and (best - window_best) * scheme.stop_rate < window * match:
            return best, best_row, best_d - best_row
        window_best = best


@njit(nogil=True, cache=True)
def _first_with(lanes, cells, score, at):
    """Return the first item from ``at`` on that has the given score; one has."""
    wanted = splat(lanes, cells, score)
    while True:
        below = lanes_below(load(lanes, cells, at) == wanted)
        if below < width(lanes):
            return at + below
        at += width(lanes)
