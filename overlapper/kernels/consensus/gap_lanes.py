"""Edit paths of sixteen pairs of sequences at a time, one in each lane of vectors.

The definition is in `kernels.common.edit_paths`, and the paths are the same: the matrix column by column as
there (Myers 1999), 32 rows a word. The way back takes a column at a time as well: the deletions in it are a
run of set bits, which is counted at once, and one more bit says whether its base is inserted or paired. Each
column notes behind how many rows it is taken; the columns before a row are those up to the first one that is
taken later. So no branch depends on the bases, which a processor cannot foresee.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.myers import next_column
from overlapper.kernels.common.vectors import (
    Lanes,
    any_lane,
    bits_of,
    leading_zeros,
    load,
    maximum,
    minimum,
    select,
    splat,
    store,
)
from overlapper.runtime.compile.cache import njit

U64 = np.uint64
LANES, WIDTH = Lanes(16), 16
BASES = Lanes(32)
WORD, LOG_WORD = 32, 5
"""Bits of a word, each of one row or column, and its binary logarithm. The codes of as many bases take three
words, one for each bit of a code. Most gaps have fewer bases, so that words of 64 bits would be half
empty."""
MOST_WORDS = 16
LONGEST = MOST_WORDS * WORD
"""Most rows, and most columns."""
_ROWS, _COLUMNS, _ROW_BASES = 0, 1, 2
_COLUMN_BASES = _ROW_BASES + 3 * MOST_WORDS
_FIELDS = _COLUMN_BASES + 3 * MOST_WORDS
"""Fields of a pair: numbers of rows and columns; words of the rows, three at a time; words of the columns."""
_NOWHERE = LONGEST + 1
"""Row behind which columns are placed that a lane does not have."""
_NONE = 1 << 30
"""More columns than any pair has."""


class PairLanes(NamedTuple):
    """A pair of sequences in each lane, and scratch memory for their paths."""

    pairs: np.ndarray
    """int32, shape (fields * WIDTH,); what is kept of the pair in each lane."""
    up: np.ndarray
    down: np.ndarray
    """`up`, `down`: int32; as in `edit_paths.Matrix`, for all lanes: of every column, its words, in every
    lane."""
    owner: np.ndarray
    """int32, shape (WIDTH,); of every lane, how many rows come before the base of a column is taken, its own
    included."""
    taken: np.ndarray
    """int32, shape ((LONGEST + 2) * WIDTH,); for each row and lane, the first column that is placed behind
    the row; `_NONE` if none is."""
    before: np.ndarray
    """int32, shape (LONGEST * WIDTH,); the paths: of every row and lane, the columns that belong to rows
    before."""
    bases: np.ndarray
    """uint8, shape (WORD,); A copy of the last bases of a sequence."""


@njit(nogil=True, cache=True)
def new_lanes():
    """Return lanes without pairs."""
    cells = WIDTH * MOST_WORDS * (LONGEST + 1)
    return PairLanes(
        np.zeros(_FIELDS * WIDTH, np.int32), np.empty(cells, np.int32), np.empty(cells, np.int32),
        np.empty(WIDTH, np.int32), np.full((LONGEST + 2) * WIDTH, _NONE, np.int32),
        np.empty(LONGEST * WIDTH, np.int32), np.zeros(WORD, np.uint8),
    )  # fmt: skip


@inner
def put_pair(lanes, lane, target, t_start, rows, read, r_start, columns):
    """Put bases of a target and of a read into a lane; none of both empties it."""
    pairs = lanes.pairs
    pairs[_ROWS * WIDTH + lane], pairs[_COLUMNS * WIDTH + lane] = rows, columns
    for word in range((rows + WORD - 1) // WORD):
        _put_bases(target, t_start + WORD * word, pairs, (_ROW_BASES + 3 * word) * WIDTH + lane, lanes.bases)
    for word in range((columns + WORD - 1) // WORD):
        _put_bases(read, r_start + WORD * word, pairs, (_COLUMN_BASES + 3 * word) * WIDTH + lane, lanes.bases)


@inner
def find_paths(lanes, rows, columns):
    """Find the paths of all pairs, which have at most ``rows`` rows and ``columns`` columns."""
    words = (rows + WORD - 1) // WORD
    if words == 1:
        _fill_word(lanes.pairs, columns, lanes.up, lanes.down)
    else:
        _fill_words(lanes.pairs, words, columns, lanes.up, lanes.down)
    _trace(lanes, words, columns)
    _count_before(lanes.pairs, rows, lanes.taken, lanes.before)


@inner
def _put_bases(codes, start, pairs, field, copy):
    """Put the bits of `WORD` codes into three words of a lane; arbitrary behind the last code."""
    if start + WORD <= len(codes):
        _put_bits(codes, start, pairs, field)
    else:
        for x in range(len(codes) - start):
            copy[x] = codes[start + x]
        _put_bits(copy, np.int64(0), pairs, field)


@inner
def _put_bits(codes, start, pairs, field):
    some = load(BASES, codes, start)
    for bit in range(3):
        one = splat(BASES, codes, 1 << bit)
        pairs[field + bit * WIDTH] = bits_of((some & one) == one)


@inner
def _same(row_bits, column_bits):
    """Return the rows with the base of the column, each of whose three bits fills a word."""
    unlike = (row_bits[0] ^ column_bits[0]) | (row_bits[1] ^ column_bits[1])
    return ~(unlike | (row_bits[2] ^ column_bits[2]))


@inner
def _bits_at(pairs, field):
    """Return the three words of a sequence in every lane."""
    at = field * WIDTH
    return load(LANES, pairs, at), load(LANES, pairs, at + WIDTH), load(LANES, pairs, at + 2 * WIDTH)


@inner
def _next_bits(words, one):
    """Return the words moved on by a base."""
    return words[0] >> one, words[1] >> one, words[2] >> one


@inner
def _filled(words, one, none):
    """Return words filled with their lowest bit."""
    return none - (words[0] & one), none - (words[1] & one), none - (words[2] & one)


@inner
def _fill_word(pairs, columns, up, down):
    """Fill the matrices of all pairs, none of which has over `WORD` rows."""
    none, one = splat(LANES, up, 0), splat(LANES, up, 1)
    row_bits = _bits_at(pairs, _ROW_BASES)
    above, below = ~none, none
    store(up, 0, above)
    store(down, 0, below)
    for word in range((columns + WORD - 1) // WORD):
        column_bits = _bits_at(pairs, _COLUMN_BASES + 3 * word)
        for column in range(word * WORD, min((word + 1) * WORD, columns)):
            same = _same(row_bits, _filled(column_bits, one, none))
            column_bits = _next_bits(column_bits, one)
            above, below, _rises, _falls = next_column(same, above, below, one, none, one)
            store(up, (column + 1) * WIDTH, above)
            store(down, (column + 1) * WIDTH, below)


@inner
def _fill_words(pairs, words, columns, up, down):
    """Fill the matrices of all pairs."""
    none, one = splat(LANES, up, 0), splat(LANES, up, 1)
    top = splat(LANES, up, WORD - 1)
    for word in range(words):
        store(up, word * WIDTH, ~none)
        store(down, word * WIDTH, none)
    for column_word in range((columns + WORD - 1) // WORD):
        column_bits = _bits_at(pairs, _COLUMN_BASES + 3 * column_word)
        for column in range(column_word * WORD, min((column_word + 1) * WORD, columns)):
            base = _filled(column_bits, one, none)
            column_bits = _next_bits(column_bits, one)
            rises, falls = one, none
            for word in range(words):
                here = (column * words + word) * WIDTH
                there = here + words * WIDTH
                same = _same(_bits_at(pairs, _ROW_BASES + 3 * word), base)
                above, below, rises, falls = next_column(
                    same, load(LANES, up, here), load(LANES, down, here), rises, falls, one
                )
                rises, falls = rises >> top, falls >> top
                store(up, there, above)
                store(down, there, below)


@inner
def _trace(lanes, words, columns):
    """Trace all pairs, a column at a time from the last one on, and write behind which row each is taken."""
    pairs, up, down, owner, taken = lanes.pairs, lanes.up, lanes.down, lanes.owner, lanes.taken
    none, one = splat(LANES, up, 0), splat(LANES, up, 1)
    in_word, log_word = splat(LANES, up, WORD - 1), splat(LANES, up, LOG_WORD)
    rows = load(LANES, pairs, _ROWS * WIDTH)
    ends = load(LANES, pairs, _COLUMNS * WIDTH)
    nowhere = splat(LANES, up, _NOWHERE)
    for column in range(columns, 0, -1):
        left = rows
        goes_on = True
        while goes_on:
            word = maximum(left - one, none) >> log_word
            rows_of_word = left - (word << log_word)
            risen = _word_of(up, column * words, words, word)
            # Rows from here back that are deleted: the highest bits set, counted as those not set.
            risen = risen << ((none - rows_of_word) & in_word)
            deleted = leading_zeros(~risen)
            all_of_word = deleted > (rows_of_word - one)
            deleted = select(all_of_word, rows_of_word, deleted)
            left = left - deleted
            goes_on = words > 1 and any_lane(all_of_word & (word > none) & (ends >= splat(LANES, up, column)))
        there = ends >= splat(LANES, up, column)
        store(owner, 0, select(there, left, nowhere))
        for lane in range(U64(WIDTH)):
            taken[U64(owner[lane]) * U64(WIDTH) + lane] = column - 1
        last = left - one
        fallen = _word_of(down, (column - 1) * words, words, maximum(last, none) >> log_word)
        inserted = (fallen >> (last & in_word)) & one
        left = maximum(last + inserted, none)
        rows = select(there, left, rows)


@inner
def _word_of(values, first, words, word):
    """Return, in every lane, the word of that number among those of a column, the first of which is given."""
    chosen = load(LANES, values, first * WIDTH)
    for number in range(1, words):
        some = load(LANES, values, (first + number) * WIDTH)
        chosen = select(word == splat(LANES, values, number), some, chosen)
    return chosen


@inner
def _count_before(pairs, rows, taken, before):
    """Count the columns before each row of all lanes, of which some have fewer rows; forget what is taken."""
    none = splat(LANES, taken, _NONE)
    columns = load(LANES, pairs, _COLUMNS * WIDTH)
    for row in range(rows - 1, -1, -1):
        columns = minimum(columns, load(LANES, taken, (row + 1) * WIDTH))
        store(taken, (row + 1) * WIDTH, none)
        store(before, row * WIDTH, columns)
