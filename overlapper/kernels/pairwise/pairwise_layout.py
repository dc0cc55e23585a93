"""Pairwise alignment, preparation: the bases of a pair, row 0 and column 0, scores by row.

A part of `pairwise`, whose GPU twin is cuda/pairwise.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.vectors import width
from overlapper.kernels.pairwise.pairwise_stripes import CODES, NO_BAND, QUERY_PAD, TARGET_PAD, Work
from overlapper.runtime.compile.cache import njit

QUERY_START, QUERY_END, TARGET_START, TARGET_END = 1, 2, 4, 8
"""Bits of free ends."""
REVERSED, COMPLEMENTED = 1, 2
"""Bits of orientations."""
UNKNOWN = 4
"""Code of N."""
_BASES_PER_WORD = 32


class Scheme(NamedTuple):
    """How pairs are aligned; ``band`` is -1 for none, ``free`` adds up bits of free ends."""

    matrix: np.ndarray
    gap_open: int
    gap_extend: int
    local: bool
    free: int
    band: int


class Pairs(NamedTuple):
    """Sequence numbers and orientations of pairs, of the same length."""

    query: np.ndarray
    target: np.ndarray
    q_flags: np.ndarray
    t_flags: np.ndarray


def room_for(lanes: int, cell: type, q_longest: int, t_longest: int) -> Work:
    """Return memory for pairs of sequences of up to ``q_longest`` and ``t_longest`` bases."""
    rows, columns = q_longest + 3 * lanes, t_longest + 4 * lanes
    return Work(
        np.empty(rows, cell), np.empty(columns, cell), np.empty(rows, cell), np.empty(rows, cell),
        np.empty(columns, cell), np.empty(columns, cell),
        np.arange(lanes, dtype=cell), np.empty(lanes * lanes, cell), 0, 0, 0, 0,
    )  # fmt: skip


@njit(nogil=True, cache=True)
def lay_out(lanes, queries, targets, pairs, k, memory):
    """Unpack the bases of a pair; return the memory and whether all bases are known."""
    query, target = pairs.query[k], pairs.target[k]
    n, m = queries.lengths[query], targets.lengths[target]
    rows = (n + width(lanes) - 1) // width(lanes) * width(lanes)
    origin, padding = m + width(lanes), rows - n
    memory.query[:padding] = QUERY_PAD
    memory.query[rows : rows + width(lanes)] = QUERY_PAD
    memory.target[: origin - m + 1] = TARGET_PAD
    memory.target[origin + 1 : origin + 2 * width(lanes)] = TARGET_PAD
    known = _unpack(queries, query, pairs.q_flags[k], memory.query[padding:], False)
    known &= _unpack(targets, target, pairs.t_flags[k], memory.target[origin - m + 1 :], True)
    work = Work(
        memory.query, memory.target, memory.left, memory.right, memory.above, memory.insertions,
        memory.ramp, memory.corner, origin, padding, -NO_BAND, NO_BAND,
    )  # fmt: skip
    return work, known


@njit(nogil=True, cache=True)
def with_band(work, low, high):
    """Return the same memory for a band of diagonals."""
    return Work(
        work.query, work.target, work.left, work.right, work.above, work.insertions,
        work.ramp, work.corner, work.origin, work.padding, low, high,
    )  # fmt: skip


@njit(nogil=True, cache=True)
def _unpack(reads, read, flags, codes, backwards):
    """Write a sequence in its orientation to ``codes``, perhaps backwards; return whether it has no N."""
    length = reads.lengths[read]
    first_word = reads.word_offsets[read]
    flip = 3 if flags & COMPLEMENTED else 0
    falling = ((flags & REVERSED) != 0) != backwards
    for begin in range(0, length, _BASES_PER_WORD):
        word = reads.words[first_word + begin // _BASES_PER_WORD]
        for base in range(begin, min(begin + _BASES_PER_WORD, length)):
            codes[length - 1 - base if falling else base] = np.int64(word & np.uint64(3)) ^ flip
            word >>= np.uint64(2)
    runs = range(reads.unknown_offsets[read], reads.unknown_offsets[read + 1])
    for run in runs:
        for base in range(reads.unknown_start[run], reads.unknown_end[run]):
            codes[length - 1 - base if falling else base] = UNKNOWN
    return len(runs) == 0


@njit(nogil=True, cache=True)
def set_edges(lanes, work, n, m, scheme, scores):
    """Set column 0, row 0, what leaves row 0, and the last column of row 0."""
    work.left[: n + work.padding + 2 * width(lanes)] = scores.never
    work.right[: n + work.padding + 2 * width(lanes)] = scores.never
    work.above[: m + 3 * width(lanes)] = scores.never
    q_free, t_free = scheme.local or scheme.free & QUERY_START, scheme.local or scheme.free & TARGET_START
    for i in range(1, min(n, -work.low) + 1):
        work.left[work.padding + i] = 0 if q_free else scheme.gap_open + i * scheme.gap_extend
    for j in range(1, min(m, work.high) + 1):
        work.above[j] = 0 if t_free else scheme.gap_open + j * scheme.gap_extend
    work.left[work.padding] = work.above[0] = 0
    for j in range(m + 3 * width(lanes)):
        work.insertions[j] = max(work.above[j] + scores.gap_open + scores.gap_extend, scores.never)
    work.right[work.padding] = work.above[m]
    if m == 0:
        work.right[:] = work.left
        work.above[0] = work.left[work.padding + n]


@njit(nogil=True, cache=True)
def set_profile(lanes, profile, work, part, matrix, outside):
    """Set the scores of all rows with each base."""
    for row in range((part.end + 1) * width(lanes)):
        base = work.query[row]
        for code in range(CODES):
            profile[code, row] = matrix[base, code] if base < CODES else outside
