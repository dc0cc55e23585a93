"""X-drop extension by groups of lanes, its live cells in registers, two 16-bit scores a register.

A part of `xdrop`, whose twin is ../xdrop.py.

A group of lanes computes one extension, and takes the next one off a counter when that is done; a lane holds
16 rows a word. Slot ``p`` of a group is row ``frame + p``. Of every two anti-diagonals the second one moves
the frame by a row, so that it follows the main diagonal by itself::

    even d -> odd d    the frame stays:  cell p comes from above (p - 1), beside (p),     diagonal (p)
    odd d -> even d    the frame moves:  cell p comes from above (p),     beside (p + 1), diagonal (p)

So the cell that is replaced is the one that the diagonal step starts from, and an anti-diagonal needs one
shuffle. Register ``r`` of a word holds slot ``r`` low and ``r + 8`` high: the slot before is mostly just the
register before.

Scores are stored plus a multiple of the anti-diagonal, which makes gap steps free, and relative to the
threshold when they were last rebased. A dead cell is 0, so far below the threshold that no step brings it
back. The highest bit of each half is set, so that subtracting the threshold shows there which half lives.

Every 16 anti-diagonals the group looks where its live cells are. In that time they spread by eight slots at
either end; so where the outermost eight hold one, the frame is moved by eight. When it cannot move, the
extension has outgrown its group: it is left with its state, from which a wider group goes on. A state
is a head of eight numbers, and the cells of both anti-diagonals, word by word, as the lanes hold them.

The best score of an anti-diagonal is known before the next one, as the definition wants it. A lane that holds
a new best one keeps its cells in shared memory; which row it is, is looked up once, at the end.
"""

from __future__ import annotations

from numba import cuda, int32, int64, uint32

from overlapper.kernels.common.cuda.half_words import (
    from_lane,
    from_member,
    largest_pair_of_three,
    largest_pair_of_three_before_90,
)
from overlapper.kernels.common.cuda.walk_bases import bases_at, walks_from_item
from overlapper.kernels.xdrop.cuda import xdrop_grouped_lane
from overlapper.kernels.xdrop.cuda.xdrop_grouped_lane import (
    DEAD,
    FULL,
    NEVER,
    gained_little,
    out_of_reach,
    window_after,
)
from overlapper.kernels.xdrop.cuda.xdrop_groups import CHUNK, THREADS


def grouped_kernel(lanes: int, words: int, packed_maximum: bool):
    """Return the kernel for groups of ``lanes`` lanes, a power of two to 32, of 16 ``words`` rows each.

    ``packed_maximum`` tells whether the device has an instruction for the maxima of pairs: those of compute
    capability 9.0 and up do.
    """
    registers, windows, rows = 8 * words, words + 1, 16 * words
    all_lanes = (1 << lanes) - 1
    largest3 = largest_pair_of_three if packed_maximum else largest_pair_of_three_before_90
    score_staying = xdrop_grouped_lane.scorer(words, largest3, False)
    score_moving = xdrop_grouped_lane.scorer(words, largest3, True)
    keep_best = xdrop_grouped_lane.best_keeper(lanes, registers)
    look = xdrop_grouped_lane.looker(words)
    place_of_best = xdrop_grouped_lane.placer(lanes, words)
    shift_up, shift_down = xdrop_grouped_lane.shifters(words)

    @cuda.jit
    def extend_grouped(
        reads, seeds, left, n_left, items, scheme, counters, extensions, needed, old, new, leaves
    ):
        """Extend what narrower groups left, and then ``items``, in their order.

        Parameters
        ----------
        reads : DeviceColumns
        seeds : Seeds
        left, items : device array of int32
            Numbers of extensions: twice the seed, one more if it runs after the seed.
        n_left : int32
            How many of ``left``; each goes on from the state of its place, or from its seed if none was kept.
        scheme : Scheme
            Of int32.
        counters : device array of int32
            Of items taken, and of those that outgrew this group.
        extensions : device array of int32, shape (extensions, 3)
            Out: score, query and target bases of those that did not.
        needed : device array of int32, shape (extensions,)
            An extension that cannot reach this score any more ends, with what was best so far.
        old, new : _States
            Left by narrower groups, and by this one.
        leaves : device array of int32
            Out: numbers of those that outgrew this group.
        """
        base_words, unknown, word_offsets, lengths = reads
        match, mismatch, gap, xdrop, stop_window, stop_rate = scheme
        old_words, old_room, old_heads, old_cells = old
        _, room, heads, cells = new
        zero, one = int32(0), int32(1)
        lane = int32(cuda.laneid)
        rank = int32(lane & int32(lanes - 1))
        first_lane = int32(lane - rank)
        members = uint32(uint32(all_lanes) << uint32(first_lane))
        lane_before = uint32(first_lane | int32((rank + int32(lanes - 1)) & int32(lanes - 1)))
        lane_after = uint32(first_lane | int32((rank + one) & int32(lanes - 1)))
        saved = cuda.shared.array((registers, THREADS), uint32)
        even, odd = cuda.local.array(registers, uint32), cuda.local.array(registers, uint32)
        q, q_known = cuda.local.array(windows, uint32), cuda.local.array(windows, uint32)
        t, t_known = cuda.local.array(windows, uint32), cuda.local.array(windows, uint32)
        dead = uint32(DEAD)
        gap_rise = int32(-gap)
        extra = uint32(match - mismatch)
        mismatch_pair = uint32(int32(mismatch - int32(2) * gap) * int32(0x10001))
        floor = int32(match - int32(2) * gap + one)

        item, score_needed, working, waiting = zero, zero, False, True
        d, frame, phase, own_d = zero, zero, zero, zero
        best, best_d, best_row, best_frame, best_value = zero, zero, zero, zero, uint32(0)
        threshold, window_end, window_best = floor, int32(NEVER), zero
        q_offset, q_bases, q_origin, q_up, q_steps = int64(0), zero, zero, False, zero
        t_offset, t_bases, t_origin, t_up, t_steps = int64(0), zero, zero, False, zero
        complement = uint32(0)
        for r in range(registers):
            even[r], odd[r] = dead, dead
        for w in range(windows):
            q[w], q_known[w], t[w], t_known[w] = uint32(0), uint32(0), uint32(0), uint32(0)

        while True:
            if waiting and not working:
                item = zero
                if rank == zero:
                    item = int32(cuda.atomic.add(counters, 0, 1))
                item = int32(from_member(members, uint32(item), uint32(first_lane)))
                waiting = item < int32(n_left + int32(len(items)))
                if waiting:
                    working, state = True, int32(-1)
                    if item < n_left:
                        if item < old_room:
                            state = item
                        item = left[item]
                    else:
                        item = items[int32(item - n_left)]
                    score_needed = needed[item]
                    q_read, q_origin, q_up, q_steps, t_read, t_origin, t_up, t_steps = walks_from_item(
                        lengths, seeds, item
                    )
                    complement = uint32(FULL) if q_up != t_up else uint32(0)
                    q_offset, t_offset = word_offsets[q_read], word_offsets[t_read]
                    q_bases, t_bases = int32(lengths[q_read]), int32(lengths[t_read])
                    d, frame, phase, own_d = zero, int32(-(rows * lanes // 2)), zero, zero
                    best, best_d, best_row, best_frame, best_value = zero, zero, zero, zero, uint32(0)
                    threshold, window_best = floor, zero
                    window_end = int32(stop_window) if stop_window > zero else int32(NEVER)
                    for r in range(registers):
                        even[r], odd[r] = dead, dead
                    if state < zero:
                        if rank == int32(lanes // 2):
                            even[0] = uint32(dead + uint32(floor + xdrop))
                    else:
                        best, best_row, best_d = old_heads[state, 0], old_heads[state, 1], old_heads[state, 2]
                        d, window_end, window_best = (
                            old_heads[state, 4],
                            old_heads[state, 5],
                            old_heads[state, 6],
                        )
                        # No lane has the best score yet: its row is known.
                        own_d = int32(-1)
                        before = int32((int32(lanes * words) - old_words) >> one)
                        frame = int32(old_heads[state, 3] - int32(16) * before)
                        for w in range(words):
                            word = int32(rank * int32(words) + int32(w) - before)
                            if word >= zero and word < old_words:
                                for r in range(8):
                                    even[8 * w + r] = old_cells[state, 8 * word + r]
                                    odd[8 * w + r] = old_cells[state, 8 * (old_words + word) + r]
            if not cuda.any_sync(FULL, working):
                break

            # The windows hold the bases of the frame; their last words the next 16 steps, for two chunks.
            first_row = int32(frame + rank * int32(rows))
            t_first = int32(d - first_row - one)
            if working and phase == zero:
                for w in range(words):
                    bases, known = bases_at(
                        base_words, unknown, q_offset, q_bases, q_origin, q_up, q_steps,
                        int32(first_row + int32(16 * w - 1)), False,
                    )  # fmt: skip
                    q[w], q_known[w] = bases, known
                    bases, known = bases_at(
                        base_words, unknown, t_offset, t_bases, t_origin, t_up, t_steps,
                        int32(t_first - int32(16 * w + 15)), True,
                    )  # fmt: skip
                    t[w], t_known[w] = uint32(bases ^ complement), known
            if working and phase != one:
                bases, known = bases_at(
                    base_words, unknown, q_offset, q_bases, q_origin, q_up, q_steps,
                    int32(first_row + int32(rows - 1)), False,
                )  # fmt: skip
                q[words], q_known[words] = bases, known
                bases, known = bases_at(
                    base_words, unknown, t_offset, t_bases, t_origin, t_up, t_steps,
                    int32(t_first + one), True,
                )  # fmt: skip
                t[words], t_known[words] = uint32(bases ^ complement), known
            phase = int32(2) if phase == one else one

            best_at = uint32(threshold + xdrop + int32(0x8000))
            for _ in range(CHUNK // 2):
                d = int32(d + one)
                threshold = int32(threshold + gap_rise)
                neighbour = from_lane(even[registers - 1], lane_before)
                own = score_staying(
                    odd, even, neighbour, q, q_known, t, t_known, extra, mismatch_pair, threshold
                )
                best_at = uint32(best_at + uint32(gap_rise))
                best, threshold, best_at, best_d, best_frame, best_value, own_d = keep_best(
                    odd, own, d, frame, saved,
                    best, threshold, best_at, best_d, best_frame, best_value, own_d,
                )  # fmt: skip
                if d == window_end:
                    if gained_little(best, window_best, stop_window, stop_rate, match):
                        for r in range(registers):
                            even[r], odd[r] = dead, dead
                    window_best, window_end = best, window_after(d, stop_window)

                d, frame = int32(d + one), int32(frame + one)
                threshold = int32(threshold + gap_rise)
                neighbour = from_lane(odd[0], lane_after)
                own = score_moving(
                    even, odd, neighbour, q, q_known, t, t_known, extra, mismatch_pair, threshold
                )
                best_at = uint32(best_at + uint32(gap_rise))
                best, threshold, best_at, best_d, best_frame, best_value, own_d = keep_best(
                    even, own, d, frame, saved,
                    best, threshold, best_at, best_d, best_frame, best_value, own_d,
                )  # fmt: skip
                if d == window_end:
                    if gained_little(best, window_best, stop_window, stop_rate, match):
                        for r in range(registers):
                            even[r], odd[r] = dead, dead
                    window_best, window_end = best, window_after(d, stop_window)

            lower = uint32(uint32(threshold - floor) * uint32(0x10001))
            threshold = floor
            lowest_two, highest_two, any_live = look(
                even, odd, lower, int32(frame + rank * int32(rows)), d, q_steps, t_steps
            )
            live = (cuda.ballot_sync(FULL, any_live) & members) != 0
            first, second, last, last_but_one = xdrop_grouped_lane.live_ends(
                lowest_two, highest_two, first_lane, int32(lanes - 1)
            )
            if working:
                over = not live or int64(d) >= int64(q_steps) + int64(t_steps)
                over = over or out_of_reach(
                    best, score_needed, match, d, frame, int32(rows * lanes), q_steps, t_steps
                )
                outgrown = (first and (last or last_but_one)) or (last and second)
                if over or outgrown:
                    slot = place_of_best(saved, members, lane, rank, own_d == best_d, best_value)
                    if best > zero and slot < int32(NEVER):
                        best_row = int32(best_frame + slot)
                    if over:
                        if rank == zero:
                            extensions[item, 0], extensions[item, 1] = best, best_row
                            extensions[item, 2] = int32(best_d - best_row)
                    else:
                        state = int32(-1)
                        if rank == zero:
                            state = int32(cuda.atomic.add(counters, 1, 1))
                            leaves[state] = item
                        state = int32(from_member(members, uint32(state), uint32(first_lane)))
                        if state < room:
                            if rank == zero:
                                heads[state, 0], heads[state, 1], heads[state, 2] = best, best_row, best_d
                                heads[state, 3], heads[state, 4] = frame, d
                                heads[state, 5], heads[state, 6] = window_end, window_best
                            for r in range(registers):
                                cells[state, rank * registers + r] = even[r]
                                cells[state, (lanes + rank) * registers + r] = odd[r]
                    working = False
                    for r in range(registers):
                        even[r], odd[r] = dead, dead
                elif first:
                    shift_up(even, members, lane_before)
                    shift_up(odd, members, lane_before)
                    frame, phase = int32(frame - int32(8)), zero
                elif last:
                    shift_down(even, members, lane_after)
                    shift_down(odd, members, lane_after)
                    frame, phase = int32(frame + int32(8)), zero

    return extend_grouped
