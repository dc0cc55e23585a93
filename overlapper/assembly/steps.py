"""The steps of an assembly on its reads: overlap, correct, polish."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from overlapper.assembly.chimeras import Sound
from overlapper.assembly.placed import PlacedReads
from overlapper.correction.chosen_reads import choose
from overlapper.correction.mending import mend
from overlapper.correction.own_reads import OwnReads
from overlapper.correction.polish import Polished, Unitigs, Voted, polish_packed
from overlapper.correction.reads import correct_packed
from overlapper.correction.resources import ChangedParams, Facts, Resources
from overlapper.correction.rounds import Round
from overlapper.errors import ParameterError
from overlapper.io.arrays import TableWriter, load_arrays
from overlapper.io.artifacts import Artifact
from overlapper.io.read_columns import PART_BASES
from overlapper.io.read_store import ReadStore
from overlapper.overlap.inside import write_inside
from overlapper.overlap.presets import ErrorRate, measured_error_rate
from overlapper.params.correction import CorrectParams
from overlapper.runtime.messages import Report
from overlapper.runtime.threads import even_ranges
from overlapper.sketch.adapters import adapters_at_ends, adapters_of
from overlapper.sketch.long_runs import LongRuns
from overlapper.sketch.read_parts import intervals_of
from overlapper.sketch.tandem_ends import tandem_ends, within_arrays
from overlapper.tables import Overlaps, Reads

LAYOUT_COPIES = 4
"""Most copies of the overlaps that are in memory while the graph is built."""


class AssemblySteps:
    """The reads of an assembly, given and corrected, with the steps on them.

    The graph is in memory; in a memory budget, reads and overlaps are on disk.

    Parameters
    ----------
    store : ReadStore
        With qualities, where the reads have them.
    resources : Resources

    Attributes
    ----------
    stages : Stages
        What was done.
    threads : int

    Raises
    ------
    ParameterError
        When a memory budget is too small for the reads.
    """

    def __init__(self, store: ReadStore, resources: Resources) -> None:
        self.stages, self.threads = resources.stages, resources.threads
        self._resources = resources
        self._given = self._store = self._named = store
        self._number, self._taken = np.arange(len(store)), np.empty((0, 2), np.int64)
        self._found: Artifact | None = None
        self._rates: dict[str, ErrorRate] = {}
        self._sound: Sound | None = None
        resources.room(len(store))

    @property
    def reads(self) -> Reads:
        """The current reads, given or corrected, without names and qualities."""
        return self._store.mapped()

    @property
    def given(self) -> Reads:
        """The reads as they were given, without names and qualities."""
        return self._given.mapped()

    @property
    def origin(self) -> np.ndarray:
        """The number of each current read among the given reads (int64): corrected ones are sorted anew."""
        return np.arange(len(self._given)) if self._store is self._given else self._store.order

    @property
    def aside(self) -> np.ndarray:
        """The numbers in the input of reads that were set aside (int64), ascending."""
        return np.sort(np.delete(self._named.order, self._number))

    def names_of(self, reads: np.ndarray) -> list[str]:
        """Return the names of some of the current reads."""
        named = self._named  # those that were chosen have no names of their own
        return named.names().take(named.order[self._number[self.origin[reads]]]).names

    def placed(self, own: OwnReads) -> PlacedReads:
        """Return where reads lie by a layout of the current reads, in numbers and bases of the input."""
        own = self._of_given(own)
        named = self._number[own.read]
        return PlacedReads.of(own, self._named.order[named], self._named.lengths[named])

    def _of_given(self, own: OwnReads) -> OwnReads:
        """Return the rows of current reads as those of the whole given reads."""
        own = dataclasses.replace(own, read=self.origin[own.read].astype(np.int32))
        return self._sound.on_whole(own) if self._sound else own

    @property
    def overlaps(self) -> Overlaps:
        """The overlaps of the last search, in the numbers of `reads`.

        Raises
        ------
        ParameterError
            When a memory budget is too small for laying them out.
        """
        assert self._found
        overlaps, left = load_arrays(self._found, Overlaps), self._resources.room(len(self._store))
        missing = 0 if left is None else LAYOUT_COPIES * overlaps.nbytes - left
        if missing > 0 and self.stages.budget:
            memory = self.stages.budget.memory
            raise ParameterError(
                f"the memory budget of {memory / 1e6:,.1f} MB is too small for {len(overlaps):,} overlaps, "
                f"expected {-(-(memory + missing) // 10**6)} MB or more"
            )
        return overlaps

    @property
    def room(self) -> int | None:
        """Bytes of memory that may be used besides reads and overlaps; None for no limit."""
        left = self._resources.room(len(self._store))
        return None if left is None else left - self.overlaps.nbytes

    def error_rate(self, preset: str) -> ErrorRate:
        """Return the error rate of the current reads, which is estimated once."""
        if preset not in self._rates:
            self._rates[preset] = measured_error_rate(self._store.mapped(), preset, self.threads)
        return self._rates[preset]

    def cut_adapters(self) -> list[str]:
        """Cut adapters off the ends of the reads, for all that follows; return them.

        Reads that begin with the same adapter overlap there, and seem to go on alike where the ends of both
        have bases from nowhere.
        """
        given = self._given
        if not (adapters := adapters_of(given.mapped())):
            return adapters

        def write(artifact: Artifact, beside: Path) -> Facts:
            taken = adapters_at_ends(given.mapped(), adapters, self.threads)
            artifact.save("taken", taken)
            return write_inside(artifact, given, taken, self.threads)

        artifact = self.stages.write("adapters", adapters, write)[0]
        self._given = self._store = ReadStore.open(artifact)
        self._taken = artifact.load("taken", np.int64).reshape(-1, 2)
        self._number, self._rates = self._number[self._given.order], {}
        return adapters

    def _with_qualities(self, numbers: np.ndarray) -> Reads:
        """Return some of the reads without their adapters, and with their qualities."""
        rows = self._given.order[numbers]
        before, after = self._taken[rows].T
        reads = self._named.take(rows)
        return intervals_of(reads, before, reads.lengths - after)

    def choose(self, depth: int, preset: str) -> np.ndarray:
        """Set reads aside where they are deeper (`overlapper.sketch.depth`), for all that follows.

        Returns
        -------
        ndarray of float64
            For how many reads each stands that is left.
        """
        take = self._with_qualities if len(self._taken) else None
        store, chosen, _ = choose(
            self.stages, self._given, depth, self.threads, lambda: self.error_rate(preset).shared, take
        )
        self._given = self._store = store
        if chosen is None:
            return np.ones(len(store))
        self._number, self._rates = self._number[chosen.kept], {}
        return chosen.weights()

    def overlap(
        self, name: str, preset: str, changes: ChangedParams, report: Report, longest_run: int | None = None
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
            Bases that count of each run of equal ones (`overlapper.sketch.long_runs`); all by default. Of
            overlaps by so many, those within arrays are left out (`overlapper.sketch.tandem_ends`).
        """

        def write(artifact: Artifact, beside: Path) -> Facts:
            rate, store, kept = self.error_rate(preset), self._store, 0
            with self._resources.search(beside) as search:
                if longest_run:
                    runs = LongRuns.of(store.mapped(), longest_run, self.threads)
                    arrays = tandem_ends(store.mapped(), self.threads)
                    counts, found = search.run(search.in_order(self._cut(runs)), rate, changes, report)
                    found = (runs.restore(part, self.threads) for part in found)
                    found = (part.take(~within_arrays(part, store.lengths, arrays)) for part in found)
                else:
                    counts, found = search.run_by_place(store, rate, changes, report)
                table = TableWriter(artifact)
                for part in itertools.chain([Overlaps.empty()], found):
                    table.add(part)
                    kept += len(part)
            in_arrays = {"left out: within arrays": counts["overlaps"] - kept} if longest_run else {}
            return {"error rate": round(rate.value, 4), **counts, **in_arrays}

        self._found, facts = self.stages.write(name, [preset, changes, longest_run], write)
        return facts

    def _cut(self, runs: LongRuns) -> Iterator[Reads]:
        """Yield the current reads without the surplus of their runs, numbered as `reads`."""
        for start, stop in even_ranges(self._store.lengths, PART_BASES):
            yield runs.cut(self._store.block(start, stop), start, self.threads)

    def correct(self, params: CorrectParams, sound: Sound, report: Report) -> None:
        """Correct the reads by their overlaps, and cut them to what is sound of them."""
        given = self._given
        made = correct_packed(
            given, self._resources, self.overlaps, params, order=np.arange(len(given)), report=report
        )
        kept = self._sound = sound.of_corrected(given.lengths, made.lengths)

        def write(artifact: Artifact, beside: Path) -> Facts:
            ReadStore.write(artifact, kept.cut_parts(part.bases_alone() for part in made.parts()))
            return {}

        self._store = ReadStore.open(self.stages.write("corrected-reads", [], write)[0])
        self._found, self._rates = None, {}

    def polish(
        self,
        unitigs: Unitigs,
        own: OwnReads | None,
        rate: ErrorRate,
        params: CorrectParams,
        report: Report,
    ) -> Polished:
        """Polish unitigs with the given reads, or with those of their layout alone where ``own`` has them."""
        of_given = None if own is None else self._of_given(own)
        return polish_packed(
            unitigs, self._given, self._resources, params, own=of_given, preset=rate, report=report
        )

    def mend(self, unitigs: Unitigs, own: OwnReads, rate: ErrorRate, report: Report) -> Voted:
        """Mend contigs that are not polished, by the given reads (`overlapper.correction.mending`)."""
        return mend(unitigs, self._given, self._of_given(own), rate, Round(1, self._resources, report))


def within(phase: str, report: Report) -> Report:
    """Return what reports the steps of a phase, as "phase, step"."""
    return lambda step, done, total: report(f"{phase}, {step}", done, total)


def correct_for(
    steps: AssemblySteps, params: CorrectParams, exact: bool, sound: Sound, report: Report
) -> None:
    """Correct reads; further rounds may follow if their overlaps will have to be exact.

    Reads that still differ have none there.
    """
    further = params.further_rounds if exact else 0
    params = dataclasses.replace(params, further_rounds=further, depth=0)
    steps.correct(params, sound, within("correction", report))
