"""Minimizers grouped by hash on a CUDA device; the twin of the first two steps of ../seed_index.py.

All minimizers of the reads are found, in the order of their places, and sorted by hash; a thread judges each
group. A key is ``bucket << rest_bits | rest of the hash``, a place ``base number << 1 | strand``.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int32, int64, uint64

from overlapper.errors import DeviceError
from overlapper.kernels.common.cuda.groups import flag_starts, list_flagged
from overlapper.kernels.common.cuda.radix_sort import sort_pairs
from overlapper.kernels.common.cuda.scan import exclusive_sums, last_of
from overlapper.kernels.common.cuda.walks import DeviceReads
from overlapper.kernels.seeds.cuda.minimizers import BYTES_OF_BASE, THREADS, find_minimizers, read_of_words
from overlapper.kernels.seeds.seed_groups import is_sampled, is_tandem
from overlapper.runtime.gpu.launch import kernel_of, launch
from overlapper.runtime.gpu.memory import Arena
from overlapper.runtime.threads import cut_evenly
from overlapper.tables.reads import BASES_PER_WORD

BYTES_OF_ENTRY = 76
"""Device memory of a minimizer, from its group to the finished index, at most."""
_CHUNK_BASES = 1 << 26
_BYTES_OF_BASE = BYTES_OF_BASE + 8
"""With its running sum."""
_SMALL = 64
"""Groups of fewer are counted in shared memory first: most have one or two."""
_PLACE_BITS = 62
"""Of a place, in front of which nothing is."""
_NO_LIMIT = 1 << 31
_ONE = np.uint64(1)


class Layout(NamedTuple):
    """``bucket_bits``, ``rest_bits`` and ``rest_low_bit`` of `overlapper.sketch.page_chains.EntryLayout`."""

    bucket_bits: int
    rest_bits: int
    rest_low_bit: int


class Groups(NamedTuple):
    """All minimizers of the reads in device memory, those of a hash together.

    Attributes
    ----------
    layout : Layout
    owners : device array of int32
        The read of each word.
    sketched : device array of int32, shape (reads,)
        Minimizers of each read.
    keys, places : device array of uint64, shape (n,)
        By key, then by place.
    ranks : device array of int64, shape (n + 1,)
        Groups that start before each minimizer.
    starts : device array of int64, shape (groups,)
        Where each group starts.
    kept : device array of int32, shape (groups,)
        1 for groups that occur at least twice and are not tandem, else 0.
    """

    layout: Layout
    owners: Any
    sketched: Any
    keys: Any
    places: Any
    ranks: Any
    starts: Any
    kept: Any


def bytes_for(minimizers: int, bases: int) -> int:
    """Return the device memory that the index of about so many minimizers takes while it is made."""
    # A quarter more than expected, as reads of one thing or another have more.
    return minimizers * 5 // 4 * BYTES_OF_ENTRY + min(bases, 2 * _CHUNK_BASES) * _BYTES_OF_BASE + bases


def group_by_hash(
    reads: DeviceReads, k: int, w: int, layout: Layout, read_table: np.ndarray, spectrum: np.ndarray,
    arena: Arena,
) -> Groups | None:  # fmt: skip
    """Group the minimizers of reads, and tell which groups may seed.

    Parameters
    ----------
    reads : DeviceReads
    k, w : int
    layout : Layout
    read_table : ndarray of int32
        ``read_of_words`` of `is_tandem`.
    spectrum : ndarray of int64
        In and out: as of the CPU's `group_bucket`.
    arena : Arena
        Where the groups lie.

    Returns
    -------
    Groups or None
        None where there are no minimizers.

    Raises
    ------
    DeviceError
        When the arena is too small for them.
    """
    owners = read_of_words(reads, arena)
    sketched = arena.zeros(len(reads.lengths), np.int32)
    keys, places = _minimizers(reads, k, w, layout, owners, sketched, arena)
    if not len(keys):
        return None
    keys, places = sort_pairs(keys, places, layout.rest_bits + layout.bucket_bits, arena)
    heads = arena.array(len(keys), np.int32)
    launch(flag_starts, len(keys), arena, keys, heads)
    ranks = exclusive_sums(heads, arena)
    groups = last_of(ranks, arena)
    starts, kept = arena.array(groups, np.int64), arena.array(groups, np.int32)
    launch(list_flagged, len(keys), arena, heads, ranks, starts)
    counted = arena.zeros(len(spectrum), np.int64)
    kernel_of(judge_groups).launch(
        -(-groups // THREADS), THREADS, arena.stream, places, starts, arena.upload(read_table),
        reads.word_offsets, counted, kept,
    )  # fmt: skip
    spectrum += arena.download(counted)
    return Groups(layout, owners, sketched, keys, places, ranks, starts, kept)


def flagged(groups: Groups, least: int, most: int, unthinned: int, arena: Arena) -> tuple[Any, Any]:
    """Flag the minimizers of sampled groups of ``least`` to ``most``; return flags and running sums."""
    flags = arena.array(len(groups.keys), np.int32)
    launch(
        flag_groups, len(flags), arena, groups.keys, groups.ranks, groups.starts, groups.kept,
        least, most, unthinned, groups.layout.rest_bits, flags,
    )  # fmt: skip
    return flags, exclusive_sums(flags, arena)


def frequent_entries(groups: Groups, limit: int, arena: Arena) -> tuple[np.ndarray, np.ndarray]:
    """Return the entries of groups that occur more often than ``limit``.

    Returns
    -------
    entries : ndarray of uint64
        As of the CPU's `group_bucket`, by bucket.
    bounds : ndarray of int64, shape (buckets + 1,)
        Where those of each bucket start.
    """
    flags, ranks = flagged(groups, limit + 1, _NO_LIMIT, _NO_LIMIT, arena)
    entries = arena.array(last_of(ranks, arena), np.uint64)
    bounds = arena.array((1 << groups.layout.bucket_bits) + 1, np.int64)
    launch(
        gather_entries, len(flags), arena, groups.keys, groups.places, flags, ranks,
        *groups.layout[1:], entries,
    )  # fmt: skip
    launch(find_buckets, len(bounds), arena, groups.keys, ranks, groups.layout.rest_bits, bounds)
    found = arena.download(bounds)
    return arena.download(entries)[: found[-1]], found


def _minimizers(
    reads: DeviceReads, k: int, w: int, layout: Layout, owners: Any, sketched: Any, arena: Arena
) -> tuple[Any, Any]:
    """Return keys and places of all minimizers, by place; count those of each read."""
    offsets = reads.host.word_offsets
    most = arena.free // BYTES_OF_ENTRY
    keys, places = arena.array(most, np.uint64), arena.array(most, np.uint64)
    chunk = min(_CHUNK_BASES, arena.free // _BYTES_OF_BASE - BASES_PER_WORD)
    n, mark = 0, arena.mark()
    bounds = cut_evenly(np.diff(offsets), max(1, chunk // BASES_PER_WORD))
    for first, last in itertools.pairwise(bounds.tolist()):
        first_word, words = int(offsets[first]), int(offsets[last] - offsets[first])
        if not words:
            continue
        hashes, flags = find_minimizers(reads, owners, first_word, words, k, w, arena)
        ranks = exclusive_sums(flags, arena)
        launch(count_minimizers, last - first, arena, ranks, reads.word_offsets, first, last, sketched)
        found = last_of(ranks, arena)
        if n + found > most:
            raise DeviceError("there are more minimizers than the arena has room for")
        if found:
            launch(
                write_minimizers, len(flags), arena, hashes, flags, ranks, first_word, *layout[:2],
                keys[n : n + found], places[n : n + found],
            )  # fmt: skip
        n += found
        arena.release(mark)
    return keys[:n], places[:n]


@cuda.jit
def count_minimizers(ranks, word_offsets, first_read, stop_read, sketched):
    """Count the minimizers of reads ``[first_read, stop_read)``, whose running sums ``ranks`` are."""
    read = int64(first_read) + cuda.grid(1)
    if read < stop_read:
        start = (word_offsets[read] - word_offsets[first_read]) * BASES_PER_WORD
        stop = (word_offsets[read + 1] - word_offsets[first_read]) * BASES_PER_WORD
        sketched[read] = int32(ranks[stop] - ranks[start])


@cuda.jit
def write_minimizers(hashes, flags, ranks, first_word, bucket_bits, rest_bits, keys, places):
    """Write key and place of each minimizer; a thread a base."""
    x = cuda.grid(1)
    if x >= len(flags) or not flags[x]:
        return
    value = hashes[x] >> _ONE
    bucket = value & ((_ONE << uint64(bucket_bits)) - _ONE)
    keys[ranks[x]] = (bucket << uint64(rest_bits)) | (value >> uint64(bucket_bits))
    base = uint64(int64(first_word) * BASES_PER_WORD + x)
    places[ranks[x]] = (base << _ONE) | (hashes[x] & _ONE)


@cuda.jit
def judge_groups(places, starts, read_table, word_offsets, spectrum, kept):
    """Count the groups that are not tandem by size, and tell which of them are kept; a thread a group."""
    small = cuda.shared.array(_SMALL, int32)
    for size in range(cuda.threadIdx.x, _SMALL, cuda.blockDim.x):
        small[size] = int32(0)
    cuda.syncthreads()
    group = cuda.grid(1)
    if group < len(starts):
        stop = starts[group + 1] if group + 1 < len(starts) else int64(len(places))
        size = stop - starts[group]
        seeds = not is_tandem(places[starts[group] : stop], _PLACE_BITS, read_table, word_offsets)
        kept[group] = int32(seeds and size > 1)
        if seeds:
            if size < _SMALL:
                cuda.atomic.add(small, size, int32(1))
            else:
                cuda.atomic.add(spectrum, min(size, int64(len(spectrum)) - 1), int64(1))
    cuda.syncthreads()
    for size in range(cuda.threadIdx.x, _SMALL, cuda.blockDim.x):
        if small[size]:
            cuda.atomic.add(spectrum, size, int64(small[size]))


@cuda.jit
def flag_groups(keys, ranks, starts, kept, least, most, unthinned, rest_bits, flags):
    """Flag the minimizers of groups that are kept and sampled, of ``least`` to ``most``; a thread each."""
    x = cuda.grid(1)
    if x >= len(flags):
        return
    group = ranks[x + 1] - 1
    stop = starts[group + 1] if group + 1 < len(starts) else int64(len(keys))
    size = stop - starts[group]
    flag = kept[group] and least <= size <= most
    if flag:
        flag = is_sampled(keys[x] & ((_ONE << uint64(rest_bits)) - _ONE), size, unthinned)
    flags[x] = int32(flag)


@cuda.jit
def gather_entries(keys, places, flags, ranks, rest_bits, rest_low_bit, entries):
    """Write the entries of what is flagged."""
    x = cuda.grid(1)
    if x < len(flags) and flags[x]:
        rest = keys[x] & ((_ONE << uint64(rest_bits)) - _ONE)
        entries[ranks[x]] = (rest << uint64(rest_low_bit)) | places[x]


@cuda.jit
def find_buckets(keys, ranks, rest_bits, bounds):
    """Write where the entries of each bucket start, and where those of the last end; a thread a bucket."""
    bucket = cuda.grid(1)
    if bucket >= len(bounds):
        return
    low, high = int64(0), int64(len(keys))
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] >> uint64(rest_bits) < uint64(bucket):
            low = middle + 1
        else:
            high = middle
    bounds[bucket] = ranks[low]
