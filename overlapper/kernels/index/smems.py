"""Super-maximal exact matches (Li 2012), found in windows that end further and further right (Gagie 2024).

GPU twin: cuda/smems.py.

The window that ends at ``e`` is searched backward from ``e`` as far as the text follows, to ``s``. Nothing
that ends at ``e`` or later starts before ``s``. So if ``e - s`` is below the minimum length L, the next match
ends at ``s + L`` or later; otherwise the longest match from ``s`` is an SMEM ``[s, m)``, and the next one
ends at ``m + 1`` or later.

::

    query   ===============================================================
                  |-----L-----|                 e: backward to s, e - s < L
                        s<----e
                        |-----L-----|           e = s + L: backward to s, e - s >= L,
                       s<-----------e----->m    forward to m: an SMEM
                                |-----L----|    e = m + 1, and so on

The table of k-mer intervals stands for the first k steps of every search. A match that is down to a single
place is extended by comparing it with the text.

Rows of a match that is in a single place may be told by the place: the only row is then ``-1 - place``.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.inlining import always_inline
from overlapper.kernels.common.packed import base_at, bases_at, reverse_bases, trailing_zeros
from overlapper.kernels.index.fm_index import (
    bases_to_segment_end,
    common_length,
    extend_backward,
    extend_forward,
    kmer_bi_interval,
    locate,
    strand_bases,
    without_counts,
)
from overlapper.kernels.index.mems import FOUND_COLUMNS, add_match
from overlapper.runtime.compile.cache import njit


@always_inline
def _strand_base(fm, position):
    """Return the base at a position of either strand."""
    half = fm.segments[-1, 0]
    return base_at(fm.text, position) if position < half else 3 - base_at(fm.text, 2 * half - 2 - position)


@always_inline
def _common_before(fm, position, words, source, limit):
    """Return how many bases before two places are equal; as `common_length`, to the left."""
    limit = min(limit, bases_to_segment_end(fm, 2 * fm.segments[-1, 0] - 1 - position))
    common = np.int64(0)
    while common + 32 <= limit:
        there, here = strand_bases(fm, position - common - 32), bases_at(words, source - common - 32)
        if there != here:
            return common + (trailing_zeros(reverse_bases(there ^ here)) >> 1)
        common += 32
    while common < limit and (_strand_base(fm, position - common - 1) == base_at(words, source - common - 1)):
        common += 1
    return common


@always_inline
def _first_start(fm, words, source, end, min_length):
    """Find the first start from which the bases up to ``end`` occur in the text.

    From ``min_length`` bases on, what is in a single place is compared with the text.

    Returns
    -------
    start : int
        ``end - k + 1`` where the last k bases do not occur: too late by some bases, but not too early.
    row, mirror, size : int
        The bi-interval of ``[start, end)``, or of fewer bases where these were compared.
    position : int
        Where it is in either strand, if it was compared; else -1.
    """
    start = end - fm.kmer_length
    row, mirror, size = kmer_bi_interval(fm, words, source + start)
    if size == 0:
        return start + 1, row, mirror, size, np.int64(-1)
    while start > 0 and (size > 1 or end - start < min_length):
        base = base_at(words, source + start - 1)
        next_row, next_mirror, next_size = extend_backward(fm, base, row, mirror, size)
        if next_size == 0:
            break
        start, row, mirror, size = start - 1, next_row, next_mirror, next_size
    if size > 1 or end - start < min_length:
        return start, row, mirror, size, np.int64(-1)
    position = locate(fm, row)
    common = _common_before(fm, position, words, source + start, start)
    return start - common, row, mirror, size, position - common


@always_inline
def _longest_from(fm, words, source, start, end, length, row, mirror, size):
    """Extend the bi-interval of ``[start, end)`` as far as the text follows; return end and rows."""
    while size > 1 and end < length:
        base = base_at(words, source + end)
        next_row, next_mirror, next_size = extend_forward(fm, base, row, mirror, size)
        if next_size == 0:
            break
        row, mirror, size, end = next_row, next_mirror, next_size, end + 1
    if size > 1:
        return end, row, row + size
    return _longest_at(fm, words, source, start, end, length, locate(fm, row))


@always_inline
def _longest_at(fm, words, source, start, end, length, position):
    """Extend ``[start, end)``, which is at one place of either strand; return end and rows."""
    end += common_length(fm, position + end - start, words, source + end, length - end)
    return end, -1 - position, -position


@always_inline
def next_smem(fm, words, source, length, end, stop, min_length):
    """Return the first SMEM of a query segment that the windows that end in ``[end, stop)`` tell.

    Parameters
    ----------
    fm : FmIndex
    words : ndarray of uint64
    source, length : int
        First base in ``words`` and bases of the segment.
    end, stop : int
    min_length : int
        At least the k of the table.

    Returns
    -------
    start, end, first, last : int
        Its interval, and its rows; start -1 where there is none.
    """
    while end < stop:
        start, row, mirror, size, position = _first_start(fm, words, source, end, min_length)
        if end - start < min_length:
            end = start + min_length
        elif position < 0:
            end, first, last = _longest_from(fm, words, source, start, end, length, row, mirror, size)
            return start, end, first, last
        else:
            end, first, last = _longest_at(fm, words, source, start, end, length, position)
            return start, end, first, last
    return np.int64(-1), end, np.int64(0), np.int64(0)


@always_inline
def next_nov_smem(fm, words, source, length, start):
    """Return end and rows of the longest match from a base of a query segment on; as `next_smem`.

    There are no rows where the match is shorter than the k-mers of the table.
    """
    row, mirror, size = kmer_bi_interval(fm, words, source + start)
    if size:
        return _longest_from(fm, words, source, start, start + fm.kmer_length, length, row, mirror, size)
    row, mirror, size, end = np.int64(0), np.int64(0), 2 * fm.segments[-1, 0], start
    while True:
        row, mirror, size = extend_forward(fm, base_at(words, source + end), row, mirror, size)
        if size == 0:
            return max(end, start + 1), np.int64(0), np.int64(0)
        end += 1


@always_inline
def row_position(fm, row):
    """Return the place in either strand that a row of a match stands for."""
    return -1 - row if row < 0 else locate(fm, row)


@njit(nogil=True, cache=True)
def _add_rows(fm, found, count, query, q_start, length, first, last):
    """Add the matches of rows ``[first, last)``."""
    for row in range(first, last):
        found = add_match(fm, found, count, query, q_start, length, row_position(fm, row))
        count += 1
    return found, count


@njit(nogil=True, cache=True)
def find_smems(fm, words, sources, lengths, queries, starts, min_length, most, most_places):
    """Find the super-maximal exact matches of query segments.

    Parameters
    ----------
    fm : FmIndex
    words, sources, lengths, queries, starts
        As `overlapper.kernels.index.mems.find_mems`.
    min_length : int
        L, at least the k of the table.
    most : int
        Matches from which on the search ends: what is returned is more than that then, and not all.
    most_places : int
        How many places of a stretch of the query are looked up at most.

    Returns
    -------
    ndarray of int64, shape (matches, 5)
        See `overlapper.kernels.index.mems.FOUND_COLUMNS`; ascending by query and start.
    """
    fm = without_counts(fm)
    found, count = np.empty((1024, FOUND_COLUMNS), np.int64), 0
    for query in range(len(sources)):
        source, length, end = sources[query], lengths[query], np.int64(min_length)
        while end <= length and count <= most:
            start, end, first, last = next_smem(fm, words, source, length, end, length + 1, min_length)
            if start >= 0:
                found, count = _add_rows(
                    fm, found, count, queries[query], starts[query] + start, end - start,
                    first, min(last, first + most_places),
                )  # fmt: skip
            end += 1
    return found[:count]


@njit(nogil=True, cache=True)
def find_nov_smems(fm, words, sources, lengths, queries, starts, min_length, most, most_places):
    """Cut query segments from the left into longest matches, and find those of the minimum length.

    Parameters
    ----------
    fm, words, sources, lengths, queries, starts, min_length, most, most_places
        As `find_smems`.

    Returns
    -------
    ndarray of int64, shape (matches, 5)
        See `overlapper.kernels.index.mems.FOUND_COLUMNS`; ascending by query and start.
    """
    fm = without_counts(fm)
    found, count = np.empty((1024, FOUND_COLUMNS), np.int64), 0
    for query in range(len(sources)):
        source, length, start = sources[query], lengths[query], np.int64(0)
        while start + min_length <= length and count <= most:
            end, first, last = next_nov_smem(fm, words, source, length, start)
            if end - start >= min_length:
                found, count = _add_rows(
                    fm, found, count, queries[query], starts[query] + start, end - start,
                    first, min(last, first + most_places),
                )  # fmt: skip
            start = end
    return found[:count]
