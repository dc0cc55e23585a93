"""Pairwise alignment of any pairs on a device, in 32-bit cells, with directions or without.

A part of `pairwise`, whose twin is ../pairwise.py.

A group of lanes computes one pair, as in `pairwise_packed`, but for queries longer than its lanes hold rows:
then it goes down stripe by stripe, the bottom row of one, H and the insertions that leave it, waiting in
memory for the next. With a band, a stripe takes the columns that its rows have in the band, and cells outside
are impossible.

The words of a step of a group lie side by side.
"""

from __future__ import annotations

from functools import cache

from numba import cuda, int32, int64, uint32, uint64

from overlapper.kernels.pairwise.cuda.pairwise_bases import base_of, sequences_of, sixteen_bases
from overlapper.kernels.pairwise.cuda.pairwise_classes import KEPT
from overlapper.kernels.pairwise.cuda.pairwise_column import (
    NEVER,
    NEVER_LOCAL,
    OUTSIDE,
    band_limits,
    column_filler,
    edge_of,
    first_column,
    last_column,
    row_setter,
    selector_of,
)
from overlapper.kernels.pairwise.cuda.pairwise_packed import FULL, from_lane_above
from overlapper.kernels.pairwise.cuda.pairwise_path import follower
from overlapper.kernels.pairwise.pairwise_layout import QUERY_END, QUERY_START, TARGET_END, TARGET_START


@cache
def wide_kernel(lanes: int, rows: int, local: bool, traced: bool, bytes_fit: bool, banded: bool):
    """Return the kernel for groups of ``lanes`` lanes of ``rows`` rows.

    ``bytes_fit`` tells whether scores fit bytes.
    """
    groups, stripe_rows = 32 // lanes, lanes * rows
    clamp = (32 - lanes) << 8
    never = NEVER_LOCAL if local else NEVER
    edge, set_row = edge_of(local, banded), row_setter(bytes_fit)
    fill_column = column_filler(rows, local, traced, bytes_fit, banded)

    @cuda.jit
    def align_wide(chunk, order, scores, kept, kept_offsets, directions, direction_offsets, found):
        """Align pairs ``order``; rows 0, 2 and 4 of ``found`` get score and ends.

        ``kept`` has room for `KEPT` numbers of each column, from `KEPT` times ``kept_offsets`` on.
        """
        words, unknown, numbers = chunk
        table, profile_known, profile_n, gap_open, gap_extend, free, band, _ = scores
        lane = int32(cuda.laneid & (lanes - 1))
        group = int32(cuda.laneid) // int32(lanes)
        warp = (cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x) // 32
        warps = cuda.gridDim.x * cuda.blockDim.x // 32
        count = len(order)
        h, deletion = cuda.local.array(rows, int32), cuda.local.array(rows, int32)
        profile, profile_2 = cuda.local.array(rows, uint32), cuda.local.array(rows, uint32)
        gap_1, gap_n = int32(gap_open + gap_extend), int32(gap_extend)
        q_start, q_end = (free & QUERY_START) != 0, (free & QUERY_END) != 0
        t_start, t_end = (free & TARGET_START) != 0, (free & TARGET_END) != 0

        for base in range(warp * groups, count, warps * groups):
            slot = min(base + group, count - 1)
            # Of a last group that repeats the last pair, nobody waits for: both write the same.
            pair = order[slot]
            q_at, n, q_flags, t_at, m, t_flags = sequences_of(numbers, pair)
            low, high = band_limits(n, m, band)
            stripes = int32((n + stripe_rows - 1) // stripe_rows)
            all_stripes = stripes
            apart = lanes
            while apart < 32:
                all_stripes = max(all_stripes, int32(cuda.shfl_xor_sync(FULL, all_stripes, apart)))
                apart *= 2
            stride = stripe_columns(stripe_rows, n, m, band) + int32(lanes - 1)
            at, kept_at = direction_offsets[slot], kept_offsets[slot]
            best, best_row, best_column = int32(0) if local else int32(NEVER), int32(0), int32(0)
            first, last, above_last = int32(1), m, m
            for stripe in range(all_stripes):
                top = int32(int32(stripe) * int32(stripe_rows))
                first_row = int32(top + lane * int32(rows))
                last_r = int32(n - int32(1) - first_row)
                if banded:
                    above_last = last_column(top, high, m)
                    first, last = first_column(top, low), last_column(int32(top + stripe_rows), high, m)
                steps = max(int32(0), int32(last - first + int32(lanes)))
                apart = lanes
                while apart < 32:
                    steps = max(steps, int32(cuda.shfl_xor_sync(FULL, steps, apart)))
                    apart *= 2
                for r in range(rows):
                    position = int32(first_row + int32(r))
                    code = int32(OUTSIDE)
                    if position < n:
                        code = base_of(words, unknown, q_at, n, q_flags, position)
                    set_row(profile, profile_2, r, code, profile_known, profile_n)
                    h[r] = int32(never)
                    if first == int32(1):
                        h[r] = edge(q_start, int32(position + int32(1)), int32(-low), gap_open, gap_extend)
                    deletion[r] = int32(h[r] + gap_1)
                diagonal = int32(never)
                if first == int32(1):
                    diagonal = edge(q_start, first_row, int32(-low), gap_open, gap_extend)
                elif lane == int32(0) and stripe == 0:
                    diagonal = edge(t_start, int32(first - int32(1)), high, gap_open, gap_extend)
                elif lane == int32(0) and stripe < stripes and first <= last:
                    diagonal = kept[KEPT * (kept_at + first - 1)]
                selector, above, insertion = uint32(0), int32(0), int32(0)
                bases, known = uint32(0), uint32(0)
                for step in range(steps):
                    column = int32(first + int32(step) - lane)
                    above = int32(from_lane_above(uint32(h[rows - 1]), uint32(clamp)))
                    insertion = int32(from_lane_above(uint32(insertion), uint32(clamp)))
                    selector = from_lane_above(selector, uint32(clamp))
                    if step & 15 == 0:
                        # The first lane alone makes use of them.
                        bases, known = sixteen_bases(
                            words, unknown, t_at, m, t_flags, int32(first + int32(step) - int32(1))
                        )
                    if lane == int32(0) and column <= last:
                        selector = selector_of(bases, known, int32(step), bytes_fit)
                        place = KEPT * (kept_at + column)
                        if stripe == 0:
                            above = edge(t_start, column, high, gap_open, gap_extend)
                            insertion = int32(above + gap_1)
                        elif column <= above_last and stripe < stripes:
                            above, insertion = kept[place], kept[place + 1]
                        else:
                            above, insertion = int32(never), int32(never)
                    if column >= first and column <= last and stripe < stripes:
                        # Row r is diagonal column - first_row - 1 - r.
                        outside = int32(column - first_row - int32(1) - high)
                        insertion, word, key = fill_column(
                            h, deletion, profile, profile_2, table, selector, diagonal, insertion, gap_1,
                            gap_n, outside, int32(high - low + int32(1)),
                        )  # fmt: skip
                        diagonal = above
                        if traced:
                            place = (int64(stripe) * stride + step) * lanes + lane
                            directions[at + place] = word
                        place = KEPT * (kept_at + column)
                        if stripe + 1 < stripes and lane == int32(lanes - 1):
                            kept[place], kept[place + 1] = h[rows - 1], insertion
                        if local:
                            score = int32(key >> int32(4))
                            row = int32(first_row + int32(16) - (key & int32(15)))
                            if score > best or (score == best and best > int32(0) and column < best_column):
                                best, best_row, best_column = score, row, column
                        elif last_r >= int32(0) and last_r < int32(rows):
                            cell = int32(0)
                            for r in range(rows):
                                if int32(r) == last_r:
                                    cell = h[r]
                            nearer = cell == best and column < best_column
                            if (t_end or column == m) and (cell > best or nearer):
                                best, best_row, best_column = cell, n, column
                        if not local and column == m and q_end:
                            for r in range(rows):
                                row = int32(first_row + int32(r + 1))
                                if row <= n and (
                                    h[r] > best or (h[r] == best and column <= best_column and row < best_row)
                                ):
                                    best, best_row, best_column = h[r], row, column
                cuda.syncwarp()
            apart = lanes // 2
            while apart > 0:
                other = int32(cuda.shfl_xor_sync(FULL, best, apart))
                other_row = int32(cuda.shfl_xor_sync(FULL, best_row, apart))
                other_column = int32(cuda.shfl_xor_sync(FULL, best_column, apart))
                closer = other_column < best_column or (other_column == best_column and other_row < best_row)
                if other > best or (other == best and closer):
                    best, best_row, best_column = other, other_row, other_column
                apart //= 2
            if local and best == int32(0):
                best_row, best_column = int32(0), int32(0)
            if lane == int32(0):
                found[0, pair], found[2, pair], found[4, pair] = best, best_row, best_column

    return align_wide


@cuda.jit(device=True, forceinline=True)
def stripe_columns(rows, n, m, band):
    """Return how many columns a stripe of so many rows takes at most."""
    if band < int32(0):
        return m
    return min(m, int32(rows + abs(int32(m - n)) + int32(2) * band))


@cache
def trace_kernel(lanes: int, rows: int, local: bool):
    """Return the kernel that follows the paths of pairs ``order``, a thread a pair (`pairwise_path`)."""

    @cuda.jit(device=True, forceinline=True)
    def word_at(directions, at, stride, low, row, column):
        stripe = int32(row - int32(1)) // int32(lanes * rows)
        top = int32(stripe * int32(lanes * rows))
        inside = int32(row - int32(1) - top)
        lane = inside // int32(rows)
        place = int64(stripe) * stride + int64(column - first_column(top, low) + lane)
        shift = uint64(int32(rows - 1) - (inside - lane * int32(rows)))
        return directions[at + place * lanes + lane] >> shift

    follow = follower(local, word_at)

    @cuda.jit
    def trace(chunk, order, scores, directions, direction_offsets, found, keep, paths):
        for slot in range(cuda.grid(1), len(order), cuda.gridsize(1)):
            pair = order[slot]
            _, n, _, _, m, _ = sequences_of(chunk.numbers, pair)
            low, _ = band_limits(n, m, scores.band)
            stride = int32(stripe_columns(lanes * rows, n, m, scores.band) + int32(lanes - 1))
            at = direction_offsets[slot]
            follow(chunk, scores, directions, at, int64(stride), low, found, pair, keep, paths)

    return trace
