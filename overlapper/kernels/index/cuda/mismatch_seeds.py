"""Fixed-length seeds with mismatches on a CUDA device; the twin of ../mismatch_seeds.py.

A thread searches a seed, in the same way as the CPU does. Branches of the search are not kept on a stack as
long as the seed: between two mismatches it runs straight, so a frame for each mismatch is enough, which walks
along the seed and tries the three other bases at every step. Of the lower bounds, too, only the places where
they rise are kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, int64

from overlapper.kernels.common.cuda.offsets import gather, owner
from overlapper.kernels.common.cuda.scan import exclusive_sums, last_of
from overlapper.kernels.common.packed import base_at, kmer_rank
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
from overlapper.kernels.index.fm_index import FmIndex, extend_forward, extended_row
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.gpu.memory import Arena

_FRAMES = 3
"""One more than the most mismatches."""
_NEVER = 1 << 40


@cuda.jit(device=True)
def _rises(fm, words, start, rest):
    """Find where the lower bound on the mismatches of the first bases of a seed rises, three times at most.

    Returns
    -------
    first, second, third : int64
        The first ``first`` bases need a mismatch, and so on; out of reach where there is none.
    row, mirror, size : int64
        Bi-interval of all ``rest`` bases, if they occur: if the bound does not rise.
    """
    first, second, third = int64(_NEVER), int64(_NEVER), int64(_NEVER)
    rows = 2 * fm.segments[-1, 0]
    row, mirror, size = int64(0), int64(0), int64(rows)
    for i in range(rest):
        row, mirror, size = extend_forward(fm, base_at(words, start + i), row, mirror, size)
        if size == 0:
            if first == _NEVER:
                first = int64(i + 1)
            elif second == _NEVER:
                second = int64(i + 1)
            else:
                third = int64(i + 1)
                break
            row, mirror, size = int64(0), int64(0), int64(rows)
    return first, second, third, row, mirror, size


@cuda.jit(device=True)
def _search_backward(
    fm, words, start, rest, row, end_row, left, rises, frames,
    segment, q_start, length, mismatches, records, at, count, hits, emit,
):  # fmt: skip
    """Search the first ``rest`` bases of a seed with at most ``left`` mismatches, from rows of the others.

    ``frames`` is room for `_FRAMES` rows of (bases to come, first row, end of rows, next change). A change is
    by exclusive or: 3, 2 and 1 are the other bases, and 0, last, goes on to the next place.

    Returns
    -------
    count, hits : int64
        Records and rows, those before included.
    """
    depth = 0
    frames[0, 0], frames[0, 1], frames[0, 2], frames[0, 3] = rest, row, end_row, 3 if left > 0 else 0
    while depth >= 0:
        rest, row, end_row, change = frames[depth, 0], frames[depth, 1], frames[depth, 2], frames[depth, 3]
        if rest == 0:
            if emit:
                unequal = mismatches - left + depth
                put_record(records, at + count, segment, q_start, length, row, end_row, unequal)
            count += 1
            hits += end_row - row
            depth -= 1
            continue
        spent = depth + (1 if change else 0)
        least = int64(rest > rises[0]) + int64(rest > rises[1]) + int64(rest > rises[2])
        next_row, next_end = int64(0), int64(0)
        if left - spent >= least:
            base = base_at(words, start + rest - 1) ^ change
            next_row = extended_row(fm, base, row)
            next_end = extended_row(fm, base, end_row)
        frames[depth, 3] = change - 1
        if change == 0:
            depth -= 1
        if next_row < next_end:
            depth += 1
            frames[depth, 0], frames[depth, 1], frames[depth, 2] = rest - 1, next_row, next_end
            frames[depth, 3] = 3 if left > depth else 0
    return count, hits


@cuda.jit(device=True)
def _search_forward(
    fm, words, place, end, row, mirror, size, frames,
    segment, q_start, length, mismatches, records, at, count, hits, emit,
):  # fmt: skip
    """Extend a bi-interval by the bases ``[place, end)`` with exactly so many mismatches.

    ``frames`` has rows of (place, row, mirror, size, next change); the rest is as in `_search_backward`.
    """
    depth = 0
    frames[0, 0], frames[0, 1], frames[0, 2], frames[0, 4] = place, row, mirror, size
    frames[0, 3] = 3
    while depth >= 0:
        place, row, mirror, size = frames[depth, 0], frames[depth, 1], frames[depth, 2], frames[depth, 4]
        change = frames[depth, 3]
        if place == end:
            if emit:
                put_record(records, at + count, segment, q_start, length, row, row + size, mismatches)
            count += 1
            hits += size
            depth -= 1
            continue
        left = mismatches - depth - (1 if change else 0)
        next_row, next_mirror, next_size = int64(0), int64(0), int64(0)
        if 0 <= left < end - place:
            base = base_at(words, place) ^ change
            next_row, next_mirror, next_size = extend_forward(fm, base, row, mirror, size)
        frames[depth, 3] = change - 1
        if change == 0:
            depth -= 1
        if next_size > 0:
            depth += 1
            frames[depth, 0], frames[depth, 1], frames[depth, 2] = place + 1, next_row, next_mirror
            frames[depth, 4] = next_size
            frames[depth, 3] = 3 if mismatches > depth else 0
    return count, hits


@cuda.jit
def search_seeds(
    bins, borders, samples, table, text, segments, sample_shift, kmer_length,
    words, sources, lengths, item_offsets, length, mismatches, hit_limit, variants, costs, cheaper,
    all_hits, offsets, counts, records, emit,
):  # fmt: skip
    """Count or write the records of seeds; a thread a seed.

    Parameters
    ----------
    bins, ..., kmer_length
        An `FmIndex`.
    words, sources, lengths
        `DeviceQueries`.
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
    fm = FmIndex(bins, borders, samples, table, text, segments, sample_shift, kmer_length)
    frames, rises = cuda.local.array((_FRAMES, 5), int64), cuda.local.array(3, int64)
    segment = owner(item_offsets, item)
    q_start = item - item_offsets[segment]
    start, rest = sources[segment] + q_start, length - kmer_length
    at = offsets[item] if emit else int64(0)
    count, hits, tried = int64(0), int64(0), int64(len(variants))
    rises[0], rises[1], rises[2] = _NEVER, _NEVER, _NEVER
    if mismatches > 0:
        rises[0], rises[1], rises[2], row, mirror, size = _rises(fm, words, start, rest)
        if rises[0] != _NEVER:
            tried = cheaper
        elif size < tried - cheaper:
            tried = cheaper
            count, hits = _search_forward(
                fm, words, start + rest, start + length, row, mirror, size, frames,
                segment, q_start, length, mismatches, records, at, count, hits, emit,
            )  # fmt: skip
    rank = kmer_rank(words, start + rest, kmer_length)
    least = int64(rest >= rises[0]) + int64(rest >= rises[1]) + int64(rest >= rises[2])
    for variant in range(tried):
        changed = rank ^ variants[variant]
        first, last = int64(table[changed, 0]), int64(table[changed, 1])
        left = mismatches - costs[variant]
        if first < last and left >= least:
            count, hits = _search_backward(
                fm, words, start, rest, first, last, left, rises, frames,
                segment, q_start, length, mismatches, records, at, count, hits, emit,
            )  # fmt: skip
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
    index: FmIndex,
    batch: Batch,
    arena: Arena,
    length: int,
    mismatches: int,
    hit_limit: int,
    variants: np.ndarray,
    costs: np.ndarray,
) -> tuple[Found, np.ndarray]:
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
            *index, *batch.queries, item_offsets, *settings, *tables, all_hits, *room,
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
        gather_dropped,
        items,
        arena,
        dropped,
        offsets,
        all_hits,
        item_offsets,
        batch.reads,
        batch.starts,
        rows,
    )
    return arena.download(rows)
