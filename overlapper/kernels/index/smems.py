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

Index accesses are saved threefold. The table of k-mer intervals stands for the first k steps of every search.
A match that is down to a single place is extended by comparing it with the text. And the bi-intervals of a
backward search are kept: if the next window ends at most `FORWARD_LIMIT` bases further right, they are
extended forward by those bases instead of searching anew (Ahmed 2015).
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.packed import base_at, uncounted
from overlapper.kernels.index.fm_index import (
    common_length,
    extend_backward,
    extend_forward,
    kmer_bi_interval,
    locate,
)
from overlapper.kernels.index.mems import FOUND_COLUMNS, add_match, with_room
from overlapper.runtime.compile.cache import njit

FORWARD_LIMIT = 2
"""Kept bi-intervals are extended forward by at most this many bases.

Measured: 2 saves 2 to 4 per cent of all accesses; 3 saves another per cent on yeast, and costs 4 on E. coli.
"""

_KEPT_BASES = 1024
_NOTHING_KEPT = -(1 << 62)


@njit(nogil=True, cache=True, forceinline=True)
def _search_backward(bins, borders, table, kmer_length, words, source, end, kept):
    """Find the first start from which the bases up to ``end`` occur in the text.

    Parameters
    ----------
    bins, borders, table, kmer_length
        Of the `FmIndex`.
    words : ndarray of uint64
    source : int
        First base of the query in ``words``.
    end : int
        At least k.
    kept : ndarray of int64, shape (n, 3)
        Row ``i`` is set to the bi-interval of the last ``i`` bases, for all i from k on that occur.

    Returns
    -------
    start : int
        ``end - k + 1`` where the last k bases do not occur: too late by some bases, but not too early.
    row, mirror, size : int
        The bi-interval of ``[start, end)``.
    accesses : int
    """
    start, accesses = end - kmer_length, 2
    row, mirror, size = kmer_bi_interval(table, kmer_length, words, source + start)
    if size == 0:
        return start + 1, row, mirror, size, accesses
    kept[kmer_length, 0], kept[kmer_length, 1], kept[kmer_length, 2] = row, mirror, size
    while start > 0:
        base = base_at(words, source + start - 1)
        next_row, next_mirror, next_size = extend_backward(bins, borders, base, row, mirror, size)
        accesses += 1
        if next_size == 0:
            break
        start, row, mirror, size = start - 1, next_row, next_mirror, next_size
        bases = end - start
        if bases < len(kept):
            kept[bases, 0], kept[bases, 1], kept[bases, 2] = row, mirror, size
    return start, row, mirror, size, accesses


@njit(nogil=True, cache=True, forceinline=True)
def _extend_kept(bins, borders, words, source, kept, first_start, last_start, kept_end, end):
    """Find the first of some starts from which the bases up to ``end`` occur in the text.

    Parameters
    ----------
    first_start, last_start : int
        The starts, both included.
    kept_end : int
        End of the kept bi-intervals, below ``end``.

    Returns
    -------
    start, row, mirror, size, accesses : int
        As `_search_backward`; size 0 where there is none.
    """
    start, accesses = first_start, 0
    row, mirror, size = np.int64(0), np.int64(0), np.int64(0)
    while start <= last_start:
        bases = kept_end - start
        row, mirror, size = kept[bases, 0], kept[bases, 1], kept[bases, 2]
        next_base = kept_end
        while next_base < end and size > 0:
            base = base_at(words, source + next_base)
            row, mirror, size = extend_forward(bins, borders, base, row, mirror, size)
            accesses += 1
            next_base += 1
        if size > 0:
            break
        start += 1
    return start, row, mirror, size, accesses


@njit(nogil=True, cache=True, forceinline=True)
def extend_to_end(
    bins, borders, samples, sample_shift, text, segments, words, source, start, end, length, row, mirror, size
):
    """Extend the bi-interval of ``[start, end)`` forward as far as the text follows.

    Returns
    -------
    end : int
    row, size : int
        Rows of ``[start, end)``.
    position : int
        Where it is in either strand, if it is in a single place; else -1.
    accesses : int
    """
    accesses = 0
    while size > 1 and end < length:
        base = base_at(words, source + end)
        next_row, next_mirror, next_size = extend_forward(bins, borders, base, row, mirror, size)
        accesses += 1
        if next_size == 0:
            break
        row, mirror, size, end = next_row, next_mirror, next_size, end + 1
    if size > 1:
        return end, row, size, -1, accesses
    position = locate(bins, borders, samples, sample_shift, row)
    followed = common_length(text, segments, position + end - start, words, source + end, length - end)
    return end + followed, row, size, position, accesses


@njit(nogil=True, cache=True, forceinline=True)
def _add_rows(
    bins, borders, samples, sample_shift, segments, found, count, query, q_start, length, row, size, position
):
    """Add the matches of all rows; ``position`` is that of a single row, if it is not below 0."""
    for place in range(row, row + size):
        if size > 1 or position < 0:
            position = locate(bins, borders, samples, sample_shift, place)
        found = add_match(segments, found, count, query, q_start, length, position)
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
    found : ndarray of int64, shape (matches, 5)
        See `overlapper.kernels.index.mems.FOUND_COLUMNS`; ascending by query and start.
    accesses : int
        Look-ups in the table and extensions of bi-intervals.
    """
    bins, borders, samples = uncounted(fm.bins), uncounted(fm.borders), uncounted(fm.samples)
    table, text, segments = uncounted(fm.table), uncounted(fm.text), uncounted(fm.segments)
    sample_shift, kmer_length = fm.sample_shift, fm.kmer_length
    found, count, accesses = np.empty((1024, FOUND_COLUMNS), np.int64), 0, 0
    kept = np.empty((_KEPT_BASES, 3), np.int64)
    for query in range(len(sources)):
        source, length = sources[query], lengths[query]
        end, kept_start, kept_end, start = min_length, 0, _NOTHING_KEPT, 0
        while end <= length:
            size = np.int64(0)
            if end - kept_end <= FORWARD_LIMIT:
                last_start = min(end - min_length, kept_end - kmer_length)
                start, row, mirror, size, cost = _extend_kept(
                    bins, borders, words, source, kept, max(start, kept_start), last_start, kept_end, end
                )
                accesses += cost
            if size == 0:
                start, row, mirror, size, cost = _search_backward(
                    bins, borders, table, kmer_length, words, source, end, kept
                )
                accesses += cost
                kept_start, kept_end = start, end if end - start < _KEPT_BASES else _NOTHING_KEPT
            if end - start < min_length:
                end = start + min_length
                continue
            end, row, size, position, cost = extend_to_end(
                bins, borders, samples, sample_shift, text, segments,
                words, source, start, end, length, row, mirror, size,
            )  # fmt: skip
            accesses += cost
            found, count = _add_rows(
                bins, borders, samples, sample_shift, segments,
                found, count, queries[query], starts[query] + start, end - start,
                row, min(size, most_places), position,
            )  # fmt: skip
            start, end = start + 1, end + 1
            if count > most:
                return found[:count], accesses
    return found[:count], accesses


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
    bins, borders, samples = uncounted(fm.bins), uncounted(fm.borders), uncounted(fm.samples)
    table, text, segments = uncounted(fm.table), uncounted(fm.text), uncounted(fm.segments)
    sample_shift, kmer_length = fm.sample_shift, fm.kmer_length
    found, count = np.empty((1024, FOUND_COLUMNS), np.int64), 0
    for query in range(len(sources)):
        source, length = sources[query], lengths[query]
        start = 0
        while start + min_length <= length:
            row, mirror, size = kmer_bi_interval(table, kmer_length, words, source + start)
            if size == 0:
                start += occurring_prefix(bins, borders, segments, words, source + start)
                continue
            end, row, size, position, _ = extend_to_end(
                bins, borders, samples, sample_shift, text, segments,
                words, source, start, start + kmer_length, length, row, mirror, size,
            )  # fmt: skip
            if end - start >= min_length:
                found, count = _add_rows(
                    bins, borders, samples, sample_shift, segments,
                    found, count, queries[query], starts[query] + start, end - start,
                    row, min(size, most_places), position,
                )  # fmt: skip
            start = end
            if count > most:
                return found[:count]
    return found[:count]


@njit(nogil=True, cache=True)
def occurring_prefix(bins, borders, segments, words, position):
    """Return how many of the bases at a position occur in the text, 1 at least; some k-mer there must not."""
    row, mirror, size = np.int64(0), np.int64(0), 2 * segments[-1, 0]
    length = 0
    while True:
        row, mirror, size = extend_forward(
            bins, borders, base_at(words, position + length), row, mirror, size
        )
        if size == 0:
            return max(length, 1)
        length += 1


@njit(nogil=True, cache=True)
def cut_nov_smems(longest, offsets, min_length):
    """Cut segments from the left into longest matches, whose lengths are known.

    Parameters
    ----------
    longest : ndarray of int32
        How many bases from each place on occur in the text, 1 at least; of every segment up to where
        ``min_length`` bases are left.
    offsets : ndarray of int64, shape (segments + 1,)
        Where each segment starts in ``longest``.
    min_length : int

    Returns
    -------
    ndarray of int64, shape (matches, 3)
        Segment, start on it and bases of the matches of the minimum length.
    """
    matches, count = np.empty((1024, 3), np.int64), 0
    for segment in range(len(offsets) - 1):
        place = offsets[segment]
        while place < offsets[segment + 1]:
            length = np.int64(longest[place])
            if length >= min_length:
                matches = with_room(matches, count)
                matches[count, 0], matches[count, 1] = segment, place - offsets[segment]
                matches[count, 2] = length
                count += 1
            place += length
    return matches[:count]
