"""The reads of a round of correction, as the last one left them, in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from overlapper.correct.pileups import Pileups, rows_of
from overlapper.correct.rounds import Round
from overlapper.correct.stored_pileups import StoredPileups
from overlapper.correct.voted import Leaders, StoredLeaders, StoredVoted, Voted, VotedWriter
from overlapper.extend.registry import device_within
from overlapper.io.arrays import from_arrays
from overlapper.overlap import pipeline
from overlapper.overlap.presets import ErrorRate
from overlapper.params.correction import CorrectParams
from overlapper.sketch.canonical import canonical_order, in_order
from overlapper.tables import Overlaps, Reads
from overlapper.tables.growing import GrowingColumns

Facts = dict[str, Any]
WriteConsensus = Callable[[VotedWriter], Facts]
"""``vote(writer)`` writes the consensus of all reads in order, and returns counts and fitted parameters."""
_Kind = TypeVar("_Kind")


def summed(facts: Sequence[Facts]) -> Facts:
    """Return the facts of overlaps of several groups of reads: counts summed, the first one's words."""
    return {
        name: value if isinstance(value, str) else sum(of_group[name] for of_group in facts)
        for name, value in facts[0].items()
    }


class KeptReads(Protocol):
    """The reads as the last round left them, in memory (`HeldReads`) or on disk (`StoredRoundReads`)."""

    def pileups(
        self, round_: Round, preset: str | ErrorRate, changes: Mapping[str, Any] | None
    ) -> tuple[Pileups | StoredPileups, int]:
        """Find the overlaps of the reads; return their pileups, and the number of overlaps."""

    def voted(
        self, name: str, round_: Round, params: CorrectParams, vote: WriteConsensus
    ) -> tuple[Voted | StoredVoted, Facts]:
        """Vote on all reads, as a stage of this name; return their consensus, and what ``vote`` returned."""

    def voted_leaders(
        self, round_: Round, params: CorrectParams, vote: WriteConsensus
    ) -> tuple[Leaders | StoredLeaders, Facts]:
        """Vote on the leaders, as a stage; return their consensus, and what ``vote`` returned."""

    def pileups_of_leaders(
        self, leaders: Leaders | StoredLeaders, divergence: float
    ) -> Pileups | StoredPileups:
        """Return the pileups of corrected leaders on all reads; ``divergence`` is typical of all overlaps."""

    def replace(self, made: Voted | StoredVoted) -> None:
        """Replace the reads by the corrected ones, for the next round."""


class HeldReads:
    """Reads in memory; see `KeptReads`.

    Parameters
    ----------
    reads : Reads
        In canonical order.
    overlaps : Overlaps or None
        Given overlaps for the first round.
    groups : list of ndarray of int64
        Reads among which overlaps are found (`overlapper.correct.chosen_reads.groups_of`).
    threads, device, gpu_memory
        As `overlapper.correct.reads.correct` takes them.
    """

    def __init__(
        self,
        reads: Reads,
        overlaps: Overlaps | None,
        groups: list[np.ndarray],
        threads: int,
        device: str,
        gpu_memory: int,
    ) -> None:
        self._reads = reads
        self._overlaps = overlaps
        self._groups = groups
        self._threads, self._device, self._gpu_memory = threads, device, gpu_memory

    def pileups(
        self, round_: Round, preset: str | ErrorRate, changes: Mapping[str, Any] | None
    ) -> tuple[Pileups, int]:
        """See `KeptReads`."""
        overlaps, self._overlaps = self._overlaps, None
        if overlaps is None:
            overlaps = self._found(round_, preset, changes)
        pileups = Pileups(
            self._reads, self._reads, rows_of(overlaps, self._threads), True, threads=self._threads
        )
        return pileups, len(overlaps)

    def _found(self, round_: Round, preset: str | ErrorRate, changes: Mapping[str, Any] | None) -> Overlaps:
        def of_group(members: np.ndarray) -> tuple[Overlaps, Facts]:
            reads = in_order(self._reads.bases_alone(), members, self._threads)
            if round_.number == 1:
                order = np.arange(len(reads))
            else:
                order = canonical_order(reads, self._threads)
                reads = in_order(reads, order, self._threads)
            run = pipeline.run(
                reads, preset, changes=changes, threads=self._threads, order=order, report=round_.report,
                device=device_within(changes, self._device), gpu_memory=self._gpu_memory,
            )  # fmt: skip
            found = run.overlaps if len(self._groups) == 1 else run.overlaps.renumber(members)
            return found, {"chosen": run.why, **run.funnel}

        def find() -> tuple[Overlaps, Facts]:
            found, facts = zip(*map(of_group, self._groups), strict=True)
            return found[0] if len(found) == 1 else Overlaps.concat(list(found)), summed(facts)

        name, depends_on = f"correct-{round_.number}-overlaps", [preset, changes, len(self._groups)]
        return round_.stages.run(name, Overlaps, depends_on, find)[0]

    def voted(
        self, name: str, round_: Round, params: CorrectParams, vote: WriteConsensus
    ) -> tuple[Voted, Facts]:
        """See `KeptReads`."""
        return self._made(Voted, name, round_, params, vote)

    def voted_leaders(
        self, round_: Round, params: CorrectParams, vote: WriteConsensus
    ) -> tuple[Leaders, Facts]:
        """See `KeptReads`."""
        return self._made(Leaders, f"leaders-{round_.number}", round_, params, vote)

    def _made(
        self, kind: type[_Kind], name: str, round_: Round, params: CorrectParams, vote: WriteConsensus
    ) -> tuple[_Kind, Facts]:
        def find() -> tuple[_Kind, Facts]:
            columns = GrowingColumns()
            writer = VotedWriter(columns)
            facts = vote(writer)
            return from_arrays(kind, {**columns.taken(), **writer.small()}), facts

        return round_.stages.run(name, kind, params.of_round(), find)

    def pileups_of_leaders(self, leaders: Leaders | StoredLeaders, divergence: float) -> Pileups:
        """See `KeptReads`."""
        assert isinstance(leaders, Leaders)
        return Pileups(
            self._reads, leaders.reads, leaders.rows, True, divergence, reach=0, threads=self._threads
        )

    def replace(self, made: Voted | StoredVoted) -> None:
        """See `KeptReads`."""
        assert isinstance(made, Voted)
        self._reads = made.reads
