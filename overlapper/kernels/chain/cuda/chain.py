"""Colinear chaining of the seeds of candidates on a CUDA device; the twin of ../chain.py.

A warp chains the seeds of a candidate, and a thread judges the chain, with the function of the CPU.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from overlapper.kernels.candidates.cuda.dsoft import Found
from overlapper.kernels.chain.chain import COLUMNS, DISAGREES, FEW, Asked, Chaining, SeededReads
from overlapper.kernels.common.cuda.scan import exclusive_sums, last_of
from overlapper.runtime.gpu.launch import launch, named
from overlapper.runtime.gpu.memory import Arena

WARP = 32
PAIR = 3
"""Integers of the pair of a chain: query, target, reverse."""
_kernel = partial(named, "chain.chain_kernels")


class Room(NamedTuple):
    """Memory for the seeds of candidates: device arrays of int32."""

    y: Any
    score: Any
    before: Any
    highest: Any


class Chained(NamedTuple):
    """Chains that are kept, in host memory."""

    pairs: np.ndarray
    """int32, shape (kept, PAIR)."""
    rows: np.ndarray
    """int32, shape (kept, COLUMNS); by candidate, as the CPU's `chain_candidates` has them."""
    n_candidates: int = 0
    n_few: int = 0
    n_disagree: int = 0
    """`n_candidates`, `n_few`, `n_disagree`: how many candidates there were, and chains dropped, as there."""


def chain_candidates(
    found: Found | None, reads: SeededReads, k: int, chaining: Chaining, asked: Asked, arena: Arena
) -> Chained:
    """Chain the seeds of every candidate, as the CPU's `chain_candidates` does.

    Parameters
    ----------
    found : Found or None
    reads : SeededReads
        In device memory.
    k : int
        Seed length.
    chaining : Chaining
    asked : Asked
    arena : Arena

    Raises
    ------
    DeviceError
        When the arena is too small for these candidates.
    """
    if found is None:
        return Chained(np.empty((0, PAIR), np.int32), np.empty((0, COLUMNS), np.int32))
    n = len(found.query)
    room = Room._make(arena.array(len(found.hit_query_pos), np.int32) for _ in range(4))
    rows, runs = arena.array((n, COLUMNS), np.int32), arena.array(n, np.int32)
    verdicts, kept = arena.array(n, np.int32), arena.array(n, np.int32)
    counts = arena.zeros(DISAGREES + 1, np.int32)
    launch(_kernel("chain_seeds"), WARP * n, arena, found, reads.lengths, k, chaining, room, runs, rows)
    launch(_kernel("judge_chains"), n, arena, found, runs, reads, k, asked, rows, verdicts)
    launch(_kernel("count_verdicts"), n, arena, verdicts, kept, counts)
    ranks = exclusive_sums(kept, arena)
    n_kept, n_counted = last_of(ranks, arena), arena.download(counts)
    pairs_kept = arena.array((max(1, n_kept), PAIR), np.int32)
    rows_kept = arena.array((max(1, n_kept), COLUMNS), np.int32)
    launch(_kernel("gather_kept"), n, arena, found, rows, kept, ranks, pairs_kept, rows_kept)
    return Chained(
        arena.download(pairs_kept)[:n_kept], arena.download(rows_kept)[:n_kept],
        n, int(n_counted[FEW]), int(n_counted[DISAGREES]),
    )  # fmt: skip
