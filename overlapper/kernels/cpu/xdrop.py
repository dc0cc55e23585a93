"""X-drop extension of seeds (Zhang 2000, section 3; Zeni 2020), linear gaps.

docs/algorithms/xdrop.md has the definition, why it ends on unrelated DNA, and what the work must cost.

An extension walks two sequences from the seed outwards. Cell ``(i, j)`` is the best score of ``i`` query and
``j`` target bases, anti-diagonal ``d`` the cells with ``i + j = d``, and row ``i`` the cells with ``i`` query
bases. All kernels here compute the same integers; they differ in where the live cells are kept:

- `_extend_framed`: 8-bit scores of the rows ``[frame, frame + lanes)`` in registers. It gives up an extension
  whose live cells outgrow its lanes, and the next wider kernel does that one.
- `_extend_banded`: 16- or 32-bit scores of any number of rows in memory.

`extend_seeds` chooses among them by the scores and X alone.

Cells outside the sequences need no test. Bases beyond the ends equal nothing, and a path never comes back
inside, so each cell outside scores less than a cell of an earlier anti-diagonal: none becomes the best one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from overlapper.kernels.cpu.unpack import unpack_walk
from overlapper.kernels.cpu.vectors import (
    Lanes,
    add,
    any_lane,
    at_least,
    equal,
    greater,
    lanes_above,
    lanes_below,
    largest,
    load,
    maximum,
    rotate_up,
    select,
    splat,
    store,
    top_lane,
    width,
)

NARROW = Lanes(64)
WIDE = Lanes(128)
_BAND_LANES = {np.int16: Lanes(32), np.int32: Lanes(16)}

# Codes of what equals no base. They differ, so that an unknown base does not equal another one.
_QUERY_UNKNOWN = 4
_TARGET_UNKNOWN = 5
# Unknown bases kept beyond either end of a sequence: the framed kernel loads at most 128 lanes past a live
# cell, which lies at most 254 steps outside.
_MARGIN = 512
# Anti-diagonals between two looks at the sequences when no window is asked for.
_STRETCH = 1024
# First live row of an anti-diagonal without one.
_NONE = np.int64(1) << 62


class PackedReads(NamedTuple):
    """The columns of `Reads` that kernels read."""

    words: np.ndarray
    word_offsets: np.ndarray
    lengths: np.ndarray
    unknown_start: np.ndarray
    unknown_end: np.ndarray
    unknown_offsets: np.ndarray


class Seeds(NamedTuple):
    """Seeds to extend: the columns of `Candidates` of the same names, and the length of all of them."""

    query: np.ndarray
    target: np.ndarray
    reverse: np.ndarray
    query_pos: np.ndarray
    target_pos: np.ndarray
    length: int


class Scheme(NamedTuple):
    """The numbers of `XdropParams`."""

    match: int
    mismatch: int
    gap: int
    xdrop: int
    stop_window: int
    stop_rate: int


class _Walk(NamedTuple):
    """One sequence of an extension: ``length`` bases of a read from ``origin`` on, by ``step`` (1 or -1)."""

    words: np.ndarray
    unknown_start: np.ndarray
    unknown_end: np.ndarray
    origin: int
    step: int
    complement: bool
    length: int


def extend_seeds(reads: PackedReads, seeds: Seeds, scheme: Scheme) -> np.ndarray:
    """Extend every seed to both sides.

    Parameters
    ----------
    reads : PackedReads
    seeds : Seeds
        Every seed lies within its reads; n seeds.
    scheme : Scheme
        ``xdrop + 3 * match + max(-mismatch, -gap)`` below 2^31.

    Returns
    -------
    ndarray of int32, shape (n, 2, 3)
        Of each seed, before it and after it along the query: score, query bases, target bases.
    """
    extensions = np.zeros((len(seeds.query) * 2, 3), np.int32)
    left = np.arange(len(extensions))
    for lanes in _frames_for(scheme):
        fits = _extend_framed_all(lanes, reads, seeds, scheme, left, extensions)
        left = left[~fits]
    if len(left):
        width = _band_type_for(scheme)
        cells = np.empty((3, _band_rows(reads, seeds)), width)
        _extend_banded_all(_BAND_LANES[width], cells, reads, seeds, scheme, left, extensions)
    return extensions.reshape(-1, 2, 3)


def _frames_for(scheme: Scheme) -> list[Lanes]:
    """The frames worth trying: those whose scores fit 8 bits and that hold the usual number of live rows.

    A frame holds scores relative to the best one when it was last moved. `_dead_score` leaves room for one
    penalty below it; the score that X allows is above what a match makes of a dead cell. While a frame of n
    lanes stays, a path crosses at most n rows of it, as only matches raise the score and each takes a row:
    the best score rises by at most n * match. All of this has to fit -128 to 127.
    """
    usual_rows = scheme.xdrop // -scheme.gap + 2
    return [
        lanes
        for lanes in (NARROW, WIDE)
        if usual_rows <= lanes.count and _frame_floor(scheme) + lanes.count * scheme.match <= 127
    ]


@njit(nogil=True, cache=True)
def _dead_score(scheme):
    """The 8-bit score of a dead cell: the lowest that still can take a penalty."""
    return -128 + max(-scheme.mismatch, -scheme.gap)


@njit(nogil=True, cache=True)
def _frame_floor(scheme):
    """The 8-bit score of the best cell when a frame is placed: a dead cell plus a match is below it by over X."""
    return _dead_score(scheme) + scheme.match + scheme.xdrop + 1


def _band_type_for(scheme: Scheme) -> type:
    """The narrowest type that holds what `_extend_banded` computes.

    Scores are relative to the best one of two anti-diagonals ago or later, which rises by at most a match an
    anti-diagonal: the lowest number is a dead cell, less a penalty, less two matches.
    """
    lowest = scheme.xdrop + 3 * scheme.match + max(-scheme.mismatch, -scheme.gap) + 1
    return np.int16 if lowest <= 2**15 else np.int32


def _band_rows(reads: PackedReads, seeds: Seeds) -> int:
    return int(reads.lengths[seeds.query].max()) + 3 * _MARGIN


@njit(nogil=True, cache=True)
def _walks(reads, seeds, item):
    """The two sequences of an extension; even items run before their seed, odd ones after it."""
    seed, after = item >> 1, item & 1
    q, t = seeds.query[seed], seeds.target[seed]
    q_first, t_first = np.int64(seeds.query_pos[seed]), np.int64(seeds.target_pos[seed])
    reverse = seeds.reverse[seed]
    q_walk = _walk(reads, q, q_first, seeds.length, after == 1, False)
    t_walk = _walk(reads, t, t_first, seeds.length, (after == 1) != reverse, reverse)
    return q_walk, t_walk


@njit(nogil=True, cache=True)
def _walk(reads, read, seed_first, seed_length, upwards, complement):
    """The bases of a read above or below a seed."""
    read_length = np.int64(reads.lengths[read])
    words = reads.words[reads.word_offsets[read] : reads.word_offsets[read + 1]]
    runs = slice(reads.unknown_offsets[read], reads.unknown_offsets[read + 1])
    origin = seed_first + seed_length if upwards else seed_first - 1
    length = read_length - origin if upwards else seed_first
    step = 1 if upwards else -1
    return _Walk(words, reads.unknown_start[runs], reads.unknown_end[runs], origin, step, complement, length)


@njit(nogil=True, cache=True)
def _code_buffers(reads, seeds, items):
    """Room for the longest query and target of the items, with margins of unknown bases.

    The query is kept upwards, the target downwards: along an anti-diagonal one rises as the other falls, so
    that both are loaded without a turn.
    """
    q_longest, t_longest = 0, 0
    for item in items:
        q_longest = max(q_longest, reads.lengths[seeds.query[item >> 1]])
        t_longest = max(t_longest, reads.lengths[seeds.target[item >> 1]])
    q_codes = np.full(q_longest + 3 * _MARGIN, _QUERY_UNKNOWN, np.uint8)
    t_codes = np.full(t_longest + 3 * _MARGIN, _TARGET_UNKNOWN, np.uint8)
    return q_codes, t_codes


@njit(nogil=True, cache=True)
def _reach(walk, done, wanted, codes, at, rise, unknown):
    """Unpack a walk up to at least step ``wanted``, then its margin; return how far it is unpacked."""
    if wanted <= done:
        return done
    end = min(wanted, walk.length)
    unpack_walk(
        walk.words, walk.unknown_start, walk.unknown_end, walk.origin, walk.step, done, end,
        walk.complement, unknown, codes, at, rise,
    )  # fmt: skip
    if end < walk.length:
        return end
    for x in range(end, end + _MARGIN):
        codes[at + rise * x] = unknown
    return np.int64(1) << 62


@njit(nogil=True, cache=True)
def _extend_framed_all(lanes, reads, seeds, scheme, items, extensions):
    """Extend the items in frames; return which of them fitted."""
    fits = np.empty(len(items), np.bool_)
    q_codes, t_codes = _code_buffers(reads, seeds, items)
    scratch = np.empty(256, np.int8)
    for k in range(len(items)):
        q_walk, t_walk = _walks(reads, seeds, items[k])
        fits[k] = _extend_framed(
            lanes, scratch, q_walk, t_walk, q_codes, t_codes, scheme, extensions[items[k]]
        )
    return fits


@njit(nogil=True, cache=True)
def _extend_framed(lanes, scratch, q_walk, t_walk, q_codes, t_codes, scheme, extension):
    """Extend once, the scores of ``lanes`` rows in registers; False when the live rows outgrow them.

    Lane ``l`` is row ``frame + l``. The frame moves when its last lane comes alive, to the first live row.
    The last lane is thus dead when the next anti-diagonal is computed, and a rotation brings a dead cell into
    lane 0. The vector ``diagonal`` is ``above`` of an anti-diagonal ago: one rotation serves both.
    """
    match, gap, xdrop = scheme.match, scheme.gap, scheme.xdrop
    q_at, t_at = _MARGIN, len(t_codes) - _MARGIN - 1
    q_done, t_done = np.int64(0), np.int64(0)
    floor = _frame_floor(scheme)
    dead = splat(lanes, scratch, _dead_score(scheme))
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
    improved = at_least(cells, best_cell)
    best, best_d, best_frame, best_lane = 0, 0, 0, 0
    frame, frame_best = 0, 0
    window_best = 0
    d, window_end = 0, 0
    window = scheme.stop_window if scheme.stop_window else _STRETCH
    while True:
        window_end += window
        q_done = _reach(
            q_walk, q_done, frame + 2 * width(lanes) + window, q_codes, q_at, 1, _QUERY_UNKNOWN
        )
        t_done = _reach(t_walk, t_done, window_end - frame, t_codes, t_at, -1, _TARGET_UNKNOWN)
        q_bases = load(lanes, q_codes, q_at + frame - 1)
        while d < window_end:
            d += 1
            t_bases = load(lanes, t_codes, t_at + frame + 1 - d)
            step_score = select(equal(q_bases, t_bases), match_score, mismatch_score)
            score = maximum(add(diagonal, step_score), add(maximum(cells, above), gap_score))
            live = at_least(score, threshold)
            better = greater(score, best_cell)
            diagonal = above
            cells = select(live, score, dead)
            above = rotate_up(cells)
            rise = np.int64(any_lane(better))
            if match > 1 and rise:
                rise = largest(score) - floor - (best - frame_best)
                better = equal(score, splat(lanes, scratch, floor + best - frame_best + rise))
            if rise:
                best_d, best_frame, improved = d, frame, better
            best += rise
            risen = splat(lanes, scratch, rise)
            threshold = add(threshold, risen)
            best_cell = add(best_cell, risen)
            if top_lane(live):
                moved = min(lanes_below(live), lanes_below(greater(diagonal, dead)))
                if moved == 0:
                    return False
                lower = splat(lanes, scratch, frame_best - best)
                cells = _moved(lanes, scratch, cells, dead, lower, moved)
                diagonal = _moved(lanes, scratch, diagonal, dead, lower, moved)
                above = rotate_up(cells)
                threshold = splat(lanes, scratch, floor - xdrop)
                best_cell = splat(lanes, scratch, floor)
                frame += moved
                frame_best = best
                q_bases = load(lanes, q_codes, q_at + frame - 1)
            elif not any_lane(live) and not any_lane(greater(diagonal, dead)):
                return _report(extension, best, best_d, best_frame + lanes_below(improved))
        if scheme.stop_window and (best - window_best) * scheme.stop_rate < window * match:
            return _report(extension, best, best_d, best_frame + lanes_below(improved))
        window_best = best


@njit(nogil=True, cache=True)
def _moved(lanes, scratch, cells, dead, lower, by):
    """Lane ``l`` gets what lane ``l + by`` held, plus ``lower`` if that is alive."""
    store(scratch, 0, select(greater(cells, dead), add(cells, lower), dead))
    store(scratch, width(lanes), dead)
    return load(lanes, scratch, by)


@njit(nogil=True, cache=True)
def _report(extension, score, antidiagonal, row):
    extension[0], extension[1], extension[2] = score, row, antidiagonal - row
    return True


@njit(nogil=True, cache=True)
def _extend_banded_all(lanes, cells, reads, seeds, scheme, items, extensions):
    """Extend the items with their live rows in memory; ``cells`` holds three anti-diagonals."""
    q_codes, t_codes = _code_buffers(reads, seeds, items)
    for item in items:
        q_walk, t_walk = _walks(reads, seeds, item)
        _extend_banded(lanes, cells, q_walk, t_walk, q_codes, t_codes, scheme, extensions[item])


@njit(nogil=True, cache=True)
def _extend_banded(lanes, cells, q_walk, t_walk, q_codes, t_codes, scheme, extension):
    """Extend once, any number of live rows.

    An anti-diagonal is stored relative to the best score before it, row ``i`` at ``_MARGIN + i``, with dead
    cells on both sides as far as the next two anti-diagonals look.
    """
    match, gap, xdrop = scheme.match, scheme.gap, scheme.xdrop
    q_length, t_length = q_walk.length, t_walk.length
    q_at, t_at = _MARGIN, len(t_codes) - _MARGIN - 1
    q_done, t_done = np.int64(0), np.int64(0)
    dead = splat(lanes, cells, -xdrop - match - 1)
    threshold = splat(lanes, cells, -xdrop)
    now, last, before = cells[0], cells[1], cells[2]
    for rows in (last, before):
        store(rows, _MARGIN - 1, dead)
        store(rows, _MARGIN - 1 + width(lanes), dead)
    last[_MARGIN] = 0
    last_first, last_end, before_first, before_end = 0, 1, _NONE, 0
    best, last_best, before_best, window_best = 0, 0, 0, 0
    best_d, best_row = 0, 0
    d, window_end = 0, 0
    window = scheme.stop_window if scheme.stop_window else _STRETCH
    while True:
        window_end += window
        reach = max(last_end, before_end) + window + width(lanes)
        q_done = _reach(q_walk, q_done, reach, q_codes, q_at, 1, _QUERY_UNKNOWN)
        t_done = _reach(t_walk, t_done, window_end, t_codes, t_at, -1, _TARGET_UNKNOWN)
        while d < window_end:
            d += 1
            first = max(min(last_first, before_first + 1), d - t_length)
            end = min(max(last_end, before_end) + 1, q_length + 1)
            if first >= end:
                return _report(extension, best, best_d, best_row)
            gap_score = splat(lanes, cells, last_best - best + gap)
            match_score = splat(lanes, cells, before_best - best + match)
            mismatch_score = splat(lanes, cells, before_best - best + scheme.mismatch)
            top = dead
            live_first, live_end = _NONE, 0
            for row in range(first, end, width(lanes)):
                at = _MARGIN + row
                q_bases = load(lanes, q_codes, q_at + row - 1)
                t_bases = load(lanes, t_codes, t_at + row + 1 - d)
                step_score = select(equal(q_bases, t_bases), match_score, mismatch_score)
                beside = maximum(load(lanes, last, at), load(lanes, last, at - 1))
                score = maximum(add(load(lanes, before, at - 1), step_score), add(beside, gap_score))
                live = at_least(score, threshold)
                store(now, at, select(live, score, dead))
                top = maximum(top, score)
                if any_lane(live):
                    live_first = min(live_first, row + lanes_below(live))
                    live_end = row + width(lanes) - lanes_above(live)
            store(now, _MARGIN + end, dead)
            now[_MARGIN + first - 1] = -xdrop - match - 1
            before, last, now = last, now, before
            before_first, before_end, last_first, last_end = last_first, last_end, live_first, min(live_end, end)
            if last_first >= end:
                last_first, last_end = _NONE, 0
            before_best, last_best = last_best, best
            rise = largest(top)
            if rise > 0:
                best += rise
                best_d, best_row = d, _first_with(lanes, last, rise, last_first)
        if scheme.stop_window and (best - window_best) * scheme.stop_rate < window * match:
            return _report(extension, best, best_d, best_row)
        window_best = best


@njit(nogil=True, cache=True)
def _first_with(lanes, cells, score, first):
    """The first row from ``first`` on with the given score."""
    wanted = splat(lanes, cells, score)
    row = first
    while True:
        below = lanes_below(equal(load(lanes, cells, _MARGIN + row), wanted))
        if below < width(lanes):
            return row + below
        row += width(lanes)
