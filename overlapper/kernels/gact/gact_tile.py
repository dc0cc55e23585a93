"""One GACT tile: the way out of every cell, 64 rows at a time in byte-wide vector lanes.

GPU twin: cuda/gact_tile.py.

The recurrence (docs/algorithms/gact.md) runs from the far corner of a tile, here row 0 and column 0, to the
anchor, here the last row and column. Instead of scores it carries their differences, which fit a byte
whatever the size of the tile (Suzuki and Kasahara 2018). Let ``H`` be the score of a cell, ``s`` that of
its pair of bases, ``o`` what opening a gap costs (0 when gaps are linear) and ``g`` the score of the first
base of a gap. Stored are ::

    x = H[i, j] - H[i, j-1] - g          e = what going on with a gap to row i+1 gains over a new one
    y = H[i, j] - H[i-1, j] - g          f = the same for column j+1

None of them is negative. With ``x, e`` taken from row i-1 and ``y, f`` from column j-1, a cell is ::

    a = x + e,   b = y + f,   z = max(s - 2g, a, b)
    x = z - y,   y = z - x,   e = max(a + o - z, 0),   f = max(b + o - z, 0)

Rows are worked on in stripes of 64. Lane ``r`` of step ``t`` is row ``r`` of the stripe and column
``t - r``: the 64 cells lie on one anti-diagonal and need nothing but the step before. What the traceback
needs is one bit a cell and plane: plane 0 says that the pair of bases gave ``z``, plane 1 that row i-1 did
(``z == a``), and with affine gaps planes 2 and 3 that ``e`` and ``f`` are above 0.

Lanes whose column is still negative must not disturb the edge of the tile, where all scores are 0. They
rest in a state that reproduces itself (x = o, y = -g, e = f = 0) because their pair scores ``o - g``; it is
read from the same place as the score of a mismatch, so it costs nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.vectors import Lanes, bits_of, load, maximum, select, shift_in, splat, store
from overlapper.runtime.compile.cache import njit

U64 = np.uint64
BYTES, LANES = Lanes(64), 64
NO_BASE = 255
"""Code of a column that lies outside every tile; equals no base."""
LINEAR_PLANES, AFFINE_PLANES = 2, 4


class Scores(NamedTuple):
    """Scores of a pair of equal bases, of unequal ones, of opening a gap, and of every base of it."""

    match: int
    mismatch: int
    gap_open: int
    gap_extend: int


class Workspace(NamedTuple):
    """Memory that tiles of up to ``tile`` x ``tile`` bases share.

    ``columns``, ``pair_scores``, ``x`` and ``e`` are stored backwards: column ``j`` is at index ``origin -
    j``.
    """

    origin: int
    rows: np.ndarray
    columns: np.ndarray
    pair_scores: np.ndarray
    x: np.ndarray
    e: np.ndarray
    directions: np.ndarray


@njit(nogil=True, cache=True)
def workspace(tile, scores):
    """Return the memory for tiles of up to ``tile`` x ``tile`` bases."""
    stripes = (tile + LANES - 1) // LANES
    origin = tile + LANES - 1
    first = scores.gap_open + scores.gap_extend
    pair_scores = np.full(origin + LANES, (scores.mismatch - 2 * first) & 255, np.uint8)
    pair_scores[origin + 1 :] = (-scores.gap_open - first) & 255
    planes = LINEAR_PLANES if scores.gap_open == 0 else AFFINE_PLANES
    return Workspace(
        origin,
        np.zeros(stripes * LANES, np.uint8),
        np.full(origin + LANES, NO_BASE, np.uint8),
        pair_scores,
        np.zeros((2, origin + LANES), np.uint8),
        np.zeros((2, origin + LANES), np.uint8),
        np.zeros(stripes * origin * planes, np.uint64),
    )


@njit(nogil=True, cache=True)
def fits_bytes(scores):
    """Return whether all differences of these scores fit 7 bits."""
    first = scores.gap_open + scores.gap_extend
    return scores.match - 2 * first - scores.gap_open <= 127 and scores.mismatch >= 2 * first


@njit(nogil=True, cache=True)
def narrow_tile(work, height, width, scores):
    """Fill ``work.directions`` for the bases in ``work.rows`` and ``work.columns``; needs `fits_bytes`.

    Parameters
    ----------
    work : Workspace
        The word of stripe ``k``, step ``t`` and plane ``p`` is at ``(k * (width + 63) + t) * planes + p``.
    height, width : int
        Rows and columns of the tile.
    scores : Scores
    """
    work.x[0] = -scores.gap_open - scores.gap_extend
    work.e[0] = 0
    stride = width + LANES - 1
    for stripe in range((height + LANES - 1) // LANES):
        top = stripe * LANES
        steps = width + min(LANES, height - top) - 1
        above, below = work.x[stripe & 1], work.x[1 - (stripe & 1)]
        if scores.gap_open == 0:
            at = stripe * stride * LINEAR_PLANES
            _fill_stripe(work, top, steps, at, above, below, None, None, scores)
        else:
            at = stripe * stride * AFFINE_PLANES
            _fill_stripe(
                work, top, steps, at, above, below, work.e[stripe & 1], work.e[1 - (stripe & 1)], scores
            )


@njit(nogil=True, cache=True)
def wide_tile(work, height, width, scores):
    """Do what `narrow_tile` does, for any scores, with 64-bit scores one cell at a time."""
    opening, extend = scores.gap_open, scores.gap_extend
    planes = LINEAR_PLANES if opening == 0 else AFFINE_PLANES
    stride = width + LANES - 1
    work.directions[:] = 0
    never = np.int64(-1) << 62
    above = np.zeros(width + 1, np.int64)
    gap_above = np.full(width + 1, never, np.int64)
    for i in range(height):
        diagonal, left, gap_left = np.int64(0), np.int64(0), never
        bit = np.uint64(1) << np.uint64(i % LANES)
        for j in range(width):
            equal = work.rows[i] == work.columns[work.origin - j]
            pair = diagonal + (scores.match if equal else scores.mismatch)
            row_gap = max(above[j + 1] + opening, gap_above[j + 1]) + extend
            column_gap = max(left + opening, gap_left) + extend
            best = max(pair, row_gap, column_gap)
            word = (i // LANES * stride + j + i % LANES) * planes
            if best == pair:
                work.directions[word] |= bit
            if best == row_gap:
                work.directions[word + 1] |= bit
            if planes == AFFINE_PLANES:
                if row_gap > best + opening:
                    work.directions[word + 2] |= bit
                if column_gap > best + opening:
                    work.directions[word + 3] |= bit
            diagonal = above[j + 1]
            above[j + 1] = left = best
            gap_above[j + 1], gap_left = row_gap, column_gap


@inner
def _fill_stripe(work, top, steps, at, above, below, e_above, e_below, scores):
    """Work on the stripe of 64 rows from ``top`` on; scores are linear where there is no ``e_above``.

    Words of directions go to ``at`` and on. The row below takes lane 63 of every step. Whole vectors are
    stored for it, each one byte before the last, so that of every vector lane 63 alone survives.
    """
    columns, pair_scores, directions, planes = work.columns, work.pair_scores, work.directions, LINEAR_PLANES
    first = scores.gap_open + scores.gap_extend
    bases = load(BYTES, work.rows, top)
    match, none = splat(BYTES, columns, scores.match - 2 * first), splat(BYTES, columns, 0)
    opening, y = splat(BYTES, columns, -scores.gap_open), splat(BYTES, columns, -first)
    x, e, f = opening, none, none
    for step in range(steps):
        place = work.origin - step
        pair = select(bases == load(BYTES, columns, place), match, load(BYTES, pair_scores, place))
        x = shift_in(x, load(BYTES, above, place))
        a, b = x, y
        if e_above is not None:
            planes = AFFINE_PLANES
            a, b = x + shift_in(e, load(BYTES, e_above, place)), y + f
        z = maximum(a, maximum(pair, b))
        word = U64(at + step * planes)
        directions[word] = U64(bits_of(z == pair))
        directions[word + U64(1)] = U64(bits_of(z == a))
        x, y = z - y, z - x
        store(below, place, x)
        if e_above is not None:
            e = maximum(a + opening, z) - z
            f = maximum(b + opening, z) - z
            directions[word + U64(2)] = U64(bits_of(e > none))
            directions[word + U64(3)] = U64(bits_of(f > none))
            store(e_below, place, e)
