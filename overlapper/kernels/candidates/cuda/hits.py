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
