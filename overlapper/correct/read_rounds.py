"""A round of correction: overlaps of all reads, and a vote on each read by the reads that overlap it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

import numpy as np

from overlapper.correct.consensus import Consensus, consensus_in_parts
from overlapper.correct.pileups import Pileups, rows_of
from overlapper.correct.rounds import Round
from overlapper.correct.stored_pileups import StoredPileups
from overlapper.correct.thresholds import fit_doubt, fit_threshold
from overlapper.correct.unvoted import UNVOTED, unvoted
from overlapper.correct.vote_settings import error_rate
from overlapper.correct.voted import StoredVoted, Voted, VotedPart, VotedWriter
from overlapper.io.arrays import from_arrays
from overlapper.overlap import pipeline
from overlapper.overlap.presets import ErrorRate
from overlapper.params.correction import CorrectParams
from overlapper.runtime.threads import map_in_order
from overlapper.sketch.canonical import canonical_order, in_order
from overlapper.tables import Overlaps, Reads
from overlapper.tables.growing import GrowingColumns

_KEEPING = 4
"""Threads that make of a consensus what is kept, beside those that find it, so that nobody waits for it."""

Facts = dict[str, Any]
Vote = Callable[[VotedWriter], Facts]
"""``vote(writer)`` votes on all reads in their order, and returns what was counted and derived."""


class KeptReads(Protocol):
    """The reads of a run, as the last round left them, wherever they are kept."""

    def pileups(
        self, this: Round, preset: str | ErrorRate, changes: Mapping[str, Any] | None
    ) -> tuple[Pileups | StoredPileups, int]:
        """Find the overlaps of the reads; return the pileups of them, and how many overlaps there are."""

    def voted(self, this: Round, params: CorrectParams, vote: Vote) -> tuple[Voted | StoredVoted, Facts]:
        """Vote, and replace the reads by their consensus; return it, and what was counted and derived."""


class HeldReads:
    """Reads in memory; see `KeptReads`.

    Parameters
    ----------
    reads : Reads
        In canonical order.
    overlaps : Overlaps or None
        Of the first round, where they are known.
    """

    def __init__(self, reads: Reads, overlaps: Overlaps | None) -> None:
        self._reads = reads
        self._overlaps = overlaps

    def pileups(
        self, this: Round, preset: str | ErrorRate, changes: Mapping[str, Any] | None
    ) -> tuple[Pileups, int]:
        """See `KeptReads`."""
        overlaps, self._overlaps = self._overlaps, None
        if overlaps is None:
            overlaps = self._found(this, preset, changes)
        pileups = Pileups(self._reads, self._reads, rows_of(overlaps), targets_vote=True)
        return pileups, len(overlaps)

    def _found(self, this: Round, preset: str | ErrorRate, changes: Mapping[str, Any] | None) -> Overlaps:
        def find() -> tuple[Overlaps, Facts]:
            threads = this.machine.threads
            reads = self._reads.bases_alone()
            if this.number == 1:
                order = np.arange(len(reads))
            else:
                order = canonical_order(reads, threads)
                reads = in_order(reads, order, threads)
            run = pipeline.run(
                reads, preset, changes=changes, threads=threads, order=order, report=this.report,
                **this.machine.for_overlaps(changes),
            )  # fmt: skip
            return run.overlaps, {"chosen": run.why, **run.funnel}

        return this.stages.run(f"correct-{this.number}-overlaps", Overlaps, [preset, changes], find)[0]

    def voted(self, this: Round, params: CorrectParams, vote: Vote) -> tuple[Voted, Facts]:
        """See `KeptReads`."""

        def find() -> tuple[Voted, Facts]:
            columns = GrowingColumns()
            writer = VotedWriter(columns)
            facts = vote(writer)
            return from_arrays(Voted, {**columns.taken(), **writer.small()}), facts

        made, facts = this.stages.run(f"correct-{this.number}", Voted, params.of_round(), find)
        self._reads = made.reads
        return made, facts


def vote(pileups: Pileups | StoredPileups, params: CorrectParams, this: Round, writer: VotedWriter) -> Facts:
    """Vote on all targets of pileups and write their consensus; return what was counted and derived."""
    crowded = bases = 0
    with this.machine.holding(pileups.reads) as workers:
        fitted = fit_threshold(pileups, params, workers)
        doubt = None if this.number == 1 else fit_doubt(pileups, params, workers)
        for before, block in pileups.blocks():
            made = consensus_in_parts(block, fitted, workers, doubt=doubt)
            kept = partial(_kept, block)
            for stop, part, n_crowded in map_in_order(kept, made, min(workers.threads, _KEEPING)):
                writer.add(part)
                crowded += n_crowded
                bases += int(part.sizes["lengths"].sum())
                this.report("consensus", before + stop, len(pileups.targets))
            del block, made, kept  # before the next one comes
    rate = float(error_rate(pileups))
    return {**fitted.fitted(), "error rate": rate, "bases": bases, UNVOTED: crowded}


def _kept(pileups: Pileups, voted: tuple[int, Consensus]) -> tuple[int, VotedPart, int]:
    """Return the target behind a part, the part as it is kept, and its bases on which too few voted."""
    first, made = voted
    stop = first + len(made)
    part = VotedPart.of(made, pileups.targets.rows(first, stop))
    return stop, part, len(unvoted(pileups, made, first))
