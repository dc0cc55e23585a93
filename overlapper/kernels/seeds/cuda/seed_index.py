"""Minimizers grouped by hash on a CUDA device; the twin of the first two steps of ../seed_index.py.

Those of a range of buckets are found and sorted by bucket and rest of the hash, and a thread judges each
group. What is kept are the entries of the CPU, in its order.
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
from overlapper.kernels.seeds.seed_groups import is_tandem
from overlapper.runtime.gpu.launch import kernel_of, launch
from overlapper.runtime.gpu.memory import Arena
from overlapper.runtime.threads import cut_evenly
from overlapper.tables.reads import BASES_PER_WORD

BYTES_OF_ENTRY = 72
"""Device memory of a minimizer whose group is judged."""
_CHUNK_BASES = 1 << 26
_BYTES_OF_BASE = BYTES_OF_BASE + 8
"""With its running sum."""
_SMALL = 64
"""Groups of fewer are counted in shared memory first: most have one or two."""
_PLACE_BITS = 62
"""Of a place, in front of which nothing is."""
_ONE = np.uint64(1)


def ranges_for(buckets: int, minimizers: int, memory: int) -> list[range]:
    """Return ranges of buckets whose minimizers fit an arena of so many bytes, if all have about as many."""
    # A quarter more than expected, as reads of one thing or another have more.
    parts = min(buckets, 1 + minimizers * 5 // 4 * BYTES_OF_ENTRY // max(1, memory // 2))
    bounds = [buckets * part // parts for part in range(parts + 1)]
    return [range(first, last) for first, last in itertools.pairwise(bounds)]


class Layout(NamedTuple):
    """``bucket_bits``, ``rest_bits`` and ``rest_low_bit`` of `overlapper.sketch.page_chains.EntryLayout`."""

    bucket_bits: int
    rest_bits: int
    rest_low_bit: int


def group_range(
    reads: DeviceReads, k: int, w: int, layout: Layout, buckets: range, read_table: np.ndarray,
    spectrum: np.ndarray, sketched: np.ndarray | None, arena: Arena,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return the entries of minimizers that occur at least twice and are not tandem.

    Parameters
    ----------
    reads : DeviceReads
    k, w : int
    layout : Layout
    buckets : range
        Those whose minimizers are looked at.
    read_table : ndarray of int32
        ``read_of_words`` of `is_tandem`.
    spectrum : ndarray of int64
        In and out: as of the CPU's `group_bucket`.
    sketched : ndarray of int32, shape (reads,), or None
        Out: minimizers of each read, of all buckets.
    arena : Arena

    Returns
    -------
    entries : ndarray of uint64
        By bucket, then as of the CPU's `group_bucket`.
    bounds : ndarray of int64, shape (buckets + 1,)
        Where those of each bucket start.

    Raises
    ------
    DeviceError
        When the arena is too small for them.
    """
    keys, places, counts = _partition(reads, k, w, layout, buckets, sketched is not None, arena)
    if sketched is not None:
        sketched[:] = arena.download(counts)[: len(sketched)]
    if not len(keys):
        return np.empty(0, np.uint64), np.zeros(len(buckets) + 1, np.int64)
    keys, places = sort_pairs(keys, places, layout.rest_bits + (len(buckets) - 1).bit_length(), arena)
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
    launch(flag_kept, len(keys), arena, ranks, kept, heads)
    ranks = exclusive_sums(heads, arena)
    entries = arena.array(last_of(ranks, arena), np.uint64)
    bounds = arena.array(len(buckets) + 1, np.int64)
    launch(gather_entries, len(keys), arena, keys, places, heads, ranks, *layout[1:], entries)
    launch(find_buckets, len(bounds), arena, keys, ranks, layout.rest_bits, bounds)
    found = arena.download(bounds)
    return arena.download(entries)[: found[-1]], found


def _partition(
    reads: DeviceReads, k: int, w: int, layout: Layout, buckets: range, counting: bool, arena: Arena
) -> tuple[Any, Any, Any]:
    """Return keys and places of the minimizers of some buckets, and how many each read has, of all buckets.

    A key is the number of the bucket, from the first one, before the rest of the hash; a place is
    ``base number << 1 | strand``. They ascend by place.
    """
    offsets = reads.host.word_offsets
    room = arena.free // 2
    keys, places = arena.array(room // 32, np.uint64), arena.array(room // 32, np.uint64)
    most = len(keys)
    counts = arena.zeros(len(reads.lengths), np.int32)
    owners = read_of_words(reads, arena)
    chunk = min(_CHUNK_BASES, arena.free // _BYTES_OF_BASE - BASES_PER_WORD)
    n, mark = 0, arena.mark()
    bounds = cut_evenly(np.diff(offsets), max(1, chunk // BASES_PER_WORD))
    for first, last in itertools.pairwise(bounds.tolist()):
        first_word, words = int(offsets[first]), int(offsets[last] - offsets[first])
        if not words:
            continue
        hashes, flags = find_minimizers(reads, owners, first_word, words, k, w, arena)
        if counting:
            kernel_of(count_minimizers).launch(
                last - first, THREADS, arena.stream, flags, reads.word_offsets, first, counts
            )
        launch(
            flag_buckets, len(flags), arena, hashes, layout.bucket_bits, buckets.start, buckets.stop, flags
        )
        ranks = exclusive_sums(flags, arena)
        found = last_of(ranks, arena)
        if n + found > most:
            raise DeviceError("there are more minimizers than the arena has room for")
        if found:
            launch(
                write_entries, len(flags), arena, hashes, flags, ranks, first_word, *layout[:2],
                buckets.start, keys[n : n + found], places[n : n + found],
            )  # fmt: skip
        n += found
        arena.release(mark)
    return keys[:n], places[:n], counts


@cuda.jit
def count_minimizers(flags, word_offsets, first_read, counts):
    """Count the minimizers of each read, from ``first_read`` on, where ``flags`` start; a block a read."""
    total = cuda.shared.array(1, int32)
    read = int64(first_read) + cuda.blockIdx.x
    start = (word_offsets[read] - word_offsets[first_read]) * BASES_PER_WORD
    stop = (word_offsets[read + 1] - word_offsets[first_read]) * BASES_PER_WORD
    if cuda.threadIdx.x == 0:
        total[0] = int32(0)
    cuda.syncthreads()
    own = int32(0)
    for x in range(start + cuda.threadIdx.x, stop, cuda.blockDim.x):
        own += flags[x]
    cuda.atomic.add(total, 0, own)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        counts[read] = total[0]


@cuda.jit
def flag_buckets(hashes, bucket_bits, first_bucket, last_bucket, flags):
    """Take the flags of minimizers that are not in the buckets ``[first_bucket, last_bucket)``."""
    x = cuda.grid(1)
    if x < len(flags) and flags[x]:
        bucket = int64((hashes[x] >> _ONE) & ((_ONE << uint64(bucket_bits)) - _ONE))
        flags[x] = int32(first_bucket <= bucket < last_bucket)


@cuda.jit
def write_entries(hashes, flags, ranks, first_word, bucket_bits, rest_bits, first_bucket, keys, places):
    """Write key and place of each minimizer that is flagged; see `_partition`."""
    x = cuda.grid(1)
    if x >= len(flags) or not flags[x]:
        return
    value = hashes[x] >> _ONE
    bucket = (value & ((_ONE << uint64(bucket_bits)) - _ONE)) - uint64(first_bucket)
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
def flag_kept(ranks, kept, flags):
    """Flag the minimizers of groups that are kept; ``ranks`` are the running sums of where groups start."""
    x = cuda.grid(1)
    if x < len(flags):
        flags[x] = kept[ranks[x + 1] - 1]


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
