"""Batches of candidates for GPUs, of sizes that keep all GPUs busy from start to end.

A batch costs launches and copies whatever its size, so batches are large. But the first ones are small, so
that all GPUs soon work, and towards the end they shrink with what is left, so that all end at about the same
time (guided self-scheduling, Polychronopoulos and Kuck 1987).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from overlapper.runtime.threads import cut_evenly
from overlapper.tables import Candidates

FIRST = 16_000
"""Candidates of the first batch, and the fewest of a batch but the last."""
_GROWTH = 5, 4
"""A batch may have this many times as many candidates as the one before."""
_SHARE_LEFT = 2
"""Towards the end, batches are so small that at least this many for each slot are still to come."""


def in_batches(blocks: Iterator[Candidates], count: int, slots: int, most: int) -> Iterator[Candidates]:
    """Join blocks of candidates into batches.

    Parameters
    ----------
    count : int
        Number of blocks. Those still to come are assumed to have as many candidates as the last ones.
    slots : int
        Batches that are worked on at the same time.
    most : int
        Candidates at which a batch is complete; its last block may exceed this.
    """
    waiting: list[Candidates] = []
    held, enough = 0, FIRST
    for done, block in enumerate(blocks, 1):
        waiting.append(block)
        held += len(block)
        left = held + (count - done) * held // len(waiting)
        if held >= min(enough, most, max(FIRST, left // (_SHARE_LEFT * slots))):
            yield Candidates.concat(waiting)
            enough = enough * _GROWTH[0] // _GROWTH[1]
            waiting, held = [], 0
    if waiting:
        yield Candidates.concat(waiting)


def cut_rising(weights: np.ndarray, share: int, rising: int) -> np.ndarray:
    """Cut work into even blocks, but for rising sizes at the start.

    Threads that begin together then finish their first blocks one after the other, the first one soon.

    Parameters
    ----------
    weights : ndarray of int, shape (n,)
    share : int
        Greatest weight of a block, as for `overlapper.runtime.threads.cut_evenly`.
    rising : int
        Number of smaller blocks at the start: the i-th weighs about ``share * i / rising``.
    """
    ends = np.cumsum(weights, dtype=np.int64)
    rises = np.cumsum(share * np.arange(1, rising) // max(1, rising))
    first = np.searchsorted(ends, rises, side="right")
    first = np.unique(first[(first > 0) & (first < len(ends))])
    start = int(first[-1]) if len(first) else 0
    return np.concatenate([[0], first, start + cut_evenly(weights[start:], share)[1:]])
