"""Where overlapping reads differ: furthest-reaching edit paths, 32 bases at a time (Myers 1986; Landau 1989).

Definitions are in `overlapper.extend.differences`. Positions in this module count along the strand of the
query, ``x`` on the query and ``y`` on the target, from the first base of either read.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.growth import grow_rows
from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.packed import base_at, bases_at, reverse_bases, trailing_zeros
from overlapper.kernels.common.walks import word_from
from overlapper.runtime.compile.cache import njit

U64 = np.uint64
WORD = 32
LACKING = 4
"""Code of a base that the other read lacks; codes below are the bases that it has instead."""
EXTRA = 5
"""Added to the code of a base that the other read has inserted before this one."""
SUBSTITUTION, TARGET_ALONE, QUERY_ALONE = range(3)
READ_PLACE, READ_OTHER = 0, 1


class Strand(NamedTuple):
    """A read on one of its strands."""

    words: np.ndarray
    """uint64; of all reads."""
    first: np.int64
    """int; where its bases start, counted through the words."""
    length: np.int64
    """int."""
    reverse: np.bool_
    """bool."""


@njit(nogil=True, cache=True)
def find_differences(reads, query, target, reverse, q_start, q_end, t_start, t_end, most, first, last):
    """Find where the reads of overlaps differ.

    Parameters
    ----------
    reads : PackedReads
    query, target, reverse, q_start, q_end, t_start, t_end : arrays, shape (n,)
        Overlaps.
    most : int
        Most edits of a path.
    first, last : int
        Range of the overlaps, half open.

    Returns
    -------
    edits : ndarray of int32, shape (last - first,)
        -1 for more than ``most``.
    found : ndarray of int32, shape (sum of edits, 4)
        For each edit, from the last of an overlap to its first, place and other of the query, then of the
        target.
    """
    edits = np.empty(last - first, np.int32)
    found, size = np.empty((1024, 4), np.int32), 0
    reach = np.empty((most + 1, 2 * most + 1), np.int32)
    for row in range(first, last):
        one = _strand(reads, query[row], False)
        other = _strand(reads, target[row], reverse[row])
        x, x_end = np.int64(q_start[row]), np.int64(q_end[row])
        y, y_end = np.int64(t_start[row]), np.int64(t_end[row])
        if reverse[row]:
            y, y_end = other.length - y_end, other.length - y
        n = _edits(one, x, x_end, other, y, y_end, most, reach)
        edits[row - first] = n
        if n > 0:
            if size + n > len(found):
                found = grow_rows(found[:size], 2 * (size + n))
            _trace(one, x, other, y, n, (y_end - y) - (x_end - x), most, reach, found[size : size + n])
            size += n
    return edits, found[:size].copy()


@njit(nogil=True, cache=True)
def _strand(reads, read, reverse):
    first = np.int64(WORD) * reads.word_offsets[read]
    return Strand(reads.words, first, np.int64(reads.lengths[read]), np.bool_(reverse))


@inner
def _edits(one, x, x_end, other, y, y_end, most, reach):
    """Fill ``reach[s, most + d]`` and return the edits of the whole path, -1 for more than ``most``."""
    m, n = x_end - x, y_end - y
    if abs(n - m) > most:
        return -1
    reach[0, most] = _matching(one, x, x_end, other, y, y_end)
    if m == n and reach[0, most] == m:
        return 0
    for s in range(1, most + 1):
        for d in range(-s, s + 1):
            i = min(_entry(reach, s, d, most), m, n - d)
            if i < 0 or i + d < 0:
                reach[s, most + d] = -1
            else:
                reach[s, most + d] = i + _matching(one, x + i, x_end, other, y + i + d, y_end)
        if abs(n - m) <= s and reach[s, most + n - m] == m:
            return s
    return -1


@inner
def _entry(reach, s, d, most):
    """Return the query bases of the furthest path that edit number ``s`` leads to diagonal ``d``, or -1."""
    best = np.int64(-1)
    if abs(d) < s and reach[s - 1, most + d] >= 0:
        best = np.int64(reach[s - 1, most + d]) + 1
    if d - 1 > -s:
        best = max(best, np.int64(reach[s - 1, most + d - 1]))
    if d + 1 < s and reach[s - 1, most + d + 1] >= 0:
        best = max(best, np.int64(reach[s - 1, most + d + 1]) + 1)
    return best


@inner
def _matching(one, x, x_end, other, y, y_end):
    """Return how many bases match from ``x`` and ``y`` on."""
    left = min(x_end - x, y_end - y)
    length = _matching_words(one, x, other, y, left)
    while length < left:
        unlike = _bases(one, x + length) ^ _bases(other, y + length)
        if unlike:
            return min(left, length + (trailing_zeros(unlike) >> 1))
        length += WORD
    return left


@inner
def _matching_words(one, x, other, y, left):
    """Return a lower bound of `_matching` on a forward query: whole words before the first that differs.

    The last words of the interval are left out as well.
    """
    length, words, last = np.int64(0), one.words, left - 2 * WORD
    if one.reverse or last < 0:
        return length
    q_word, q_shift = _word_and_shift(one.first + x)
    if other.reverse:
        # The complement of the target's bases is read from its end.
        t_word, t_shift = _word_and_shift(other.first + other.length - y - WORD)
        if t_word < 0:
            return length
        q_low, t_high = words[q_word], words[min(t_word + 1, len(words) - 1)]
        while length <= last:
            q_word, t_word = q_word + 1, t_word - 1
            q_high, t_low = words[q_word], words[t_word + 1]
            if _joined(q_low, q_high, q_shift) != ~reverse_bases(_joined(t_low, t_high, t_shift)):
                return length
            q_low, t_high, length = q_high, t_low, length + WORD
        return length
    t_word, t_shift = _word_and_shift(other.first + y)
    q_low, t_low = words[q_word], words[t_word]
    while length <= last:
        q_word, t_word = q_word + 1, t_word + 1
        q_high, t_high = words[q_word], words[t_word]
        if _joined(q_low, q_high, q_shift) != _joined(t_low, t_high, t_shift):
            return length
        q_low, t_low, length = q_high, t_high, length + WORD
    return length


@inner
def _word_and_shift(position):
    """Return the word that holds a base, and the base's lowest bit there."""
    return position >> 5, U64(2 * (position & 31))


@inner
def _joined(low, high, shift):
    """Return 32 bases that begin in one word and end in the next one."""
    # Two shifts to the left, as a shift by all 64 bits is undefined.
    return (low >> shift) | ((high << U64(1)) << (U64(63) - shift))


@inner
def _bases(strand, position):
    """Return 32 bases from a position on; those beyond the end of the read are arbitrary."""
    if not strand.reverse:
        return bases_at(strand.words, strand.first + position)
    return ~reverse_bases(word_from(strand.words, strand.first + strand.length - position - WORD))


@inner
def _base(strand, position):
    """Return the base at a position."""
    if strand.reverse:
        return 3 - base_at(strand.words, strand.first + strand.length - 1 - position)
    return base_at(strand.words, strand.first + position)


@inner
def _trace(one, x, other, y, s, d, most, reach, found):
    """Write the edits of a path from its end back to its start."""
    edit = 0
    while s > 0:
        i = _entry(reach, s, d, most)
        if abs(d) < s and reach[s - 1, most + d] >= 0 and reach[s - 1, most + d] + 1 == i:
            kind = SUBSTITUTION
            i, j = i - 1, i - 1 + d
        elif d - 1 > -s and reach[s - 1, most + d - 1] == i:
            kind = TARGET_ALONE
            j, d = i + d - 1, d - 1
        else:
            kind = QUERY_ALONE
            i, j, d = i - 1, i + d, d + 1
        _note(one, x + i, other, y + j, kind == TARGET_ALONE, kind == QUERY_ALONE, found[edit, :2])
        _note(other, y + j, one, x + i, kind == QUERY_ALONE, kind == TARGET_ALONE, found[edit, 2:])
        edit, s = edit + 1, s - 1


@inner
def _note(own, at, other, other_at, other_alone, own_alone, found):
    """Write the place of an edit on a read's forward strand, and what the other read has there.

    ``at`` and ``other_at`` are the positions of the next base of either read; a base that one read alone has
    is its next base.
    """
    if own_alone:
        base, has = _base(own, at), np.int64(LACKING)
    else:
        base = _base(other, other_at)
        has = base + EXTRA if other_alone else base
    place = at
    if own.reverse:
        place = own.length - at if other_alone else own.length - 1 - at
        if has != LACKING:
            has = EXTRA + 3 - base if other_alone else 3 - base
        base = 3 - base
    if own_alone or other_alone:
        place = _run_start(own, place, base)
    found[READ_PLACE], found[READ_OTHER] = place, has


@inner
def _run_start(own, place, base):
    """Return where the homopolymer run of a base that ends before a place starts, on the forward strand."""
    while place > 0 and base_at(own.words, own.first + place - 1) == base:
        place -= 1
    return place
