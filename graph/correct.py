"""Correction of reads by the reads that overlap them (``docs/algorithms/correction.md``).

Each round finds the overlaps of all reads, unless the first ones are given, and replaces every read by the
consensus of itself and its overlapping reads. Reads are worked on in the order that their content gives, so
that the result does not depend on their order in the file or on their names.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from graph.changes import Changes
from graph.consensus import Consensus, consensus
from graph.machine import Machine
from graph.params import CorrectParams
from graph.piles import Piles, rows_of
from graph.rounds import Round
from graph.stages import Stages
from graph.thresholds import fit_doubt, fit_threshold
from graph.uncovered import CONFIRMED_DEPTH, Uncovered, cut_uncovered
from graph.unvoted import UNVOTED, unvoted, warning
from graph.vote_settings import WEIGHT
from overlapper import pipeline
from overlapper.devices import select_devices
from overlapper.kernels.cpu.correct import ALIGNED, COLUMNS, EDITS, LEFT_OUT, LOST
from overlapper.pipeline import Report
from overlapper.presets import CORRECTED
from overlapper.sketch.canonical import canonical_order
from overlapper.tables import Overlaps, Reads


@dataclasses.dataclass(frozen=True)
class Corrected:
    """What `correct` made.

    Attributes
    ----------
    reads : Reads
        Corrected reads with qualities, in the order of the file.
    changes : Changes
    funnel : dict of str to int
        What went in, what every step took and what came out.
    seconds : dict of str to float
        Wall-clock time of each step.
    warnings : list of str
        What the last round left undone (`graph.unvoted.warning`).
    """

    reads: Reads
    changes: Changes
    funnel: dict[str, int]
    seconds: dict[str, float]
    warnings: list[str]


def correct(
    reads: Reads,
    overlaps: Overlaps | None = None,
    params: CorrectParams | None = None,
    *,
    preset: str = "auto",
    overlap_changes: Mapping[str, Any] | None = None,
    uncovered: Uncovered = Uncovered.KEEP,
    threads: int = 1,
    device: str = "auto",
    gpu_memory: int = 0,
    stages: Stages | None = None,
    report: Report = lambda step, done, total: None,
) -> Corrected:
    """Correct reads.

    Parameters
    ----------
    reads : Reads
        Bases with qualities vote with them.
    overlaps : Overlaps, optional
        Of the reads, from any tool, for the first round; found when not given.
    params : CorrectParams, optional
    preset : str
        For finding the overlaps of the first round; later rounds estimate the error rate anew.
    overlap_changes : mapping, optional
        Parameters of finding overlaps that differ from the preset, as in `overlapper.find_overlaps`.
    uncovered : Uncovered
    threads : int
        Changes nothing but the time.
    device : str
        What finds the consensus: ``cpu``; ``cuda`` for all GPUs, ``cuda:0,2`` for some; ``auto`` for all GPUs
        if there are any. Changes nothing but the time.
    gpu_memory : int
        Bytes to take on each GPU at most; 0 takes what is free.
    stages : Stages, optional
        Keep what every round finds and makes; those of a run on the same reads and overlaps.
    report : callable
        Told how far it is.

    Returns
    -------
    Corrected

    Examples
    --------
    >>> from overlapper.simulate import random_genome, simulate_reads
    >>> reads, _ = simulate_reads(random_genome(20_000), "hifi", coverage=12)
    >>> correct(reads).changes.fate[0]
    <Fate.CORRECTED: 'corrected'>
    """
    params = params or CorrectParams()
    stages = stages or Stages()
    machine = Machine(threads, select_devices(device), gpu_memory)
    first_stage = len(stages.done)
    report("sorting reads", 0, 0)
    order = canonical_order(reads)
    back = np.argsort(order)
    given = reads.take(order)
    if overlaps is not None:
        overlaps = overlaps.renumber(back)
    current, funnel = given, {"reads": len(reads), "bases": reads.total_bases}
    identity = None
    for number in range(1, params.rounds + 1):
        this = _Round(number, stages, machine, report)
        if overlaps is None:
            how = (preset, overlap_changes) if number == 1 else (CORRECTED, None)
            overlaps = this.overlaps(current, *how)
        made, facts = this.vote(current, overlaps, params)
        params = params.of_corrected_reads()
        _count_round(funnel, number, overlaps, made, facts[UNVOTED])
        identity = _identity(made) if identity is None else identity
        names = [given.name(i) for i in range(len(given))]
        whole = np.arange(len(given))
        current = made.take(whole, np.zeros(len(given), np.int64), np.diff(made.offsets), names)
        overlaps = None
    assert identity is not None
    out, changes = cut_uncovered(given, made, Uncovered(uncovered), identity, back)
    funnel["reads out"], funnel["bases out"] = len(out), out.total_bases
    seconds = {stage.name: stage.seconds for stage in stages.done[first_stage:]}
    return Corrected(out, changes, funnel, seconds, warning(facts))


class _Round(Round):
    """A round of correction."""

    def overlaps(self, reads: Reads, preset: str, changes: Mapping[str, Any] | None) -> Overlaps:
        """Find the overlaps of reads."""

        def find() -> tuple[Overlaps, dict[str, Any]]:
            run = pipeline.run(
                reads, preset, changes=changes, threads=self.machine.threads, report=self.report
            )
            return run.overlaps, {"chosen": run.why, **run.funnel}

        return self.stages.run(f"correct-{self.number}-overlaps", Overlaps, [preset, changes], find)[0]

    def vote(
        self, reads: Reads, overlaps: Overlaps, params: CorrectParams
    ) -> tuple[Consensus, dict[str, Any]]:
        """Find the consensus of all reads; return it, and what was counted and derived."""

        def find() -> tuple[Consensus, dict[str, Any]]:
            piles = Piles(reads, reads, rows_of(overlaps), targets_vote=True)
            with self.machine.holding(reads) as workers:
                fitted = fit_threshold(piles, params, workers)
                doubt = None if self.number == 1 else fit_doubt(piles, params, workers)
                made = consensus(piles, fitted, workers, doubt=doubt, report=self.report)
            return _with_old_qualities(made, reads), {
                **fitted.fitted(),
                "bases": len(made.codes),
                UNVOTED: len(unvoted(piles, made)),
            }

        return self.stages.run(f"correct-{self.number}", Consensus, params.of_round(), find)


def _with_old_qualities(made: Consensus, targets: Reads) -> Consensus:
    """Give bases that were not voted on the quality that they came with; origins have served then."""
    unvoted = np.flatnonzero((made.quality == 0) & (made.codes < 4))
    old = np.full(len(unvoted), WEIGHT, np.uint8)
    if targets.qualities is not None and targets.quality_offsets is not None and len(targets.qualities):
        target = np.searchsorted(made.offsets, unvoted, "right") - 1
        last = np.maximum(np.diff(targets.quality_offsets)[target] - 1, 0)
        place = targets.quality_offsets[target] + np.minimum(made.origin[unvoted], last)
        old = targets.qualities[np.minimum(place, len(targets.qualities) - 1)]
    quality = made.quality.copy()
    quality[unvoted] = old
    return dataclasses.replace(made, quality=quality, origin=np.empty(0, np.int32))


def _identity(made: Consensus) -> np.ndarray:
    """Return the share of columns that match in the alignment of each target to its consensus."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return 1 - made.counts[:, EDITS] / made.counts[:, COLUMNS]


def _count_round(
    funnel: dict[str, int], number: int, overlaps: Overlaps, made: Consensus, crowded: int
) -> None:
    found = {"overlaps": len(overlaps)}
    for name, column in (
        ("reads aligned to reads", ALIGNED),
        ("without a chain", LOST),
        ("left out", LEFT_OUT),
    ):
        found[name] = int(made.counts[:, column].sum())
    found["bases"] = len(made.codes)
    found["bases not confirmed"] = int(np.count_nonzero(made.depth < CONFIRMED_DEPTH))
    found[UNVOTED] = crowded
    funnel.update({f"round {number}: {name}": count for name, count in found.items()})
