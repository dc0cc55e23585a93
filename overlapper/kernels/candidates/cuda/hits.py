"""Hits of queries in the seed index on a CUDA device; a part of `dsoft`.

All hits of a block of queries are listed and sorted by query, target and strand, so that those of a pair on a
strand lie together, in the order in which the CPU meets them.

A key is ``query << target_bits + 1 | 2 * target + reverse``, queries counted from the first of the block; a
place is ``query position << 32 | target position``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int32, int64, uint64

from overlapper.kernels.common.cuda.copies import copy_items, take_every
from overlapper.kernels.common.cuda.radix_sort import sort_pairs
from overlapper.kernels.common.cuda.scan import exclusive_sums, last_of
from overlapper.kernels.seeds.seed_index import LAST_OF_GROUP, POSITION_MASK, READ_SHIFT
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.gpu.memory import Arena


class Index(NamedTuple):
    """The seed index of `find_candidates`, in device memory but for ``list_starts``, which the host reads.

    Attributes
    ----------
    occurrences : device array of uint64
    by_read : device array of uint32 or int64
    list_starts : ndarray of int64, shape (reads + 1,)
    lengths : device array of int64, shape (reads,)
    """

    occurrences: Any
    by_read: Any
    list_starts: np.ndarray
    lengths: Any


def sorted_hits(
    index: Index, query_start: int, query_stop: int, first_target: int, target_bits: int, arena: Arena
) -> tuple[Any, Any] | None:
    """Return keys and places of the hits of queries ``[query_start, query_stop)``, None if there are none.

    Raises
    ------
    DeviceError
        When the arena is too small for them.
    """
    first, stop = index.list_starts[[query_start, query_stop]].tolist()
    if first == stop:
        return None
    own = index.occurrences, index.by_read[first:stop], first_target
    counts = arena.array(stop - first, np.int32)
    launch(count_hits, len(counts), arena, *own, counts)
    offsets = exclusive_sums(counts, arena)
    n = last_of(offsets, arena)
    if not n:
        return None
    keys, places = arena.array(n, np.uint64), arena.array(n, np.uint64)
    launch(write_hits, len(counts), arena, *own, offsets, query_start, target_bits, keys, places)
    query_bits = (query_stop - query_start - 1).bit_length()
    return sort_pairs(keys, places, query_bits + target_bits + 1, arena)


def of_queries(index: Index, queries: np.ndarray, arena: Arena) -> Index:
    """Return an index in which some queries, ascending, have their seeds, and all others have none."""
    sizes = np.zeros(len(index.list_starts), np.int64)
    sizes[queries + 1] = index.list_starts[queries + 1] - index.list_starts[queries]
    list_starts = np.cumsum(sizes)
    by_read = arena.array(int(list_starts[-1]), index.by_read.dtype)
    for query in queries.tolist():
        own = index.by_read[int(index.list_starts[query]) : int(index.list_starts[query + 1])]
        launch(copy_items, len(own), arena, own, by_read[int(list_starts[query]) :])
    return index._replace(by_read=by_read, list_starts=list_starts)


def count_sampled(occurrences: Any, by_read: Any, step: int, arena: Arena) -> int:
    """Return how many hits every ``step``-th seed has with later ones of its group, in other reads."""
    mark = arena.mark()
    numbers = arena.array(-(-len(by_read) // step), by_read.dtype)
    counts = arena.array(len(numbers), np.int32)
    launch(take_every, len(numbers), arena, by_read, step, numbers)
    launch(count_hits, len(numbers), arena, occurrences, numbers, 0, counts)
    hits = int(arena.download(counts).sum(dtype=np.int64))
    arena.release(mark)
    return hits


@cuda.jit(device=True, forceinline=True)
def _read_of(occurrence):
    return int64((occurrence & uint64(LAST_OF_GROUP - 1)) >> uint64(READ_SHIFT))


@cuda.jit(device=True, forceinline=True)
def _position_of(occurrence):
    return (occurrence >> uint64(1)) & uint64(POSITION_MASK)


@cuda.jit
def count_hits(occurrences, numbers, first_target, counts):
    """Count the hits of each seed of the queries: later ones of its group, in reads after the query."""
    x = cuda.grid(1)
    if x >= len(counts):
        return
    number, last = uint64(numbers[x]), uint64(len(occurrences) - 1)
    count = int32(0)
    if number < last:
        here = occurrences[number]
        skipped = max(_read_of(here), int64(first_target) - 1)
        while (here >> uint64(63)) == uint64(0):
            number += uint64(1)
            here = occurrences[number]
            if _read_of(here) > skipped:
                count += int32(1)
    counts[x] = count


@cuda.jit
def write_hits(occurrences, numbers, first_target, offsets, first_query, target_bits, keys, places):
    """Write the hits of each seed of the queries, in the order of the seeds and of their groups."""
    x = cuda.grid(1)
    if x >= len(offsets) - 1:
        return
    at, end = offsets[x], offsets[x + 1]
    if at == end:
        return
    number = uint64(numbers[x])
    own = occurrences[number]
    skipped = max(_read_of(own), int64(first_target) - 1)
    query = uint64(_read_of(own) - int64(first_query)) << uint64(target_bits + 1)
    position = _position_of(own) << uint64(32)
    while at < end:
        number += uint64(1)
        here = occurrences[number]
        target = _read_of(here)
        if target > skipped:
            keys[at] = query | (uint64(target) << uint64(1)) | ((own ^ here) & uint64(1))
            places[at] = position | _position_of(here)
            at += 1


@cuda.jit(device=True, forceinline=True)
def target_of(key, target_bits):
    """Return the target of a key."""
    return int64((key >> uint64(1)) & ((uint64(1) << uint64(target_bits)) - uint64(1)))


@cuda.jit(device=True, forceinline=True)
def query_position(place):
    """Return the query position of a place."""
    return int32(place >> uint64(32))


@cuda.jit(device=True, forceinline=True)
def target_position(place):
    """Return the target position of a place."""
    return int32(place & uint64(0xFFFFFFFF))


@cuda.jit(device=True, forceinline=True)
def diagonal(key, place, lengths, target_bits, k):
    """Return the diagonal of a hit, its target being on the query's strand."""
    t = int64(target_position(place))
    if key & uint64(1):
        t = lengths[target_of(key, target_bits)] - k - t
    return int32(t - int64(query_position(place)))
