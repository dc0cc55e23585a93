"""Sums of tiles, and running sums within them: the kernels that `scan` launches."""

from __future__ import annotations

from numba import cuda, int64

from overlapper.kernels.common.cuda.scan import EACH, THREADS, TILE


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
