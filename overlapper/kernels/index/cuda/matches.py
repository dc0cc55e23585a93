"""From records, each some rows that match the same bases of a read, to matches in canonical order.

It does what `_in_order` of `overlapper/index/index.py` does.

A search kernel runs twice: it counts the records of every item, and, when running sums have given each item
its room, writes them. Rows of records are located, a thread a row. Records come in the order of reads and of
places on them, so that all that is left to sort are the matches of one place on a read, by length, strand and
place in the text: by a thread where they are few, by a block where they are many.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int32, int64, uint8

from overlapper.kernels.common.cuda.offsets import owner
from overlapper.kernels.common.cuda.scan import exclusive_sums, last_of
from overlapper.kernels.index.cuda.fm_index import Batch
from overlapper.kernels.index.fm_index import FmIndex, text_position
from overlapper.kernels.index.smems import row_position
from overlapper.runtime.gpu.launch import THREADS, launch
from overlapper.runtime.gpu.memory import Arena

SEGMENT, START, LENGTH, FIRST, LAST = range(5)
"""Columns of a record: segment, first base on it, bases, first row and end of rows.

A place that is known already stands for a row (`row_position`).
"""
FEW = 24
"""A thread sorts this many matches; a block sorts more."""


class Found(NamedTuple):
    """Matches in host memory, in canonical order; columns as in `overlapper.tables.Matches`."""

    query: np.ndarray
    q_start: np.ndarray
    t_start: np.ndarray
    length: np.ndarray
    reverse: np.ndarray


@cuda.jit(device=True, forceinline=True)
def put_record(records, at, segment, start, length, first, last):
    """Write a record."""
    records[at, SEGMENT], records[at, START], records[at, LENGTH] = segment, start, length
    records[at, FIRST], records[at, LAST] = first, last


def collect_records(
    search: Callable[[Any, Any, Any, bool], None], items: int, arena: Arena
) -> tuple[Any, Any, int]:
    """Run a search twice: to count its records, and to write them.

    Parameters
    ----------
    search : callable
        ``search(offsets, counts, records, emit)`` writes ``counts[item]``, or, if ``emit``, the records of
        item from ``offsets[item]`` on.
    items : int
        At least 1.
    arena : Arena

    Returns
    -------
    records : device array of int64, shape (at least 1, 5)
    offsets : device array of int64, shape (items + 1,)
    count : int
    """
    counts, nothing = arena.array(items, np.int32), arena.array((1, 5), np.int64)
    search(arena.array(1, np.int64), counts, nothing, False)
    offsets = exclusive_sums(counts, arena)
    count = last_of(offsets, arena)
    records = arena.array((max(count, 1), 5), np.int64)
    if count:
        search(offsets, counts, records, True)
    return records, offsets, count


@cuda.jit
def count_rows(records, counts):
    """Write how many rows each record has; a thread a record."""
    record = cuda.grid(1)
    if record < len(counts):
        counts[record] = records[record, LAST] - records[record, FIRST]


@cuda.jit(device=True, forceinline=True)
def match_key(length, reverse):
    """Return length and strand as one number, which sorts matches."""
    return (int64(length) << 1) | int64(reverse)


@cuda.jit
def locate_rows(fm, records, row_offsets, keys, places):
    """Locate the rows of all records; a thread a row.

    Parameters
    ----------
    fm : FmIndex
    records, row_offsets : device array
    keys : device array of int64, shape (rows,)
        Written: see `match_key`.
    places : device array of int64, shape (rows,)
        Written: first base in the text.
    """
    item = int64(cuda.grid(1))
    if item >= len(places):
        return
    record = owner(row_offsets, item)
    position = row_position(fm, records[record, FIRST] + item - row_offsets[record])
    length = records[record, LENGTH]
    place, reverse = text_position(fm, position, length)
    keys[item] = match_key(length, reverse)
    places[item] = place


@cuda.jit(device=True, forceinline=True)
def _put_in_order(keys, places, low, high):
    """Exchange two matches that are not in order."""
    low_key, high_key = keys[low], keys[high]
    if low_key > high_key or (low_key == high_key and places[low] > places[high]):
        keys[low], keys[high] = high_key, low_key
        place = places[low]
        places[low] = places[high]
        places[high] = place


@cuda.jit
def sort_few(offsets, keys, places, many, many_count):
    """Sort the matches of every group that has few, and list the other groups; a thread a group."""
    group = int64(cuda.grid(1))
    if group >= len(offsets) - 1:
        return
    first, end = offsets[group], offsets[group + 1]
    if end - first > FEW:
        many[cuda.atomic.add(many_count, 0, int32(1))] = group
        return
    for i in range(first + 1, end):
        key, place, at = keys[i], places[i], i
        while at > first:
            if keys[at - 1] < key or (keys[at - 1] == key and places[at - 1] <= place):
                break
            keys[at], places[at] = keys[at - 1], places[at - 1]
            at -= 1
        keys[at], places[at] = key, place


@cuda.jit
def sort_many(offsets, keys, places, many):
    """Sort the matches of the groups listed; a block a group, by a bitonic network for any length."""
    for listed in range(cuda.blockIdx.x, len(many), cuda.gridDim.x):
        first = offsets[many[listed]]
        length = offsets[many[listed] + 1] - first
        width = int64(2)
        while width < 2 * length:
            distance = width >> 1
            while distance > 0:
                for pair in range(cuda.threadIdx.x, length, cuda.blockDim.x):
                    low = 2 * distance * (pair // distance) + pair % distance
                    # The first step of a width mirrors its upper half, so that all compare upwards.
                    high = low ^ (width - 1) if distance == width >> 1 else low + distance
                    if high < length:
                        _put_in_order(keys, places, first + low, first + high)
                cuda.syncthreads()
                distance >>= 1
            width *= 2


@cuda.jit
def write_columns(records, match_offsets, keys, places, queries, starts, query, q_start, length, reverse):
    """Write the columns of matches; a thread a match.

    Parameters
    ----------
    records, match_offsets, keys, places : device array
    queries, starts : device array of int64
        Read that each segment lies on, and where.
    query, q_start, length, reverse : device array
        Written.
    """
    item = int64(cuda.grid(1))
    if item >= len(places):
        return
    record = owner(match_offsets, item)
    segment, key = records[record, SEGMENT], keys[item]
    query[item] = queries[segment]
    q_start[item] = starts[segment] + records[record, START]
    length[item] = key >> 1
    reverse[item] = uint8(key & 1)


def row_offsets_of(records: Any, count: int, arena: Arena) -> tuple[Any, int]:
    """Return where the rows of each record start among all of them, and how many there are."""
    counts = arena.array(count, np.int32)
    launch(count_rows, count, arena, records, counts)
    offsets = exclusive_sums(counts, arena)
    return offsets, last_of(offsets, arena)


def located(index: FmIndex, records: Any, row_offsets: Any, rows: int, arena: Arena) -> tuple[Any, Any]:
    """Return keys and places of all rows of records."""
    keys, places = arena.array(rows, np.int64), arena.array(rows, np.int64)
    launch(locate_rows, rows, arena, index, records, row_offsets, keys, places)
    return keys, places


def sort_groups(offsets: Any, keys: Any, places: Any, arena: Arena) -> None:
    """Sort the matches of every group; group ``i`` is ``[offsets[i], offsets[i + 1])``."""
    groups = len(offsets) - 1
    many = arena.array(min(groups, len(places) // FEW + 1), np.int64)
    many_count = arena.zeros(1, np.int32)
    launch(sort_few, groups, arena, offsets, keys, places, many, many_count)
    listed = int(arena.download(many_count)[0])
    if listed:
        launch(sort_many, listed * THREADS, arena, offsets, keys, places, many[:listed])


def columns_of(records: Any, match_offsets: Any, keys: Any, places: Any, batch: Batch, arena: Arena) -> Found:
    """Return matches in host memory.

    Parameters
    ----------
    records, match_offsets, keys, places : device array
        Matches, at least one; those of record ``i`` start at ``match_offsets[i]``.
    batch : Batch
    arena : Arena
    """
    n = len(places)
    query, q_start, length, reverse = (
        arena.array(n, kind) for kind in (np.int32, np.int64, np.int32, np.uint8)
    )
    launch(
        write_columns, n, arena, records, match_offsets, keys, places, batch.reads, batch.starts,
        query, q_start, length, reverse,
    )  # fmt: skip
    columns = [arena.download(column) for column in (query, q_start, places, length, reverse)]
    columns[4] = columns[4].view(np.bool_)
    return Found(*columns)


def nothing_found() -> Found:
    """Return no matches."""
    return Found(
        np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int32),
        np.empty(0, np.bool_),
    )  # fmt: skip
