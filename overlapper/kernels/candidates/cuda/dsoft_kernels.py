"""Windows and candidates of pairs of reads: the kernels that `dsoft` launches."""

from __future__ import annotations

from numba import cuda, int32, int64, uint64

from overlapper.kernels.candidates.cuda.dsoft import HEAD, WARP
from overlapper.kernels.candidates.cuda.hit_kernels import (
    diagonal,
    query_position,
    target_of,
    target_position,
)
from overlapper.kernels.common.cuda.groups import run_stop

TAKEN = -(2**31)
"""In place of the diagonal of a hit that a candidate carries."""


@cuda.jit
def flag_pairs(keys, places, lengths, target_bits, bands, flags):
    """Flag the first hit of each pair on a strand that may have a candidate; a thread a hit.

    A pair of too few hits has none, nor, where two are needed, one of two that no window holds.
    """
    x = cuda.grid(1)
    n = len(keys)
    if x >= n:
        return
    key = keys[x]
    flag = x == 0 or keys[x - 1] != key
    if flag and bands.k < bands.min_bases:
        flag = x + 1 < n and keys[x + 1] == key
        if flag and (x + 2 == n or keys[x + 2] != key):
            one = diagonal(key, places[x], lengths, target_bits, bands.k) >> bands.band_bits
            other = diagonal(key, places[x + 1], lengths, target_bits, bands.k) >> bands.band_bits
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
    keys, places, lengths, starts, first_query, target_bits, bands, diagonals, windows, query_pos, target_pos,
    counts, sizes, heads,
):  # fmt: skip
    """Find the candidates of each pair; a block a pair, in turn.

    Parameters
    ----------
    keys, places : device array of uint64, shape (hits,)
        Of `sorted_hits`.
    lengths : device array of int64, shape (reads,)
    starts : device array of int64, shape (pairs,)
        Where the hits of each pair start.
    first_query, target_bits : int
    bands : Bands
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
    k, band_bits, min_bases, drift, most_windows, min_share = bands
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
