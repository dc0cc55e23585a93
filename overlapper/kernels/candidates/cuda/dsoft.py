"""D-SOFT over the seed index on a CUDA device; the twin of ../dsoft.py.

`hits` lists the hits of a block of queries, those of a pair on a strand together. Here a block of threads
looks for the windows of a pair: what a hit adds to its windows depends on few hits before it, so threads
share nothing but the sums.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from overlapper.kernels.candidates.cuda.hits import Index, sorted_hits
from overlapper.kernels.candidates.dsoft import Bands
from overlapper.kernels.common.cuda.scan import exclusive_sums, last_of
from overlapper.runtime.gpu.launch import launch, named
from overlapper.runtime.gpu.memory import Arena
from overlapper.tables.ragged import places_within

WARP = 32
"""Threads that work on a pair."""
BLOCKS = 4096
"""Pairs that are worked on at the same time, each with room for its windows."""
HEAD = 4
"""Integers of a candidate besides its pair."""
_kernel = partial(named, "candidates.dsoft_kernels")


class Found(NamedTuple):
    """Candidates in device memory: by query, target, strand, the best first."""

    query: Any
    target: Any
    """`query`, `target`: device array of int32, shape (n,)."""
    reverse: Any
    """device array of bool, shape (n,)."""
    heads: Any
    """Device array of int32, shape (n, HEAD); of each candidate, as the CPU's columns of these names:
    query_pos, target_pos, seeds, span."""
    hit_starts: Any
    """Device array of int64, shape (n,); where the seeds of each candidate start."""
    hit_counts: Any
    """device array of int32, shape (n,)."""
    hit_query_pos: Any
    hit_target_pos: Any
    """`hit_query_pos`, `hit_target_pos`: device array of int32."""


def find_candidates(
    index: Index,
    query_start: int,
    query_stop: int,
    first_target: int,
    longest: int,
    bands: Bands,
    arena: Arena,
) -> Found | None:
    """Find the candidates of queries ``[query_start, query_stop)``, as the CPU's `find_candidates` does.

    Parameters
    ----------
    index : Index
    query_start, query_stop, first_target : int
    longest : int
        Bases that a query and a target have together, at most.
    bands : Bands
    arena : Arena
        What is found lies in it.

    Returns
    -------
    Found or None
        None when there are no candidates.

    Raises
    ------
    DeviceError
        When the arena is too small for these queries.
    """
    target_bits = max(1, (len(index.lengths) - 1).bit_length())
    hits = sorted_hits(index, query_start, query_stop, first_target, target_bits, arena)
    if hits is None:
        return None
    keys, places = hits
    flags = arena.array(len(keys), np.int32)
    launch(_kernel("flag_pairs"), len(keys), arena, keys, places, index.lengths, target_bits, bands, flags)
    ranks = exclusive_sums(flags, arena)
    pairs = last_of(ranks, arena)
    if not pairs:
        return None
    starts = arena.array(pairs, np.int64)
    launch(named("common.groups", "list_flagged"), len(keys), arena, flags, ranks, starts)

    width = (longest >> bands.band_bits) + 4
    blocks = max(1, min(BLOCKS, pairs, arena.free // 8 // (4 * width)))
    windows = arena.zeros(blocks * width, np.int32).reshape(blocks, width)
    diagonals, query_pos, target_pos = (arena.array(len(keys), np.int32) for _ in range(3))
    counts = arena.array(pairs, np.int32)
    sizes = arena.array((pairs, bands.most_windows), np.int32)
    heads = arena.array((pairs * bands.most_windows, HEAD), np.int32)
    _kernel("find_windows").launch(
        blocks, WARP, arena.stream, keys, places, index.lengths, starts, query_start, target_bits,
        bands, diagonals, windows, query_pos, target_pos, counts, sizes, heads,
    )  # fmt: skip
    offsets = exclusive_sums(counts, arena)
    n = last_of(offsets, arena)
    if not n:
        return None
    found = Found(
        arena.array(n, np.int32), arena.array(n, np.int32), arena.array(n, np.bool_),
        arena.array((n, HEAD), np.int32), arena.array(n, np.int64), arena.array(n, np.int32),
        query_pos, target_pos,
    )  # fmt: skip
    launch(
        _kernel("list_candidates"), pairs, arena, keys, starts, counts, sizes, offsets, query_start,
        target_bits, heads, *found[:6],
    )  # fmt: skip
    return found


def rows_of(found: Found | None, arena: Arena) -> np.ndarray:
    """Return candidates as rows, as the CPU's `find_candidates` has them."""
    if found is None:
        return np.empty((0, 3 + HEAD), np.int32)
    columns = [arena.download(column) for column in found[:4]]
    return np.column_stack([*columns[:3], columns[3]])


def seeds_of(found: Found | None, arena: Arena) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return how many seeds each candidate has, and query and target positions of all, by candidate."""
    if found is None:
        return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int32)
    starts, counts, *positions = map(arena.download, found[4:])
    places = np.repeat(starts, counts) + places_within(counts)
    return counts, positions[0][places], positions[1][places]
