"""Polishing: unitigs replaced by the consensus of the reads (``docs/algorithms/correction.md``).

A unitig is cut into windows with margins that neighbours share; in a circular one the last window and the
first are neighbours too, so that its origin is polished like any other place. Reads are laid on windows by
the finder and the chain extender, windows being the queries; internal matches are dropped. Where a layout is
given, reads lie where it has them, and on no other unitig (`overlapper.correction.own_reads`). The consensus
of windows is joined where they meet.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from overlapper.correction import contradictions
from overlapper.correction.chosen_reads import choose
from overlapper.correction.consensus import Consensus, consensus_in_parts
from overlapper.correction.contradictions import CONTRADICTED, Mended
from overlapper.correction.doubt import Doubt
from overlapper.correction.own_reads import OwnReads, rows_of_own
from overlapper.correction.pileup_source import PileupBlock, PileupSource
from overlapper.correction.read_placement import rows_on
from overlapper.correction.resources import Resources
from overlapper.correction.rounds import Round
from overlapper.correction.thresholds import fit_threshold
from overlapper.correction.unitig_windows import Joined, UnitigWindows
from overlapper.correction.unvoted import UNVOTED, unvoted, warning
from overlapper.io.arrays import load_arrays, save_arrays
from overlapper.io.artifacts import Artifact
from overlapper.io.read_store import ReadStore
from overlapper.overlap.presets import ErrorRate, polishing_error_rate
from overlapper.overlap.read_share import OF_OTHERS, ReadShare
from overlapper.params.correction import POLISHING_THRESHOLDS, CorrectParams
from overlapper.runtime.messages import Report, unreported
from overlapper.tables import Reads

_CIRCULAR_NAME = re.compile(r"\d+c$")


@dataclasses.dataclass(frozen=True)
class Unitigs:
    """Sequences to polish, linear or circular."""

    sequences: Reads
    circular: np.ndarray
    """bool."""


@dataclasses.dataclass(frozen=True)
class Polished:
    """The result of polishing: unitigs, and how they were polished."""

    unitigs: Unitigs
    """With qualities, in the order given."""
    funnel: dict[str, int]
    """Counts of what went in, what every round found and what came out."""
    held: ReadShare
    """What lies on the unitigs of the reads."""
    warnings: list[str]
    """What the last round could not confirm (`overlapper.correction.unvoted.warning`), if anything."""
    doubt: Doubt
    """What was mended of the unitigs, and what reads contradict after the last round."""

    def all_warnings(self) -> list[str]:
        """Return also what there is to say of the reads that were used, and of what they contradict."""
        left = contradictions.warning(self.unitigs.sequences.names, self.doubt)
        return [*self.held.warnings(OF_OTHERS), *self.warnings, *left]


@dataclasses.dataclass(frozen=True)
class Voted:
    """The result of a round."""

    unitigs: Unitigs
    doubt: Doubt


def read_unitigs(path: str | os.PathLike[str]) -> Unitigs:
    """Read unitigs from GFA 1, if the name ends in ``.gfa`` or ``.gfa.gz``, or else from FASTA.

    A segment that links to itself alone is a circle; in FASTA, a sequence whose name ends in a number and
    ``c``, as `overlapper.graph.layout.unitig_names` and other programs have it. Segments that others contain
    (``C``) are reads, and left out, unless all are contained.

    Raises
    ------
    FormatError
        When the file is not what its name says, or a segment has no sequence.
    InputError
        When it cannot be read.
    """
    path = os.fspath(path)
    if not path.removesuffix(".gz").endswith(".gfa"):
        from overlapper.io import read_fastx

        sequences = read_fastx(path)
        return Unitigs(sequences, np.array([bool(_CIRCULAR_NAME.search(n)) for n in sequences.names], bool))
    from overlapper.errors import FormatError
    from overlapper.graph.gfa import read_gfa_and_sequences

    graph, given = read_gfa_and_sequences(path)
    of_segment = dict(zip(graph.names, given, strict=True))
    graph = graph.without_contained()
    bases = [of_segment[name] for name in graph.names]
    if "*" in bases:
        raise FormatError(
            "has no sequence", file=path, record=graph.names[bases.index("*")],
            remedy="Write the GFA file with sequences.",
        )  # fmt: skip
    return Unitigs(Reads.from_sequences(graph.names, bases), graph.circular)


def polish_packed(
    unitigs: Unitigs,
    store: ReadStore,
    resources: Resources,
    params: CorrectParams | None = None,
    *,
    own: OwnReads | None = None,
    preset: str | ErrorRate = "auto",
    report: Report = unreported,
) -> Polished:
    """Polish unitigs with reads that are packed, in memory or on disk.

    Parameters
    ----------
    unitigs : Unitigs
    store : ReadStore
        Raw or corrected; with qualities, which weigh votes, where the reads have them.
    resources : Resources
    params : CorrectParams, optional
        Each round lays the reads on the unitigs anew.
    own : OwnReads, optional
        Where reads, numbered in canonical order, lie in the layout, with ``depth`` 0 in the parameters; by
        default reads are laid on all unitigs.
    preset : str or ErrorRate
        Of the reads.
    report : callable
        Receives the progress of the run.

    Raises
    ------
    ParameterError
        When a memory budget is too small for the reads.
    """
    params = params or CorrectParams(thresholds=POLISHING_THRESHOLDS)
    room = resources.room(len(store), unitigs.sequences.total_bases)
    store, _, depth = choose(resources.stages, store, params.depth, resources.threads)
    rate = polishing_error_rate(store.mapped(), preset, resources.threads)
    sequences = unitigs.sequences
    funnel = depth | {"unitigs": len(sequences), "bases": sequences.total_bases, "reads": len(store)}
    held = ReadShare("unitigs", 0, 0, len(store), int(store.lengths.sum()))
    warnings: list[str] = []
    made = Voted(unitigs, Doubt.empty())
    for number in range(1, params.rounds + 1 if len(unitigs.sequences) else 1):
        made, facts = _vote(Round(number, resources, report), made, store, rate, own, params, room)
        counts = ("reads on windows", "bases", "bases not confirmed", UNVOTED)
        funnel |= {f"round {number}: {name}": facts[name] for name in counts}
        funnel[f"round {number}: {CONTRADICTED}"] = facts[CONTRADICTED]
        held = dataclasses.replace(held, reads=facts["reads used"], bases=facts["bases of reads used"])
        warnings = warning(facts)
    return Polished(made.unitigs, funnel, held, warnings, made.doubt)


class _VotedWindows(NamedTuple):
    """Consensus of successive windows."""

    consensus: Consensus
    """With origins on the windows as they were given."""
    doubt: Doubt
    """By the numbers of all windows."""
    unvoted: np.ndarray
    """int64; see `overlapper.correction.unvoted.unvoted`."""


def _vote_on_block(params: CorrectParams, block: PileupBlock, threads: int) -> Iterator[_VotedWindows]:
    """Mend windows, and vote on them."""
    mended = Mended(block.load(), threads)
    for first, voted in consensus_in_parts(mended.pileups, params, threads):
        made = mended.better(voted, first)
        doubt = mended.doubt(first, first + len(made))
        doubt = dataclasses.replace(doubt, contig=doubt.contig + block.first)
        consensus = dataclasses.replace(mended.as_given(made, first), likeness=())
        yield _VotedWindows(consensus, doubt, unvoted(mended.pileups, made, first))


def _vote(
    round_: Round,
    given: Voted,
    store: ReadStore,
    rate: ErrorRate,
    own: OwnReads | None,
    params: CorrectParams,
    room: int | None,
) -> tuple[Voted, dict[str, Any]]:
    """Lay reads on unitigs and find the consensus; return it, with counts and fitted thresholds."""
    unitigs = given.unitigs

    def write(artifact: Artifact, beside: Path) -> dict[str, Any]:
        windows = UnitigWindows(unitigs.sequences, unitigs.circular, turned=round_.number % 2 == 0)
        if own is None:
            rows = rows_on(windows.reads, store, rate, round_, room, beside)
        else:
            rows = rows_of_own(own, windows.intervals, store.lengths, rate.value)
        used = np.unique(rows.read)
        pileups = PileupSource.of_rows(ReadStore.of(windows.reads), store, rows, room, targets_vote=False)
        joined, unconfirmed = Joined(windows, given.doubt), 0
        fitted = fit_threshold(pileups, params, round_.threads)
        resources, done = round_.resources, 0
        for made in resources.each(partial(_vote_on_block, fitted), pileups.blocks(workers=resources.slots)):
            inside = joined.add(made.consensus, made.doubt)
            unconfirmed += int(np.count_nonzero(inside[made.unvoted]))
            done += len(made.consensus)
            round_.report("consensus", done, len(windows.reads))
        sequences, doubt = joined.taken()
        save_arrays(artifact, Voted(Unitigs(sequences, unitigs.circular), doubt))
        return {
            **fitted.fitted(),
            "reads on windows": len(rows),
            "reads used": len(used),
            "bases of reads used": int(store.lengths[used].sum()),
            "bases": sequences.total_bases,
            "bases not confirmed": int(np.count_nonzero(sequences.qualities == 0)),
            UNVOTED: unconfirmed,
            CONTRADICTED: len(doubt.contradicted()),
        }

    made, facts = round_.stages.write(f"polish-{round_.number}", [rate, params.of_round()], write)
    return load_arrays(made, Voted), facts
