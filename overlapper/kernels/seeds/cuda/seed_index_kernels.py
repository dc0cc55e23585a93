"""Minimizers by hash: the kernels that `seed_index` launches."""

from __future__ import annotations

import numpy as np
from numba import cuda, int32, int64, uint64

from overlapper.kernels.seeds.seed_groups import is_sampled, is_tandem
from overlapper.tables.reads import BASES_PER_WORD

_SMALL = 64
"""Groups of fewer are counted in shared memory first: most have one or two."""
_PLACE_BITS = 62
"""Of a place, in front of which nothing is."""
_ONE = np.uint64(1)


@cuda.jit
def count_minimizers(ranks, word_offsets, first_read, stop_read, sketched):
    """Add the flagged minimizers of reads ``[first_read, stop_read)``, whose running sums ``ranks`` are."""
    read = int64(first_read) + cuda.grid(1)
    if read < stop_read:
        start = (word_offsets[read] - word_offsets[first_read]) * BASES_PER_WORD
        stop = (word_offsets[read + 1] - word_offsets[first_read]) * BASES_PER_WORD
        sketched[read] += int32(ranks[stop] - ranks[start])


@cuda.jit
def keep_buckets(hashes, bucket_bits, first, stop, flags):
    """Take the flag off minimizers whose buckets are not among ``[first, stop)``; a thread a base."""
    x = cuda.grid(1)
    if x < len(flags) and flags[x]:
        bucket = int64((hashes[x] >> _ONE) & ((_ONE << uint64(bucket_bits)) - _ONE))
        flags[x] = int32(first <= bucket < stop)


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
