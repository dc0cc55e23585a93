"""The steps of an assembly on its reads (overlap, correct, polish), in memory or on disk."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from overlapper.assemble.chimeras import Sound
from overlapper.correct.chosen_reads import choose
from overlapper.correct.own_reads import OwnReads
from overlapper.correct.polish import Polished, Unitigs, polish
from overlapper.correct.reads import correct
from overlapper.extend.registry import device_within
from overlapper.overlap import pipeline
from overlapper.overlap.presets import ErrorRate, measured_error_rate
from overlapper.params.assembly import AssembleParams
from overlapper.params.correction import CorrectParams
from overlapper.runtime.messages import Report
from overlapper.sketch.canonical import canonical_order, in_order
from overlapper.sketch.long_runs import LongRuns
from overlapper.tables import Overlaps, Reads
from overlapper.tiled.stages import Stages

Facts = dict[str, Any]
Changes = Mapping[str, Any] | None


class AssemblySteps(Protocol):
    """The reads of an assembly with the steps on them: `HeldSteps` in memory, `StoredSteps` on disk.

    Attributes
    ----------
    stages : Stages
        What was done.
    threads : int
    """

    stages: Stages
    threads: int

    @property
    def reads(self) -> Reads:
        """The current reads, given or corrected, without names and qualities."""

    @property
    def origin(self) -> np.ndarray:
        """The number of each current read among the given reads (int64)."""

    def names_of(self, reads: np.ndarray) -> list[str]:
        """Return the names of some of the current reads."""

    @property
    def overlaps(self) -> Overlaps:
        """The overlaps of the last search, in the numbers of `reads`."""

    @property
    def room(self) -> int | None:
        """Bytes of memory that may be used besides reads and overlaps; None for no limit."""

    def error_rate(self, preset: str) -> ErrorRate:
        """Return the error rate of the current reads, which is estimated once."""

    def choose(self, depth: int, preset: str) -> np.ndarray:
        """Set reads aside where they are deeper (`overlapper.sketch.depth`), for all that follows.

        Returns
        -------
        ndarray of float64
            For how many reads each stands that is left.
        """

    def overlap(
        self, name: str, preset: str, changes: Changes, report: Report, longest_run: int | None = None
    ) -> Facts:
        """Find the overlaps of the current reads, by a preset with changes; return the counts.

        Parameters
        ----------
        name : str
            Of the stage.
        preset : str
        changes : mapping or None
        report : callable
        longest_run : int, optional
            Bases that count of each run of equal ones (`overlapper.sketch.long_runs`); all by default.
        """

    def correct(self, params: CorrectParams, sound: Sound, report: Report) -> None:
        """Correct the reads by their overlaps, and cut them to what is sound of them."""

    def polish(
        self,
        unitigs: Unitigs,
        own: OwnReads | None,
        rate: ErrorRate,
        params: CorrectParams,
        report: Report,
    ) -> Polished:
        """Polish unitigs with the given reads, or with those of their layout alone where ``own`` has them."""


def correct_by_accuracy(
    steps: AssemblySteps, params: AssembleParams, accurate: bool, exact: bool, sound: Sound, report: Report
) -> None:
    """Correct reads, with the number of rounds for HiFi reads or that for others.

    Further rounds may follow for others, if their overlaps will have to be exact: reads that still differ
    have none there.
    """
    rounds = params.accurate_rounds if accurate else params.correction.rounds
    further = params.correction.further_rounds if exact and not accurate else 0
    steps.correct(
        dataclasses.replace(params.correction, rounds=rounds, further_rounds=further, depth=0),
        sound,
        lambda step, done, total: report(f"correcting, {step}", done, total),
    )


class HeldSteps:
    """Reads in memory; see `AssemblySteps`.

    Parameters
    ----------
    reads : Reads
        In canonical order.
    stages : Stages
    threads, device, gpu_memory
        As `overlapper.assemble.contigs.assemble_reads` takes them.
    """

    def __init__(self, reads: Reads, stages: Stages, threads: int, device: str, gpu_memory: int) -> None:
        self.stages, self.threads = stages, threads
        self._given = reads
        self._device, self._gpu_memory = device, gpu_memory
        self.reads = reads.bases_alone()
        self.overlaps = Overlaps.empty()
        self.room: int | None = None
        self._rates: dict[str, ErrorRate] = {}
        self._kept: Sound | None = None

    @property
    def origin(self) -> np.ndarray:
        """See `AssemblySteps`."""
        return np.arange(len(self._given))

    def names_of(self, reads: np.ndarray) -> list[str]:
        """See `AssemblySteps`."""
        return self._given.take(reads).names

    def error_rate(self, preset: str) -> ErrorRate:
        """See `AssemblySteps`."""
        return self._rate_of(self._in_order()[0], preset)

    def choose(self, depth: int, preset: str) -> np.ndarray:
        """See `AssemblySteps`."""
        chosen, _ = choose(
            self.stages, self.reads, depth, self.threads, lambda: self.error_rate(preset).shared
        )
        if chosen is None:
            return np.ones(len(self._given))
        self._given = in_order(self._given, np.flatnonzero(chosen.kept), self.threads)
        self.reads, self._rates = self._given.bases_alone(), {}
        return chosen.weights()

    def _rate_of(self, reads: Reads, preset: str) -> ErrorRate:
        if preset not in self._rates:
            self._rates[preset] = measured_error_rate(reads, preset, self.threads)
        return self._rates[preset]

    def _in_order(self) -> tuple[Reads, np.ndarray]:
        order = canonical_order(self.reads, self.threads)  # that of corrected reads is another one
        return in_order(self.reads, order, self.threads), order

    def overlap(
        self, name: str, preset: str, changes: Changes, report: Report, longest_run: int | None = None
    ) -> Facts:
        """See `AssemblySteps`."""

        def find() -> tuple[Overlaps, Facts]:
            reads, order = self._in_order()
            rate, runs = self._rate_of(reads, preset), None
            if longest_run:
                runs = LongRuns.of(self.reads, longest_run, self.threads)
                cut = runs.cut(self.reads, 0, self.threads)
                # Equal ones are in the order of the reads themselves.
                order = order[canonical_order(in_order(cut, order, self.threads), self.threads)]
                reads = in_order(cut, order, self.threads)
            run = pipeline.run(
                reads, rate, changes=changes, threads=self.threads, order=order, report=report,
                device=device_within(changes, self._device), gpu_memory=self._gpu_memory,
            )  # fmt: skip
            facts = {"error rate": round(rate.value, 4), "chosen": run.why, **run.funnel}
            return runs.restore(run.overlaps, self.threads) if runs else run.overlaps, facts

        self.overlaps, facts = self.stages.run(name, Overlaps, [preset, changes, longest_run], find)
        return facts

    def correct(self, params: CorrectParams, sound: Sound, report: Report) -> None:
        """See `AssemblySteps`."""
        made = correct(
            self._given, self.overlaps, params, threads=self.threads, device=self._device,
            gpu_memory=self._gpu_memory, stages=self.stages, report=report,
        )  # fmt: skip
        self._kept = sound.of_corrected(self._given.lengths, made.lengths)
        self.reads = self._kept.cut(made.bases_alone())
        self.overlaps, self._rates = Overlaps.empty(), {}

    def polish(
        self,
        unitigs: Unitigs,
        own: OwnReads | None,
        rate: ErrorRate,
        params: CorrectParams,
        report: Report,
    ) -> Polished:
        """See `AssemblySteps`."""
        own = self._kept.on_whole(own) if own is not None and self._kept else own
        return polish(
            unitigs, self._given, params, own=own, preset=rate, threads=self.threads, stages=self.stages,
            report=report,
        )  # fmt: skip
