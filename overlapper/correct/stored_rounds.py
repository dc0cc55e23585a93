"""Rounds of correction in a memory budget: reads, overlaps and corrected reads are on disk."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from overlapper.correct.chosen_reads import groups_of
from overlapper.correct.kept_reads import Facts, WriteConsensus, summed
from overlapper.correct.pileups import Rows
from overlapper.correct.reads import Corrected, correct_kept
from overlapper.correct.rounds import Round
from overlapper.correct.stored_pileups import PileupsOfFollowers, PileupsOfReads, write_rows
from overlapper.correct.uncovered import Uncovered
from overlapper.correct.voted import Covered, Leaders, StoredLeaders, StoredVoted, Voted, VotedWriter
from overlapper.extend.registry import device_within
from overlapper.io.arrays import ArrayWriter, loaded_arrays
from overlapper.io.artifacts import Artifact
from overlapper.io.read_store import ReadStore
from overlapper.io.stored_reads import PART_BASES, StoredReads
from overlapper.overlap.presets import ErrorRate
from overlapper.params.correction import CorrectParams
from overlapper.runtime.messages import Report, unreported
from overlapper.runtime.threads import even_ranges
from overlapper.tables import Overlaps
from overlapper.tiled.plan import Budget
from overlapper.tiled.stages import Stages
from overlapper.tiled.tiles import TiledRun, run_tiled, store_reads
from overlapper.tiled.workdir import Workdir

VOTING = 60 << 20
"""Bytes of the kernels of the vote and their libraries, on top of `overlapper.tiled.plan.PROGRAM`."""
A_READ = 1700
"""Bytes of memory that correction needs for each read of the set."""
A_UNITIG_BASE = 5
"""Bytes of memory for each base of unitigs, which are cut into windows and joined again."""


def with_votes(budget: Budget, n_reads: int, unitig_bases: int = 0) -> Budget:
    """Return a budget less the memory that correction and polishing always hold.

    Parameters
    ----------
    budget : Budget
    n_reads : int
    unitig_bases : int
        Bases of the unitigs to polish.
    """
    return dataclasses.replace(budget, held=VOTING + A_READ * n_reads + A_UNITIG_BASE * unitig_bases)


class StoredRoundReads:
    """Reads on disk; see `overlapper.correct.kept_reads.KeptReads`.

    Parameters
    ----------
    store : ReadStore
        The reads as given.
    budget : Budget
    groups : list of ndarray of int64
        Reads among which overlaps are found (`overlapper.correct.chosen_reads.groups_of`).
    overlaps : Overlaps or None
        Given overlaps for the first round.
    device, gpu_memory
        As `overlapper.correct.reads.correct` takes them.
    """

    def __init__(
        self,
        store: ReadStore,
        budget: Budget,
        groups: list[np.ndarray],
        overlaps: Overlaps | None,
        device: str,
        gpu_memory: int,
    ) -> None:
        self._store, self._groups = store, groups
        self._reads: StoredReads = store
        self._budget = with_votes(budget, len(store))
        self._room = self._budget.left(len(store))
        self._overlaps = overlaps
        self._device, self._gpu_memory = device, gpu_memory

    def pileups(
        self, round_: Round, preset: str | ErrorRate, changes: Mapping[str, Any] | None
    ) -> tuple[PileupsOfReads, int]:
        """See `KeptReads`."""
        given, self._overlaps = self._overlaps, None

        def write(artifact: Artifact, beside: Path) -> Facts:
            lengths = self._reads.lengths
            if given is not None:
                write_rows(artifact, [given], lengths, len(given))
                return {}
            with contextlib.ExitStack() as workdirs:
                found = []
                for number, members in enumerate(self._groups):
                    folder = beside if len(self._groups) == 1 else beside / str(number)
                    workdir = workdirs.enter_context(Workdir(folder))
                    found.append(self._found(round_, preset, changes, workdir, members))
                runs, overlaps = zip(*found, strict=True)
                facts = summed([{"chosen": run.why, **run.funnel} for run in runs])
                write_rows(artifact, itertools.chain(*overlaps), lengths, facts["overlaps"])
            return facts

        name = f"correct-{round_.number}-overlaps"
        depends_on = ["rows", preset, changes, given is not None, len(self._groups)]
        rows, _ = round_.stages.write(name, depends_on, write)
        return PileupsOfReads(self._reads, rows, self._room), rows.facts["overlaps"]

    def _found(
        self,
        round_: Round,
        preset: str | ErrorRate,
        changes: Mapping[str, Any] | None,
        workdir: Workdir,
        members: np.ndarray,
    ) -> tuple[TiledRun, Iterator[Overlaps]]:
        """Find overlaps of a group; return the run, and them in the numbers of the reads of this round."""
        store, numbers = self._store, np.argsort(self._store.order)
        if round_.number > 1 or len(self._groups) > 1:
            parts = (
                members[start:stop] for start, stop in even_ranges(self._reads.lengths[members], PART_BASES)
            )
            store, numbers = store_reads(workdir, map(self._reads.take, parts)), members
        run = run_tiled(
            store, workdir, self._budget, preset, changes=changes, report=round_.report,
            device=device_within(changes, self._device), gpu_memory=self._gpu_memory,
        )  # fmt: skip
        return run, (part.renumber(numbers) for part in run.overlaps())

    def voted(
        self, name: str, round_: Round, params: CorrectParams, vote: WriteConsensus
    ) -> tuple[StoredVoted, Facts]:
        """See `KeptReads`."""
        artifact, facts = self._written(name, round_, params, vote)
        return StoredVoted(*_voted(artifact)), facts

    def voted_leaders(
        self, round_: Round, params: CorrectParams, vote: WriteConsensus
    ) -> tuple[StoredLeaders, Facts]:
        """See `KeptReads`."""
        artifact, facts = self._written(f"leaders-{round_.number}", round_, params, vote)
        names = [field.name for field in Rows.fields_of("column")]
        rows = Rows(**loaded_arrays(artifact, names, "rows."))
        return StoredLeaders(*_voted(artifact), rows, loaded_arrays(artifact, ["numbers"])["numbers"]), facts

    def _written(
        self, name: str, round_: Round, params: CorrectParams, vote: WriteConsensus
    ) -> tuple[Artifact, Facts]:
        def write(artifact: Artifact, beside: Path) -> Facts:
            columns = ArrayWriter(artifact)
            writer = VotedWriter(columns)
            facts = vote(writer)
            for column, values in writer.small().items():
                columns.append(column, values)
            return facts

        return round_.stages.write(name, params.of_round(), write)

    def pileups_of_leaders(self, leaders: Leaders | StoredLeaders, divergence: float) -> PileupsOfFollowers:
        """See `KeptReads`."""
        assert isinstance(leaders, StoredLeaders)
        return PileupsOfFollowers(self._reads, leaders.reads, leaders.rows, divergence, self._room)

    def replace(self, made: Voted | StoredVoted) -> None:
        """See `KeptReads`."""
        assert isinstance(made, StoredVoted)
        self._reads = made.reads


def _voted(artifact: Artifact) -> tuple[StoredReads, Covered, np.ndarray]:
    """Load the columns of `StoredVoted`."""
    covered = Covered(**loaded_arrays(artifact, ["depth", "start", "end", "offsets"], "covered."))
    return StoredReads.within(artifact, "reads."), covered, loaded_arrays(artifact, ["counts"])["counts"]


def correct_stored(
    store: ReadStore,
    budget: Budget,
    overlaps: Overlaps | None = None,
    params: CorrectParams | None = None,
    *,
    preset: str | ErrorRate = "auto",
    uncovered: Uncovered = Uncovered.KEEP,
    device: str = "auto",
    gpu_memory: int = 0,
    stages: Stages,
    report: Report = unreported,
) -> Corrected:
    """Correct reads in a memory budget; corrected reads stay on disk until they are asked for.

    Parameters
    ----------
    store : ReadStore
        With qualities, where the reads have them.
    budget : Budget
    overlaps, params, preset, uncovered, device, gpu_memory, report
        As `overlapper.correct.reads.correct` takes them.
    stages : Stages
        Kept in a folder.

    Raises
    ------
    ParameterError
        When the budget is too small for the reads.
    """
    back, params = np.argsort(store.order), params or CorrectParams()
    given = None if overlaps is None else overlaps.renumber(back)
    groups = groups_of(store.mapped(), params.depth, budget.threads)
    kept = StoredRoundReads(store, budget, groups, given, device, gpu_memory)
    del overlaps, given
    made = correct_kept(
        store.names().take(store.order), kept, back, params, preset=preset, overlap_changes=None,
        uncovered=uncovered, threads=budget.threads, stages=stages, report=report,
    )  # fmt: skip
    return made.of_groups(len(groups))
