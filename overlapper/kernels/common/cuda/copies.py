"""Copies of items from one array on the device to another."""

from __future__ import annotations

from numba import cuda


@cuda.jit
def copy_items(items, out):
    """Copy items to the front of an array; a thread each."""
    x = cuda.grid(1)
    if x < len(items):
        out[x] = items[x]


@cuda.jit
def take_every(items, step, taken):
    """Copy every ``step``-th item; a thread each."""
    x = cuda.grid(1)
    if x < len(taken):
        taken[x] = items[x * step]
