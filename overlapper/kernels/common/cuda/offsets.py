"""Lists that lie one after the other in one array: which one an item belongs to, and where others start."""

from __future__ import annotations

from numba import cuda, int64


@cuda.jit(device=True)
def owner(offsets, item):
    """Return the list that an item belongs to: the last one that starts at it or before; by bisection.

    Parameters
    ----------
    offsets : device array of int64, shape (lists + 1,)
        Where lists start; some may be empty.
    item : int64
        Below the last offset.
    """
    low, high = int64(0), int64(len(offsets) - 1)
    while high - low > 1:
        middle = (low + high) >> 1
        if offsets[middle] <= item:
            low = middle
        else:
            high = middle
    return low


@cuda.jit
def gather(values, places, gathered):
    """Copy the values at some places."""
    x = cuda.grid(1)
    if x < len(places):
        gathered[x] = values[places[x]]
