"""X-drop extension by a block of threads, its live cells in device memory: any band, 32-bit scores.

A part of `xdrop`, whose twin is ../xdrop.py.

An anti-diagonal is stored as plain scores of the rows ``[first, end)``, with a dead cell at either side; what
lies further off is never read. The threads of a block share its rows, and agree on the live ones in shared
memory.
"""

from __future__ import annotations

from numba import cuda, int32, int64, uint32

from overlapper.kernels.common.cuda.walk_bases import walks_from_item

_DEAD = -(2**31) + 2**21
"""Score of a dead cell: any step from it stays above 32 bits' lowest and below what the largest X allows."""
_NO_ROW = 0x7FFFFFFF


@cuda.jit(device=True)
def _base_at(words, unknown, offset, origin, up, step):
    """Return the base at a step of a walk, 4 if it is unknown."""
    at = origin + step if up else origin - step
    if (unknown[offset + (at >> 5)] >> uint32(at & 31)) & uint32(1):
        return int32(4)
    return int32((words[2 * offset + (at >> 4)] >> uint32(2 * (at & 15))) & uint32(3))


@cuda.jit
def extend_wide(
    words, unknown, word_offsets, lengths,
    query, target, reverse, query_pos, target_pos, seed_length,
    left, n_left, items, match, mismatch, gap, xdrop, stop_window, stop_rate, counter, extensions, cells,
):  # fmt: skip
    """Extend the first ``n_left`` of ``left``, and ``items``.

    ``cells``, int32 of shape (blocks, 3, longest query + 3), is room to work in. Blocks that have none of it
    have nothing to do.
    """
    taken = cuda.shared.array(1, int32)
    live_first, live_end = cuda.shared.array(1, int32), cuda.shared.array(1, int32)
    top = cuda.shared.array(1, int64)
    thread, threads = int32(cuda.threadIdx.x), int32(cuda.blockDim.x)
    dead = int32(_DEAD)
    while cuda.blockIdx.x < len(cells):
        if thread == 0:
            taken[0] = cuda.atomic.add(counter, 0, 1)
        cuda.syncthreads()
        k = taken[0]
        cuda.syncthreads()
        if k >= n_left + len(items):
            break
        item = left[k] if k < n_left else items[k - n_left]
        q_read, q_origin, q_up, q_steps, t_read, t_origin, t_up, t_steps = walks_from_item(
            lengths, query, target, reverse, query_pos, target_pos, seed_length, item
        )
        complement = int32(3) if q_up != t_up else int32(0)
        q_offset, t_offset = word_offsets[q_read], word_offsets[t_read]
        now, last, before = cells[cuda.blockIdx.x, 0], cells[cuda.blockIdx.x, 1], cells[cuda.blockIdx.x, 2]
        # Row i is item i + 1.
        if thread < 3:
            last[thread] = int32(0) if thread == 1 else dead
            before[thread] = dead
        last_first, last_end, before_first, before_end = int32(0), int32(1), int32(_NO_ROW - 1), int32(0)
        best, best_row, best_d, window_best = int32(0), int32(0), int64(0), int32(0)
        d, window_end = int64(0), int64(stop_window)
        while True:
            d += 1
            first = max(int64(min(last_first, int32(before_first + 1))), d - t_steps)
            end = min(int64(max(last_end, before_end)) + 1, int64(q_steps) + 1)
            if first >= end:
                break
            if thread == 0:
                live_first[0], live_end[0], top[0] = int32(_NO_ROW - 1), int32(0), int64(0)
            cuda.syncthreads()
            own_first, own_end, own_top = int32(_NO_ROW - 1), int32(0), int64(0)
            for row in range(first + thread, end, threads):
                i = int32(row)
                j = int32(d - row)
                score = max(last[i], last[i + 1]) + gap
                if i > 0 and j > 0:
                    base = _base_at(words, unknown, q_offset, q_origin, q_up, i - 1)
                    other = _base_at(words, unknown, t_offset, t_origin, t_up, j - 1)
                    equal = base < 4 and other < 4 and base == other ^ complement
                    score = max(score, before[i] + (match if equal else mismatch))
                score = int32(score)
                if score < best - xdrop:
                    now[i + 1] = dead
                else:
                    now[i + 1] = score
                    own_first, own_end = min(own_first, i), int32(i + 1)
                    if score > best:
                        # The higher score, then the lower row.
                        own_top = max(own_top, (int64(score) << 32) | int64(_NO_ROW - i))
            if thread == 0:
                now[first] = dead
                now[end + 1] = dead
            if own_end > 0:
                cuda.atomic.min(live_first, 0, own_first)
                cuda.atomic.max(live_end, 0, own_end)
            if own_top > 0:
                cuda.atomic.max(top, 0, own_top)
            cuda.syncthreads()
            before_first, before_end = last_first, last_end
            last_first, last_end = live_first[0], live_end[0]
            if top[0] > 0:
                best, best_row, best_d = int32(top[0] >> 32), int32(_NO_ROW - (top[0] & 0xFFFFFFFF)), d
            now, last, before = before, now, last
            cuda.syncthreads()
            if d == window_end and stop_window > 0:
                if int64(best - window_best) * stop_rate < int64(stop_window) * match:
                    break
                window_best = best
                window_end += stop_window
        if thread == 0:
            extensions[item, 0], extensions[item, 1], extensions[item, 2] = best, best_row, best_d - best_row
        cuda.syncthreads()
