"""Hits of queries in the seed index on a CUDA device; a part of `dsoft`.

All hits of a block of queries are listed and sorted by query, target and strand, so that those of a pair on a
strand lie together, in the order in which the CPU meets them.

A key is ``query << target_bits + 1 | 2 * target + reverse``, queries counted from the first of the block; a
place is ``query position << 32 | target position``.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from overlapper.kernels.common.cuda.radix_sort import sort_pairs
from overlapper.kernels.common.cuda.scan import exclusive_sums, last_of
from overlapper.runtime.gpu.launch import launch, named
from overlapper.runtime.gpu.memory import Arena

_kernel = partial(named, "candidates.hit_kernels")


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
    launch(_kernel("count_hits"), len(counts), arena, *own, counts)
    offsets = exclusive_sums(counts, arena)
    n = last_of(offsets, arena)
    if not n:
        return None
    keys, places = arena.array(n, np.uint64), arena.array(n, np.uint64)
    launch(_kernel("write_hits"), len(counts), arena, *own, offsets, query_start, target_bits, keys, places)
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
        launch(named("common.copies", "copy_items"), len(own), arena, own, by_read[int(list_starts[query]) :])
    return index._replace(by_read=by_read, list_starts=list_starts)


def count_sampled(occurrences: Any, by_read: Any, step: int, arena: Arena) -> int:
    """Return how many hits every ``step``-th seed has with later ones of its group, in other reads."""
    mark = arena.mark()
    numbers = arena.array(-(-len(by_read) // step), by_read.dtype)
    counts = arena.array(len(numbers), np.int32)
    launch(named("common.copies", "take_every"), len(numbers), arena, by_read, step, numbers)
    launch(_kernel("count_hits"), len(numbers), arena, occurrences, numbers, 0, counts)
    hits = int(arena.download(counts).sum(dtype=np.int64))
    arena.release(mark)
    return hits
