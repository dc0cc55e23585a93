"""Paths of alignments whose score and end are known, an alignment a thread.

A part of `pairwise`, whose twin is ../pairwise.py.

A path that ends there with that score stays near the diagonal of its end: every base of a gap costs, and no
pair of bases brings more than the highest score of the matrix (`path_band`). Only that band is computed, by
the same recurrence. Cells outside count as impossible, which changes no cell of a path that brings the score,
and no choice on it: what was the better or an equal way there brings the score as well, so it lies in the
band.

    rows  1 to 16   ───────────
    rows 17 to 32        ───────────       a block of rows, column after column; its lowest row
    rows 33 to 48             ───────────  waits in memory for the next block

Rows of a block are in registers. Directions are those of `pairwise_column`, a word a column of a block; those
of the threads of a warp lie side by side, so that they are written together. They are followed at once, by
the same thread.
"""

from __future__ import annotations

from functools import cache

from numba import cuda, int32, int64, uint32, uint64

from overlapper.kernels.common.cuda.path_classes import LARGEST_ROOM, SIZES, TOO_LARGE
from overlapper.kernels.pairwise.cuda.pairwise_bases import code_in, sequences_of, sixteen_bases
from overlapper.kernels.pairwise.cuda.pairwise_column import (
    NEVER,
    NEVER_LOCAL,
    OUTSIDE,
    band_limits,
    column_filler,
    edge_of,
    first_column,
    last_column,
    row_setter,
    selector_of,
)
from overlapper.kernels.pairwise.cuda.pairwise_path import RUNS, follower
from overlapper.kernels.pairwise.pairwise_chunks import Q_LENGTH, T_LENGTH
from overlapper.kernels.pairwise.pairwise_layout import QUERY_START, TARGET_START

ROWS = 16
"""Rows of a block: their flags fill a word."""
REGISTERS = 128
"""Of a thread, at most: four warps to a scheduler are faster than three, though some spill."""
_ANY_GAP = 1 << 28
"""Bases of a gap that costs nothing."""


@cuda.jit(device=True, forceinline=True)
def _gap_bases(slack, cost):
    """Return how many bases a gap has at most that takes so much of the score, at that cost a base."""
    if slack < int32(0):
        return int32(0)
    return int32(slack // cost) if cost > int32(0) else int32(_ANY_GAP)


@cuda.jit(device=True)
def path_band(score, row, column, scores, low, high):
    """Return the lowest and the highest diagonal of paths with that score and end, from ``low`` to ``high``.

    A path as far as ``k`` diagonals from that of its end has ``k`` bases of gaps on the way there, and pairs
    no more bases than either sequence has left.
    """
    q_slack = int32(scores.highest * row + scores.gap_open - score)
    t_slack = int32(scores.highest * column + scores.gap_open - score)
    cost, lost = int32(-scores.gap_extend), int32(scores.highest - scores.gap_extend)
    deletions = min(_gap_bases(q_slack, cost), _gap_bases(t_slack, lost))
    insertions = min(_gap_bases(t_slack, cost), _gap_bases(q_slack, lost))
    diagonal = int32(column - row)
    low, high = max(low, int32(diagonal - deletions)), min(high, int32(diagonal + insertions))
    return max(low, int32(-row)), min(high, column)


@cuda.jit(device=True, forceinline=True)
def _class_of(blocks, columns):
    """Return the class of pairs by their number of blocks, then by the columns of a block.

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
    return int32(blocks * int32(SIZES) + number)


@cuda.jit
def plan_paths(numbers, found, scores, classes):
    """Tell how much room paths take.

    Parameters
    ----------
    numbers : device array of int32, shape (5, n)
    found : device array of int32, shape (8, n)
        Score and end of each pair. Of pairs without a path, start and counts are set.
    scores : Scores
    classes : device array of int32, shape (n,)
        Gets the class of each pair: 0 of those without a path, `TOO_LARGE`, or as `path_classes` tells.
    """
    for pair in range(cuda.grid(1), len(classes), cuda.gridsize(1)):
        score, row, column = found[0, pair], found[2, pair], found[4, pair]
        classes[pair], found[RUNS, pair] = int32(0), int32(0)
        if row > int32(0) and column > int32(0):
            low, high = band_limits(numbers[Q_LENGTH, pair], numbers[T_LENGTH, pair], scores.band)
            low, high = path_band(score, row, column, scores, low, high)
            blocks = int32(int32(row + int32(ROWS - 1)) // int32(ROWS))
            columns = int32(high - low + int32(ROWS))
            fits = int64(blocks) * int64(columns) <= int64(LARGEST_ROOM)
            classes[pair] = _class_of(blocks, columns) if fits else int32(TOO_LARGE)
        elif row == int32(0):
            found[1, pair], found[3, pair], found[5, pair], found[6, pair] = row, row, row, row


@cuda.jit(device=True, forceinline=True)
def _word_at(directions, at, low, columns, row, column):
    block = int32(row - int32(1)) // int32(ROWS)
    place = int64(block) * columns + int64(column - first_column(int32(block * int32(ROWS)), low))
    return directions[at + int64(32) * place] >> uint64(int32(block * int32(ROWS) + int32(ROWS)) - row)


@cache
def banded_kernel(local: bool, bytes_fit: bool, banded: bool):
    """Return the kernel.

    ``bytes_fit`` tells whether scores fit bytes, ``banded`` whether cells outside the band do not exist.
    """
    follow, edge, set_row = follower(local, _word_at), edge_of(local, banded), row_setter(bytes_fit)
    fill_column = column_filler(ROWS, local, True, bytes_fit, banded)
    never = NEVER_LOCAL if local else NEVER

    @cuda.jit(max_registers=REGISTERS)
    def align_in_bands(
        chunk, order, scores, blocks_room, columns_room, slots, rows_between, directions, found, keep, paths
    ):  # fmt: skip
        """Align pairs ``order`` and follow their paths.

        There is room for ``slots`` threads, a multiple of 32: ``directions`` of ``blocks_room`` blocks of
        ``columns_room`` columns, and ``rows_between`` for the lowest row of a block. ``found`` and ``paths``
        are as in `follower`.
        """
        words, unknown, numbers = chunk
        table, profile_known, profile_n, gap_open, gap_extend, free, band, _ = scores
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
            q_at, n, q_flags, t_at, m, t_flags = sequences_of(numbers, pair)
            row, column = found[2, pair], found[4, pair]
            low, high = band_limits(n, m, band)
            low, high = path_band(found[0, pair], row, column, scores, low, high)
            above_first, above_last = int32(1), column
            blocks = int32(row + int32(ROWS - 1)) // int32(ROWS)
            for block in range(blocks):
                first_row = int32(int32(block) * int32(ROWS))
                first = first_column(first_row, low)
                last = last_column(int32(first_row + int32(ROWS)), high, column)
                bases, known = sixteen_bases(words, unknown, q_at, n, q_flags, first_row)
                for r in range(ROWS):
                    position = int32(first_row + int32(r))
                    code = code_in(bases, known, int32(r)) if position < row else int32(OUTSIDE)
                    set_row(profile, profile_2, r, code, profile_known, profile_n)
                    h[r] = int32(never)
                    if first == int32(1):
                        h[r] = edge(q_start, int32(position + int32(1)), int32(-low), gap_open, gap_extend)
                    deletion[r] = int32(h[r] + gap_1)
                if first == int32(1):
                    diagonal = edge(q_start, first_row, int32(-low), gap_open, gap_extend)
                elif block == 0:
                    diagonal = edge(t_start, int32(first - int32(1)), high, gap_open, gap_extend)
                else:
                    place = at_between + int64(32) * int64(first - int32(1) - above_first)
                    diagonal = int32(rows_between[place] >> uint64(32))
                waiting = uint64(0)
                if block > 0 and first <= above_last:
                    waiting = rows_between[at_between + int64(32) * int64(first - above_first)]
                for j in range(first, last + 1):
                    # Threads of a warp count from their own first column, so that all cut bases together.
                    at_base = int32(int32(j) - first)
                    if at_base & int32(15) == int32(0):
                        bases, known = sixteen_bases(
                            words, unknown, t_at, m, t_flags, int32(int32(j) - int32(1))
                        )
                    selector = selector_of(bases, known, at_base, bytes_fit)
                    above, insertion = int32(never), int32(never)
                    if block == 0:
                        above = edge(t_start, int32(j), high, gap_open, gap_extend)
                        insertion = int32(above + gap_1)
                    elif j <= above_last:
                        above, insertion = int32(waiting >> uint64(32)), int32(uint32(waiting))
                        if j < above_last:  # it takes long to come
                            waiting = rows_between[at_between + int64(32) * int64(j + 1 - above_first)]
                    # Row r is diagonal j - first_row - 1 - r.
                    outside = int32(int32(j) - first_row - int32(1) - high)
                    insertion, word, _ = fill_column(
                        h, deletion, profile, profile_2, table, selector, diagonal, insertion, gap_1, gap_n,
                        outside, int32(high - low + int32(1)),
                    )  # fmt: skip
                    diagonal = above
                    place = at + int64(32) * (int64(block) * columns_room + int64(j - first))
                    directions[place] = word
                    if block + 1 < blocks:
                        rows_between[at_between + int64(32) * int64(j - first)] = uint64(
                            (uint64(uint32(h[ROWS - 1])) << uint64(32)) | uint64(uint32(insertion))
                        )
                above_first, above_last = first, last
            follow(chunk, scores, directions, at, low, columns_room, found, pair, keep, paths)

    return align_in_bands
