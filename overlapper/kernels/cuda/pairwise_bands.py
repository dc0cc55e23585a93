"""Paths of alignments whose score and end are known, an alignment a thread.

A path that ends there with that score stays near the diagonal of its end: every base of a gap costs, and no
pair of bases brings more than the highest score of the matrix (`band_of`). Only that band is computed, by the
same recurrence. Cells outside count as impossible, which changes no cell of a path that brings the score, and
no choice on it: what was the better or an equal way there brings the score as well, so it lies in the band.

    rows  1 to 16   ───────────
    rows 17 to 32        ───────────       a block of rows, column after column; its lowest row
    rows 33 to 48             ───────────  waits in memory for the next block

Rows of a block are in registers. Directions are those of `pairwise_wide`, a word a column of a block; those
of the threads of a warp lie side by side, so that they are written together. They are followed at once, by
the same thread.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import cuda, int32, int64, uint32, uint64

from overlapper.kernels.cpu.pairwise_layout import QUERY_START, TARGET_START
from overlapper.kernels.cuda.pairwise_bases import code_in, sixteen_bases
from overlapper.kernels.cuda.pairwise_packed import look_up
from overlapper.kernels.cuda.pairwise_path import OPERATIONS, follower
from overlapper.kernels.cuda.pairwise_wide import NEVER, OUTSIDE, push_sign

ROWS = 16
"""Rows of a block: their flags fill a word."""
REGISTERS = 128
"""Of a thread, at most: four warps to a scheduler are faster than three, though some spill."""
LARGEST_ROOM = 1 << 16
"""Words of directions that a thread works with at most; larger matrices are for groups of threads."""
_ANY_GAP = 1 << 28
"""Bases of a gap that costs nothing."""
_SIZES = 64
"""Classes of numbers of blocks, and of columns of a block."""
TOO_LARGE = _SIZES * _SIZES - 1
"""Class of pairs that take more than `LARGEST_ROOM`."""


@cuda.jit(device=True, forceinline=True)
def _gap_bases(slack, cost):
    """Return how many bases a gap has at most that takes so much of the score, at that cost a base."""
    if slack < int32(0):
        return int32(0)
    return int32(slack // cost) if cost > int32(0) else int32(_ANY_GAP)


@cuda.jit(device=True)
def band_of(score, row, column, highest, gap_open, gap_extend):
    """Return the lowest and the highest diagonal, column less row, of paths with that score and end.

    A path as far as ``k`` diagonals from that of its end has ``k`` bases of gaps on the way there, and pairs
    no more bases than either sequence has left.
    """
    q_slack = int32(highest * row + gap_open - score)
    t_slack = int32(highest * column + gap_open - score)
    cost, lost = int32(-gap_extend), int32(highest - gap_extend)
    deletions = min(_gap_bases(q_slack, cost), _gap_bases(t_slack, lost))
    insertions = min(_gap_bases(t_slack, cost), _gap_bases(q_slack, lost))
    diagonal = int32(column - row)
    return max(int32(diagonal - deletions), int32(-row)), min(int32(diagonal + insertions), column)


@cuda.jit(device=True, forceinline=True)
def _class_of(blocks, columns):
    """Return the class of pairs of so many blocks, and columns of a block: by blocks, then by columns.

    Up to 15 blocks have classes of their own, more have four to an octave; columns have eight to an octave up
    to 2047, then one.
    """
    if blocks >= int32(16):
        octave = int32(int32(31) - cuda.clz(blocks))
        blocks = int32((octave << int32(2)) + ((blocks >> (octave - int32(2))) & int32(3)))
    octave = int32(int32(31) - cuda.clz(columns))
    number = int32(int32(45) + octave)
    if octave < int32(11):
        number = int32((octave - int32(4)) * int32(8) + ((columns >> (octave - int32(3))) & int32(7)))
    return int32(blocks * int32(_SIZES) + number)


def largest_of_classes() -> tuple[np.ndarray, np.ndarray]:
    """Return the most blocks of each class, and the most columns of a block (int64)."""
    number = np.arange(_SIZES)
    blocks = np.where(number < 16, number, (5 + number % 4 << np.maximum(number // 4 - 2, 0)) - 1)
    octave = np.where(number < 56, 4 + number // 8, number - 45)
    columns = np.where(number < 56, (9 + number % 8 << np.minimum(octave, 16) - 3) - 1, (2 << octave) - 1)
    return np.repeat(blocks, _SIZES), np.tile(columns, _SIZES)


@cuda.jit(cache=True)
def plan_paths(found, highest, gap_open, gap_extend, keep, numbers, path_words, runs):
    """Tell how much room paths take.

    Parameters
    ----------
    found : device array of int32, shape (8, n)
        Score and end of each pair. Of pairs without a path, start and counts are set.
    highest, gap_open, gap_extend : int32
        The highest score of the matrix, 0 at least.
    keep : bool
        Whether operations are to be kept.
    numbers : device array of int32, shape (n,)
        Gets the class of each pair: 0 of those without a path, `TOO_LARGE`, or as `largest_of_classes` tells.
    path_words : device array of int32, shape (n,)
        Gets words of operations.
    runs : device array of int32, shape (n,)
        Gets 0.
    """
    for pair in range(cuda.grid(1), len(numbers), cuda.gridsize(1)):
        score, row, column = found[0, pair], found[2, pair], found[4, pair]
        numbers[pair], path_words[pair], runs[pair] = int32(0), int32(0), int32(0)
        if row > int32(0) and column > int32(0):
            low, high = band_of(score, row, column, highest, gap_open, gap_extend)
            blocks = int32(int32(row + int32(ROWS - 1)) // int32(ROWS))
            columns = int32(high - low + int32(ROWS))
            fits = int64(blocks) * int64(columns) <= int64(LARGEST_ROOM)
            numbers[pair] = _class_of(blocks, columns) if fits else int32(TOO_LARGE)
            if keep:
                path_words[pair] = int32(row + column + int32(OPERATIONS - 1)) // int32(OPERATIONS)
        elif row == int32(0):
            found[1, pair], found[3, pair], found[5, pair], found[6, pair] = row, row, row, row


@cuda.jit(device=True, forceinline=True)
def _first_column(block, low):
    return max(int32(1), int32(block * int32(ROWS) + int32(1) + low))


@cuda.jit(device=True, forceinline=True)
def _word_at(words, at, low, columns, row, column):
    block = int32(row - int32(1)) // int32(ROWS)
    place = int64(block) * columns + int64(column - _first_column(block, low))
    return words[at + int64(32) * place] >> uint64(int32(block * int32(ROWS) + int32(ROWS)) - row)


@cache
def banded_kernel(local: bool, bytes_fit: bool):
    """Return the kernel; ``bytes_fit`` tells whether scores fit bytes."""
    follow = follower(local, _word_at)

    @cuda.jit(device=True, forceinline=True)
    def edge(free, length, gap_open, gap_extend):
        """Return H of row 0 or column 0."""
        if local or free or length == int32(0):
            return int32(0)
        return int32(gap_open + length * gap_extend)

    @cuda.jit(cache=True, max_registers=REGISTERS)
    def align_in_bands(
        q_words, q_unknown, q_offsets, q_lengths, t_words, t_unknown, t_offsets, t_lengths,
        query, target, q_flags, t_flags, order, table, profile_known, profile_n, gap_open, gap_extend, free,
        highest, blocks_room, columns_room, slots, rows_between, words, found, keep, paths, path_offsets,
        runs,
    ):  # fmt: skip
        """Align pairs ``order`` and follow their paths.

        There is room for ``slots`` threads, a multiple of 32: ``words`` for directions, of ``blocks_room``
        blocks of ``columns_room`` columns, and ``rows_between`` for the lowest row of a block. ``found`` and
        ``paths`` are as in `follower`.
        """
        h, deletion = cuda.local.array(ROWS, int32), cuda.local.array(ROWS, int32)
        profile, profile_2 = cuda.local.array(ROWS, uint32), cuda.local.array(ROWS, uint32)
        gap_1, gap_n = int32(gap_open + gap_extend), int32(gap_extend)
        q_start, t_start = (free & QUERY_START) != 0, (free & TARGET_START) != 0
        thread = int64(cuda.grid(1))
        if thread >= slots:
            return
        at_between = (thread >> int64(5)) * int64(32) * columns_room + (thread & int64(31))
        at = at_between + (thread >> int64(5)) * int64(32) * columns_room * (blocks_room - int64(1))
        for item in range(thread, len(order), slots):
            pair = order[item]
            q, t = query[pair], target[pair]
            n, m = int32(q_lengths[q]), int32(t_lengths[t])
            row, column = found[2, pair], found[4, pair]
            low, high = band_of(found[0, pair], row, column, highest, gap_open, gap_extend)
            above_first, above_last = int32(1), column
            blocks = int32(row + int32(ROWS - 1)) // int32(ROWS)
            for block in range(blocks):
                first_row = int32(int32(block) * int32(ROWS))
                first = _first_column(int32(block), low)
                last = min(column, int32(first_row + int32(ROWS) + high))
                bases, known = sixteen_bases(q_words, q_unknown, q_offsets[q], n, q_flags[pair], first_row)
                for r in range(ROWS):
                    position = int32(first_row + int32(r))
                    code = int32(OUTSIDE)
                    if position < row:
                        code = code_in(bases, known, int32(r))
                    if bytes_fit:
                        profile[r], profile_2[r] = profile_known[code], profile_n[code]
                    else:
                        profile[r] = uint32(code * int32(5))
                    h[r] = int32(NEVER)
                    if first == int32(1):
                        h[r] = edge(q_start, int32(position + int32(1)), gap_open, gap_extend)
                    deletion[r] = int32(h[r] + gap_1)
                if first == int32(1):
                    diagonal_0 = edge(q_start, first_row, gap_open, gap_extend)
                elif block == 0:
                    diagonal_0 = edge(t_start, int32(first - int32(1)), gap_open, gap_extend)
                else:
                    place = at_between + int64(32) * int64(first - int32(1) - above_first)
                    diagonal_0 = int32(rows_between[place] >> uint64(32))
                waiting = uint64(0)
                if block > 0 and first <= above_last:
                    waiting = rows_between[at_between + int64(32) * int64(first - above_first)]
                for j in range(first, last + 1):
                    # Threads of a warp count from their own first column, so that all cut bases together.
                    at_base = int32(int32(j) - first)
                    if at_base & int32(15) == int32(0):
                        bases, known = sixteen_bases(
                            t_words, t_unknown, t_offsets[t], m, t_flags[pair], int32(int32(j) - int32(1))
                        )
                    selector = uint32(code_in(bases, known, at_base))
                    if bytes_fit:
                        selector = uint32(uint32(selector * uint32(0x1111)) + uint32(0x8880))
                    above, insertion = int32(NEVER), int32(NEVER)
                    if block == 0:
                        above = edge(t_start, int32(j), gap_open, gap_extend)
                        insertion = int32(above + gap_1)
                    elif j <= above_last:
                        above, insertion = int32(waiting >> uint64(32)), int32(uint32(waiting))
                        if j < above_last:  # it takes long to come
                            waiting = rows_between[at_between + int64(32) * int64(j + 1 - above_first)]
                    diagonal = diagonal_0
                    diagonal_0 = above
                    not_pair, not_insertion = uint32(0), uint32(0)
                    more_insertion, more_deletion = uint32(0), uint32(0)
                    for r in range(ROWS):
                        if bytes_fit:
                            score = int32(look_up(profile[r], profile_2[r], selector))
                        else:
                            score = table[profile[r] + selector]
                        paired = int32(diagonal + score)
                        cell = max(max(paired, deletion[r]), insertion)
                        if local:
                            cell = max(cell, int32(0))
                        diagonal = h[r]
                        h[r] = cell
                        opened = int32(cell + gap_1)
                        longer_insertion = int32(insertion + gap_n)
                        longer_deletion = int32(deletion[r] + gap_n)
                        not_pair = push_sign(not_pair, uint32(paired - cell))
                        not_insertion = push_sign(not_insertion, uint32(insertion - cell))
                        more_insertion = push_sign(more_insertion, uint32(opened - longer_insertion))
                        more_deletion = push_sign(more_deletion, uint32(opened - longer_deletion))
                        insertion = max(longer_insertion, opened)
                        deletion[r] = max(longer_deletion, opened)
                    low_half = uint32(not_pair | uint32(not_insertion << uint32(16)))
                    high_half = uint32(more_insertion | uint32(more_deletion << uint32(16)))
                    place = at + int64(32) * (int64(block) * columns_room + int64(j - first))
                    words[place] = uint64((uint64(high_half) << uint64(32)) | uint64(low_half))
                    if block + 1 < blocks:
                        rows_between[at_between + int64(32) * int64(j - first)] = uint64(
                            (uint64(uint32(h[ROWS - 1])) << uint64(32)) | uint64(uint32(insertion))
                        )
                above_first, above_last = first, last
            follow(
                q_words, q_unknown, q_offsets[q], n, q_flags[pair], t_words, t_unknown, t_offsets[t], m,
                t_flags[pair], table, gap_open, gap_extend, free, words, at, low, columns_room, found, pair,
                keep, paths, path_offsets[pair], runs,
            )  # fmt: skip

    return align_in_bands
