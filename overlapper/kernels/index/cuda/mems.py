"""Maximal exact matches on a CUDA device; the twin of ../mems.py.

A thread looks up a seed, extends its rows backward by less than a step, and records the rows that drop out on
the way: those are the left ends of matches that no seed before finds. A seed in the middle of a match, which
drops none, thus ends after a few steps: no redundant match is located, whatever its neighbours do. Rows are
located, a thread each, and compared with the text to the right.
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
    FIRST,
    LENGTH,
    SEGMENT,
    START,
    Found,
    collect_records,
    columns_of,
    match_key,
    nothing_found,
    put_record,
    row_offsets_of,
    sort_groups,
)
from overlapper.kernels.index.fm_index import FmIndex, extended_row, text_position
from overlapper.kernels.index.mems import NO_BASE, before, left_maximal
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.gpu.memory import Arena


@cuda.jit
def search_seeds(fm, queries, item_offsets, step, seed_length, offsets, counts, records, emit):
    """Count or write the records of seeds, by ascending start; a thread a seed.

    Parameters
    ----------
    fm : FmIndex
    queries : DeviceQueries
    item_offsets : device array of int64, shape (segments of queries + 1,)
        First seed of each segment.
    step, seed_length : int64
        L - S + 1 and S.
    offsets, counts, records, emit
        See `overlapper.kernels.index.cuda.matches.collect_records`.
    """
    item = int64(cuda.grid(1))
    if item >= len(counts):
        return
    words, sources, _ = queries
    segment = owner(item_offsets, item)
    start = (item - item_offsets[segment]) * step
    source = sources[segment]
    to_kmer = seed_length - fm.kmer_length
    rank = kmer_rank(words, source + start + to_kmer, fm.kmer_length)
    first, last = int64(fm.table[rank, 0]), int64(fm.table[rank, 1])
    offset = to_kmer - 1
    while first < last and offset >= 0:
        base = base_at(words, source + start + offset)
        first = extended_row(fm, base, first)
        last = extended_row(fm, base, last)
        offset -= 1
    leftmost, seed_end, count = start - step, start + seed_length, int64(0)
    while first < last and start > leftmost:
        _, next_first, next_last = before(fm, words, source, start, first, last)
        if next_last - next_first < last - first:
            if emit:
                put_record(
                    records, offsets[item + 1] - 1 - count, segment, start, seed_end - start, first, last
                )
            count += 1
        first, last, start = next_first, next_last, start - 1
    if not emit:
        counts[item] = count


@cuda.jit
def locate_left_maximal(fm, queries, records, row_offsets, min_length, keys, places, kept):
    """Locate the rows of records that are left-maximal, and compare them to the right; a thread a row.

    Parameters
    ----------
    fm : FmIndex
    queries : DeviceQueries
    records, row_offsets : device array
    min_length : int64
    keys, places : device array of int64
        Written for the rows that are matches.
    kept : device array of uint8
        Written: whether a row is one.
    """
    item = int64(cuda.grid(1))
    if item >= len(places):
        return
    words, sources, lengths = queries
    record = owner(row_offsets, item)
    row = records[record, FIRST] + item - row_offsets[record]
    segment, start, matched = records[record, SEGMENT], records[record, START], records[record, LENGTH]
    source, rest = sources[segment], lengths[segment] - start - matched
    base = base_at(words, source + start - 1) if start > 0 else int64(NO_BASE)
    position, length = left_maximal(fm, row, base, matched, words, source + start + matched, rest)
    if length > 0:
        place, reverse = text_position(fm, position, length)
        keys[item] = match_key(length, reverse)
        places[item] = place
    kept[item] = 1 if length >= min_length else 0


@cuda.jit
def gather_kept(kept, kept_offsets, keys, places, kept_keys, kept_places):
    """Gather the rows that are matches; a thread a row."""
    item = int64(cuda.grid(1))
    if item < len(kept) and kept[item]:
        kept_keys[kept_offsets[item]] = keys[item]
        kept_places[kept_offsets[item]] = places[item]


def find_mems(index: FmIndex, batch: Batch, arena: Arena, min_length: int, seed_length: int) -> Found:
    """Find the maximal exact matches of query segments.

    Parameters
    ----------
    index : FmIndex
    batch : Batch
        No segment is shorter than ``min_length``.
    arena : Arena
        Room to work in, and a stream.
    min_length : int
    seed_length : int
        From the k of the table to ``min_length``; changes the work done, not the result.
    """
    step = min_length - seed_length + 1
    seeds = (batch.lengths - seed_length) // step + 1
    items = int(seeds.sum())
    if not items:
        return nothing_found()
    item_offsets = arena.upload(np.concatenate([[0], np.cumsum(seeds)]))
    settings = np.int64(step), np.int64(seed_length)

    def search(*room: Any) -> None:
        launch(search_seeds, items, arena, index, batch.queries, item_offsets, *settings, *room)

    records, _, count = collect_records(search, items, arena)
    if not count:
        return nothing_found()
    row_offsets, rows = row_offsets_of(records, count, arena)
    keys, places = arena.array(rows, np.int64), arena.array(rows, np.int64)
    kept = arena.array(rows, np.uint8)
    launch(
        locate_left_maximal, rows, arena,
        index, batch.queries, records, row_offsets, np.int64(min_length), keys, places, kept,
    )  # fmt: skip
    kept_offsets = exclusive_sums(kept, arena)
    matches = last_of(kept_offsets, arena)
    if not matches:
        return nothing_found()
    kept_keys, kept_places = arena.array(matches, np.int64), arena.array(matches, np.int64)
    launch(gather_kept, rows, arena, kept, kept_offsets, keys, places, kept_keys, kept_places)
    match_offsets = arena.array(count + 1, np.int64)
    launch(gather, count + 1, arena, kept_offsets, row_offsets, match_offsets)
    sort_groups(match_offsets, kept_keys, kept_places, arena)
    return columns_of(records, match_offsets, kept_keys, kept_places, batch, arena)
