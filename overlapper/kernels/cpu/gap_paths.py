"""Edit paths of many gaps, eight at a time.

The definition is in `kernels.cpu.edit_paths`, and the paths are the same. Gaps wait in a list; those of
about the same size are then computed together, each in a lane of a vector: the matrix column by column as
there (Myers 1999), 64 rows a word. The way back takes a column at a time as well: the deletions in it are a
run of set bits, which is counted at once, and one more bit says whether its base is inserted or paired. So
no branch depends on the bases, which a processor cannot foresee.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from overlapper.kernels.cpu import edit_paths
from overlapper.kernels.cpu.inner import always_inline, inner
from overlapper.kernels.cpu.vectors import (
    Lanes,
    add,
    any_lane,
    at_least,
    bit_and,
    bit_or,
    bit_xor,
    bits_of,
    both,
    equal,
    greater,
    leading_zeros,
    load,
    maximum,
    select,
    shift_left,
    shift_right,
    splat,
    store,
    subtract,
)

LANES, WIDTH = Lanes(8), 8
BASES = Lanes(64)
WORD = 64
"""Rows, or columns, whose bases are a bit each of three words: one for every bit of a code."""
MOST_WORDS = 8
LONGEST_IN_LANES = MOST_WORDS * WORD
ROOM = 8192
"""Gaps that wait at most."""
STEP = 4
"""Gaps whose numbers of columns differ by less, of as many words of rows, are of a class."""
CLASSES = MOST_WORDS * (LONGEST_IN_LANES // STEP + 1)
_TARGET, _ROWS, _READ, _COLUMNS, _AT, _OFFSET = range(6)
_FIELDS = 6
"""Of a gap: first base and number of bases of the target, and of all reads; where its path is to be written,
and how many bases of its own read come before it."""
_LANE_ROWS, _LANE_COLUMNS, _ROW_BASES = 0, 1, 2
_COLUMN_BASES = _ROW_BASES + 3 * MOST_WORDS
_LANE_FIELDS = _COLUMN_BASES + 3 * MOST_WORDS
"""Of the gap in a lane: rows, columns; the words of its rows, three at a time, and those of its columns."""


class Aligned(NamedTuple):
    """A target, the reads that are aligned to it, and their paths.

    Attributes
    ----------
    target, bases : ndarray of uint8
        Codes of the target, and of all reads.
    starts : ndarray of int32
        The paths, as in `edit_paths`; each counts bases from the start of its own read.
    """

    target: np.ndarray
    bases: np.ndarray
    starts: np.ndarray


class Gaps(NamedTuple):
    """Gaps that wait for their paths, and memory to find them.

    Attributes
    ----------
    matrix : edit_paths.Matrix
        For those that are longer than `LONGEST_IN_LANES`.
    size : ndarray of int64, shape (1,)
        How many wait.
    gap : ndarray of int64, shape (ROOM, 6)
        First base and number of bases of the target, and of the read; where the path is to be written, and
        the number of its first base of the read.
    order : ndarray of int64, shape (ROOM,)
    first : ndarray of int64, shape (CLASSES + 1,)
        Where each class starts in the order.
    lanes : ndarray of int64, shape (fields * WIDTH,)
        What is kept of the gap in each lane.
    up, down : ndarray of int64
        As in `edit_paths.Matrix`, for all lanes: of every column, its words, in every lane.
    owner : ndarray of int64
        Of every column and lane, how many rows come before the base of the column is taken, its own included.
    reached : ndarray of int32
        Of every row of one gap, the columns that belong to rows before; zero outside.
    bases : ndarray of uint8, shape (WORD,)
        A copy of the last bases of a sequence.
    """

    matrix: edit_paths.Matrix
    size: np.ndarray
    gap: np.ndarray
    order: np.ndarray
    first: np.ndarray
    lanes: np.ndarray
    up: np.ndarray
    down: np.ndarray
    owner: np.ndarray
    reached: np.ndarray
    bases: np.ndarray


@njit(nogil=True, cache=True)
def new_gaps(longest):
    """Return memory for gaps of up to ``longest`` bases of each sequence; none waits."""
    cells = WIDTH * MOST_WORDS * (LONGEST_IN_LANES + 1)
    return Gaps(
        edit_paths.new_matrix(longest), np.zeros(1, np.int64), np.empty((ROOM, _FIELDS), np.int64),
        np.empty(ROOM, np.int64), np.empty(CLASSES + 1, np.int64), np.zeros(_LANE_FIELDS * WIDTH, np.int64),
        np.empty(cells, np.int64), np.empty(cells, np.int64), np.empty(WIDTH * LONGEST_IN_LANES, np.int64),
        np.zeros(LONGEST_IN_LANES + 1, np.int32), np.zeros(WORD, np.uint8),
    )  # fmt: skip


@always_inline
def add_gap(gaps, aligned, t_start, t_end, first, r_start, r_end, at):
    """Have a path written to ``aligned.starts[at + t_start : at + t_end]`` before `finish_gaps` returns.

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
    if max(m, n) > LONGEST_IN_LANES:
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


@inner
def finish_gaps(gaps, aligned):
    """Write the paths of all gaps that wait."""
    target, bases, starts = aligned
    size = gaps.size[0]
    _sort_by_class(gaps.gap, size, gaps.first, gaps.order)
    for begin in range(0, size, WIDTH):
        used = min(WIDTH, size - begin)
        most_rows, columns = 0, 0
        for lane in range(used):
            gap = gaps.gap[gaps.order[begin + lane]]
            most_rows, columns = max(most_rows, gap[_ROWS]), max(columns, gap[_COLUMNS])
            _place(gaps.lanes, lane, gap, target, bases, gaps.bases)
        for lane in range(used, WIDTH):
            gaps.lanes[_LANE_ROWS * WIDTH + lane] = gaps.lanes[_LANE_COLUMNS * WIDTH + lane] = 0
        words = (most_rows + WORD - 1) // WORD
        if words == 1:
            _fill_word(gaps.lanes, columns, gaps.up, gaps.down)
        else:
            _fill_words(gaps.lanes, words, columns, gaps.up, gaps.down)
        _trace(gaps.lanes, words, columns, gaps.up, gaps.down, gaps.owner)
        for lane in range(used):
            _write(gaps.owner[lane:], gaps.gap[gaps.order[begin + lane]], gaps.reached, starts)
    gaps.size[0] = 0


@inner
def _sort_by_class(gap, size, first, order):
    """Put the numbers of the gaps in the order of their classes."""
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
    return words * (LONGEST_IN_LANES // STEP + 1) + gap[_COLUMNS] // STEP


@inner
def _place(lanes, lane, gap, target, bases, copy):
    """Put a gap into a lane."""
    rows, columns = gap[_ROWS], gap[_COLUMNS]
    lanes[_LANE_ROWS * WIDTH + lane], lanes[_LANE_COLUMNS * WIDTH + lane] = rows, columns
    for word in range((rows + WORD - 1) // WORD):
        field = (_ROW_BASES + 3 * word) * WIDTH + lane
        _put_bases(target, gap[_TARGET] + WORD * word, lanes, field, copy)
    for word in range((columns + WORD - 1) // WORD):
        field = (_COLUMN_BASES + 3 * word) * WIDTH + lane
        _put_bases(bases, gap[_READ] + WORD * word, lanes, field, copy)


@inner
def _put_bases(codes, start, lanes, field, copy):
    """Put the bits of 64 codes into three words of a lane; behind the last code there are any."""
    if start + WORD <= len(codes):
        _put_bits(codes, start, lanes, field)
    else:
        for x in range(len(codes) - start):
            copy[x] = codes[start + x]
        _put_bits(copy, np.int64(0), lanes, field)


@inner
def _put_bits(codes, start, lanes, field):
    some = load(BASES, codes, start)
    for bit in range(3):
        one = splat(BASES, codes, 1 << bit)
        lanes[field + bit * WIDTH] = bits_of(equal(bit_and(some, one), one))


@inner
def _next_column(same, above, below, rises_in, falls_in, one, ones):
    """Do what `kernels.cpu.myers.next_column` does, in every lane; ``ones`` has all bits."""
    vertical = bit_or(same, below)
    same = bit_or(same, falls_in)
    diagonal = bit_or(bit_xor(add(bit_and(same, above), above), above), same)
    rises, falls = bit_or(below, bit_xor(bit_or(diagonal, above), ones)), bit_and(above, diagonal)
    up, down = bit_or(shift_left(rises, one), rises_in), bit_or(shift_left(falls, one), falls_in)
    return bit_or(down, bit_xor(bit_or(vertical, up), ones)), bit_and(up, vertical), rises, falls


@inner
def _same(row_bits, column_bits, ones):
    """Return the rows whose three bits are those of the column, of which each fills a word."""
    unlike = bit_or(bit_xor(row_bits[0], column_bits[0]), bit_xor(row_bits[1], column_bits[1]))
    return bit_xor(bit_or(unlike, bit_xor(row_bits[2], column_bits[2])), ones)


@inner
def _bits_at(lanes, field):
    """Return the three words of a sequence in every lane."""
    at = field * WIDTH
    return load(LANES, lanes, at), load(LANES, lanes, at + WIDTH), load(LANES, lanes, at + 2 * WIDTH)


@inner
def _next_bits(words, one):
    """Return the words moved on by a base."""
    return shift_right(words[0], one), shift_right(words[1], one), shift_right(words[2], one)


@inner
def _filled(words, one, none):
    """Return the lowest bit of each word in all its bits."""
    return (
        subtract(none, bit_and(words[0], one)),
        subtract(none, bit_and(words[1], one)),
        subtract(none, bit_and(words[2], one)),
    )


@inner
def _fill_word(lanes, columns, up, down):
    """Fill the matrices of all lanes, none of which has over 64 rows."""
    none, one, ones = splat(LANES, up, 0), splat(LANES, up, 1), splat(LANES, up, -1)
    row_bits = _bits_at(lanes, _ROW_BASES)
    above, below = ones, none
    store(up, 0, above)
    store(down, 0, below)
    for word in range((columns + WORD - 1) // WORD):
        column_bits = _bits_at(lanes, _COLUMN_BASES + 3 * word)
        for column in range(word * WORD, min((word + 1) * WORD, columns)):
            same = _same(row_bits, _filled(column_bits, one, none), ones)
            column_bits = _next_bits(column_bits, one)
            above, below, _rises, _falls = _next_column(same, above, below, one, none, one, ones)
            store(up, (column + 1) * WIDTH, above)
            store(down, (column + 1) * WIDTH, below)


@inner
def _fill_words(lanes, words, columns, up, down):
    """Fill the matrices of all lanes."""
    none, one, ones = splat(LANES, up, 0), splat(LANES, up, 1), splat(LANES, up, -1)
    top = splat(LANES, up, WORD - 1)
    for word in range(words):
        store(up, word * WIDTH, ones)
        store(down, word * WIDTH, none)
    for column_word in range((columns + WORD - 1) // WORD):
        column_bits = _bits_at(lanes, _COLUMN_BASES + 3 * column_word)
        for column in range(column_word * WORD, min((column_word + 1) * WORD, columns)):
            base = _filled(column_bits, one, none)
            column_bits = _next_bits(column_bits, one)
            rises, falls = one, none
            for word in range(words):
                here = (column * words + word) * WIDTH
                there = here + words * WIDTH
                same = _same(_bits_at(lanes, _ROW_BASES + 3 * word), base, ones)
                above, below, rises, falls = _next_column(
                    same, load(LANES, up, here), load(LANES, down, here), rises, falls, one, ones
                )
                rises, falls = shift_right(rises, top), shift_right(falls, top)
                store(up, there, above)
                store(down, there, below)


@inner
def _trace(lanes, words, columns, up, down, owner):
    """Trace all lanes, a column at a time, and write the owners of columns."""
    none, one, ones = splat(LANES, up, 0), splat(LANES, up, 1), splat(LANES, up, -1)
    in_word, six = splat(LANES, up, WORD - 1), splat(LANES, up, 6)
    rows = load(LANES, lanes, _LANE_ROWS * WIDTH)
    ends = load(LANES, lanes, _LANE_COLUMNS * WIDTH)
    for column in range(columns, 0, -1):
        left = rows
        goes_on = True
        while goes_on:
            word = shift_right(maximum(subtract(left, one), none), six)
            rows_of_word = subtract(left, shift_left(word, six))
            risen = _word_of(up, column * words, words, word)
            # Rows from here back that are deleted: the highest bits set, counted as those not set.
            risen = shift_left(risen, bit_and(subtract(none, rows_of_word), in_word))
            deleted = leading_zeros(bit_xor(risen, ones))
            all_of_word = greater(deleted, subtract(rows_of_word, one))
            deleted = select(all_of_word, rows_of_word, deleted)
            left = subtract(left, deleted)
            goes_on = words > 1 and any_lane(
                both(both(all_of_word, greater(word, none)), at_least(ends, splat(LANES, up, column)))
            )
        store(owner, (column - 1) * WIDTH, left)
        last = subtract(left, one)
        fallen = _word_of(down, (column - 1) * words, words, shift_right(maximum(last, none), six))
        inserted = bit_and(shift_right(fallen, bit_and(last, in_word)), one)
        left = maximum(add(last, inserted), none)
        rows = select(at_least(ends, splat(LANES, up, column)), left, rows)


@inner
def _word_of(values, first, words, word):
    """Return, in every lane, the word of that number among those of a column, the first of which is given."""
    chosen = load(LANES, values, first * WIDTH)
    for number in range(1, words):
        some = load(LANES, values, (first + number) * WIDTH)
        chosen = select(equal(word, splat(LANES, values, number)), some, chosen)
    return chosen


@inner
def _write(owner, gap, reached, starts):
    """Write the path of a lane, of which the owners of columns are known."""
    at = gap[_AT]
    for column in range(gap[_COLUMNS]):
        reached[owner[column * WIDTH]] = column + 1
    columns = np.int32(0)
    offset = np.int32(gap[_OFFSET])
    for row in range(gap[_ROWS]):
        columns = max(columns, reached[row])
        reached[row] = 0
        starts[at + row] = offset + columns
    reached[gap[_ROWS]] = 0
