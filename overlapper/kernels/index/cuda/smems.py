"""Super-maximal exact matches on a CUDA device; the twin of ../smems.py.

The windows of a segment are shared out: a thread takes those that end within `ENDS` bases, and reports the
matches that end there. As the first match that ends at ``e`` or later is found from the window that ends at
``e``, whatever lies before, threads need not know of each other; only a match that reaches into the share of
the next thread is found by both, and reported by that one. nov-SMEMs depend on those before, and have a
thread a segment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda, int64

from overlapper.kernels.common.cuda.offsets import owner
from overlapper.kernels.index.cuda.fm_index import Batch
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
from overlapper.kernels.index.fm_index import FmIndex
from overlapper.kernels.index.smems import next_nov_smem, next_smem
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.gpu.memory import Arena

ENDS = 512
"""Window ends of a thread. Fewer are more threads, and more of them find a long match again."""


@cuda.jit
def search_windows(fm, queries, item_offsets, min_length, ends, offsets, counts, records, emit):
    """Count or write the records of SMEMs; a thread a share of windows.

    Parameters
    ----------
    fm : FmIndex
    queries : DeviceQueries
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
    words, sources, lengths = queries
    segment = owner(item_offsets, item)
    source, length = sources[segment], lengths[segment]
    end = min_length + (item - item_offsets[segment]) * ends
    stop, count = min(end + ends, length + 1), int64(0)
    while end < stop:
        start, end, first, last = next_smem(fm, words, source, length, end, stop, min_length)
        if start >= 0 and end < stop:
            if emit:
                put_record(records, offsets[item] + count, segment, start, end - start, first, last)
            count += 1
        end += 1
    if not emit:
        counts[item] = count


@cuda.jit
def search_nov_smems(fm, queries, min_length, offsets, counts, records, emit):
    """Count or write the records of nov-SMEMs; a thread a segment; as `search_windows`."""
    item = int64(cuda.grid(1))
    if item >= len(counts):
        return
    words, sources, lengths = queries
    source, length = sources[item], lengths[item]
    start, count = int64(0), int64(0)
    while start + min_length <= length:
        end, first, last = next_nov_smem(fm, words, source, length, start)
        if end - start >= min_length:
            if emit:
                put_record(records, offsets[item] + count, item, start, end - start, first, last)
            count += 1
        start = end
    if not emit:
        counts[item] = count


def find_smems(index: FmIndex, batch: Batch, arena: Arena, min_length: int) -> Found:
    """Find the super-maximal exact matches of query segments; as `find_mems` of mems.py."""
    shares = -(-(batch.lengths - min_length + 1) // ENDS)
    item_offsets = arena.upload(np.concatenate([[0], np.cumsum(shares)]))

    def search(*room: Any) -> None:
        items = len(room[1])
        launch(search_windows, items, arena, index, batch.queries, item_offsets, min_length, ENDS, *room)

    return _find(search, int(shares.sum()), index, batch, arena)


def find_nov_smems(index: FmIndex, batch: Batch, arena: Arena, min_length: int) -> Found:
    """Cut query segments from the left into longest matches; as `find_smems`."""

    def search(*room: Any) -> None:
        launch(search_nov_smems, len(room[1]), arena, index, batch.queries, min_length, *room)

    return _find(search, len(batch.lengths), index, batch, arena)


def _find(search: Callable[..., None], items: int, index: FmIndex, batch: Batch, arena: Arena) -> Found:
    """Return all places of the records of a search."""
    if not items:
        return nothing_found()
    records, _, count = collect_records(search, items, arena)
    if not count:
        return nothing_found()
    row_offsets, rows = row_offsets_of(records, count, arena)
    keys, places = located(index, records, row_offsets, rows, arena)
    sort_groups(row_offsets, keys, places, arena)
    return columns_of(records, row_offsets, keys, places, batch, arena)
