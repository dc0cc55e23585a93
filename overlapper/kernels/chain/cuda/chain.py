"""Colinear chaining of the seeds of candidates on a CUDA device; the twin of ../chain.py.

A thread chains the seeds of a candidate, with the function of the CPU.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int32

from overlapper.kernels.candidates.cuda.dsoft import Found
from overlapper.kernels.chain.chain import COLUMNS, DISAGREES, FEW, KEPT, chain_candidate
from overlapper.kernels.common.cuda.scan import exclusive_sums, last_of
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.gpu.memory import Arena

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
    room = [arena.array(len(found.hit_query_pos), np.int32) for _ in range(5)]
    rows, verdicts = arena.array((n, COLUMNS), np.int32), arena.array(n, np.int32)
    kept, counts = arena.array(n, np.int32), arena.zeros(DISAGREES + 1, np.int32)
    launch(
        chain_each,
        n,
        arena,
        *found[:3],
        *found[4:],
        reads.lengths,
        k,
        *reads[1:],
        *settings,
        *room,
        rows,
        verdicts,
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


@cuda.jit
def chain_each(
    query, target, reverse, hit_starts, hit_counts, hit_query_pos, hit_target_pos, lengths, k, sketched,
    seed_positions, seed_starts, look_back, max_gap, gap_cost, distance_cost, min_seeds, min_score,
    min_agreement, typical_agreement, typical_shares, chance_share, reach, sure_seeds, give_up,
    x, y, score, before, highest, rows, verdicts,
):  # fmt: skip
    """Chain the seeds of each candidate; a thread a candidate."""
    i = cuda.grid(1)
    if i >= len(query):
        return
    hits = slice(hit_starts[i], hit_starts[i] + hit_counts[i])
    verdicts[i] = chain_candidate(
        query[i], target[i], reverse[i], hit_query_pos[hits], hit_target_pos[hits],
        lengths, k, sketched, seed_positions, seed_starts,
        look_back, max_gap, gap_cost, distance_cost, min_seeds, min_score,
        min_agreement, typical_agreement, typical_shares, chance_share, reach, sure_seeds, give_up,
        x[hits], y[hits], score[hits], before[hits], highest[hits], rows[i],
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
