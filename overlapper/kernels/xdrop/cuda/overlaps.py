"""Overlaps of the candidates that D-SOFT found on a CUDA device: their seeds are extended there.

It does what `extend` of `overlapper/extend/xdrop.py` does.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from overlapper.kernels.candidates.cuda.dsoft import Found
from overlapper.kernels.common.cuda.scan import exclusive_sums, last_of
from overlapper.kernels.common.cuda.walks import DeviceReads
from overlapper.kernels.common.walks import Seeds
from overlapper.kernels.xdrop.cuda.xdrop import Needs, extend_on_device
from overlapper.kernels.xdrop.cuda.xdrop_groups import COLUMNS, FEW, LOW, SHORT, VERDICTS
from overlapper.kernels.xdrop.xdrop import Scheme
from overlapper.runtime.gpu.launch import launch, named
from overlapper.runtime.gpu.memory import Arena

_kernel = partial(named, "xdrop.overlap_kernels")


class Enough(NamedTuple):
    """What an overlap needs."""

    seeds_a_base: float
    """Bases that seeds cover, for each base of the estimated overlap; with fewer it is not extended."""
    score_a_base: float
    """Score, for each of them."""
    min_overlap: int
    """Bases of the shorter interval."""


class Scored(NamedTuple):
    """Overlaps that have what they need, in host memory."""

    rows: np.ndarray
    """int32, shape (kept, COLUMNS); by candidate: query, target, reverse, q_start, q_end, t_start, t_end,
    score, seeds."""
    n_candidates: int
    n_few: int
    n_low: int
    n_short: int
    """`n_candidates`, `n_few`, `n_low`, `n_short`: how many candidates there were; how many have too few
    seeds, how many others score too little, and how many of the rest are too short."""
    n_requeued: int
    """Extensions that outgrew a group."""


def extend_candidates(
    found: Found | None, reads: DeviceReads, k: int, scheme: Scheme, enough: Enough, arena: Arena
) -> Scored:
    """Extend the seed of every candidate, and return the overlaps that have what they need.

    Parameters
    ----------
    found : Found or None
    reads : DeviceReads
    k : int
        Seed length.
    scheme : Scheme
    enough : Enough
    arena : Arena

    Raises
    ------
    DeviceError
        When the arena is too small for these candidates.
    """
    if found is None:
        return Scored(np.empty((0, COLUMNS), np.int32), 0, 0, 0, 0, 0)
    n = len(found.query)
    query_pos, target_pos, least, kept = (arena.array(n, np.int32) for _ in range(4))
    a_base, needs = map(np.float64, enough[:2]), Needs(least, arena.array(n, np.bool_))
    launch(_kernel("list_seeds"), n, arena, found.heads, *a_base, query_pos, target_pos, *needs)
    seeds = Seeds._make([*found[:3], query_pos, target_pos, k])
    extensions, requeued = extend_on_device(reads, seeds, scheme, arena, {}, needs)
    counts = arena.zeros(VERDICTS, np.int32)
    launch(
        _kernel("judge_extensions"), n, arena, extensions, k, scheme.match, least, enough.min_overlap, kept,
        counts,
    )  # fmt: skip
    ranks = exclusive_sums(kept, arena)
    n_kept, of_verdict = last_of(ranks, arena), arena.download(counts)
    rows = arena.array((max(1, n_kept), COLUMNS), np.int32)
    launch(_kernel("gather_overlaps"), n, arena, *found[:4], extensions, k, scheme.match, kept, ranks, rows)
    n_few, n_low, n_short = of_verdict[[FEW, LOW, SHORT]].tolist()
    return Scored(arena.download(rows)[:n_kept], n, n_few, n_low, n_short, requeued)
