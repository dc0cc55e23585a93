"""Pairwise alignment, the matrix: stripes of as many rows as a vector has lanes.

A part of `pairwise`, whose GPU twin is cuda/pairwise.py.

Rows are query bases, columns target bases. Lane ``r`` of step ``t`` of a stripe is row ``r`` of the stripe
and column ``t - r``: the cells of a vector lie on one anti-diagonal and need nothing but the two steps
before. The bottom row of a stripe, H and the insertions that leave it, goes through memory to the next one.

The first stripe is filled up with padding rows above row 1, the last of which holds row 0: so the last row of
the matrix is the last lane of the last stripe. Rows are counted with them below: row ``i`` of the matrix is
row ``padding + i``. Lanes that have not reached column 1 are held at their value of column 0; those
beyond the last column compute something that no cell of the matrix depends on.

Kernels exist for cells of 16 and 32 bits, and either with a profile or without one. Without, pairs of bases
score match or mismatch; with one, they score what it says, and bands are heeded.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.vectors import (
    bits_of,
    lane,
    largest,
    load,
    maximum,
    rotate_up,
    select,
    splat,
    store,
    width,
)
from overlapper.runtime.compile.cache import njit

PLANES = 4
"""Bits that a cell leaves for its path: H is the pair's; H is the insertion's; an insertion, a deletion that
goes on from here gains over a new one."""
CODES = 5
QUERY_PAD, TARGET_PAD = 6, 7
"""Codes beyond the ends of sequences; they equal nothing."""
NO_BAND = 1 << 40
"""Diagonals that no matrix has."""


class Scores(NamedTuple):
    """What `fill` adds up.

    ``outside`` is what a pair beyond the sequences scores, not above 0; ``never`` is below every cell;
    ``floor`` is 0 in local alignments, else ``never``.
    """

    match: int
    mismatch: int
    outside: int
    gap_open: int
    gap_extend: int
    floor: int
    never: int


class Work(NamedTuple):
    """Memory for one pair; arrays hold cells.

    ``query`` and ``left``, H of column 0, are indexed by row, ``query`` from 0 on; ``target`` is held
    backwards, its base ``j`` at ``origin - j``. ``above`` and ``insertions`` are, by column, H of the last
    row computed and the insertions that enter the next one. ``right`` is H of the last column by row.
    ``ramp`` holds 0, 1, 2, ...; ``corner`` is room for as many vectors as a vector has lanes. Diagonals
    ``low`` to ``high`` are in the band.
    """

    query: np.ndarray
    target: np.ndarray
    left: np.ndarray
    right: np.ndarray
    above: np.ndarray
    insertions: np.ndarray
    ramp: np.ndarray
    corner: np.ndarray
    origin: int
    padding: int
    low: int
    high: int


class Part(NamedTuple):
    """Stripes ``[first, end)`` up to column ``columns``; ``closed`` if the last column is to be kept."""

    first: int
    end: int
    columns: int
    closed: bool


@njit(nogil=True, cache=True)
def stripe_columns(lanes, stripe, part, work):
    """Return the columns ``(before, last]`` that a stripe computes: those its band touches, and one more."""
    top = stripe * width(lanes) - work.padding
    before = min(max(0, top + work.low), part.columns)
    return before, max(before, min(part.columns, top + width(lanes) + work.high + 1))


@njit(nogil=True, cache=True)
def stripe_stride(lanes, part, work):
    """Return room for the steps of any stripe of a part."""
    widest = 0
    for stripe in range(part.first, part.end):
        before, last = stripe_columns(lanes, stripe, part, work)
        widest = max(widest, last - before)
    return widest + width(lanes)


@njit(nogil=True, cache=True)
def fill(lanes, part, work, scores, plain, profile, held, directions, best):
    """Compute stripes of the matrix from the row above them.

    Parameters
    ----------
    lanes : Lanes
    part : Part
    work : Work
        ``above`` and ``insertions`` are those of the row above the part, and afterwards of its last row.
    scores : Scores
    plain : bool
        Whether to score pairs by match and mismatch; else by the profile.
    profile : ndarray of cells, shape (5, rows)
        Scores of each row with each base.
    held : bool
        Whether to keep directions.
    directions : ndarray of uint32, shape (stripes, stride, 4)
        Gets the `PLANES` of every step, bit ``r`` being lane ``r``.
    best : ndarray of int64, shape (3,)
        Score, row and column of the best cell so far by the rule of local alignments; kept up.
    """
    for stripe in range(part.first, part.end):
        if held and plain:
            _fill_stripe(lanes, stripe, part, work, scores, None, directions[stripe - part.first], best)
        elif held:
            _fill_stripe(lanes, stripe, part, work, scores, profile, directions[stripe - part.first], best)
        elif plain:
            _fill_stripe(lanes, stripe, part, work, scores, None, None, best)
        else:
            _fill_stripe(lanes, stripe, part, work, scores, profile, None, best)


@njit(nogil=True, cache=True)
def _fill_stripe(lanes, stripe, part, work, scores, profile, directions, best):
    top = stripe * width(lanes)
    before, last = stripe_columns(lanes, stripe, part, work)
    cells, target, above, insertions = work.left, work.target, work.above, work.insertions
    origin = work.origin
    padding = work.padding if stripe == 0 else 0

    never = splat(lanes, cells, scores.never)
    floor = splat(lanes, cells, scores.floor)
    first_gap = splat(lanes, cells, scores.gap_open + scores.gap_extend)
    next_gap = splat(lanes, cells, scores.gap_extend)
    one = splat(lanes, cells, 1)
    ramp = load(lanes, work.ramp, 0)
    lane_0 = ramp == splat(lanes, cells, 0)
    padded = splat(lanes, cells, padding) > ramp
    row_0 = splat(lanes, cells, padding - 1) == ramp
    query = load(lanes, work.query, top)
    if profile is None:
        match, mismatch = splat(lanes, cells, scores.match), splat(lanes, cells, scores.mismatch)
    else:
        score_a, score_c = load(lanes, profile[0], top), load(lanes, profile[1], top)
        score_g, score_t = load(lanes, profile[2], top), load(lanes, profile[3], top)
        score_n, outside = load(lanes, profile[4], top), splat(lanes, cells, scores.outside)
        code_a, code_c = splat(lanes, cells, 0), splat(lanes, cells, 1)
        code_g, code_t = splat(lanes, cells, 2), splat(lanes, cells, 3)
        code_n = splat(lanes, cells, 4)
        twice = ramp + ramp

    edge = load(lanes, work.left, top + 1) if before == 0 else never
    h, deletion, insertion = edge, edge + first_gap, never
    up = select(lane_0, load(lanes, above, before), rotate_up(h))
    highest, reached, now = floor, splat(lanes, cells, 0), splat(lanes, cells, 0)

    for t in range(last - before + width(lanes) - 1):
        j = before + t + 1
        bases = load(lanes, target, origin + 1 - j)
        diagonal = up
        up, insertion = rotate_up(h), rotate_up(insertion)
        if t >= width(lanes):
            above[j - width(lanes)] = lane(up, 0)
            insertions[j - width(lanes)] = lane(insertion, 0)
        up = select(lane_0, load(lanes, above, j), up)
        insertion = select(lane_0, load(lanes, insertions, j), insertion)
        if profile is None:
            step = select(query == bases, match, mismatch)
        else:
            step = select(bases == code_n, score_n, outside)
            step = select(bases == code_t, score_t, step)
            step = select(bases == code_g, score_g, step)
            step = select(bases == code_c, score_c, step)
            step = select(bases == code_a, score_a, step)
        paired = diagonal + step
        h = maximum(maximum(paired, deletion), maximum(insertion, floor))
        if profile is not None:
            # Lane r is diagonal j - 1 - 2 r - top of the matrix with its padding.
            diagonal_0 = j - 1 - top + work.padding
            inside = (twice >= splat(lanes, cells, max(diagonal_0 - work.high, -1))) & (
                splat(lanes, cells, min(diagonal_0 - work.low, 2 * width(lanes))) >= twice
            )
            h = select(inside, h, never)
        if t < width(lanes):
            h = select(splat(lanes, cells, t) >= ramp, h, edge)
        if padding:
            row_0_cell = splat(lanes, cells, above[max(j + 1 - padding, before)])
            h = select(row_0, row_0_cell, select(padded, never, h))
        new_gap = h + first_gap
        longer_insertion, longer_deletion = insertion + next_gap, deletion + next_gap
        if directions is not None:
            directions[t, 0] = bits_of(h == paired)
            directions[t, 1] = bits_of(h == insertion)
            directions[t, 2] = bits_of(longer_insertion > new_gap)
            directions[t, 3] = bits_of(longer_deletion > new_gap)
        insertion, deletion = maximum(longer_insertion, new_gap), maximum(longer_deletion, new_gap)
        reached = select(h > highest, now, reached)
        highest = maximum(h, highest)
        now = now + one
        if part.closed and j >= part.columns:
            store(work.corner, (j - part.columns) * width(lanes), h)

    above[0] = work.left[top + width(lanes)]
    if last > before:
        above[last], insertions[last] = lane(h, width(lanes) - 1), lane(insertion, width(lanes) - 1)
    if part.closed and last == part.columns:
        for r in range(width(lanes)):
            work.right[top + 1 + r] = work.corner[r * width(lanes) + r]
    if largest(highest) >= best[0]:
        _keep_best(lanes, top, before, highest, reached, work.corner, best)


@njit(nogil=True, cache=True)
def _keep_best(lanes, top, before, highest, reached, scratch, best):
    """Hold the lanes of a stripe, each with its first best column, against the best cell."""
    store(scratch, 0, highest)
    store(scratch, width(lanes), reached)
    for r in range(width(lanes)):
        score, column = np.int64(scratch[r]), before + 1 + scratch[width(lanes) + r] - r
        if score > best[0] or (score == best[0] and score > 0 and column < best[2]):
            best[0], best[1], best[2] = score, top + 1 + r, column
