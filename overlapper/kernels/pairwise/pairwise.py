"""Pairwise alignment of many pairs (definition in docs/algorithms/pairwise.md).

GPU twin: cuda/pairwise.py.

The matrix is computed by `pairwise_stripes`, the path through it followed by `pairwise_path`; here pairs are
laid out for them, ends chosen, and results collected.

The directions of a whole matrix take half a byte a cell. Where they do not fit `DIRECTION_WORDS`, rows are
saved on the way down, and from the end upwards one part after the other is computed again with its
directions; a part too large for that saves rows within it first. Memory is thus that of `SAVES` rows a level,
and the path is the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.growth import with_room
from overlapper.kernels.common.vectors import Lanes, width
from overlapper.kernels.common.walks import PackedReads
from overlapper.kernels.pairwise.pairwise_layout import (
    QUERY_END,
    QUERY_START,
    TARGET_END,
    TARGET_START,
    Pairs,
    Scheme,
    lay_out,
    room_for,
    set_edges,
    set_profile,
    with_band,
)
from overlapper.kernels.pairwise.pairwise_path import (
    COLUMN,
    DELETION,
    EQUAL,
    INSERTION,
    ROW,
    RUNS,
    SCORE,
    follow,
    push_run,
)
from overlapper.kernels.pairwise.pairwise_stripes import CODES, PLANES, Part, Scores, fill, stripe_stride
from overlapper.runtime.compile.cache import njit

NARROW, WIDE = Lanes(32), Lanes(16)
"""Lanes of 16 and of 32 bits."""
ENDS, STARTS, PATHS = range(3)
"""What is asked for: score and end; the start too; the path too."""
FIELDS = 7
"""Numbers of an alignment: score, query start and end, target start and end, equal pairs, columns. What was
not asked for is -1; intervals are those of the sequences as aligned."""
DIRECTION_WORDS = 1 << 24
"""32-bit words of directions that are held at once: those of 5 kb pairs are not computed twice."""
SAVES = 32
"""Rows that a level saves."""
_HIGHEST = np.int64(1) << 62


class Saves(NamedTuple):
    """A stack of rows above stripes: H and insertions by column; ``height`` has one item."""

    stripe: np.ndarray
    above: np.ndarray
    insertions: np.ndarray
    height: np.ndarray


def lowest_cell(bits: int, scheme: Scheme) -> int:
    """Return ``never`` for cells of ``bits`` bits: a pair, or the first two bases of a gap, still fit."""
    worst = max(0, -int(scheme.matrix.min()), -(scheme.gap_open + 2 * scheme.gap_extend))
    return -(2 ** (bits - 1)) + worst


def fits_cells(bits: int, q_lengths: np.ndarray, t_lengths: np.ndarray, scheme: Scheme) -> np.ndarray:
    """Return a mask of the pairs whose cells all fit ``bits`` bits.

    A cell scores at least what two gaps would; within a band, what the most pairs of bases there can be, and
    gaps besides, would. Columns are counted in cells, too.

    Parameters
    ----------
    bits : int
        16 or 32.
    q_lengths, t_lengths : ndarray of int64, shape (n,)
    scheme : Scheme

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    largest, smallest = int(scheme.matrix.max()), int(scheme.matrix.min())
    shorter = np.minimum(q_lengths, t_lengths)
    lowest = 3 * scheme.gap_open + scheme.gap_extend * (q_lengths + t_lengths + 1)
    if scheme.band >= 0:
        lowest = lowest + min(0, smallest) * shorter
    highest = max(0, largest) * (shorter + 1)
    steps = q_lengths + t_lengths + 64
    fits = (lowest - max(0, largest) > lowest_cell(bits, scheme)) & (highest < 2 ** (bits - 1))
    return fits & (steps < 2 ** (bits - 1))


def align_pairs(
    queries: PackedReads,
    targets: PackedReads,
    pairs: Pairs,
    scheme: Scheme,
    bits: int,
    wanted: int,
    room: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Align pairs, all in cells of one width.

    Parameters
    ----------
    queries, targets : PackedReads
    pairs : Pairs
        n pairs.
    scheme : Scheme
    bits : int
        16 or 32; all pairs must fit it (`fits_cells`).
    wanted : int
        `ENDS`, `STARTS` or `PATHS`.
    room : ndarray of uint32, optional
        What directions are written to, `DIRECTION_WORDS` by default; those of larger matrices are computed a
        part at a time. Nothing depends on it.

    Returns
    -------
    rows : ndarray of int64, shape (n, 7)
        As `FIELDS` says.
    cigar : ndarray of uint32
        BAM's operations along the query; none unless wanted.
    cigar_offsets : ndarray of int64, shape (n + 1,)
    """
    room = np.empty(DIRECTION_WORDS, np.uint32) if room is None else room
    lanes, cell = (NARROW, np.int16) if bits == 16 else (WIDE, np.int32)
    never = lowest_cell(bits, scheme)
    plain = _is_plain(scheme)
    scores = Scores(
        int(scheme.matrix[0, 0]), int(scheme.matrix[0, 1]), min(0, int(scheme.matrix.min())),
        scheme.gap_open, scheme.gap_extend, 0 if scheme.local else never, never,
    )  # fmt: skip
    longest = (int(queries.lengths[pairs.query].max()), int(targets.lengths[pairs.target].max()))
    work = room_for(lanes.count, cell, *longest)
    return _align_pairs(lanes, queries, targets, pairs, scheme, scores, plain, wanted, room, work)


def _is_plain(scheme: Scheme) -> bool:
    """Return whether known bases have one score if equal and one if not, and there is no band."""
    known = scheme.matrix[:4, :4]
    match, mismatch = known[0, 0], known[0, 1]
    simple = np.array_equal(known, np.where(np.eye(4, dtype=bool), match, mismatch))
    return simple and mismatch <= 0 and scheme.band < 0


@njit(nogil=True, cache=True)
def _align_pairs(lanes, queries, targets, pairs, scheme, scores, plain, wanted, words, memory):
    count = len(pairs.query)
    rows = np.full((count, FIELDS), -1, np.int64)
    cigar, cigar_offsets = np.empty(1024 if wanted == PATHS else 0, np.uint32), np.zeros(count + 1, np.int64)
    runs, state, best = np.empty(1024, np.uint32), np.zeros(5, np.int64), np.zeros(3, np.int64)
    held_words = len(words)
    profile = np.empty((CODES, 0), memory.query.dtype)
    for k in range(count):
        work, known = lay_out(lanes, queries, targets, pairs, k, memory)
        n, m = queries.lengths[pairs.query[k]], targets.lengths[pairs.target[k]]
        if scheme.band >= 0:
            work = with_band(work, min(0, m - n) - scheme.band, max(0, m - n) + scheme.band)
        set_edges(lanes, work, n, m, scheme, scores)
        part = Part(0, (n + width(lanes) - 1) // width(lanes), m, (scheme.free & QUERY_END) != 0)
        best[0], best[1], best[2] = 0 if scheme.local else _HIGHEST, work.padding, 0
        state[:] = 0
        simple = plain and known
        if not simple:
            if len(profile[0]) == 0:
                profile = np.empty((CODES, len(memory.query)), memory.query.dtype)
            set_profile(lanes, profile, work, part, scheme.matrix, scores.outside)
        words, runs = _align_pair(
            lanes, part, work, scheme, scores, simple, profile, wanted, held_words, words, best, state, runs,
            rows[k],
        )  # fmt: skip
        cigar_offsets[k + 1] = cigar_offsets[k]
        if wanted == PATHS:
            cigar = with_room(cigar, cigar_offsets[k], state[RUNS])
            for run in range(state[RUNS]):
                cigar[cigar_offsets[k] + run] = runs[state[RUNS] - 1 - run]
            cigar_offsets[k + 1] += state[RUNS]
    return rows, cigar[: cigar_offsets[count]].copy(), cigar_offsets


@njit(nogil=True, cache=True)
def _align_pair(
    lanes, part, work, scheme, scores, plain, profile, wanted, held_words, words, best, state, runs, row
):
    """Align one pair into ``row``; return the memory for directions and the runs, which may have grown."""
    saves = _room_for_saves(lanes, part, work, held_words if wanted != ENDS else _HIGHEST)
    ended = begun = False
    while part.columns > 0 and part.first < part.end:
        stripes, stride = part.end - part.first, stripe_stride(lanes, part, work)
        held = wanted != ENDS and (stripes == 1 or stripes * stride * PLANES <= held_words)
        if held:
            words = with_room(words, 0, stripes * stride * PLANES)
        directions = words[: stripes * stride * PLANES if held else 0].reshape(
            stripes if held else 0, stride, PLANES
        )
        spacing = stripes if held or wanted == ENDS else (stripes + SAVES - 1) // SAVES
        for first in range(part.first, part.end, spacing):
            if not held and wanted != ENDS:
                _save(saves, first, work)
            segment = Part(first, min(first + spacing, part.end), part.columns, part.closed)
            fill(lanes, segment, work, scores, plain, profile, held, directions, best)
        if not ended:
            ended = True
            _find_end(lanes, part, work, scheme, best, state, row)
        if wanted == ENDS:
            return words, runs
        if held:
            begun, runs = follow(lanes, part, work, scores, scheme.matrix, directions, state, runs)
        part = _part_before(lanes, saves, work, state, begun)
        best[0] = _HIGHEST
    if not ended:
        _find_end(lanes, part, work, scheme, best, state, row)
    if wanted != ENDS:
        runs = _begin(work, scheme, state, runs, row)
    return words, runs


@njit(nogil=True, cache=True)
def _room_for_saves(lanes, part, work, words):
    """Return memory for saved rows, given the ``words`` words of directions that are held."""
    levels, span = 0, part.end - part.first
    stride = stripe_stride(lanes, part, work)
    while span > 1 and span * stride * PLANES > words:
        levels, span = levels + 1, (span + SAVES - 1) // SAVES
    rows, cells = levels * SAVES, len(work.above) if levels else 0
    return Saves(
        np.zeros(rows, np.int64), np.empty((rows, cells), work.above.dtype),
        np.empty((rows, cells), work.above.dtype), np.zeros(1, np.int64),
    )  # fmt: skip


@njit(nogil=True, cache=True)
def _save(saves, stripe, work):
    """Save the row above a stripe."""
    top = saves.height[0]
    saves.stripe[top] = stripe
    saves.above[top] = work.above
    saves.insertions[top] = work.insertions
    saves.height[0] = top + 1


@njit(nogil=True, cache=True)
def _part_before(lanes, saves, work, state, begun):
    """Take the last row saved above where the path is; return the part between the two, or an empty one."""
    stripe = (state[ROW] - 1) // width(lanes)
    while saves.height[0] > 0 and state[ROW] > work.padding and state[COLUMN] > 0 and not begun:
        top = saves.height[0] - 1
        saves.height[0] = top
        if saves.stripe[top] <= stripe:
            work.above[:] = saves.above[top]
            work.insertions[:] = saves.insertions[top]
            return Part(saves.stripe[top], stripe + 1, state[COLUMN], False)
    return Part(0, 0, 0, False)


@njit(nogil=True, cache=True)
def _find_end(lanes, part, work, scheme, best, state, row):
    """Find the end of an alignment: score, row and column to ``best``, ``state`` and ``row``."""
    last = part.end * width(lanes)
    n, m = last - work.padding, part.columns
    if not scheme.local:
        best[0], best[1], best[2] = work.above[m], last, m
    if not scheme.local and scheme.free & QUERY_END:
        for i in range(max(1, m - work.high), min(n, m - work.low) + 1):
            score = work.right[work.padding + i]
            if score > best[0] or (score == best[0] and work.padding + i < best[1]):
                best[0], best[1] = score, work.padding + i
    if not scheme.local and scheme.free & TARGET_END:
        for j in range(max(1, n + work.low), min(m, n + work.high) + 1):
            if work.above[j] > best[0] or (work.above[j] == best[0] and j < best[2]):
                best[0], best[1], best[2] = work.above[j], last, j
    state[SCORE], state[ROW], state[COLUMN] = best
    row[0], row[2], row[4] = best[0], best[1] - work.padding, best[2]


@njit(nogil=True, cache=True)
def _begin(work, scheme, state, runs, row):
    """Lead a path that met row or column 0 to its begin; set what ``row`` says of it and return the runs."""
    q_start, t_start = state[ROW] - work.padding, state[COLUMN]
    if not scheme.local and q_start > 0 and not scheme.free & QUERY_START:
        runs = push_run(runs, state, INSERTION, q_start)
        q_start = 0
    if not scheme.local and t_start > 0 and not scheme.free & TARGET_START:
        runs = push_run(runs, state, DELETION, t_start)
        t_start = 0
    row[1], row[3], row[5], row[6] = q_start, t_start, 0, 0
    for run in runs[: state[RUNS]]:
        row[6] += run >> 4
        if run & 15 == EQUAL:
            row[5] += run >> 4
    return runs
