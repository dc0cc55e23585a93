"""Edit paths of the gaps between anchors, which are collected and then found many at a time.

Gaps wait in a list; those of about the same size are then computed together (`kernels.consensus.gap_lanes`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common import edit_paths
from overlapper.kernels.common.inlining import always_inline, inner
from overlapper.kernels.common.packed import trailing_zeros
from overlapper.kernels.common.vectors import Lanes, bits_of, load
from overlapper.kernels.consensus.gap_lanes import (
    LONGEST,
    MOST_WORDS,
    WIDTH,
    WORD,
    PairLanes,
    find_paths,
    new_lanes,
    put_pair,
)
from overlapper.runtime.compile.cache import njit

U64 = np.uint64
FEW, FEW_BASES = 32, Lanes(32)
"""Bases of a gap that are compared at once, for one or no edit."""
ROOM = 8192
"""Most gaps that wait."""
STEP = 4
"""Gaps of a class have the same number of words of rows, and numbers of columns that differ by less."""
CLASSES = MOST_WORDS * (LONGEST // STEP + 1)
_TARGET, _ROWS, _READ, _COLUMNS, _AT, _OFFSET = range(6)
_FIELDS = 6
"""Fields of a gap: first base and number of bases on the target, and on the bases of all reads; where its
path goes; bases of its own read before it."""


class Aligned(NamedTuple):
    """A target, the reads that are aligned to it, and their paths."""

    target: np.ndarray
    bases: np.ndarray
    """`target`, `bases`: uint8; codes of the target, and of all reads."""
    starts: np.ndarray
    """int32; the paths, as in `edit_paths`; each counts bases from the start of its own read."""


class Gaps(NamedTuple):
    """Gaps that wait for their paths, and scratch memory."""

    matrix: edit_paths.Matrix
    """For those that are longer than `LONGEST`."""
    size: np.ndarray
    """int64, shape (1,); how many wait."""
    gap: np.ndarray
    """int64, shape (ROOM, 6); first base and number of bases of the target, and of the read; where the path
    is to be written, and the number of its first base of the read."""
    order: np.ndarray
    """int64, shape (ROOM,)."""
    first: np.ndarray
    """int64, shape (CLASSES + 1,); where each class starts in the order."""
    lanes: PairLanes


@njit(nogil=True, cache=True)
def new_gaps(longest):
    """Return memory for gaps of up to ``longest`` bases of each sequence."""
    return Gaps(
        edit_paths.new_matrix(longest), np.zeros(1, np.int64), np.empty((ROOM, _FIELDS), np.int64),
        np.empty(ROOM, np.int64), np.empty(CLASSES + 1, np.int64), new_lanes(),
    )  # fmt: skip


@always_inline
def add_gap(gaps, aligned, t_start, t_end, first, r_start, r_end, at):
    """Add a gap, whose path `finish_gaps` writes to ``aligned.starts[at + t_start : at + t_end]`` at last.

    Parameters
    ----------
    gaps : Gaps
    aligned : Aligned
        The same for all gaps that wait.
    t_start, t_end, r_start, r_end : int
        Half open, at most ``gaps.matrix.longest`` bases each; those of the read count from its start.
    first : int
        Where the read starts in ``aligned.bases``.
    at : int
    """
    target, bases, starts = aligned
    m, n = t_end - t_start, r_end - r_start
    if edit_paths.plain_path(m, n, starts, at + t_start, r_start):
        return
    within = t_start + FEW < len(target) and first + r_start + FEW < len(bases)
    if within and max(m, n) <= FEW:
        b_start = first + r_start
        if _one_edit(target, t_start, m, bases, b_start, n, starts, at + t_start, r_start):
            return
    if max(m, n) > LONGEST:
        edit_paths.edit_path(
            target, t_start, t_end, bases[first : first + r_end], r_start, r_end, gaps.matrix, starts, at
        )
        return
    if gaps.size[0] == ROOM:
        finish_gaps(gaps, aligned)
    gap = gaps.gap[gaps.size[0]]
    gap[_TARGET], gap[_ROWS], gap[_READ], gap[_COLUMNS] = t_start, m, first + r_start, n
    gap[_AT], gap[_OFFSET] = at + t_start, r_start
    gaps.size[0] += 1


@always_inline
def _one_edit(target, t_start, m, bases, b_start, n, starts, at, offset):
    """Write the path of a gap of at most one edit; return whether it is one.

    Of equal lengths, one edit is a substitution. Else it is a gap of one base, which stands behind all bases
    that are equal from the start: a path that is traced from the end takes it as soon as it can.
    """
    if abs(m - n) > 1:
        return False
    shorter, shifted = min(m, n), np.int64(m)
    unlike = ~bits_of(load(FEW_BASES, target, t_start) == load(FEW_BASES, bases, b_start))
    if m == n:
        unlike &= (1 << shorter) - 1
        if unlike & (unlike - 1):
            return False
    else:
        before = min(trailing_zeros(U64(unlike)), shorter)
        t_behind, b_behind = t_start + np.int64(m > n), b_start + np.int64(n > m)
        unlike = ~bits_of(load(FEW_BASES, target, t_behind) == load(FEW_BASES, bases, b_behind))
        if (unlike & ((1 << shorter) - 1)) >> before:
            return False
        shifted = before + np.int64(m > n)
    for row in range(m):
        starts[U64(at + row)] = offset + row + (n - m if row >= shifted else 0)
    return True


@inner
def finish_gaps(gaps, aligned):
    """Find and write the paths of all waiting gaps."""
    target, bases, starts = aligned
    size, lanes = gaps.size[0], gaps.lanes
    _sort_by_class(gaps.gap, size, gaps.first, gaps.order)
    for begin in range(0, size, WIDTH):
        used = min(WIDTH, size - begin)
        rows = columns = none = np.int64(0)
        for lane in range(WIDTH):
            t_start = height = r_start = width = none
            if lane < used:
                gap = gaps.gap[gaps.order[begin + lane]]
                t_start, height, r_start, width = gap[_TARGET], gap[_ROWS], gap[_READ], gap[_COLUMNS]
                rows, columns = max(rows, height), max(columns, width)
            put_pair(lanes, lane, target, t_start, height, bases, r_start, width)
        find_paths(lanes, rows, columns)
        for lane in range(used):
            _write(lanes.before, lane, gaps.gap[gaps.order[begin + lane]], starts)
    gaps.size[0] = 0


@inner
def _sort_by_class(gap, size, first, order):
    """Sort the numbers of the gaps by class."""
    first[:] = 0
    for g in range(size):
        first[_class_of(gap[g]) + 1] += 1
    for c in range(CLASSES):
        first[c + 1] += first[c]
    for g in range(size):
        c = _class_of(gap[g])
        order[first[c]] = g
        first[c] += 1


@inner
def _class_of(gap):
    words = (gap[_ROWS] - 1) // WORD
    return words * (LONGEST // STEP + 1) + gap[_COLUMNS] // STEP


@inner
def _write(before, lane, gap, starts):
    """Write the path of a lane."""
    at, offset = U64(gap[_AT]), gap[_OFFSET]
    for row in range(U64(gap[_ROWS])):
        starts[at + row] = offset + before[row * U64(WIDTH) + U64(lane)]
