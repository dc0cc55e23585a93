"""Correction of reads by the reads that overlap them (``docs/algorithms/correction.md``).

Each round finds the overlaps of all reads, unless the first ones are given, and replaces every read by the
consensus of itself and its overlapping reads. Reads are worked on in the order that their content gives, so
that the result does not depend on their order in the file or on their names.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from overlapper.correction import strands
from overlapper.correction.carried_tags import with_carried
from overlapper.correction.changes import Changes, Fate
from overlapper.correction.chosen_reads import groups_of
from overlapper.correction.pileup_source import PileupSource
from overlapper.correction.read_consensus import ReadConsensus
from overlapper.correction.read_rounds import vote
from overlapper.correction.resources import Resources
from overlapper.correction.round_overlaps import find_rows
from overlapper.correction.rounds import Round
from overlapper.correction.uncovered import Parts, Uncovered, cut_uncovered
from overlapper.correction.unvoted import UNVOTED, warning
from overlapper.io.read_columns import ReadColumns
from overlapper.io.read_store import ReadStore
from overlapper.kernels.consensus.consensus import ALIGNED, COLUMNS, EDITS, LEFT_OUT, LOST
from overlapper.overlap.presets import COPIES_TOLD_LATER, CORRECTED, ErrorRate
from overlapper.overlap.read_share import ReadShare
from overlapper.params.correction import CorrectParams
from overlapper.runtime.messages import Report, unreported
from overlapper.tables import Overlaps, Reads

_PART_BASES = 1 << 24
_UNCORRECTED = (
    "The other reads have too few overlaps: give more reads. Of amplicons or transcripts, give reads that "
    "are long enough"
)
CHANGED_SHARE = 1 / 3
"""Share of the reads above which, where the last round changed them, further rounds follow; fitted on
R10 reads of two chromosomes of *P. falciparum* and of the MHC, judged on others
(``docs/notes/correction.md``)."""


@dataclasses.dataclass(frozen=True, eq=False)
class Corrected:
    """The result of correction: corrected reads, and what became of each."""

    changes: Changes
    funnel: dict[str, int]
    """Counts of what every step took in, dropped and kept."""
    seconds: dict[str, float]
    """Wall-clock time of each step."""
    held: ReadShare
    """What of the reads was corrected."""
    warnings: list[str]
    """That reads are too few or most were not corrected (`overlapper.overlap.read_share`), bases that the
    last round could not confirm (`overlapper.correction.unvoted.warning`), and that reads are of one strand
    (`overlapper.correction.strands.warning`), if any."""
    _made: ReadConsensus
    _kept_parts: Parts

    def parts(self) -> Iterator[Reads]:
        """Yield the corrected reads, with qualities, in chunks, in the order of the input."""
        return self._kept_parts.as_reads(self._made.reads.take, _PART_BASES)

    def tagged_parts(self, store: ReadStore, threads: int) -> Iterator[tuple[Reads, Counter[str]]]:
        """Yield them with the tags of the reads of a store, those that were corrected."""
        return with_carried(self.parts(), self._kept_parts, self._made.reads.lengths, store, threads)

    @property
    def lengths(self) -> np.ndarray:
        """Bases of each corrected read (int64)."""
        return self._kept_parts.end - self._kept_parts.start

    @property
    def reads(self) -> Reads:
        """The corrected reads as one table, which each access makes anew."""
        return Reads.concat(list(self.parts()))


def correct_packed(
    store: ReadStore,
    resources: Resources,
    overlaps: Overlaps | None = None,
    params: CorrectParams | None = None,
    *,
    order: np.ndarray | None = None,
    preset: str | ErrorRate = "auto",
    uncovered: Uncovered = Uncovered.KEEP,
    report: Report = unreported,
) -> Corrected:
    """Correct reads that are packed, in memory or on disk.

    In a memory budget, corrected reads stay on disk until they are asked for.

    Parameters
    ----------
    store : ReadStore
        With qualities, where the reads have them.
    resources : Resources
    overlaps : Overlaps, optional
        Of the reads, from any tool, for the first round; found when not given.
    params : CorrectParams, optional
    preset : str or ErrorRate
        For finding the overlaps of the first round; later rounds estimate the error rate anew.
    uncovered : Uncovered
        What becomes of bases that too few reads cover.
    report : callable
        Receives the progress of the run.
    order : ndarray of int64, shape (reads,), optional
        The number that each read has in overlaps and in the result; by default that in the input.

    Raises
    ------
    ParameterError
        When a memory budget is too small for the reads.
    """
    stages, params = resources.stages, params or CorrectParams()
    room, back = resources.room(len(store)), np.argsort(store.order if order is None else order)
    heads = store.names().take(store.order)
    given = overlaps
    if overlaps is not None and (back != np.arange(len(back))).any():
        given = overlaps.renumber(back)
    groups = groups_of(store.mapped(), params.depth, resources.threads)
    del overlaps
    first_stage, rounds = len(stages.done), params.rounds
    funnel, identity = {"reads": len(heads), "bases": heads.total_bases}, None
    reads: ReadColumns = store
    for number in itertools.count(1):
        round_ = Round(number, resources, report)
        in_order, rate = (store, preset) if number == 1 else (None, CORRECTED)
        rows = find_rows(round_, reads, in_order, groups, given, rate, {"classes": COPIES_TOLD_LATER})
        given, found = None, rows.facts["overlaps"]
        made, facts = vote(PileupSource.of_reads(reads, rows, room), params, round_)
        del rows
        params = params.of_corrected_reads(facts["error rate"])
        _count_round(funnel, number, found, made, facts)
        identity = _identity(made) if identity is None else identity
        if number == params.rounds and np.count_nonzero(made.counts[:, EDITS]) > CHANGED_SHARE * len(heads):
            rounds += params.further_rounds
        if number == rounds:
            break
        reads = made.reads
    assert identity is not None
    kept_parts, changes = cut_uncovered(heads, made, Uncovered(uncovered), identity, back)
    funnel["reads out"] = len(kept_parts.read)
    funnel["bases out"] = int((kept_parts.end - kept_parts.start).sum())
    seconds = {stage.name: stage.seconds for stage in stages.done[first_stage:]}
    fates = np.array(changes.fate)
    corrected = np.flatnonzero((fates != Fate.UNCHANGED) & (fates != Fate.DROPPED))
    held = ReadShare.of("corrected reads", corrected, changes.bases_in, changes.coverage)
    warnings = [*held.warnings(_UNCORRECTED), *warning(facts), *strands.warning([facts])]
    if len(groups) > 1:
        funnel = {"groups": len(groups)} | funnel
    return Corrected(changes, funnel, seconds, held, warnings, made, kept_parts)


def _identity(made: ReadConsensus) -> np.ndarray:
    """Return the share of matching columns in the alignment of each read to its consensus."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return 1 - made.counts[:, EDITS] / made.counts[:, COLUMNS]


def _count_round(
    funnel: dict[str, int], number: int, overlaps: int, made: ReadConsensus, facts: dict[str, Any]
) -> None:
    found = {"overlaps": overlaps}
    if "settled" in facts:
        found["settled"] = facts["settled"]
    for name, column in (
        ("reads aligned to reads", ALIGNED),
        ("without a chain", LOST),
        ("left out", LEFT_OUT),
    ):
        found[name] = int(made.counts[:, column].sum())
    found["bases"] = int(made.reads.lengths.sum())
    found["bases not confirmed"] = found["bases"] - int((made.covered.end - made.covered.start).sum())
    found[UNVOTED] = facts[UNVOTED]
    funnel.update({f"round {number}: {name}": count for name, count in found.items()})
