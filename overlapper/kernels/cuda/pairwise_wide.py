"""Pairwise alignment of any pairs on a device, in 32-bit cells, with directions or without.

A group of lanes computes one pair, as in `pairwise_packed`, but for queries longer than its lanes hold rows:
then it goes down stripe by stripe, the bottom row of one, H and the insertions that leave it, waiting in
memory for the next. What a row scores with a base are bytes in registers if scores fit bytes, else in a
table.

A lane leaves a 64-bit word a column: four times its rows, what the path needs to know of each (`TRACE`). The
words of a step of a group lie side by side.
"""

from __future__ import annotations

from functools import cache

from numba import cuda, int32, int64, uint32, uint64

from overlapper.kernels.cpu.pairwise_layout import QUERY_END, QUERY_START, TARGET_END, TARGET_START
from overlapper.kernels.cuda.packed import instruction
from overlapper.kernels.cuda.pairwise_bases import base_of, code_in, sixteen_bases
from overlapper.kernels.cuda.pairwise_packed import FULL, from_lane_above, look_up
from overlapper.kernels.cuda.pairwise_path import follower

ROWS = 16
"""Rows of a lane at most: its flags fill a word."""
TRACE = ("not the pair's", "not the insertion's", "an insertion goes on", "a deletion goes on")
"""Flags of a cell, 16 bits of the word each, the lowest 16 first; row r is bit ``rows - 1 - r``."""
OUTSIDE = 5
"""Code of rows beyond the query, in the tables of scores."""
NEVER = -(2**30)
"""Less than any cell."""

push_sign = instruction("shf.l.wrap.b32 $0, $2, $1, 1;", 2)
"""The first argument moved up by a bit, the sign of the second one below it."""


GROUPS = tuple((lanes, rows) for lanes in (8, 16, 32) for rows in (4, 7, 10, 13, ROWS))
"""Lanes and rows of groups; queries longer than all take stripes of the last one."""


@cache
def wide_kernel(lanes: int, rows: int, local: bool, traced: bool, bytes_fit: bool):
    """Return the kernel for groups of ``lanes`` lanes of ``rows`` rows."""
    groups, stripe_rows = 32 // lanes, lanes * rows
    clamp = (32 - lanes) << 8

    @cuda.jit(device=True)
    def edge(free, length, gap_open, gap_extend):
        """Return H of row 0 or column 0."""
        if local or free or length == int32(0):
            return int32(0)
        return int32(gap_open + length * gap_extend)

    @cuda.jit(cache=True)
    def align_wide(
        q_words, q_unknown, q_offsets, q_lengths, t_words, t_unknown, t_offsets, t_lengths,
        query, target, q_flags, t_flags, order, table, profile_known, profile_n, gap_open, gap_extend, free,
        boundary, boundary_offsets, words, word_offsets, found,
    ):  # fmt: skip
        """Align pairs ``order``; rows 0, 2 and 4 of ``found`` get score and ends."""
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
            q, t = query[pair], target[pair]
            n, m = int32(q_lengths[q]), int32(t_lengths[t])
            stripes, own_steps = int32((n + stripe_rows - 1) // stripe_rows), int32(m + int32(lanes - 1))
            all_stripes, steps = stripes, own_steps
            apart = lanes
            while apart < 32:
                all_stripes = max(all_stripes, int32(cuda.shfl_xor_sync(FULL, all_stripes, apart)))
                steps = max(steps, int32(cuda.shfl_xor_sync(FULL, steps, apart)))
                apart *= 2
            at, row_at = word_offsets[slot], boundary_offsets[slot]
            best, best_row, best_column = int32(NEVER), int32(0), int32(0)
            if local:
                best = int32(0)
            for stripe in range(all_stripes):
                first_row = int32(int32(stripe) * int32(stripe_rows) + lane * int32(rows))
                last_r = int32(n - int32(1) - first_row)
                for r in range(rows):
                    position = int32(first_row + int32(r))
                    code = int32(OUTSIDE)
                    if position < n:
                        code = base_of(q_words, q_unknown, q_offsets[q], n, q_flags[pair], position)
                    if bytes_fit:
                        profile[r], profile_2[r] = profile_known[code], profile_n[code]
                    else:
                        profile[r] = uint32(code * int32(5))
                    h[r] = edge(q_start, int32(position + int32(1)), gap_open, gap_extend)
                    deletion[r] = int32(h[r] + gap_1)
                diagonal_0 = edge(q_start, first_row, gap_open, gap_extend)
                selector, above, insertion = uint32(0), int32(0), int32(0)
                bases, known = uint32(0), uint32(0)
                for step in range(steps):
                    column = int32(int32(step) - lane + int32(1))
                    above = int32(from_lane_above(uint32(h[rows - 1]), uint32(clamp)))
                    insertion = int32(from_lane_above(uint32(insertion), uint32(clamp)))
                    selector = from_lane_above(selector, uint32(clamp))
                    if step & 15 == 0:
                        # The first lane alone makes use of them.
                        bases, known = sixteen_bases(
                            t_words, t_unknown, t_offsets[t], m, t_flags[pair], int32(step)
                        )
                    if lane == int32(0) and column <= m:
                        selector = uint32(code_in(bases, known, int32(step)))
                        if bytes_fit:
                            selector = uint32(uint32(selector * uint32(0x1111)) + uint32(0x8880))
                        if stripe == 0:
                            above = edge(t_start, column, gap_open, gap_extend)
                            insertion = int32(above + gap_1)
                        else:
                            above = boundary[2 * (row_at + column)]
                            insertion = boundary[2 * (row_at + column) + 1]
                    if column >= int32(1) and column <= m and stripe < stripes:
                        diagonal = diagonal_0
                        diagonal_0 = above
                        key = int32(NEVER)
                        not_pair, not_insertion = uint32(0), uint32(0)
                        more_insertion, more_deletion = uint32(0), uint32(0)
                        last = int32(0)
                        for r in range(rows):
                            if bytes_fit:
                                score = int32(look_up(profile[r], profile_2[r], selector))
                            else:
                                score = table[profile[r] + selector]
                            paired = int32(diagonal + score)
                            cell = max(max(paired, deletion[r]), insertion)
                            if local:
                                cell = max(cell, int32(0))
                                key = max(key, int32(cell * int32(16) + int32(15 - r)))
                            else:
                                if int32(r) == last_r:
                                    last = cell
                            diagonal = h[r]
                            h[r] = cell
                            opened = int32(cell + gap_1)
                            longer_insertion = int32(insertion + gap_n)
                            longer_deletion = int32(deletion[r] + gap_n)
                            if traced:
                                not_pair = push_sign(not_pair, uint32(paired - cell))
                                not_insertion = push_sign(not_insertion, uint32(insertion - cell))
                                more_insertion = push_sign(more_insertion, uint32(opened - longer_insertion))
                                more_deletion = push_sign(more_deletion, uint32(opened - longer_deletion))
                            insertion = max(longer_insertion, opened)
                            deletion[r] = max(longer_deletion, opened)
                        if traced:
                            low = uint32(not_pair | uint32(not_insertion << uint32(16)))
                            high = uint32(more_insertion | uint32(more_deletion << uint32(16)))
                            word = uint64((uint64(high) << uint64(32)) | uint64(low))
                            words[at + (int64(stripe) * own_steps + step) * lanes + lane] = word
                        if stripe + 1 < stripes and lane == int32(lanes - 1):
                            boundary[2 * (row_at + column)] = h[rows - 1]
                            boundary[2 * (row_at + column) + 1] = insertion
                        if local:
                            score = int32(key >> int32(4))
                            row = int32(first_row + int32(16) - (key & int32(15)))
                            if score > best or (score == best and best > int32(0) and column < best_column):
                                best, best_row, best_column = score, row, column
                        elif last_r >= int32(0) and last_r < int32(rows):
                            nearer = last == best and column < best_column
                            if (t_end or column == m) and (last > best or nearer):
                                best, best_row, best_column = last, n, column
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
            if lane == int32(0):
                empty = local and best == int32(0)
                found[0, pair] = best
                found[2, pair] = int32(0) if empty else best_row
                found[4, pair] = int32(0) if empty else best_column

    return align_wide


@cache
def trace_kernel(lanes: int, rows: int, local: bool):
    """Return the kernel that follows the paths of pairs ``order``, a thread a pair (`pairwise_path`)."""

    @cuda.jit(device=True, forceinline=True)
    def word_at(words, at, steps, unused, row, column):
        part = int32(row - int32(1)) // int32(lanes * rows)
        inside = int32(row - int32(1)) - part * int32(lanes * rows)
        lane = inside // int32(rows)
        place = int64(part) * steps + int64(column - int32(1) + lane)
        return words[at + place * lanes + lane] >> uint64(int32(rows - 1) - (inside - lane * int32(rows)))

    follow = follower(local, word_at)

    @cuda.jit(cache=True)
    def trace(
        q_words, q_unknown, q_offsets, q_lengths, t_words, t_unknown, t_offsets, t_lengths,
        query, target, q_flags, t_flags, order, table, gap_open, gap_extend, free,
        words, word_offsets, found, keep, paths, path_offsets, runs,
    ):  # fmt: skip
        for slot in range(cuda.grid(1), len(order), cuda.gridsize(1)):
            pair = order[slot]
            q, t = query[pair], target[pair]
            n, m = int32(q_lengths[q]), int32(t_lengths[t])
            follow(
                q_words, q_unknown, q_offsets[q], n, q_flags[pair], t_words, t_unknown, t_offsets[t], m,
                t_flags[pair], table, gap_open, gap_extend, free, words, word_offsets[slot],
                int64(m + int32(lanes - 1)), int64(0), found, pair, keep, paths, path_offsets[pair], runs,
            )  # fmt: skip

    return trace
