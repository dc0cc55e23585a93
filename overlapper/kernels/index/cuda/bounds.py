"""Suffix array bounds of patterns on a CUDA device, a thread a pattern; the twin of ../bounds.py."""

from __future__ import annotations

import numpy as np
from numba import cuda, int64

from overlapper.kernels.index.bounds import pattern_bounds
from overlapper.kernels.index.cuda.fm_index import DeviceQueries
from overlapper.kernels.index.fm_index import FmIndex
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.gpu.memory import Arena


@cuda.jit
def search_bounds(fm, queries, bounds):
    """Write the bounds of patterns; a thread a pattern."""
    item = int64(cuda.grid(1))
    if item < len(bounds):
        words, sources, lengths = queries
        bounds[item, 0], bounds[item, 1] = pattern_bounds(fm, words, sources[item], lengths[item])


def find_bounds(index: FmIndex, patterns: DeviceQueries, arena: Arena) -> np.ndarray:
    """Return the rows that start with each pattern.

    Returns
    -------
    ndarray of int64, shape (n, 2)
        As `overlapper.kernels.index.bounds.pattern_bounds`.
    """
    items = len(patterns.packed_starts)
    bounds = arena.array((items, 2), np.int64)
    launch(search_bounds, items, arena, index, patterns, bounds)
    return arena.download(bounds)
