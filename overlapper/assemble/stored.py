"""Assembly in a memory budget: reads and overlaps are on disk, the graph is in memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from overlapper.assemble.chimeras import Sound
from overlapper.assemble.contigs import Assembled, assemble_in_steps
from overlapper.assemble.steps import Changes, Facts
from overlapper.correct.chosen_reads import choose, store_chosen
from overlapper.correct.own_reads import OwnReads
from overlapper.correct.polish import Polished, Unitigs
from overlapper.correct.reads import correct_kept
from overlapper.correct.stored_polish import polish_stored
from overlapper.correct.stored_rounds import StoredRoundReads, with_votes
from overlapper.correct.uncovered import Uncovered
from overlapper.errors import ParameterError
from overlapper.extend.registry import device_within
from overlapper.io.arrays import ArrayWriter, load_arrays
from overlapper.io.artifacts import Artifact
from overlapper.io.read_store import ReadStore
from overlapper.io.stored_reads import PART_BASES
from overlapper.overlap.presets import ErrorRate, measured_error_rate
from overlapper.params.assembly import AssembleParams
from overlapper.params.correction import CorrectParams
from overlapper.runtime.messages import Report, unreported
from overlapper.runtime.threads import even_ranges
from overlapper.sketch.long_runs import LongRuns
from overlapper.tables import Overlaps, Reads
from overlapper.tiled.plan import Budget
from overlapper.tiled.stages import Stages
from overlapper.tiled.tiles import run_tiled, store_reads
from overlapper.tiled.workdir import Workdir

LAYOUT_COPIES = 4
"""Most copies of the overlaps that are in memory while the graph is built."""


def assemble_stored(
    store: ReadStore,
    workdir: Workdir,
    budget: Budget,
    params: AssembleParams,
    *,
    preset: str = "auto",
    device: str = "auto",
    gpu_memory: int = 0,
    stages: Stages,
    report: Report = unreported,
) -> Assembled:
    """Assemble stored reads in a memory budget.

    Parameters
    ----------
    store : ReadStore
        With qualities, where the reads have them.
    workdir : Workdir
    budget : Budget
    params, preset, device, gpu_memory, stages, report
        As `overlapper.assemble.contigs.assemble_reads` takes them.

    Raises
    ------
    ParameterError
        When the budget is too small for the reads, or for the overlaps that are laid out.
    """
    steps = StoredSteps(store, workdir, budget, stages, device, gpu_memory)
    return assemble_in_steps(steps, params, preset, report)


class StoredSteps:
    """Reads on disk; see `overlapper.assemble.steps.AssemblySteps`.

    Parameters
    ----------
    store : ReadStore
    workdir : Workdir
    budget : Budget
    stages : Stages
    device, gpu_memory
        As `overlapper.assemble.contigs.assemble_reads` takes them.
    """

    def __init__(
        self,
        store: ReadStore,
        workdir: Workdir,
        budget: Budget,
        stages: Stages,
        device: str,
        gpu_memory: int,
    ) -> None:
        self.stages, self.threads = stages, budget.threads
        self._given = self._store = self._named = store
        self._number = np.arange(len(store))
        self._workdir = workdir
        self._budget = with_votes(budget, len(store))
        self._device, self._gpu_memory = device, gpu_memory
        self._found: Artifact | None = None
        self._rates: dict[str, ErrorRate] = {}
        self._kept: Sound | None = None
        self._budget.left(len(store))

    @property
    def reads(self) -> Reads:
        """See `AssemblySteps`."""
        return self._store.mapped()

    @property
    def origin(self) -> np.ndarray:
        """See `AssemblySteps`; corrected reads are sorted anew."""
        return np.arange(len(self._given)) if self._store is self._given else self._store.order

    def names_of(self, reads: np.ndarray) -> list[str]:
        """See `AssemblySteps`."""
        named = self._named  # those that were chosen have no names of their own
        return named.names().take(named.order[self._number[self.origin[reads]]]).names

    @property
    def overlaps(self) -> Overlaps:
        """See `AssemblySteps`."""
        assert self._found
        overlaps = load_arrays(self._found, Overlaps)
        needed = LAYOUT_COPIES * overlaps.nbytes
        missing = needed - self._budget.left(len(self._store))
        if missing > 0:
            memory = self._budget.memory
            raise ParameterError(
                f"the memory budget of {memory / 1e6:,.1f} MB is too small for {len(overlaps):,} overlaps, "
                f"expected {-(-(memory + missing) // 10**6)} MB or more"
            )
        return overlaps

    @property
    def room(self) -> int:
        """See `AssemblySteps`."""
        return self._budget.left(len(self._store)) - self.overlaps.nbytes

    def error_rate(self, preset: str) -> ErrorRate:
        """See `AssemblySteps`."""
        if preset not in self._rates:
            self._rates[preset] = measured_error_rate(self._store.mapped(), preset, self.threads)
        return self._rates[preset]

    def choose(self, depth: int, preset: str) -> np.ndarray:
        """See `AssemblySteps`."""
        given = self._given
        chosen, _ = choose(
            self.stages, given.mapped(), depth, self.threads, lambda: self.error_rate(preset).shared
        )
        if chosen is None:
            return np.ones(len(given))
        self._given = self._store = store_chosen(self.stages, given, chosen)
        self._number, self._rates = np.flatnonzero(chosen.kept), {}
        return chosen.weights()

    def overlap(
        self, name: str, preset: str, changes: Changes, report: Report, longest_run: int | None = None
    ) -> Facts:
        """See `AssemblySteps`."""

        def write(artifact: Artifact, beside: Path) -> Facts:
            rate = self.error_rate(preset)
            with Workdir(beside) as workdir:
                store, runs, numbers = self._store, None, np.argsort(self._store.order)
                if longest_run:
                    runs = LongRuns.of(store.mapped(), longest_run, self.threads)
                    store = store_reads(workdir, self._cut(runs))
                run = run_tiled(
                    store, workdir, self._budget, rate, changes=changes, report=report,
                    device=device_within(changes, self._device), gpu_memory=self._gpu_memory,
                )  # fmt: skip
                columns = ArrayWriter(artifact)
                for part in (Overlaps.empty(), *run.overlaps()):
                    found = runs.restore(part, self.threads) if runs else part.renumber(numbers)
                    for field in Overlaps.fields_of("column"):
                        if (values := getattr(found, field.name)) is not None:
                            columns.append(field.name, values)
            return {"error rate": round(rate.value, 4), "chosen": run.why, **run.funnel}

        self._found, facts = self.stages.write(name, ["tiles", preset, changes, longest_run], write)
        return facts

    def _cut(self, runs: LongRuns) -> Iterator[Reads]:
        """Yield the current reads without the surplus of their runs, numbered as `reads`."""
        for start, stop in even_ranges(self._store.lengths, PART_BASES):
            yield runs.cut(self._store.block(start, stop), start, self.threads)

    def correct(self, params: CorrectParams, sound: Sound, report: Report) -> None:
        """See `AssemblySteps`."""
        given = self._given
        groups = [np.arange(len(given))]
        reads = StoredRoundReads(given, self._budget, groups, self.overlaps, self._device, self._gpu_memory)
        made = correct_kept(
            given.names().take(given.order), reads, np.arange(len(given)), params, preset="auto",
            overlap_changes=None, uncovered=Uncovered.KEEP, threads=self.threads, stages=self.stages,
            report=report,
        )  # fmt: skip

        def write(artifact: Artifact, beside: Path) -> Facts:
            ReadStore.write(artifact, kept.cut_parts(part.bases_alone() for part in made.parts()))
            return {}

        self._kept = kept = sound.of_corrected(given.lengths, made.lengths)
        self._store, self._rates = ReadStore.open(self.stages.write("corrected-reads", [], write)[0]), {}

    def polish(
        self,
        unitigs: Unitigs,
        own: OwnReads | None,
        rate: ErrorRate,
        params: CorrectParams,
        report: Report,
    ) -> Polished:
        """See `AssemblySteps`."""
        if own is not None:
            own = dataclasses.replace(own, read=self.origin[own.read].astype(np.int32))
            own = self._kept.on_whole(own) if self._kept else own
        return polish_stored(
            unitigs, self._given, self._workdir, self._budget, params, own=own, preset=rate,
            stages=self.stages, report=report,
        )  # fmt: skip
