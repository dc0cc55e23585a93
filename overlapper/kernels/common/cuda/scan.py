"""Running sums on the device: where each item's results start, from how many each item has.

A block sums a tile of `TILE` values, the sums of tiles are summed in the same way, and each block then runs
over its tile once more from the sum of the tiles before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, int64

from overlapper.runtime.gpu.launch import kernel_of
from overlapper.runtime.gpu.memory import Arena

THREADS = 256
EACH = 8
TILE = THREADS * EACH


@cuda.jit(device=True)
def _block_sums(value, sums):
    """Return the sum over the threads of a block up to this one; the last thread's is that of all."""
    thread = cuda.threadIdx.x
    sums[thread] = value
    cuda.syncthreads()
    distance = 1
    while distance < THREADS:
        before = sums[thread - distance] if thread >= distance else int64(0)
        cuda.syncthreads()
        sums[thread] += before
        cuda.syncthreads()
        distance *= 2
    return sums[thread]


@cuda.jit
def sum_tiles(values, tile_sums):
    """Write the sum of each tile; a block a tile."""
    sums = cuda.shared.array(THREADS, int64)
    if int64(cuda.blockIdx.x) * TILE >= len(values):
        return
    first = int64(cuda.blockIdx.x) * TILE + cuda.threadIdx.x * EACH
    total = int64(0)
    for i in range(first, min(first + EACH, int64(len(values)))):
        total += values[i]
    total = _block_sums(total, sums)
    if cuda.threadIdx.x == THREADS - 1:
        tile_sums[cuda.blockIdx.x] = total


@cuda.jit
def scan_tiles(values, tile_offsets, offsets):
    """Write the sum of all values before each one, and that of all behind the last; a block a tile."""
    sums = cuda.shared.array(THREADS, int64)
    if int64(cuda.blockIdx.x) * TILE >= len(values):
        return
    first = int64(cuda.blockIdx.x) * TILE + cuda.threadIdx.x * EACH
    end = min(first + EACH, int64(len(values)))
    own = int64(0)
    for i in range(first, end):
        own += values[i]
    running = tile_offsets[cuda.blockIdx.x] + _block_sums(own, sums) - own
    for i in range(first, end):
        offsets[i] = running
        running += values[i]
    if first < end and end == len(values):
        offsets[end] = running


def exclusive_sums(values: Any, arena: Arena) -> Any:
    """Return the sum of the values before each one, and of all of them.

    Parameters
    ----------
    values : device array of int, shape (n,)
        n at least 1.
    arena : Arena
        Where the result goes.

    Returns
    -------
    device array of int64, shape (n + 1,)
    """
    tiles = -(-len(values) // TILE)
    offsets, tile_sums = arena.array(len(values) + 1, np.int64), arena.array(tiles, np.int64)
    kernel_of(sum_tiles).launch(tiles, THREADS, arena.stream, values, tile_sums)
    tile_offsets = exclusive_sums(tile_sums, arena) if tiles > 1 else arena.zeros(1, np.int64)
    kernel_of(scan_tiles).launch(tiles, THREADS, arena.stream, values, tile_offsets, offsets)
    return offsets


def last_of(offsets: Any, arena: Arena) -> int:
    """Return the last item of a device array."""
    return int(arena.download(offsets[len(offsets) - 1 :])[0])
