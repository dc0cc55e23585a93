"""Super-maximal exact matches on a CUDA device; the twin of ../smems.py.

The windows of a segment are shared out: a thread takes those that end within `ENDS` bases, and reports the
matches that end there. As the first match that ends at ``e`` or later is found from the window that ends at
``e``, whatever lies before, threads need not know of each other; only a match that reaches into the share of
the next thread is found by both, and reported by that one. A backward search that is down to a single place
goes on by comparing with the text, so that a share in the middle of a long match finds its start cheaply.

nov-SMEMs depend on those before, and have a thread a segment. Where the text is in parts, the longest match
from every base is found first, in every part, and the nov-SMEMs follow from the longest of all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda, int64

from overlapper.kernels.common.cuda.offsets import owner
from overlapper.kernels.common.packed import base_at
from overlapper.kernels.index.cuda.bounds import search_bounds
from overlapper.kernels.index.cuda.fm_index import Batch, DeviceIndex
from overlapper.kernels.index.cuda.matches import (
    Found,
    collect_records,
    columns_of,
    located,
    nothing_found,
    put_record,
    row_offsets_of,
    sort_groups,
)
from overlapper.kernels.index.fm_index import (
    bases_to_segment_end,
    common_length,
    extend_backward,
    kmer_bi_interval,
    locate,
)
from overlapper.kernels.index.smems import extend_to_end, occurring_prefix
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.gpu.memory import Arena

ENDS = 512
"""Window ends of a thread. Fewer are more threads, and more of them find a long match again."""


@cuda.jit(device=True, forceinline=True)
def _strand_base(text, half, position):
    """Return the base at a position of either strand."""
    return base_at(text, position) if position < half else 3 - base_at(text, 2 * half - 2 - position)


@cuda.jit(device=True)
def _common_before(text, segments, position, words, source, limit):
    """Return how many bases before two places are equal; as `common_length`, to the left."""
    half = segments[len(segments) - 1, 0]
    limit = min(limit, bases_to_segment_end(segments, 2 * half - 1 - position))
    common = int64(0)
    while common < limit and (
        _strand_base(text, half, position - common - 1) == base_at(words, source - common - 1)
    ):
        common += 1
    return common


@cuda.jit(device=True)
def _first_start(
    bins, borders, samples, sample_shift, table, kmer_length, text, segments, words, source, end
):
    """Find the first start from which the bases up to ``end`` occur in the text.

    Returns
    -------
    start : int64
        ``end - k + 1`` where the last k bases do not occur: too late by some bases, but not too early.
    row, mirror, size : int64
        The bi-interval of ``[start, end)``, or of fewer bases where that is in a single place.
    position : int64
        Where it is in either strand, if it is in a single place; else -1.
    """
    start = end - kmer_length
    row, mirror, size = kmer_bi_interval(table, kmer_length, words, source + start)
    if size == 0:
        return start + 1, row, mirror, size, int64(-1)
    while start > 0 and size > 1:
        base = base_at(words, source + start - 1)
        next_row, next_mirror, next_size = extend_backward(bins, borders, base, row, mirror, size)
        if next_size == 0:
            break
        start, row, mirror, size = start - 1, next_row, next_mirror, next_size
    if size > 1:
        return start, row, mirror, size, int64(-1)
    position = locate(bins, borders, samples, sample_shift, row)
    common = _common_before(text, segments, position, words, source + start, start)
    return start - common, row, mirror, size, position - common


@cuda.jit(device=True)
def _longest_from(
    bins, borders, samples, sample_shift, text, segments, words, source,
    start, end, length, row, mirror, size, position,
):  # fmt: skip
    """Extend ``[start, end)`` forward as far as the text follows; return its end, first row and end of rows.

    The row of a place that is known is the complement of the place.
    """
    if position < 0:
        end, row, size, position, _ = extend_to_end(
            bins, borders, samples, sample_shift, text, segments,
            words, source, start, end, length, row, mirror, size,
        )  # fmt: skip
    else:
        end += common_length(text, segments, position + end - start, words, source + end, length - end)
    if position < 0:
        return end, row, row + size
    return end, -1 - position, -position


@cuda.jit
def search_windows(
    bins, borders, samples, sample_shift, table, kmer_length, text, segments,
    words, sources, lengths, item_offsets, min_length, ends, offsets, counts, records, emit,
):  # fmt: skip
    """Count or write the records of SMEMs; a thread a share of windows.

    Parameters
    ----------
    bins, ..., segments
        A `DeviceIndex`.
    words, sources, lengths
        `DeviceQueries`.
    item_offsets : device array of int64, shape (segments of queries + 1,)
        First share of each segment.
    min_length : int64
        At least the k of the table.
    ends : int64
        Window ends of a share.
    offsets, counts, records, emit
        See `overlapper.kernels.index.cuda.matches.collect_records`.
    """
    item = int64(cuda.grid(1))
    if item >= len(counts):
        return
    segment = owner(item_offsets, item)
    source, length = sources[segment], lengths[segment]
    end = min_length + (item - item_offsets[segment]) * ends
    stop, count = min(end + ends, length + 1), int64(0)
    while end < stop:
        start, row, mirror, size, position = _first_start(
            bins, borders, samples, sample_shift, table, kmer_length, text, segments, words, source, end
        )
        if end - start < min_length:
            end = start + min_length
            continue
        end, first, last = _longest_from(
            bins, borders, samples, sample_shift, text, segments, words, source,
            start, end, length, row, mirror, size, position,
        )  # fmt: skip
        if end < stop:
            if emit:
                put_record(records, offsets[item] + count, segment, start, end - start, first, last, 0)
            count += 1
        end += 1
    if not emit:
        counts[item] = count


@cuda.jit
def search_nov_smems(
    bins, borders, samples, sample_shift, table, kmer_length, text, segments,
    words, sources, lengths, min_length, offsets, counts, records, emit,
):  # fmt: skip
    """Count or write the records of nov-SMEMs; a thread a segment; as `search_windows`."""
    item = int64(cuda.grid(1))
    if item >= len(counts):
        return
    source, length = sources[item], lengths[item]
    start, count = int64(0), int64(0)
    while start + min_length <= length:
        row, mirror, size = kmer_bi_interval(table, kmer_length, words, source + start)
        if size == 0:
            start += occurring_prefix(bins, borders, segments, words, source + start)
            continue
        end, first, last = _longest_from(
            bins, borders, samples, sample_shift, text, segments, words, source,
            start, start + kmer_length, length, row, mirror, size, int64(-1),
        )  # fmt: skip
        if end - start >= min_length:
            if emit:
                put_record(records, offsets[item] + count, item, start, end - start, first, last, 0)
            count += 1
        start = end
    if not emit:
        counts[item] = count


@cuda.jit
def search_longest(
    bins, borders, samples, sample_shift, table, kmer_length, text, segments,
    words, sources, lengths, item_offsets, longest,
):  # fmt: skip
    """Write how many bases from a place on occur in the text, 1 at least; a thread a place.

    The places of a segment end where fewer bases than those of a k-mer are left, or before.
    """
    item = int64(cuda.grid(1))
    if item >= len(longest):
        return
    segment = owner(item_offsets, item)
    source, start = sources[segment], item - item_offsets[segment]
    row, mirror, size = kmer_bi_interval(table, kmer_length, words, source + start)
    if size == 0:
        longest[item] = occurring_prefix(bins, borders, segments, words, source + start)
        return
    end, _, _ = _longest_from(
        bins, borders, samples, sample_shift, text, segments, words, source,
        start, start + kmer_length, lengths[segment], row, mirror, size, int64(-1),
    )  # fmt: skip
    longest[item] = end - start


@cuda.jit
def write_whole(lengths, bounds, records):
    """Write a record of each segment, all of which matches; a thread a segment."""
    item = int64(cuda.grid(1))
    if item < len(lengths):
        put_record(records, item, item, 0, lengths[item], bounds[item, 0], bounds[item, 1], 0)


def find_smems(index: DeviceIndex, batch: Batch, arena: Arena, min_length: int) -> Found:
    """Find the super-maximal exact matches of query segments; as `find_mems` of mems.py."""
    shares = -(-(batch.lengths - min_length + 1) // ENDS)
    items = int(shares.sum())
    item_offsets = arena.upload(np.concatenate([[0], np.cumsum(shares)]))
    settings = np.int64(min_length), np.int64(ENDS)

    def search(*room: Any) -> None:
        launch(search_windows, items, arena, *index, *batch.queries, item_offsets, *settings, *room)

    return _find(search, items, index, batch, arena)


def find_nov_smems(index: DeviceIndex, batch: Batch, arena: Arena, min_length: int) -> Found:
    """Cut query segments from the left into longest matches; as `find_smems`."""
    items = len(batch.lengths)

    def search(*room: Any) -> None:
        launch(search_nov_smems, items, arena, *index, *batch.queries, np.int64(min_length), *room)

    return _find(search, items, index, batch, arena)


def _find(search: Callable[..., None], items: int, index: DeviceIndex, batch: Batch, arena: Arena) -> Found:
    """Return all places of the records of a search."""
    if not items:
        return nothing_found()
    records, _, count = collect_records(search, items, arena)
    return _all_places(index, batch, arena, records, count)


def _all_places(index: DeviceIndex, batch: Batch, arena: Arena, records: Any, count: int) -> Found:
    if not count:
        return nothing_found()
    row_offsets, rows = row_offsets_of(records, count, arena)
    if not rows:
        return nothing_found()
    keys, places = located(index, records, row_offsets, rows, arena)
    sort_groups(row_offsets, keys, places, arena)
    return columns_of(records, row_offsets, keys, places, batch, arena)


def find_longest(index: DeviceIndex, batch: Batch, arena: Arena, min_length: int) -> np.ndarray:
    """Return how many bases from each place on occur in the text, as `cut_nov_smems` takes it."""
    places = batch.lengths - min_length + 1
    item_offsets = arena.upload(np.concatenate([[0], np.cumsum(places)]))
    longest = arena.array(int(places.sum()), np.int32)
    launch(search_longest, len(longest), arena, *index, *batch.queries, item_offsets, longest)
    return arena.download(longest)


def find_places(index: DeviceIndex, batch: Batch, arena: Arena) -> Found:
    """Return all places where whole segments match."""
    count = len(batch.lengths)
    bounds, records = arena.array((count, 2), np.int64), arena.array((count, 6), np.int64)
    launch(search_bounds, count, arena, *index, *batch.queries, bounds)
    launch(write_whole, count, arena, batch.queries.lengths, bounds, records)
    return _all_places(index, batch, arena, records, count)
