"""Runs of equal keys in a sorted array on the device: where they start, and where one ends."""

from __future__ import annotations

from numba import cuda, int32, int64


@cuda.jit
def flag_starts(keys, flags):
    """Flag the first of each run of equal keys."""
    x = cuda.grid(1)
    if x < len(keys):
        flags[x] = int32(x == 0 or keys[x - 1] != keys[x])


@cuda.jit
def list_flagged(flags, ranks, numbers):
    """Write the numbers of what is flagged; ``ranks`` are the running sums of ``flags``."""
    x = cuda.grid(1)
    if x < len(flags) and flags[x]:
        numbers[ranks[x]] = x


@cuda.jit(device=True)
def run_stop(keys, start):
    """Return where the run of equal keys ends that starts there: by doubling steps, then by halving."""
    n, key = int64(len(keys)), keys[start]
    low, step = start, int64(1)
    while low + step < n and keys[low + step] == key:
        low += step
        step *= 2
    high = min(low + step, n)
    while high - low > 1:
        middle = (low + high) >> 1
        if keys[middle] == key:
            low = middle
        else:
            high = middle
    return high
