"""X-drop extension with its live cells in registers, eight bits each.

A part of `xdrop`, whose GPU twin is cuda/xdrop.py.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.vectors import (
    any_lane,
    choose,
    lanes_below,
    load,
    maximum,
    rotate_up,
    select,
    splat,
    store,
    top_lane,
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


@njit(nogil=True, cache=True)
def extend_framed(lanes, reads, seeds, scheme, items, extensions):
    """Extend in frames of as many rows as there are lanes.

    Parameters
    ----------
    lanes : Lanes
    reads : PackedReads
    seeds : Seeds
    scheme : Scheme
        Its scores fit the lanes (`frames_for`).
    items : ndarray of int64, shape (n,)
        Extensions: ``2 * seed`` runs before a seed, ``2 * seed + 1`` after it.
    extensions : ndarray of int32, shape (2 * seeds, 3)
        Where score, query bases and target bases of each item go.

    Returns
    -------
    ndarray of bool, shape (n,)
        False for the items whose live rows outgrew the frame; their extensions mean nothing.
    """
    fits = np.empty(len(items), np.bool_)
    q_codes, t_codes = walk_buffers(reads, seeds, items)
    scratch = np.empty(2 * width(lanes), np.int8)
    for k in range(len(items)):
        item = items[k]
        q_walk, t_walk = walks_from_seed(reads, seeds, item >> 1, (item & 1) == 1)
        score, q_bases, t_bases = _extend(lanes, scratch, q_walk, t_walk, q_codes, t_codes, scheme)
        fits[k] = score >= 0
        extensions[item, 0], extensions[item, 1], extensions[item, 2] = score, q_bases, t_bases
    return fits


@njit(nogil=True, cache=True)
def dead_score(scheme):
    """Return the score of a dead cell: the lowest that can still take a penalty."""
    return -128 + max(-scheme.mismatch, -scheme.gap)


@njit(nogil=True, cache=True)
def frame_floor(scheme):
    """Return the best score where a frame is placed: even with a match, a dead cell is below it by over X."""
    return dead_score(scheme) + scheme.match + scheme.xdrop + 1


@njit(nogil=True, cache=True)
def _extend(lanes, scratch, q_walk, t_walk, q_codes, t_codes, scheme):
    """Extend once; return score, query bases and target bases, or -1, 0, 0 when the rows outgrow the frame.

    Lane ``l`` is row ``frame + l``. The frame moves when its last lane comes alive, to the first live row.
    The last lane is thus dead when the next anti-diagonal is computed, and a rotation brings a dead cell into
    lane 0. The vector ``diagonal`` is ``above`` of an anti-diagonal ago: one rotation serves both.
    """
    match, gap, xdrop = scheme.match, scheme.gap, scheme.xdrop
    q_at, t_at = MARGIN, len(t_codes) - MARGIN - 1
    q_done, t_done = np.int64(0), np.int64(0)
    floor = frame_floor(scheme)
    dead = splat(lanes, scratch, dead_score(scheme))
    match_score = splat(lanes, scratch, match)
    mismatch_score = splat(lanes, scratch, scheme.mismatch)
    gap_score = splat(lanes, scratch, gap)

    store(scratch, 0, dead)
    scratch[0] = floor
    cells = load(lanes, scratch, 0)
    above = rotate_up(cells)
    diagonal = dead
    threshold = splat(lanes, scratch, floor - xdrop)
    best_cell = splat(lanes, scratch, floor)
    improved = cells >= best_cell
    best, best_d, best_frame = 0, 0, 0
    frame, frame_best, window_best = 0, 0, 0
    d, window_end = 0, 0
    window = scheme.stop_window if scheme.stop_window else STRETCH
    while True:
        window_end += window
        q_done = reach_query(q_walk, q_done, frame + 2 * width(lanes) + window, q_codes)
        t_done = reach_target(t_walk, t_done, window_end - frame, t_codes)
        q_bases = load(lanes, q_codes, q_at + frame - 1)
        while d < window_end:
            d += 1
            t_bases = load(lanes, t_codes, t_at + frame + 1 - d)
            step_score = select(q_bases == t_bases, match_score, mismatch_score)
            score = maximum(diagonal + step_score, maximum(cells, above) + gap_score)
            live = score >= threshold
            better = score > best_cell
            diagonal = above
            cells = select(live, score, dead)
            above = rotate_up(cells)
            risen = any_lane(better)
            rise = int(risen)
            # A step further at a time: fewer instructions than finding the largest lane.
            while rise and rise < match:
                higher = score > (best_cell + splat(lanes, scratch, rise))
                if not any_lane(higher):
                    break
                better = higher
                rise += 1
            # One anti-diagonal in three raises the best score, at random: a branch would be mispredicted.
            best_d = choose(risen, d, best_d)
            best_frame = choose(risen, frame, best_frame)
            improved = choose(risen, better, improved)
            best += rise
            rises = splat(lanes, scratch, rise)
            threshold = threshold + rises
            best_cell = best_cell + rises
            if top_lane(live):
                moved = min(lanes_below(live), lanes_below(diagonal > dead))
                if moved == 0:
                    return -1, 0, 0
                lower = splat(lanes, scratch, frame_best - best)
                cells = _moved(lanes, scratch, cells, dead, lower, moved)
                diagonal = _moved(lanes, scratch, diagonal, dead, lower, moved)
                above = rotate_up(cells)
                threshold = splat(lanes, scratch, floor - xdrop)
                best_cell = splat(lanes, scratch, floor)
                frame += moved
                frame_best = best
                q_bases = load(lanes, q_codes, q_at + frame - 1)
            elif not any_lane(live) and not any_lane(diagonal > dead):
                best_row = best_frame + lanes_below(improved)
                return best, best_row, best_d - best_row
        if scheme.stop_window and (best - window_best) * scheme.stop_rate < window * match:
            best_row = best_frame + lanes_below(improved)
            return best, best_row, best_d - best_row
        window_best = best


@njit(nogil=True, cache=True)
def _moved(lanes, scratch, cells, dead, lower, by):
    """Move lane ``l + by`` to lane ``l``, and add ``lower`` to it if it is alive."""
    store(scratch, 0, select(cells > dead, cells + lower, dead))
    store(scratch, width(lanes), dead)
    return load(lanes, scratch, by)
