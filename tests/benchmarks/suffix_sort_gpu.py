"""Suffix arrays by prefix doubling on a GPU, for benchmarks that need a large index soon; needs cupy.

``with sorted_on_gpu(): Index.build(text)`` gives the index that it gives without, sorted by libdivsufsort.
"""

import contextlib

import numpy as np

from overlapper.index import bwt

FIRST = 20
"""Symbols, of 3 bits, that the first sort compares."""


def _shifted(cupy, keys, by):
    moved = cupy.zeros_like(keys)
    moved[:-by] = keys[by:]
    return moved


def _first_keys(cupy, symbols):
    keys = symbols.astype(cupy.uint64)
    for symbols_a_key in (1, 2, 4, 8):
        if symbols_a_key == 4:
            four = keys.copy()
        keys = (keys << cupy.uint64(3 * symbols_a_key)) | _shifted(cupy, keys, symbols_a_key)
    return (keys << cupy.uint64(12)) | _shifted(cupy, four, 16)


def _group_starts(cupy, keys):
    """Return a mask: where a sorted key differs from the one before."""
    first = cupy.ones(len(keys), cupy.bool_)
    first[1:] = keys[1:] != keys[:-1]
    return first


def _tied(cupy, first):
    """Return a mask of those that have not a group of their own."""
    last = cupy.ones(len(first), cupy.bool_)
    last[:-1] = first[1:]
    return ~(first & last)


def sort(symbols, threads=None):
    """Return suffix array and BWT, as `overlapper.index.bwt` sorts them."""
    import cupy

    n = len(symbols)
    text = cupy.asarray(symbols)
    if n <= FIRST:
        raise ValueError(f"{n} symbols: too few for a sort by the first {FIRST}")
    keys = _first_keys(cupy, text)
    order = cupy.argsort(keys)
    first = _group_starts(cupy, keys[order])
    del keys
    order = order.astype(cupy.uint32)
    cupy.get_default_memory_pool().free_all_blocks()
    place = cupy.flatnonzero(_tied(cupy, first))
    starts = cupy.flatnonzero(first).astype(cupy.uint32)
    rank = cupy.empty(n, cupy.uint32)
    rank[order] = starts[cupy.cumsum(first, dtype=cupy.int32) - 1]
    del starts, first
    compared = FIRST
    while len(place):
        suffix = order[place]
        behind = suffix.astype(cupy.int64) + compared
        next_rank = cupy.where(behind < n, rank[cupy.minimum(behind, n - 1)].astype(cupy.uint64) + 1, 0)
        keys = rank[suffix].astype(cupy.uint64) << cupy.uint64(32) | next_rank.astype(cupy.uint64)
        within = cupy.argsort(keys)
        keys, suffix = keys[within], suffix[within]
        first = _group_starts(cupy, keys)
        order[place] = suffix
        rank[suffix] = place[cupy.flatnonzero(first)].astype(cupy.uint32)[cupy.cumsum(first) - 1]
        place = place[_tied(cupy, first)]
        compared *= 2
    before = text[cupy.where(order > 0, order - cupy.uint32(1), cupy.uint32(n - 1))]
    suffix_array, preceding = cupy.asnumpy(order.astype(cupy.int32)), cupy.asnumpy(before)
    preceding[np.flatnonzero(suffix_array == 0)] = 0
    del text, order, rank, before
    cupy.get_default_memory_pool().free_all_blocks()
    return suffix_array, preceding


@contextlib.contextmanager
def sorted_on_gpu():
    """Sort suffixes on the GPU within this context, if cupy is there."""
    try:
        import cupy  # noqa: F401
    except ImportError:
        print("suffixes are sorted by libdivsufsort: there is no cupy")
        yield
        return
    by_default, bwt._sort = bwt._sort, sort
    try:
        yield
    finally:
        bwt._sort = by_default
