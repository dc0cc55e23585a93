"""Pairs of a key and a value sorted by key on the device, equal keys in the order they came.

Digits of `DIGIT_BITS` bits, the lowest first (Satish, Harris, Garland 2009): blocks count the digits of their
tiles, running sums over the counts, digit by digit, tell where those of each tile start, and each thread
moves its pairs there, behind those of the threads before it.
"""

from __future__ import annotations

from typing import Any

from numba import cuda, int16, int32, int64, uint64

from overlapper.kernels.common.cuda.scan import exclusive_sums
from overlapper.runtime.gpu.launch import kernel_of
from overlapper.runtime.gpu.memory import Arena

DIGIT_BITS = 5
DIGITS = 1 << DIGIT_BITS
THREADS = 128
EACH = 16
TILE = THREADS * EACH
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


def sort_pairs(keys: Any, values: Any, bits: int, arena: Arena) -> tuple[Any, Any]:
    """Return the pairs by key; the order of equal keys stays.

    Parameters
    ----------
    keys, values : device array of uint64, shape (n,)
        n at least 1; overwritten.
    bits : int
        The lowest bits of keys, by which they are sorted; the others are equal in all keys.
    arena : Arena
        Gives room for as many pairs again, and 8 bytes for each `EACH` pairs.

    Returns
    -------
    keys, values : device array of uint64, shape (n,)
        The arrays given, or others cut from the arena.
    """
    tiles = -(-len(keys) // TILE)
    others = arena.array(len(keys), keys.dtype), arena.array(len(keys), values.dtype)
    counts = arena.array(DIGITS * tiles, "i4")
    for shift in range(0, bits, DIGIT_BITS):
        mark = arena.mark()
        kernel_of(count_digits).launch(tiles, THREADS, arena.stream, keys, shift, counts)
        offsets = exclusive_sums(counts, arena)
        kernel_of(move_pairs).launch(tiles, THREADS, arena.stream, keys, values, shift, offsets, *others)
        (keys, values), others = others, (keys, values)
        arena.release(mark)
    return keys, values
