"""Batches of candidates for GPUs, of sizes that keep all GPUs busy from start to end.

A batch costs launches and copies whatever its size, so batches are large. But the first ones are small, so
that all GPUs soon work, and towards the end they shrink with what is left, so that all end at about the same
time (guided self-scheduling, Polychronopoulos and Kuck 1987).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from overlapper.extend.registry import ON_GPUS, extender
from overlapper.gpu.gpus import Found, Gpus, Kernel
from overlapper.kernels.common.walks import PackedReads, Seeds
from overlapper.params.stages import Params
from overlapper.runtime.threads import cut_evenly
from overlapper.tables import Candidates, Reads

FIRST = 16_000
"""Candidates of the first batch, and the fewest of a batch but the last."""
_GROWTH = 5, 4
"""A batch may have this many times as many candidates as the one before."""
_SHARE_LEFT = 2
"""Towards the end, batches are so small that at least this many for each slot are still to come."""
WARM_UP_BASES, _WARM_UP_SEEDS = 4000, 100
"""Length of a made-up read in bases, and number of its candidates."""


def in_batches(blocks: Iterator[Candidates], count: int, slots: int, most: int) -> Iterator[Candidates]:
    """Join blocks of candidates into batches.

    Parameters
    ----------
    blocks : iterator of Candidates
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


@dataclasses.dataclass(frozen=True)
class _WarmUpGpus:
    """GPUs that extend seeds of other reads than their own, for `warm_up`; the funnel counts none of it."""

    gpus: Gpus
    reads: Reads

    def run(self, kernel: Kernel[Found], seeds: Seeds) -> Found:
        """Run a kernel on seeds, as `Gpus.run` does."""
        from overlapper.kernels.common.cuda.walks import upload_reads

        with self.gpus.slot() as slot, slot.working():
            return kernel(upload_reads(PackedReads.of(self.reads), slot.arena), seeds, arena=slot.arena)

    def count(self, name: str, number: int) -> None:
        """Count nothing."""


def warm_up(params: Params, gpus: Gpus) -> None:
    """Extend candidates of made-up reads, so that all kernels are loaded before the run needs them.

    Loading needs Python's lock again and again, which later all threads that find candidates need, too.

    Parameters
    ----------
    params : Params
    gpus : Gpus
        That hold reads.
    """
    if params.extender not in ON_GPUS:
        return  # extends no batches of candidates; its compiled kernels are loaded from disk
    letters = np.frombuffer(b"ACGT", np.uint8)
    text = letters[np.random.default_rng(1).integers(0, 4, WARM_UP_BASES)].tobytes().decode()
    reads = Reads.from_sequences(["query", "target"], [text, text])
    seed_length = params.sketch.kmer_length
    places = np.linspace(0, WARM_UP_BASES - seed_length, _WARM_UP_SEEDS).astype(np.int32)
    nothing = np.zeros_like(places)
    candidates = Candidates(
        query=nothing, target=nothing + 1, reverse=nothing > 0, query_pos=places, target_pos=places,
        seeds=nothing, span=nothing, seed_length=seed_length,
    )  # fmt: skip
    extend = extender(params.extender, _WarmUpGpus(gpus, reads))
    extend(reads, candidates, getattr(params, params.extender), 1)
