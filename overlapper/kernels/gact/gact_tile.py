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

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from overlapper.runtime.compile.cache import njit

LANES = 64
NO_BASE = 255
"""Code of a column that lies outside every tile; equals no base."""
LINEAR_PLANES, AFFINE_PLANES = 2, 4

_BYTE = ir.IntType(8)
_MASK = ir.IntType(LANES)
_VECTOR = ir.VectorType(_BYTE, LANES)
_ORDER = ir.VectorType(ir.IntType(32), LANES)
_ZERO = ir.Constant(_VECTOR, [0] * LANES)


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
    """Return whether all differences of these scores fit unsigned bytes."""
    first = scores.gap_open + scores.gap_extend
    return scores.match - 2 * first - scores.gap_open <= 255 and scores.mismatch >= 2 * first


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
    first = scores.gap_open + scores.gap_extend
    match, opening, edge = np.uint8(scores.match - 2 * first), np.uint8(-scores.gap_open), np.uint8(-first)
    work.x[0] = edge
    work.e[0] = 0
    stride = width + LANES - 1
    for stripe in range((height + LANES - 1) // LANES):
        top = stripe * LANES
        steps = width + min(LANES, height - top) - 1
        above, below = stripe & 1, 1 - (stripe & 1)
        if scores.gap_open == 0:
            _linear_stripe(
                work.rows[top:], work.columns, work.pair_scores, work.x[above], work.e[above],
                work.x[below], work.e[below], work.directions[stripe * stride * LINEAR_PLANES :],
                work.origin, steps, match, opening, edge,
            )  # fmt: skip
        else:
            _affine_stripe(
                work.rows[top:], work.columns, work.pair_scores, work.x[above], work.e[above],
                work.x[below], work.e[below], work.directions[stripe * stride * AFFINE_PLANES :],
                work.origin, steps, match, opening, edge,
            )  # fmt: skip


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


def _splat(builder: Any, byte: Any) -> Any:
    lane = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), byte, ir.IntType(32)(0))
    return builder.shuffle_vector(lane, lane, ir.Constant(_ORDER, [0] * LANES))


def _maximum(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.icmp_unsigned(">", a, b), a, b)


def _shift_in(builder: Any, vector: Any, source: Any) -> Any:
    """Move every lane up by one; lane 0 becomes that of ``source``."""
    return builder.shuffle_vector(vector, source, ir.Constant(_ORDER, [LANES, *range(LANES - 1)]))


def _at(builder: Any, base: Any, offset: Any, kind: Any) -> Any:
    return cgutils.pointer_add(builder, base, offset, kind.as_pointer())


def _emit_stripe(builder: Any, arrays: list[Any], scalars: list[Any], affine: bool) -> None:
    """Emit the loop over the steps of a stripe.

    The row below takes lane 63 of every step. Whole vectors are stored for it, each one byte before the
    last, so that of every vector lane 63 alone survives.
    """
    rows, columns, pair_scores, x_above, e_above, x_below, e_below, directions = arrays
    origin, steps, match, opening, edge = scalars
    match, opening, edge = (_splat(builder, byte) for byte in (match, opening, edge))
    bases = builder.load(_at(builder, rows, origin.type(0), _VECTOR), align=1)
    state = {
        name: cgutils.alloca_once_value(builder, start)
        for name, start in {"x": opening, "y": edge, "e": _ZERO, "f": _ZERO}.items()
    }
    planes = AFFINE_PLANES if affine else LINEAR_PLANES
    with cgutils.for_range(builder, steps) as loop:
        place = builder.sub(origin, loop.index)

        def load(array: Any) -> Any:
            return builder.load(_at(builder, array, place, _VECTOR), align=1)

        pair = builder.select(builder.icmp_unsigned("==", bases, load(columns)), match, load(pair_scores))
        x = _shift_in(builder, builder.load(state["x"]), load(x_above))
        y = builder.load(state["y"])
        a, b = x, y
        if affine:
            a = builder.add(x, _shift_in(builder, builder.load(state["e"]), load(e_above)))
            b = builder.add(y, builder.load(state["f"]))
        z = _maximum(builder, a, _maximum(builder, pair, b))
        new = {"x": builder.sub(z, y), "y": builder.sub(z, x)}
        bits = [builder.icmp_unsigned("==", z, pair), builder.icmp_unsigned("==", z, a)]
        below = [("x", x_below)]
        if affine:
            for name, gap in (("e", a), ("f", b)):
                new[name] = builder.sub(_maximum(builder, builder.add(gap, opening), z), z)
                bits.append(builder.icmp_unsigned("!=", new[name], _ZERO))
            below.append(("e", e_below))
        for name, value in new.items():
            builder.store(value, state[name])
        for name, array in below:
            builder.store(new[name], _at(builder, array, place, _VECTOR), align=1)
        for plane, bit in enumerate(bits):
            word = builder.add(builder.mul(loop.index, place.type(8 * planes)), place.type(8 * plane))
            builder.store(builder.bitcast(bit, _MASK), _at(builder, directions, word, _MASK), align=8)


def _stripe(affine: bool) -> Any:
    """Return the function that works on one stripe; its arguments are those of `_emit_stripe`."""

    def stripe(
        typingctx, rows, columns, pair_scores, x_above, e_above, x_below, e_below, directions,
        origin, steps, match, opening, edge,
    ):  # fmt: skip
        arrays = [rows, columns, pair_scores, x_above, e_above, x_below, e_below, directions]
        numbers = [types.int64, types.int64, types.uint8, types.uint8, types.uint8]

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            data = [
                context.make_array(kind)(context, builder, value).data
                for kind, value in zip(arrays, args, strict=False)
            ]
            _emit_stripe(builder, data, args[len(arrays) :], affine)
            return context.get_dummy_value()

        return types.void(*arrays, *numbers), codegen

    return intrinsic(stripe)


_linear_stripe = _stripe(affine=False)
_affine_stripe = _stripe(affine=True)
