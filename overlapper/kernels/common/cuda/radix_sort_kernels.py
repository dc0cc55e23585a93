"""Digits counted, pairs moved by them: the kernels that `radix_sort` launches."""

from __future__ import annotations

from numba import cuda, int16, int32, int64, uint64

from overlapper.kernels.common.cuda.radix_sort import DIGITS, EACH, THREADS, TILE

_PLACES = DIGITS * THREADS
_PADDED = TILE + TILE // EACH
"""Keys of a tile in shared memory, where one is left out behind those of each thread: so threads that read
their own ones side by side get them from different banks."""


@cuda.jit(device=True, forceinline=True)
def _digit(key, shift):
    return int32((key >> uint64(shift)) & uint64(DIGITS - 1))


@cuda.jit
def count_digits(keys, shift, counts):
    """Write how often a tile has each digit; a block a tile; ``counts`` are by digit, then by tile."""
    own = cuda.shared.array(DIGITS, int32)
    first = int64(cuda.blockIdx.x) * TILE
    for digit in range(cuda.threadIdx.x, DIGITS, THREADS):
        own[digit] = int32(0)
    cuda.syncthreads()
    for i in range(first + cuda.threadIdx.x, min(first + TILE, int64(len(keys))), THREADS):
        cuda.atomic.add(own, _digit(keys[i], shift), int32(1))
    cuda.syncthreads()
    for digit in range(cuda.threadIdx.x, DIGITS, THREADS):
        counts[digit * cuda.gridDim.x + cuda.blockIdx.x] = own[digit]


@cuda.jit
def move_pairs(keys, values, shift, offsets, moved_keys, moved_values):
    """Move the pairs of a tile to where their digits belong; a block a tile.

    ``offsets`` says where those of each digit and tile start. A thread ranks `EACH` pairs that follow each
    other; pairs are then moved in the order of their ranks, so that neighbouring threads write side by side.
    """
    own_keys = cuda.shared.array(_PADDED, uint64)
    order = cuda.shared.array(TILE, int16)
    places = cuda.shared.array(_PLACES, int16)
    sums = cuda.shared.array(THREADS, int32)
    starts = cuda.shared.array(DIGITS, int64)
    thread = int32(cuda.threadIdx.x)
    first = int64(cuda.blockIdx.x) * TILE
    here = int32(min(int64(TILE), int64(len(keys)) - first))
    for x in range(thread, here, THREADS):
        own_keys[x + x // EACH] = keys[first + x]
    for digit in range(DIGITS):
        places[digit * THREADS + thread] = int16(0)
    cuda.syncthreads()
    begin, end = int32(thread * EACH), min(int32((thread + 1) * EACH), here)
    for x in range(begin, end):
        places[_digit(own_keys[x + thread], shift) * THREADS + thread] += int16(1)
    cuda.syncthreads()
    # Running sums over all places: those of a thread, then over threads, then within a thread again.
    own = int32(0)
    for j in range(thread * DIGITS, (thread + 1) * DIGITS):
        own += places[j]
    sums[thread] = own
    cuda.syncthreads()
    distance = int32(1)
    while distance < THREADS:
        before = sums[thread - distance] if thread >= distance else int32(0)
        cuda.syncthreads()
        sums[thread] += before
        cuda.syncthreads()
        distance *= int32(2)
    running = int32(sums[thread] - own)
    for j in range(thread * DIGITS, (thread + 1) * DIGITS):
        count = places[j]
        places[j] = int16(running)
        running += count
    cuda.syncthreads()
    for digit in range(thread, DIGITS, THREADS):
        starts[digit] = offsets[digit * cuda.gridDim.x + cuda.blockIdx.x] - places[digit * THREADS]
    cuda.syncthreads()
    for x in range(begin, end):
        place = _digit(own_keys[x + thread], shift) * THREADS + thread
        order[places[place]] = int16(x)
        places[place] += int16(1)
    cuda.syncthreads()
    for rank in range(thread, here, THREADS):
        x = int32(order[rank])
        key = own_keys[x + x // EACH]
        place = starts[_digit(key, shift)] + rank
        moved_keys[place] = key
        moved_values[place] = values[first + x]
