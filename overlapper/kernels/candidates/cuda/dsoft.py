"""D-SOFT over the seed index on a CUDA device; the twin of ../dsoft.py.

`hits` lists the hits of a block of queries, those of a pair on a strand together. Here a block of threads
looks for the windows of a pair: what a hit adds to its windows depends on few hits before it, so threads
share nothing but the sums.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int32, int64, uint64

from overlapper.kernels.candidates.cuda.hits import (
    Index,
    diagonal,
    query_position,
    sorted_hits,
    target_of,
    target_position,
)
from overlapper.kernels.common.cuda.groups import list_flagged, run_stop
from overlapper.kernels.common.cuda.scan import exclusive_sums, last_of
from overlapper.runtime.gpu.launch import kernel_of, launch
from overlapper.runtime.gpu.memory import Arena

WARP = 32
"""Threads that work on a pair."""
BLOCKS = 4096
"""Pairs that are worked on at the same time, each with room for its windows."""
HEAD = 4
"""Integers of a candidate besides its pair."""
TAKEN = -(2**31)
"""In place of the diagonal of a hit that a candidate carries."""


class Bands(NamedTuple):
    """The parameters of `find_candidates` from ``k`` on."""

    k: int
    band_bits: int
    min_bases: int
    drift: int
    most_windows: int
    min_share: int


class Found(NamedTuple):
    """Candidates in device memory: by query, target, strand, the best first.

    Attributes
    ----------
    query, target : device array of int32, shape (n,)
    reverse : device array of bool, shape (n,)
    heads : device array of int32, shape (n, HEAD)
        Of each candidate, as the CPU's columns of these names: query_pos, target_pos, seeds, span.
    hit_starts : device array of int64, shape (n,)
        Where the seeds of each candidate start.
    hit_counts : device array of int32, shape (n,)
    hit_query_pos, hit_target_pos : device array of int32
    """

    query: Any
    target: Any
    reverse: Any
    heads: Any
    hit_starts: Any
    hit_counts: Any
    hit_query_pos: Any
    hit_target_pos: Any


def find_candidates(
    index: Index,
    query_start: int,
    query_stop: int,
    first_target: int,
    longest: int,
    bands: Bands,
    arena: Arena,
) -> Found | None:
    """Find the candidates of queries ``[query_start, query_stop)``, as the CPU's `find_candidates` does.

    Parameters
    ----------
    index : Index
    query_start, query_stop, first_target : int
    longest : int
        Bases that a query and a target have together, at most.
    bands : Bands
    arena : Arena
        What is found lies in it.

    Returns
    -------
    Found or None
        None when there are no candidates.

    Raises
    ------
    DeviceError
        When the arena is too small for these queries.
    """
    fewest = 1 if bands.k >= bands.min_bases else 2
    target_bits = max(1, (len(index.lengths) - 1).bit_length())
    hits = sorted_hits(index, query_start, query_stop, first_target, target_bits, arena)
    if hits is None:
        return None
    keys, places = hits
    shape = target_bits, bands.k, bands.band_bits
    flags = arena.array(len(keys), np.int32)
    launch(flag_pairs, len(keys), arena, keys, places, index.lengths, *shape, fewest, flags)
    ranks = exclusive_sums(flags, arena)
    pairs = last_of(ranks, arena)
    if not pairs:
        return None
    starts = arena.array(pairs, np.int64)
    launch(list_flagged, len(keys), arena, flags, ranks, starts)

    width = (longest >> bands.band_bits) + 4
    blocks = max(1, min(BLOCKS, pairs, arena.free // 8 // (4 * width)))
    windows = arena.zeros(blocks * width, np.int32).reshape(blocks, width)
    diagonals, query_pos, target_pos = (arena.array(len(keys), np.int32) for _ in range(3))
    counts = arena.array(pairs, np.int32)
    sizes = arena.array((pairs, bands.most_windows), np.int32)
    heads = arena.array((pairs * bands.most_windows, HEAD), np.int32)
    kernel_of(find_windows).launch(
        blocks, WARP, arena.stream, keys, places, index.lengths, starts, query_start, *shape, *bands[2:],
        diagonals, windows, query_pos, target_pos, counts, sizes, heads,
    )  # fmt: skip
    offsets = exclusive_sums(counts, arena)
    n = last_of(offsets, arena)
    if not n:
        return None
    found = Found(
        arena.array(n, np.int32), arena.array(n, np.int32), arena.array(n, np.bool_),
        arena.array((n, HEAD), np.int32), arena.array(n, np.int64), arena.array(n, np.int32),
        query_pos, target_pos,
    )  # fmt: skip
    launch(
        list_candidates, pairs, arena, keys, starts, counts, sizes, offsets, query_start, target_bits, heads,
        *found[:6],
    )  # fmt: skip
    return found


def rows_of(found: Found | None, arena: Arena) -> np.ndarray:
    """Return candidates as rows, as the CPU's `find_candidates` has them."""
    if found is None:
        return np.empty((0, 3 + HEAD), np.int32)
    columns = [arena.download(column) for column in found[:4]]
    return np.column_stack([*columns[:3], columns[3]])


def seeds_of(found: Found | None, arena: Arena) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return how many seeds each candidate has, and query and target positions of all, by candidate."""
    if found is None:
        return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int32)
    starts, counts, *positions = map(arena.download, found[4:])
    places = (
        np.repeat(starts, counts) + np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    )
    return counts, positions[0][places], positions[1][places]


@cuda.jit
def flag_pairs(keys, places, lengths, target_bits, k, band_bits, fewest, flags):
    """Flag the first hit of each pair on a strand that may have a candidate; a thread a hit.

    A pair of too few hits has none, nor, where two are needed, one of two that no window holds.
    """
    x = cuda.grid(1)
    n = len(keys)
    if x >= n:
        return
    key = keys[x]
    flag = x == 0 or keys[x - 1] != key
    if flag and fewest == 2:
        flag = x + 1 < n and keys[x + 1] == key
        if flag and (x + 2 == n or keys[x + 2] != key):
            one = diagonal(key, places[x], lengths, target_bits, k) >> band_bits
            other = diagonal(key, places[x + 1], lengths, target_bits, k) >> band_bits
            flag = abs(one - other) <= 1
    flags[x] = int32(flag)


@cuda.jit(device=True)
def _new_bases(places, diagonals, start, i, k, band_bits):
    """Return the query bases that a hit adds to the two windows that its band is in, the lower one first.

    In a window that is ``min(k, distance to the last hit there)``, so only hits within k bases matter.
    """
    band, position = diagonals[i] >> band_bits, query_position(places[i])
    lower, upper = int32(k), int32(k)
    lower_open, upper_open = True, True
    j = i - 1
    while j >= start and (lower_open or upper_open):
        distance = int32(position - query_position(places[j]))
        if distance >= k:
            break
        if diagonals[j] != TAKEN:
            above = (diagonals[j] >> band_bits) - band
            if lower_open and (above == 0 or above == -1):
                lower, lower_open = distance, False
            if upper_open and (above == 0 or above == 1):
                upper, upper_open = distance, False
        j -= 1
    return lower, upper


@cuda.jit
def find_windows(
    keys, places, lengths, starts, first_query, target_bits, k, band_bits, min_bases, drift, most_windows,
    min_share, diagonals, windows, query_pos, target_pos, counts, sizes, heads,
):  # fmt: skip
    """Find the candidates of each pair; a block a pair, in turn.

    Parameters
    ----------
    keys, places : device array of uint64, shape (hits,)
        Of `sorted_hits`.
    lengths : device array of int64, shape (reads,)
    starts : device array of int64, shape (pairs,)
        Where the hits of each pair start.
    first_query, target_bits, k, band_bits, min_bases, drift, most_windows, min_share : int
    diagonals : device array of int32, shape (hits,)
        Room.
    windows : device array of int32, shape (blocks, n)
        Bases that each window of a pair covers; zero before and after.
    query_pos, target_pos : device array of int32, shape (hits,)
        Out: seeds of the candidates of a pair, one after the other, from where its hits start.
    counts : device array of int32, shape (pairs,)
        Out: candidates of each pair.
    sizes : device array of int32, shape (pairs, most_windows)
        Out: seeds of each.
    heads : device array of int32, shape (pairs * most_windows, HEAD)
        Out: that of each, as `Found` has it.
    """
    best = cuda.shared.array(1, int64)
    near = cuda.shared.array(WARP, int64)
    inside = cuda.shared.array(WARP, int64)
    thread = int64(cuda.threadIdx.x)
    bases_of = windows[cuda.blockIdx.x]
    for pair in range(int64(cuda.blockIdx.x), int64(len(starts)), int64(cuda.gridDim.x)):
        start = starts[pair]
        stop, key = run_stop(keys, start), keys[start]
        q_length = lengths[first_query + int64(key >> uint64(target_bits + 1))]
        t_length = lengths[target_of(key, target_bits)]
        lowest = (-q_length >> band_bits) - 1
        for i in range(start + thread, stop, WARP):
            diagonals[i] = diagonal(key, places[i], lengths, target_bits, k)
        left, placed, enough, found = stop - start, start, int64(min_bases), int64(0)
        while found < most_windows:
            if thread == 0:
                best[0] = int64(0)
            cuda.syncthreads()
            own = int64(0)
            for i in range(start + thread, stop, WARP):
                if diagonals[i] != TAKEN:
                    lower, upper = _new_bases(places, diagonals, start, i, k, band_bits)
                    window = (int64(diagonals[i]) >> band_bits) - lowest - 1
                    # The highest sum comes first, then the lowest window.
                    bases = int64(cuda.atomic.add(bases_of, window, lower)) + lower
                    own = max(own, (bases << 32) | (int64(0xFFFFFFFF) - window))
                    bases = int64(cuda.atomic.add(bases_of, window + 1, upper)) + upper
                    own = max(own, (bases << 32) | (int64(0xFFFFFFFF) - window - 1))
            cuda.atomic.max(best, 0, own)
            cuda.syncthreads()
            bases = best[0] >> 32
            centre = ((int64(0xFFFFFFFF) - (best[0] & int64(0xFFFFFFFF))) + lowest + 1) << band_bits
            for i in range(start + thread, stop, WARP):
                if diagonals[i] != TAKEN:
                    window = (int64(diagonals[i]) >> band_bits) - lowest - 1
                    bases_of[window] = int32(0)
                    bases_of[window + 1] = int32(0)
            cuda.syncthreads()
            if bases < enough:
                break
            span = min(q_length, t_length - centre) - max(int64(0), -centre)
            band_width = int64(1) << band_bits
            reach = max(band_width, max(span, int64(0)) * drift // 1000)
            # A thread has hits that follow each other, so that theirs stay in order.
            share = (stop - start + WARP - 1) // WARP
            begin = min(start + thread * share, stop)
            end = min(begin + share, stop)
            own, own_inside = int64(0), int64(0)
            for i in range(begin, end):
                distance = int64(diagonals[i]) - centre
                own += -reach <= distance < reach
                own_inside += -band_width <= distance < band_width
            near[thread], inside[thread] = own, own_inside
            cuda.syncthreads()
            at, total, number, middle = placed, int64(0), int64(0), int64(0)
            for other in range(WARP):
                if other < thread:
                    at += near[other]
                    number += inside[other]
                total += near[other]
                middle += inside[other]
            middle >>= 1
            for i in range(begin, end):
                distance = int64(diagonals[i]) - centre
                if -band_width <= distance < band_width:
                    if number == middle:
                        head = heads[pair * most_windows + found]
                        head[0], head[1] = query_position(places[i]), target_position(places[i])
                        head[2], head[3] = int32(bases), int32(max(span, int64(1)))
                    number += 1
                if -reach <= distance < reach:
                    query_pos[at] = query_position(places[i])
                    target_pos[at] = target_position(places[i])
                    diagonals[i] = int32(TAKEN)
                    at += 1
            cuda.syncthreads()
            if thread == 0:
                sizes[pair, found] = int32(total)
            placed += total
            left -= total
            found += 1
            if found == 1:
                enough = max(int64(min_bases), bases * min_share // 100)
            if k * left < enough:
                break
        if thread == 0:
            counts[pair] = int32(found)
        cuda.syncthreads()


@cuda.jit
def list_candidates(
    keys, starts, counts, sizes, offsets, first_query, target_bits,
    pair_heads, query, target, reverse, heads, hit_starts, hit_counts,
):  # fmt: skip
    """Write the columns of `Found` that tell the candidates of each pair; a thread a pair."""
    pair = cuda.grid(1)
    if pair >= len(starts):
        return
    key, hit = keys[starts[pair]], starts[pair]
    for number in range(counts[pair]):
        at = offsets[pair] + number
        query[at] = int32(first_query + int64(key >> uint64(target_bits + 1)))
        target[at] = int32(target_of(key, target_bits))
        reverse[at] = (key & uint64(1)) != uint64(0)
        hit_starts[at], hit_counts[at] = hit, sizes[pair, number]
        for column in range(HEAD):
            heads[at, column] = pair_heads[pair * sizes.shape[1] + number, column]
        hit += sizes[pair, number]
