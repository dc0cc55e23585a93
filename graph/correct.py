"""Correction of reads by the reads that overlap them (``docs/algorithms/correction.md``).

Each round finds the overlaps of all reads, unless the first ones are given, and replaces every read by the
consensus of itself and its overlapping reads. Reads are worked on in the order that their content gives, so
that the result does not depend on their order in the file or on their names.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Any

import numpy as np

from graph.consensus import WEIGHT, Consensus, Rows, consensus, fit_doubt, fit_threshold
from graph.params import CorrectParams
from graph.stages import Stages
from overlapper import pipeline
from overlapper.devices import Device, select_devices
from overlapper.pipeline import Report
from overlapper.presets import CORRECTED
from overlapper.sketch.canonical import canonical_order
from overlapper.tables import Overlaps, Reads

CONFIRMED_DEPTH = 3
"""Reads, the read itself among them, without which a base is neither changed nor confirmed."""
SHORTEST_PART = 500
"""Bases of the shortest part that splitting keeps."""


class Uncovered(enum.StrEnum):
    """What becomes of bases that too few reads cover."""

    KEEP = "keep"
    """They stay as they were."""
    TRIM = "trim"
    """They go at the ends of reads."""
    SPLIT = "split"
    """They go everywhere; what lies between them are reads of their own."""


class Fate(enum.StrEnum):
    """What became of a read."""

    CORRECTED = "corrected"
    UNCHANGED = "unchanged"
    """No base was covered by enough reads."""
    TRIMMED = "trimmed"
    SPLIT = "split"
    DROPPED = "dropped"
    """Nothing was left that enough reads cover."""


@dataclasses.dataclass(frozen=True)
class Changes:
    """What became of every read; arrays of one value a read, in the order of the file.

    Attributes
    ----------
    name : list of str
    bases_in, bases_out : ndarray of int64
    coverage : ndarray of float64
        Mean number of other reads that voted on a base, in the last round.
    identity : ndarray of float64
        Share of columns that match in the read's alignment to its consensus, in the first round; NaN for
        a read without bases.
    left_out : ndarray of int64
        Overlapping reads of other places, left out in the last round.
    fate : list of Fate
    """

    name: list[str]
    bases_in: np.ndarray
    bases_out: np.ndarray
    coverage: np.ndarray
    identity: np.ndarray
    left_out: np.ndarray
    fate: list[Fate]

    def to_tsv(self) -> str:
        """Write a tab-separated table with a header."""
        columns = [field.name for field in dataclasses.fields(self)]
        rows = zip(
            self.name, self.bases_in, self.bases_out, (f"{x:.1f}" for x in self.coverage),
            (f"{x:.4f}" for x in self.identity), self.left_out, self.fate, strict=True,
        )  # fmt: skip
        lines = ["\t".join(columns), *("\t".join(map(str, row)) for row in rows)]
        return "\n".join(lines) + "\n"


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
    """

    reads: Reads
    changes: Changes
    funnel: dict[str, int]
    seconds: dict[str, float]


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
    devices = select_devices(device)
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
        in_round = _in_round(report, number)
        if overlaps is None:
            how = (preset, overlap_changes) if number == 1 else (CORRECTED, None)
            overlaps = _overlaps(stages, number, current, *how, threads, in_round)
        made = _round(stages, number, current, overlaps, params, threads, devices, gpu_memory, in_round)
        params = params.of_corrected_reads()
        _count_round(funnel, number, overlaps, made)
        identity = _identity(made) if identity is None else identity
        names = [given.name(i) for i in range(len(given))]
        whole = np.arange(len(given))
        current = made.take(whole, np.zeros(len(given), np.int64), np.diff(made.offsets), names)
        overlaps = None
    assert identity is not None
    out, changes = _cut_uncovered(given, made, identity, Uncovered(uncovered), back)
    funnel["reads out"], funnel["bases out"] = len(out), out.total_bases
    seconds = {stage.name: stage.seconds for stage in stages.done[first_stage:]}
    return Corrected(out, changes, funnel, seconds)


def _overlaps(
    stages: Stages,
    number: int,
    reads: Reads,
    preset: str,
    changes: Mapping[str, Any] | None,
    threads: int,
    report: Report,
) -> Overlaps:
    """Find the overlaps of a round."""

    def find() -> tuple[Overlaps, dict[str, Any]]:
        run = pipeline.run(reads, preset, changes=changes, threads=threads, report=report)
        return run.overlaps, {"chosen": run.why, **run.funnel}

    return stages.run(f"correct-{number}-overlaps", Overlaps, [preset, changes], find)[0]


def _round(
    stages: Stages,
    number: int,
    reads: Reads,
    overlaps: Overlaps,
    params: CorrectParams,
    threads: int,
    devices: list[Device],
    gpu_memory: int,
    report: Report,
) -> Consensus:
    """Find the consensus of all reads."""
    # Imported here, as numba takes long to load.
    from overlapper.gpus import opened

    def vote() -> tuple[Consensus, dict[str, Any]]:
        rows = rows_of(overlaps)
        with opened(devices, gpu_memory, reads) as gpus:
            fitted = fit_threshold(reads, reads, rows, params, targets_vote=True, threads=threads, gpus=gpus)
            doubt = None if number == 1 else fit_doubt(reads, rows, params, threads=threads, gpus=gpus)
            made = consensus(
                reads, reads, rows, fitted,
                targets_vote=True, doubt=doubt, threads=threads, gpus=gpus, report=report,
            )  # fmt: skip
        return _with_old_qualities(made, reads), {**fitted.fitted(), "bases": len(made.codes)}

    return stages.run(f"correct-{number}", Consensus, params.of_round(), vote)[0]


def rows_of(overlaps: Overlaps) -> Rows:
    """Return every overlap twice, as the query on the target and as the target on the query."""
    both = (overlaps.query, overlaps.target), (overlaps.target, overlaps.query)
    sides = (
        (overlaps.q_start, overlaps.t_start), (overlaps.q_end, overlaps.t_end),
        (overlaps.t_start, overlaps.q_start), (overlaps.t_end, overlaps.q_end),
    )  # fmt: skip
    target, read = (np.concatenate(pair) for pair in both)
    intervals = [np.concatenate(pair) for pair in sides]
    shared = (np.tile(values, 2) for values in (overlaps.score, overlaps.divergence))
    return Rows(target, read, np.tile(overlaps.reverse, 2), *intervals, *shared)


def _in_round(report: Report, number: int) -> Report:
    return lambda step, done, total: report(f"round {number}: {step}", done, total)


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
    from overlapper.kernels.cpu.correct import COLUMNS, EDITS

    with np.errstate(invalid="ignore", divide="ignore"):
        return 1 - made.counts[:, EDITS] / made.counts[:, COLUMNS]


def _count_round(funnel: dict[str, int], number: int, overlaps: Overlaps, made: Consensus) -> None:
    from overlapper.kernels.cpu.correct import ALIGNED, LEFT_OUT, LOST

    found = {"overlaps": len(overlaps)}
    for name, column in (
        ("reads aligned to reads", ALIGNED),
        ("without a chain", LOST),
        ("left out", LEFT_OUT),
    ):
        found[name] = int(made.counts[:, column].sum())
    found["bases"] = len(made.codes)
    found["bases not confirmed"] = int(np.count_nonzero(made.depth < CONFIRMED_DEPTH))
    funnel.update({f"round {number}: {name}": count for name, count in found.items()})


def _cut_uncovered(
    given: Reads, made: Consensus, identity: np.ndarray, uncovered: Uncovered, back: np.ndarray
) -> tuple[Reads, Changes]:
    """Return the reads to write, and what became of each, both in the order of the file."""
    from overlapper.kernels.cpu.correct import LEFT_OUT

    read, start, end, names = [], [], [], []
    fates, bases_out, coverage = [], np.zeros(len(given), np.int64), np.zeros(len(given))
    for i in back:
        name, depth = given.name(i), made.depth[made.offsets[i] : made.offsets[i + 1]]
        covered = depth >= CONFIRMED_DEPTH
        coverage[i] = np.maximum(depth, 1).mean() - 1 if len(depth) else 0
        parts = _parts(covered, uncovered)
        fates.append(_fate(covered, parts, uncovered))
        for number, (a, b) in enumerate(parts, 1):
            read.append(i)
            start.append(a)
            end.append(b)
            names.append(name if len(parts) == 1 else f"{name}_{number}")
            bases_out[i] += b - a
    out = made.take(np.array(read, np.int64), np.array(start, np.int64), np.array(end, np.int64), names)
    changes = Changes(
        [given.name(i) for i in back], given.lengths[back], bases_out[back], coverage[back],
        identity[back], made.counts[back, LEFT_OUT], fates,
    )  # fmt: skip
    return out, changes


def _parts(covered: np.ndarray, uncovered: Uncovered) -> list[tuple[int, int]]:
    """Return the intervals of a read that stay."""
    if uncovered is Uncovered.KEEP:
        return [(0, len(covered))]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], covered, [False]]).astype(np.int8)))
    runs = [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]
    if uncovered is Uncovered.TRIM:
        return [(runs[0][0], runs[-1][1])] if runs else []
    return [(a, b) for a, b in runs if b - a >= SHORTEST_PART]


def _fate(covered: np.ndarray, parts: list[tuple[int, int]], uncovered: Uncovered) -> Fate:
    if not parts:
        return Fate.DROPPED
    if len(parts) > 1:
        return Fate.SPLIT
    if parts[0] != (0, len(covered)):
        return Fate.TRIMMED
    return Fate.CORRECTED if covered.any() else Fate.UNCHANGED
