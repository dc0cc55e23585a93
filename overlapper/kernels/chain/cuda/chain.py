"""Colinear chaining of the seeds of candidates on a CUDA device; the twin of ../chain.py.

A warp chains the seeds of a candidate, and a thread judges the chain, with the function of the CPU.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int32, int64, uint32

from overlapper.kernels.candidates.cuda.dsoft import Found
from overlapper.kernels.chain.chain import (
    COLUMNS,
    COVERED,
    DISAGREES,
    FEW,
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
from overlapper.kernels.common.cuda.packed import largest_of_warp
from overlapper.kernels.common.cuda.scan import exclusive_sums, last_of
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.gpu.memory import Arena

WARP = 32
PAIR = 3
"""Integers of the pair of a chain: query, target, reverse."""


class SeededReads(NamedTuple):
    """What chains need of the reads, in device memory: columns of the tables of reads and of seeding."""

    lengths: Any
    sketched: Any
    positions: Any
    starts: Any


class Chained(NamedTuple):
    """Chains that are kept, in host memory.

    Attributes
    ----------
    pairs : ndarray of int32, shape (kept, PAIR)
    rows : ndarray of int32, shape (kept, COLUMNS)
        By candidate, as the CPU's `chain_candidates` has them.
    n_candidates, n_few, n_disagree : int
        How many candidates there were, and chains dropped, as there.
    """

    pairs: np.ndarray
    rows: np.ndarray
    n_candidates: int = 0
    n_few: int = 0
    n_disagree: int = 0


def chain_candidates(
    found: Found | None, reads: SeededReads, k: int, settings: tuple[int, ...], arena: Arena
) -> Chained:
    """Chain the seeds of every candidate, as the CPU's `chain_candidates` does.

    Parameters
    ----------
    found : Found or None
    reads : SeededReads
    k : int
        Seed length.
    settings : tuple of int
        The parameters of the CPU's from ``look_back`` on.
    arena : Arena

    Raises
    ------
    DeviceError
        When the arena is too small for these candidates.
    """
    if found is None:
        return Chained(np.empty((0, PAIR), np.int32), np.empty((0, COLUMNS), np.int32))
    n = len(found.query)
    room = [arena.array(len(found.hit_query_pos), np.int32) for _ in range(4)]
    rows, runs = arena.array((n, COLUMNS), np.int32), arena.array(n, np.int32)
    verdicts, kept = arena.array(n, np.int32), arena.array(n, np.int32)
    counts = arena.zeros(DISAGREES + 1, np.int32)
    launch(
        chain_seeds,
        WARP * n,
        arena,
        *found[1:3],
        *found[4:],
        reads.lengths,
        k,
        *settings[:4],
        *room,
        runs,
        rows,
    )
    launch(
        judge_chains, n, arena, *found[:3], runs, reads.lengths, k, *reads[1:], *settings[4:], rows, verdicts
    )
    launch(count_verdicts, n, arena, verdicts, kept, counts)
    ranks = exclusive_sums(kept, arena)
    n_kept, n_counted = last_of(ranks, arena), arena.download(counts)
    pairs_kept = arena.array((max(1, n_kept), PAIR), np.int32)
    rows_kept = arena.array((max(1, n_kept), COLUMNS), np.int32)
    launch(gather_kept, n, arena, *found[:3], rows, kept, ranks, pairs_kept, rows_kept)
    return Chained(
        arena.download(pairs_kept)[:n_kept], arena.download(rows_kept)[:n_kept],
        n, int(n_counted[FEW]), int(n_counted[DISAGREES]),
    )  # fmt: skip


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
def chain_seeds(
    target, reverse, hit_starts, hit_counts, hit_query_pos, hit_target_pos, lengths, k,
    look_back, max_gap, gap_cost, distance_cost, room_y, room_score, room_before, room_highest, runs, rows,
):  # fmt: skip
    """Find the best chain of each candidate; a warp a candidate.

    Each lane looks back at another anchor. The CPU looks no farther back than it has to; to look at all of
    `WARP` anchors finds no other predecessor, as what it leaves out is no better.
    """
    i = cuda.grid(1)
    candidate, lane = i // WARP, int32(i % WARP)
    if candidate >= len(target):
        return
    hits = slice(hit_starts[candidate], hit_starts[candidate] + hit_counts[candidate])
    x, targets, n = hit_query_pos[hits], hit_target_pos[hits], int32(hit_counts[candidate])
    y, score, before, highest = room_y[hits], room_score[hits], room_before[hits], room_highest[hits]
    last_start = lengths[target[candidate]] - k
    for i in range(lane, n, WARP):
        y[i] = targets[i]
        if reverse[candidate]:
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
def judge_chains(
    query, target, reverse, runs, lengths, k, sketched, seed_positions, seed_starts, min_seeds, min_score,
    min_agreement, typical_agreement, typical_shares, chance_share, reach,
    sure_seeds, give_up, rows, verdicts,
):  # fmt: skip
    """Judge each chain, as the CPU's `judge` does; a thread a chain."""
    i = cuda.grid(1)
    if i < len(query):
        verdicts[i] = judge(
            query[i], target[i], reverse[i], runs[i], lengths, k, sketched, seed_positions, seed_starts,
            min_seeds, min_score, min_agreement, typical_agreement, typical_shares, chance_share, reach,
            sure_seeds, give_up, rows[i],
        )  # fmt: skip


@cuda.jit
def count_verdicts(verdicts, kept, counts):
    """Flag the chains that are kept, and count each verdict."""
    i = cuda.grid(1)
    if i < len(verdicts):
        kept[i] = int32(verdicts[i] == KEPT)
        cuda.atomic.add(counts, verdicts[i], int32(1))


@cuda.jit
def gather_kept(query, target, reverse, rows, kept, ranks, pairs_kept, rows_kept):
    """Write the chains that are kept, one after the other."""
    i = cuda.grid(1)
    if i >= len(kept) or not kept[i]:
        return
    at = ranks[i]
    pairs_kept[at, 0], pairs_kept[at, 1], pairs_kept[at, 2] = query[i], target[i], int32(reverse[i])
    rows_kept[at, 0] = int32(i)
    for column in range(1, COLUMNS):
        rows_kept[at, column] = rows[i, column]
