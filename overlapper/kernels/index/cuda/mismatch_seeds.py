"""Fixed-length seeds with mismatches on a CUDA device; the twin of ../mismatch_seeds.py.

A thread searches a seed, with the function of the CPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, int64

from overlapper.kernels.common.cuda.offsets import gather, owner
from overlapper.kernels.common.cuda.scan import exclusive_sums, last_of
from overlapper.kernels.index.cuda.fm_index import Batch
from overlapper.kernels.index.cuda.matches import (
    FIRST,
    LENGTH,
    SEGMENT,
    START,
    Found,
    collect_records,
    columns_of,
    located,
    nothing_found,
    row_offsets_of,
    sort_groups,
)
from overlapper.kernels.index.fm_index import FmIndex
from overlapper.kernels.index.mismatch_seeds import FRAME, FRAMES, search_seed
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.gpu.memory import Arena


@cuda.jit
def search_seeds(
    fm, queries, item_offsets, length, mismatches, hit_limit, variants, costs, cheaper,
    all_hits, offsets, counts, records, emit,
):  # fmt: skip
    """Count or write the records of seeds; a thread a seed.

    Parameters
    ----------
    fm : FmIndex
    queries : DeviceQueries
    item_offsets : device array of int64, shape (segments of queries + 1,)
        First seed of each segment.
    length, mismatches, hit_limit, variants, costs
        As `overlapper.kernels.index.mismatch_seeds.find_fixed_seeds`.
    cheaper : int64
        How many variants leave a mismatch to the other bases.
    all_hits : device array of int64, shape (seeds,)
        Matches of each seed: written when counting. A seed with more than ``hit_limit`` has no records.
    offsets, counts, records, emit
        See `overlapper.kernels.index.cuda.matches.collect_records`.
    """
    item = int64(cuda.grid(1))
    if item >= len(counts) or (emit and all_hits[item] > hit_limit):
        return
    words, sources, _ = queries
    frames = cuda.local.array((FRAMES, FRAME), int64)
    segment = owner(item_offsets, item)
    q_start = item - item_offsets[segment]
    first, end = (offsets[item], offsets[item + 1]) if emit else (int64(0), int64(0))
    count, hits = search_seed(
        fm, words, sources[segment] + q_start, length, mismatches, variants, costs, cheaper, frames,
        records[first:end, FIRST:],
    )  # fmt: skip
    for at in range(first, end):
        records[at, SEGMENT], records[at, START], records[at, LENGTH] = segment, q_start, length
    if not emit:
        all_hits[item] = hits
        counts[item] = count if hits <= hit_limit else 0


@cuda.jit
def mark_dropped(all_hits, hit_limit, dropped):
    """Write whether each seed has too many matches."""
    item = int64(cuda.grid(1))
    if item < len(dropped):
        dropped[item] = all_hits[item] > hit_limit


@cuda.jit
def gather_dropped(dropped, dropped_offsets, all_hits, item_offsets, reads, starts, rows):
    """Write read, start on it and matches of each dropped seed."""
    item = int64(cuda.grid(1))
    if item < len(dropped) and dropped[item]:
        segment, at = owner(item_offsets, item), dropped_offsets[item]
        rows[at, 0] = reads[segment]
        rows[at, 1] = starts[segment] + item - item_offsets[segment]
        rows[at, 2] = all_hits[item]


def find_fixed_seeds(
    index: FmIndex, batch: Batch, arena: Arena, length: int, mismatches: int, hit_limit: int,
    variants: np.ndarray, costs: np.ndarray,
) -> tuple[Found, np.ndarray]:  # fmt: skip
    """Find the places of all seeds of a fixed length.

    Parameters
    ----------
    index, batch, arena
        As `overlapper.kernels.index.cuda.mems.find_mems`.
    length, mismatches, hit_limit, variants, costs
        As `overlapper.kernels.index.mismatch_seeds.find_fixed_seeds`.

    Returns
    -------
    found : Found
    dropped : ndarray of int64, shape (seeds, 3)
        Read, start and matches of each dropped seed.
    """
    items = int((batch.lengths - length + 1).sum())
    if not items:
        return nothing_found(), np.empty((0, 3), np.int64)
    item_offsets = arena.upload(np.concatenate([[0], np.cumsum(batch.lengths - length + 1)]))
    all_hits = arena.array(items, np.int64)
    settings = [np.int64(value) for value in (length, mismatches, hit_limit)]
    tables = [arena.upload(variants), arena.upload(costs), np.int64(np.count_nonzero(costs < mismatches))]

    def search(*room: Any) -> None:
        launch(
            search_seeds, items, arena,
            index, batch.queries, item_offsets, *settings, *tables, all_hits, *room,
        )  # fmt: skip

    records, record_offsets, count = collect_records(search, items, arena)
    dropped = _dropped(all_hits, hit_limit, item_offsets, batch, arena)
    if not count:
        return nothing_found(), dropped
    row_offsets, rows = row_offsets_of(records, count, arena)
    keys, places = located(index, records, row_offsets, rows, arena)
    seed_offsets = arena.array(items + 1, np.int64)
    launch(gather, items + 1, arena, row_offsets, record_offsets, seed_offsets)
    sort_groups(seed_offsets, keys, places, arena)
    return columns_of(records, row_offsets, keys, places, batch, arena), dropped


def _dropped(all_hits: Any, hit_limit: int, item_offsets: Any, batch: Batch, arena: Arena) -> np.ndarray:
    items = len(all_hits)
    dropped = arena.array(items, np.int8)
    launch(mark_dropped, items, arena, all_hits, np.int64(hit_limit), dropped)
    offsets = exclusive_sums(dropped, arena)
    count = last_of(offsets, arena)
    if not count:
        return np.empty((0, 3), np.int64)
    rows = arena.array((count, 3), np.int64)
    launch(
        gather_dropped, items, arena, dropped, offsets, all_hits, item_offsets, batch.reads, batch.starts,
        rows,
    )  # fmt: skip
    return arena.download(rows)
