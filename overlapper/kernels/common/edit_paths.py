"""Shortest edit paths between short sequences, 64 rows of the matrix at a time (Myers 1999; Hyyro 2003).

CPU only.

A substitution, an insertion (a base of the read alone) and a deletion (a base of the target alone) cost 1
each. ``D[i, j]`` is the cost of the first ``i`` bases of the target and the first ``j`` of the read. Of all
cheapest paths the one is taken that, traced from the end, at every cell

1. deletes, where ``D[i - 1, j] = D[i, j] - 1``;
2. else inserts, where ``D[i, j - 1] = D[i - 1, j - 1] - 1``;
3. else pairs two bases.

So the gaps of a homopolymer run stand at its right end, in every read alike.

A path is told by where it enters each row: ``starts[i]`` is how many bases of the read come before base ``i``
of the target. Base ``i`` has the read's bases from ``starts[i]`` to ``starts[i + 1]``: none, it is deleted;
else it pairs with the first of them, and the others are inserted behind it.

Bases are codes from 0 to 3; `TARGET_UNKNOWN` and `READ_UNKNOWN` equal nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.myers import next_column
from overlapper.kernels.common.packed import popcount
from overlapper.runtime.compile.cache import njit

TARGET_UNKNOWN, READ_UNKNOWN = 4, 5
CODES = 8
"""Words that hold the rows of each code, six rounded up."""
U64 = np.uint64
_ONE, _NONE, _TOP = np.uint64(1), np.uint64(0), np.uint64(63)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


class Matrix(NamedTuple):
    """Memory for pairs of up to ``longest`` bases each."""

    rows: np.ndarray
    """uint64; which rows hold each code, a bit a row."""
    up: np.ndarray
    down: np.ndarray
    """`up`, `down`: uint64; of every column, the rows whose cost lies above that of the row before, and below
    it."""
    longest: int


@njit(nogil=True, cache=True)
def new_matrix(longest):
    """Return memory for pairs of up to ``longest`` bases each."""
    words = (longest + 63) >> 6
    size = words * (longest + 1)
    return Matrix(
        np.empty(words * CODES, np.uint64), np.empty(size, np.uint64), np.empty(size, np.uint64), longest
    )


@inner
def edit_path(target, t_start, t_end, read, r_start, r_end, matrix, starts, at):
    """Write the path between two intervals to ``starts[at + t_start : at + t_end]``.

    Parameters
    ----------
    target, read : ndarray of uint8
        Codes.
    t_start, t_end, r_start, r_end : int
        Half open, at most ``matrix.longest`` bases each.
    matrix : Matrix
    starts : ndarray of int32
        Counts bases of the read from its start, not from ``r_start``.
    at : int
    """
    m, n = t_end - t_start, r_end - r_start
    if not plain_path(m, n, starts, at + t_start, r_start):
        _fill(target, t_start, m, read, r_start, n, matrix)
        _trace(m, n, matrix, starts, at + t_start, r_start)


@inner
def plain_path(m, n, starts, at, offset):
    """Write the path between ``m`` and ``n`` bases where lengths alone tell it; return whether they do."""
    if m == 0:
        return True
    if n == 0:
        for i in range(m):
            starts[at + i] = offset
        return True
    if m == 1 and n == 1:
        starts[at] = offset
        return True
    return False


@inner
def reach(pattern, p_start, p_end, text, x_start, x_end, matrix):
    """Return how many bases of a text, from ``x_start`` on, are closest to a whole pattern.

    Of equally close ones, the fewest.
    """
    if p_start == p_end or x_start == x_end:
        return np.int64(0)
    m, n = p_end - p_start, x_end - x_start
    _fill(pattern, p_start, m, text, x_start, n, matrix)
    return _lowest_end(m, n, matrix)


@inner
def edit_distance(target, m, read, r_start, r_end, matrix):
    """Return the cost of the first ``m`` bases of a target, at most 64, and an interval of a read."""
    if m == 0:
        return r_end - r_start
    rows, last = matrix.rows, np.uint64(m - 1)
    for code in range(CODES):
        rows[code] = 0
    for i in range(m):
        rows[target[i]] |= _ONE << np.uint64(i)
    rows[TARGET_UNKNOWN] = 0
    above, below, cost = _ALL, _NONE, np.int64(m)
    for j in range(r_start, r_end):
        above, below, rises, falls = next_column(rows[read[j]], above, below, _ONE, _NONE, _ONE)
        cost += np.int64((rises >> last) & _ONE) - np.int64((falls >> last) & _ONE)
    return cost


@inner
def _fill(target, t_start, m, read, r_start, n, matrix):
    """Fill the matrix."""
    words = (m + 63) >> 6
    rows, up, down = matrix.rows, matrix.up, matrix.down
    for w in range(words * CODES):
        rows[w] = 0
    for i in range(m):
        rows[U64((i >> 6) * CODES + target[U64(t_start + i)])] |= _ONE << U64(i & 63)
    for w in range(words):
        rows[U64(w * CODES + TARGET_UNKNOWN)] = 0
    if words == 1:
        _fill_word(read, U64(r_start), n, rows, up, down)
    else:
        _fill_words(read, U64(r_start), n, words, rows, up, down)


@inner
def _fill_word(read, r_start, n, rows, up, down):
    above, below = _ALL, _NONE
    up[0], down[0] = above, below
    for j in range(n):
        column = U64(j)
        equal = rows[U64(read[r_start + column])]
        above, below, _rises, _falls = next_column(equal, above, below, _ONE, _NONE, _ONE)
        up[column + _ONE], down[column + _ONE] = above, below


@inner
def _fill_words(read, r_start, n, words, rows, up, down):
    for w in range(words):
        up[w], down[w] = _ALL, 0
    here, there = U64(0), U64(words)
    for j in range(n):
        code = U64(read[r_start + U64(j)])
        rises_in, falls_in = _ONE, _NONE
        for _ in range(words):
            above, below, rises, falls = next_column(
                rows[code], up[here], down[here], rises_in, falls_in, _ONE
            )
            rises_in, falls_in = rises >> _TOP, falls >> _TOP
            up[there], down[there] = above, below
            code, here, there = code + U64(CODES), here + _ONE, there + _ONE


@inner
def _lowest_end(m, n, matrix):
    """Return the first column whose last row is lowest."""
    words, in_last = U64((m + 63) >> 6), _ALL >> U64(-m & 63)
    up, down = matrix.up, matrix.down
    lowest, best, word = np.int64(m), np.int64(0), words
    for j in range(1, n + 1):
        cost = np.int64(j)  # row 0 rises by one a column
        for w in range(words):
            rows = in_last if U64(w) + _ONE == words else _ALL
            cost += popcount(up[word] & rows) - popcount(down[word] & rows)
            word += _ONE
        if cost < lowest:
            lowest, best = cost, np.int64(j)
    return best


@inner
def _trace(m, n, matrix, starts, at, offset):
    """Trace from the last cell to row 0; what is left of the read then belongs to the base before."""
    words = (m + 63) >> 6
    up, down = matrix.up, matrix.down
    i, j = m - 1, n
    while i >= 0:
        if j == 0:
            for row in range(i + 1):
                starts[U64(at + row)] = offset
            return
        word, bit = i >> 6, U64(i & 63)
        if (up[U64(j * words + word)] >> bit) & _ONE:
            starts[U64(at + i)] = offset + j
            i -= 1
        else:
            j -= 1
            if not (down[U64(j * words + word)] >> bit) & _ONE:
                starts[U64(at + i)] = offset + j
                i -= 1
