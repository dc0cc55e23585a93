"""Chains of seeds: the kernels that `chain` launches."""

from __future__ import annotations

from numba import cuda, int32, int64, uint32

from overlapper.kernels.chain.chain import (
    COLUMNS,
    COVERED,
    FIRST_X,
    FIRST_Y,
    KEPT,
    LAST_X,
    LAST_Y,
    SCORE,
    SEEDS,
    judge,
    trace,
)
from overlapper.kernels.chain.cuda.chain import WARP
from overlapper.kernels.common.cuda.half_words import largest_of_warp


@cuda.jit(device=True)
def _target_on_query_strand(x, targets, i, last_start):
    """Return the target position of an anchor on the query's strand, where the target is reversed.

    Those of one query position ascend on the target's strand, so the last comes first.
    """
    first, last = i, i
    while first > 0 and x[first - 1] == x[i]:
        first -= 1
    while last + 1 < len(x) and x[last + 1] == x[i]:
        last += 1
    return int32(last_start - targets[first + last - i])


@cuda.jit
def chain_seeds(found, lengths, k, chaining, room, runs, rows):
    """Find the best chain of each candidate; a warp a candidate.

    Each lane looks back at another anchor. The CPU looks no farther back than it has to; to look at all of
    `WARP` anchors finds no other predecessor, as what it leaves out is no better.
    """
    i = cuda.grid(1)
    candidate, lane = i // WARP, int32(i % WARP)
    if candidate >= len(found.target):
        return
    look_back, max_gap, gap_cost, distance_cost = chaining
    n, reverse = int32(found.hit_counts[candidate]), found.reverse[candidate]
    hits = slice(found.hit_starts[candidate], found.hit_starts[candidate] + n)
    x, targets = found.hit_query_pos[hits], found.hit_target_pos[hits]
    y, score, before, highest = room.y[hits], room.score[hits], room.before[hits], room.highest[hits]
    last_start = lengths[found.target[candidate]] - k
    for i in range(lane, n, WARP):
        y[i] = targets[i]
        if reverse:
            y[i] = _target_on_query_strand(x, targets, i, last_start)
    cuda.syncwarp()
    overlapping = min(k, max_gap) if distance_cost < 256 else 0
    # Of the anchor before, and of the best so far.
    last_x, last_y, last_score, top, end = int32(0), int32(0), int32(0), int32(0), int32(0)
    for i in range(n):
        here_x, here_y = x[i], y[i]
        best, best_before = int32(256 * k), int32(-1)
        step = here_x - last_x
        overlaps = i > 0 and 0 < step and step == here_y - last_y and step <= overlapping
        if overlaps and top - gap_cost <= last_score:
            best, best_before = int32(last_score + (256 - distance_cost) * step), int32(i - 1)
        else:
            farthest, nearest = max(int32(0), int32(i - look_back)), int32(i - 1)
            while nearest >= farthest and highest[nearest] + 256 * k > best:
                j, through = int32(nearest - lane), int64(0)
                if j >= farthest:
                    dx, dy = int64(here_x) - x[j], int64(here_y) - y[j]
                    near = min(dx, dy)
                    if near > 0 and max(dx, dy) <= max_gap:
                        cost = gap_cost * abs(dx - dy) + distance_cost * near
                        through = max(int64(0), score[j] + 256 * min(int64(k), near) - cost)
                most = int32(largest_of_warp(uint32(through)))
                if most > best:
                    # Of equal ones the nearest: that of the lowest lane.
                    lanes_after = WARP - lane if through == most else 0
                    best_before = int32(nearest - (WARP - int32(largest_of_warp(uint32(lanes_after)))))
                    best = most
                nearest -= int32(WARP)
        if i == 0 or best > top:
            top, end = best, int32(i)
        if lane == 0:
            score[i], before[i], highest[i] = best, best_before, top
        last_x, last_y, last_score = here_x, here_y, best
        cuda.syncwarp()
    if lane == 0:
        row = rows[candidate]
        start, seeds, n_runs, covered = trace(x, y, end, before, k)
        runs[candidate] = int32(n_runs)
        row[SEEDS], row[COVERED], row[SCORE] = seeds, covered, top >> int32(8)
        row[FIRST_X], row[FIRST_Y], row[LAST_X], row[LAST_Y] = x[start], y[start], x[end], y[end]


@cuda.jit
def judge_chains(found, runs, reads, k, asked, rows, verdicts):
    """Judge each chain, as the CPU's `judge` does; a thread a chain."""
    i = cuda.grid(1)
    if i < len(rows):
        query, target, reverse = found.query[i], found.target[i], found.reverse[i]
        verdicts[i] = judge(query, target, reverse, runs[i], reads, k, asked, rows[i])


@cuda.jit
def count_verdicts(verdicts, kept, counts):
    """Flag the chains that are kept, and count each verdict."""
    i = cuda.grid(1)
    if i < len(verdicts):
        kept[i] = int32(verdicts[i] == KEPT)
        cuda.atomic.add(counts, verdicts[i], int32(1))


@cuda.jit
def gather_kept(found, rows, kept, ranks, pairs_kept, rows_kept):
    """Write the chains that are kept, one after the other."""
    i = cuda.grid(1)
    if i >= len(kept) or not kept[i]:
        return
    at = ranks[i]
    pairs_kept[at, 0], pairs_kept[at, 1] = found.query[i], found.target[i]
    pairs_kept[at, 2] = int32(found.reverse[i])
    rows_kept[at, 0] = int32(i)
    for column in range(1, COLUMNS):
        rows_kept[at, column] = rows[i, column]
