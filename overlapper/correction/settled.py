"""Settled reads: those that enough others equal to the last base, so that a later round leaves them alone.

Definition: ``docs/algorithms/correction.md``, section 10.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from overlapper.correction.pileup_source import PileupBlock, PileupSource, RowsOfTargets, rows_in_parts
from overlapper.correction.pileups import Pileups, Rows
from overlapper.correction.resources import Resources
from overlapper.extend.differences import find_differences
from overlapper.kernels.consensus.covered import are_covered
from overlapper.runtime.threads import map_in_order
from overlapper.tables import Intervals, Reads

EXACT_ROWS = 6
"""Least exact rows on each base of a settled read."""
OTHERS = 2
"""Most other rows on a base for each exact one. Those of another haplotype are as many; where the first round
left a run in reads at two lengths, more than that outvote the rarer one."""
_TO_THE_END = 1 << 31


class Settled(NamedTuple):
    """Which reads are settled."""

    stays: np.ndarray
    """bool, shape (n,)."""
    depth: np.ndarray
    """float64, shape (n,); mean number of exact rows on a base of each read."""


def settled_of(pileups: PileupSource, resources: Resources) -> Settled:
    """Find the settled reads, given the pileups of all reads.

    Parameters
    ----------
    pileups : PileupSource
    resources : Resources
    """
    parts = resources.each(_settled_of_block, pileups.blocks(workers=resources.slots))
    stays, depth = zip(Settled(np.zeros(0, bool), np.zeros(0)), *parts, strict=True)
    return Settled(np.concatenate(stays), np.concatenate(depth))


def _settled_of_block(given: PileupBlock, threads: int) -> Iterator[Settled]:
    """Find the settled ones of the targets of a block."""
    block = given.load()
    alone = block.targets is block.reads
    reads = block.targets.bases_alone()
    if not alone:
        reads = Reads.concat([reads, block.reads.bases_alone()])
    settled = partial(_settled, block, reads, 0 if alone else len(block.targets))
    return map_in_order(settled, rows_in_parts(block), threads)


def _settled(block: Pileups, reads: Reads, before: int, part: RowsOfTargets) -> Settled:
    """Find the settled ones of some targets; ``reads`` and ``before`` are those of `_are_exact`."""
    rows, first, lengths = part
    targets, others = block.targets.lengths, block.reads.lengths
    whole, wide = rows.widened(targets, others, _TO_THE_END), rows.widened(targets, others)
    exact = _are_exact(reads, whole, before)
    start = np.where(exact, whole.t_start, wide.t_start)
    end = np.where(exact, whole.t_end, wide.t_end)
    of_row = np.repeat(np.arange(len(lengths)), np.diff(first))
    bases = np.bincount(of_row, np.where(exact, end - start, 0), len(lengths))
    stays = are_covered(first, start, end, exact, lengths, EXACT_ROWS, OTHERS)
    return Settled(stays, bases / np.maximum(lengths, 1))


def _are_exact(reads: Reads, rows: Rows, before: int) -> np.ndarray:
    """Return a mask of the exact rows: both reads are equal, without unknown bases.

    Parameters
    ----------
    reads : Reads
        The targets, and behind ``before`` of them the reads.
    rows : Rows
        Widened as far as both reads go.
    before : int
    """
    unknown, read = reads.unknown_offsets, rows.read.astype(np.int64) + before
    exact = rows.t_end - rows.t_start == rows.r_end - rows.r_start
    for number in (rows.target, read):
        exact &= unknown[number] == unknown[number + 1]
    some = np.flatnonzero(exact)
    on = rows.take(some)
    intervals = Intervals(on.target, read[some], on.reverse, on.t_start, on.t_end, on.r_start, on.r_end)
    exact[some] = find_differences(reads, intervals, 0, threads=1).edits == 0
    return exact
