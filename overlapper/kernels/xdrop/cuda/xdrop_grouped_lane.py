"""The parts of `xdrop_grouped`: what a lane does with the cells in its registers.

A part of `xdrop`, whose twin is ../xdrop.py.

Numbers of lanes and of words decide how loops unroll, so each part is made for them. Slots, pairs and scores
are as `xdrop_grouped` describes them. A word of cells is eight registers, register ``r`` of word ``w`` being
item ``8 * w + r``; windows of bases have one word more, which holds the next bases to come.
"""

from __future__ import annotations

from numba import cuda, int32, int64, uint32

from overlapper.kernels.common.cuda.half_words import (
    from_lane,
    from_member,
    high_then_low,
    largest_of_warp,
    shift_left_by_base,
    shift_right,
    shift_right_by_base,
    spread_signs,
)

NEVER = 0x7FFFFFFF
"""An anti-diagonal that none reaches."""
DEAD = 0x80008000
"""Two dead cells."""
FULL = 0xFFFFFFFF
"""Every bit, and every lane of a warp."""


def scorer(words, largest3, moves):
    """Return the function that computes an anti-diagonal, before which the frame moves or stays."""

    @cuda.jit(device=True, forceinline=True)
    def slide(window, known):
        if moves:
            for w in range(words):
                window[w] = shift_right_by_base(window[w], window[w + 1])
                known[w] = shift_right_by_base(known[w], known[w + 1])
            window[words] = uint32(window[words] >> uint32(2))
            known[words] = uint32(known[words] >> uint32(2))
        else:
            for w in range(words - 1, -1, -1):
                before = w - 1 if w else words
                window[w] = shift_left_by_base(window[before], window[w])
                known[w] = shift_left_by_base(known[before], known[w])
            window[words] = uint32(window[words] << uint32(2))
            known[words] = uint32(known[words] << uint32(2))

    @cuda.jit(device=True, forceinline=True)
    def score(cells, beside, neighbour, q, q_known, t, t_known, extra, mismatch_pair, threshold):
        """Replace ``cells`` by the anti-diagonal that follows ``beside``; return its best score."""
        if moves:
            slide(q, q_known)
        else:
            slide(t, t_known)
        dead = uint32(DEAD)
        threshold_pair = uint32(uint32(threshold) * uint32(0x10001))
        largest = dead
        for v in range(words):
            w = words - 1 - v if moves else v
            differ = uint32(q[w] ^ t[w])
            differ = uint32(differ | uint32(differ >> uint32(1)))
            equal = uint32(uint32(~differ) & uint32(q_known[w] & t_known[w]))
            if moves:
                other = high_then_low(beside[8 * w], neighbour)
                neighbour = beside[8 * w]
            else:
                other = high_then_low(neighbour, beside[8 * w + 7])
                neighbour = beside[8 * w + 7]
            for s in range(8):
                r = 7 - s if moves else s
                hit = uint32(uint32(equal >> uint32(2 * r)) & uint32(0x00010001))
                diagonal = uint32(cells[8 * w + r] + uint32(uint32(hit * extra) + mismatch_pair))
                reached = largest3(diagonal, beside[8 * w + r], other)
                other = beside[8 * w + r]
                alive = spread_signs(uint32(reached - threshold_pair))
                cells[8 * w + r] = uint32(uint32(reached & alive) | dead)
            for r in range(0, 8, 2):
                largest = largest3(largest, cells[8 * w + r], cells[8 * w + r + 1])
        return max(uint32(largest & uint32(0xFFFF)), uint32(largest >> uint32(16)))

    return score


def group_maximum(lanes):
    """Return the function for the largest value of a group; the whole warp takes part."""

    @cuda.jit(device=True, forceinline=True)
    def largest_of_group(value):
        if lanes == 32:
            value = largest_of_warp(value)
        else:
            lane = uint32(cuda.laneid)
            if lanes > 1:
                value = max(value, from_lane(value, uint32(lane ^ uint32(1))))
            if lanes > 2:
                value = max(value, from_lane(value, uint32(lane ^ uint32(2))))
            if lanes > 4:
                value = max(value, from_lane(value, uint32(lane ^ uint32(4))))
            if lanes > 8:
                value = max(value, from_lane(value, uint32(lane ^ uint32(8))))
        return value

    return largest_of_group


def best_keeper(lanes, registers):
    """Return the function that notes a new best score of a group, and keeps the cells of who holds it."""
    largest_of_group = group_maximum(lanes)

    @cuda.jit(device=True, forceinline=True)
    def keep_best(
        cells, own, d, frame, saved, best, threshold, best_at, best_d, best_frame, best_value, own_d
    ):
        """Return the last seven arguments after anti-diagonal ``d``, whose best score in a lane is ``own``.

        ``best_at`` is what the best score so far is stored as at ``d``, ``own_d`` the anti-diagonal of which
        this lane last kept its cells.
        """
        top = largest_of_group(own)
        if top > best_at:
            rise = int32(top - best_at)
            best, threshold, best_at = int32(best + rise), int32(threshold + rise), top
            best_d, best_frame, best_value = d, frame, top
            if own == top:
                own_d = d
                for r in range(registers):
                    saved[r, cuda.threadIdx.x] = cells[r]
        return best, threshold, best_at, best_d, best_frame, best_value, own_d

    return keep_best


@cuda.jit(device=True, forceinline=True)
def gained_little(best, window_best, stop_window, stop_rate, match):
    """Return whether the score rose by too little in a window: then the extension stops."""
    return int64(best - window_best) * int64(stop_rate) < int64(stop_window) * int64(match)


@cuda.jit(device=True, forceinline=True)
def window_after(d, stop_window):
    """Return the anti-diagonal that ends the window after ``d``."""
    return int32(min(int64(d) + int64(stop_window), int64(NEVER)))


@cuda.jit(device=True, forceinline=True)
def out_of_reach(best, needed, match, d, frame, slots, q_steps, t_steps):
    """Return whether a score cannot be reached any more, however the bases to come may match.

    The live cells of the last two anti-diagonals, ``d`` the last one, lie in the frame slots, each at
    least ``row`` and ``column`` away from the seed.
    """
    row = max(int32(frame - int32(1)), int32(0))
    column = max(int32(d - frame - slots), int32(0))
    steps = max(min(int32(q_steps - row), int32(t_steps - column)), int32(0))
    return int64(best) + int64(match) * int64(steps) < int64(needed)


def looker(words):
    """Return the function that rebases cells, kills those outside the sequences, and looks who is alive."""

    @cuda.jit(device=True, forceinline=True)
    def look(even, odd, lower, first_row, d, q_steps, t_steps):
        """Return which of the lowest two and of the highest two eights are alive, as pairs, and if any is."""
        dead, whole = uint32(DEAD), uint32(FULL)
        lowest_two, highest_two, alive = uint32(0), uint32(0), uint32(0)
        for w in range(words):
            row = int32(first_row + int32(16 * w))
            keep = whole
            if row > q_steps or int32(d - row) - int32(7) > t_steps:
                keep = uint32(0xFFFF0000)
            if int32(row + int32(8)) > q_steps or int32(d - row) - int32(15) > t_steps:
                keep = uint32(keep & uint32(0x0000FFFF))
            live = uint32(0)
            for s in range(8):
                r = 8 * w + s
                even_cell, odd_cell = uint32(even[r] - lower), uint32(odd[r] - lower)
                even_kept = uint32(spread_signs(even_cell) & keep)
                odd_kept = uint32(spread_signs(odd_cell) & keep)
                even[r] = uint32(uint32(even_cell & even_kept) | dead)
                odd[r] = uint32(uint32(odd_cell & odd_kept) | dead)
                live = uint32(live | uint32(even[r] | odd[r]))
            live = uint32(live & uint32(0x7FFF7FFF))
            if w == 0:
                lowest_two = live
            highest_two = live
            alive = uint32(alive | live)
        return lowest_two, highest_two, alive != uint32(0)

    return look


@cuda.jit(device=True, forceinline=True)
def live_ends(lowest_two, highest_two, first_lane, last_rank):
    """Return whether a group's first, second, last and last but one eight slots hold live cells."""
    low, high = uint32(0xFFFF), uint32(0xFFFF0000)
    first = cuda.ballot_sync(FULL, uint32(lowest_two & low) != uint32(0))
    second = cuda.ballot_sync(FULL, uint32(lowest_two & high) != uint32(0))
    last = cuda.ballot_sync(FULL, uint32(highest_two & high) != uint32(0))
    last_but_one = cuda.ballot_sync(FULL, uint32(highest_two & low) != uint32(0))
    bottom, top = uint32(1) << uint32(first_lane), uint32(1) << uint32(first_lane + last_rank)
    return (first & bottom) != 0, (second & bottom) != 0, (last & top) != 0, (last_but_one & top) != 0


def placer(lanes, words):
    """Return the function that finds the first slot of a group with the best score."""

    @cuda.jit(device=True)
    def place_of_best(saved, members, lane, rank, has_best, best_value):
        slot = int32(NEVER)
        if has_best:
            for w in range(words - 1, -1, -1):
                for r in range(7, -1, -1):
                    if uint32(saved[8 * w + r, cuda.threadIdx.x] >> uint32(16)) == best_value:
                        slot = int32(rank * int32(16 * words) + int32(16 * w + r + 8))
                for r in range(7, -1, -1):
                    if uint32(saved[8 * w + r, cuda.threadIdx.x] & uint32(0xFFFF)) == best_value:
                        slot = int32(rank * int32(16 * words) + int32(16 * w + r))
        apart = int32(lanes // 2)
        while apart > int32(0):
            slot = min(slot, int32(from_member(members, uint32(slot), uint32(lane ^ apart))))
            apart = int32(apart >> int32(1))
        return slot

    return place_of_best


def shifters(words):
    """Return the functions that move cells by eight slots, up (into a lower frame) and down."""

    @cuda.jit(device=True, forceinline=True)
    def shift_up(cells, members, lane_before):
        for r in range(8):
            outer = from_member(members, cells[8 * (words - 1) + r], lane_before)
            for w in range(words - 1, 0, -1):
                cells[8 * w + r] = shift_right(cells[8 * (w - 1) + r], cells[8 * w + r], uint32(16))
            cells[r] = shift_right(outer, cells[r], uint32(16))

    @cuda.jit(device=True, forceinline=True)
    def shift_down(cells, members, lane_after):
        for r in range(8):
            outer = from_member(members, cells[r], lane_after)
            for w in range(words - 1):
                cells[8 * w + r] = shift_right(cells[8 * w + r], cells[8 * (w + 1) + r], uint32(16))
            last = 8 * (words - 1) + r
            cells[last] = shift_right(cells[last], outer, uint32(16))

    return shift_up, shift_down
