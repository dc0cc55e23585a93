"""Polishing: unitigs replaced by the consensus of the reads (``docs/algorithms/correction.md``).

A unitig is cut into windows with margins that neighbours share; in a circular one the last window and the
first are neighbours too, so that its origin is polished like any other place. Reads are laid on windows by
the finder and the chain extender, windows being the queries; internal matches are dropped. Where a layout is
given, reads lie where it has them, and on no other unitig (`overlapper.correct.own_reads`). The consensus of
windows is joined where they meet.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from overlapper.correct import contradictions
from overlapper.correct.chosen_reads import choose
from overlapper.correct.consensus import Consensus, consensus_in_parts
from overlapper.correct.contradictions import CONTRADICTED, Mended
from overlapper.correct.own_reads import OwnReads, Windows, rows_of_own
from overlapper.correct.packed_reads import pack_reads
from overlapper.correct.pileup_source import PileupSource
from overlapper.correct.read_placement import rows_on
from overlapper.correct.resources import Resources
from overlapper.correct.rounds import Round
from overlapper.correct.thresholds import fit_threshold
from overlapper.correct.unvoted import UNVOTED, unvoted, warning
from overlapper.correct.windows import windows_of
from overlapper.io.arrays import load_arrays, save_arrays
from overlapper.io.artifacts import Artifact
from overlapper.io.read_store import ReadStore
from overlapper.overlap.presets import ErrorRate, polishing_error_rate
from overlapper.overlap.read_share import ReadShare
from overlapper.params.correction import POLISHING_THRESHOLDS, CorrectParams
from overlapper.runtime.messages import Report, unreported
from overlapper.sketch.canonical import packed
from overlapper.tables import Reads
from overlapper.tables.growing import GrowingArray
from overlapper.tiled.stages import Stages

WINDOW_BASES, MARGIN = 80_000, 4_000
_CIRCULAR_NAME = re.compile(r"\d+c$")


@dataclasses.dataclass(frozen=True)
class Unitigs:
    """Sequences to polish, linear or circular.

    Attributes
    ----------
    sequences : Reads
    circular : ndarray of bool
    """

    sequences: Reads
    circular: np.ndarray


@dataclasses.dataclass(frozen=True)
class Polished:
    """The result of `polish`: unitigs, and how they were polished.

    Attributes
    ----------
    unitigs : Unitigs
        With qualities, in the order given.
    funnel : dict of str to int
        Counts of what went in, what every round found and what came out.
    held : ReadShare
        What lies on the unitigs of the reads.
    warnings : list of str
        What the last round could not confirm (`overlapper.correct.unvoted.warning`,
        `overlapper.correct.contradictions.warning`), if anything.
    contradicted : list of tuple of str and int
        Names of unitigs, and places of them that most reads contradicted after the last round.
    """

    unitigs: Unitigs
    funnel: dict[str, int]
    held: ReadShare
    warnings: list[str]
    contradicted: list[tuple[str, int]]


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


def polish(
    unitigs: Unitigs,
    reads: Reads,
    params: CorrectParams | None = None,
    *,
    own: OwnReads | None = None,
    preset: str | ErrorRate = "auto",
    threads: int | None = None,
    stages: Stages | None = None,
    report: Report = unreported,
) -> Polished:
    """Replace unitigs by the consensus of the reads that lie on them.

    Parameters
    ----------
    unitigs : Unitigs
    reads : Reads
        Raw or corrected; weighted by their qualities, where they have them.
    params : CorrectParams, optional
        Each round lays the reads on the unitigs anew.
    own : OwnReads, optional
        Where reads, numbered in canonical order, lie in the layout, with ``depth`` 0 in the parameters; by
        default reads are laid on all unitigs.
    preset : str or ErrorRate
        Of the reads.
    threads : int, optional
        All that the process may use by default; changes nothing but the time.
    stages : Stages, optional
        Where the results of each round are kept; a later run on the same unitigs and reads takes them from
        there.
    report : callable
        Receives the progress of the run.

    Returns
    -------
    Polished

    Raises
    ------
    ParameterError
        When there is no such preset.
    """
    resources = Resources.of(stages, threads)
    store = packed(reads, resources.threads)
    return polish_packed(unitigs, store, resources, params, own=own, preset=preset, report=report)


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

    Arguments that are not listed are those of `polish`.

    Parameters
    ----------
    store : ReadStore
        With qualities, where the reads have them.
    resources : Resources

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
    places: list[tuple[str, int]] = []
    for number in range(1, params.rounds + 1 if len(unitigs.sequences) else 1):
        unitigs, facts = _vote(Round(number, resources, report), unitigs, store, rate, own, params, room)
        params = params.with_fitted(facts)
        counts = ("reads on windows", "bases", "bases not confirmed", UNVOTED)
        funnel |= {f"round {number}: {name}": facts[name] for name in counts}
        places = facts[CONTRADICTED]
        funnel[f"round {number}: {CONTRADICTED}"] = len(places)
        held = dataclasses.replace(held, reads=facts["reads used"], bases=facts["bases of reads used"])
        warnings = [*warning(facts), *contradictions.warning(places)]
    return Polished(unitigs, funnel, held, warnings, places)


def _vote(
    round_: Round,
    unitigs: Unitigs,
    store: ReadStore,
    rate: ErrorRate,
    own: OwnReads | None,
    params: CorrectParams,
    room: int | None,
) -> tuple[Unitigs, dict[str, Any]]:
    """Lay reads on unitigs and find the consensus; return it, with counts and fitted thresholds."""

    def write(artifact: Artifact, beside: Path) -> dict[str, Any]:
        windows = _Windows(unitigs)
        if own is None:
            rows = rows_on(windows.reads, store, rate, round_, room, beside)
        else:
            rows = rows_of_own(own, windows.intervals, store.lengths, rate.value)
        used = np.unique(rows.read)
        pileups = PileupSource.of_rows(ReadStore.of(windows.reads), store, rows, room, targets_vote=False)
        joined, unconfirmed, contradicted = windows.joining(), 0, list[tuple[str, int]]()
        fitted = fit_threshold(pileups, params, round_.threads)
        for before, block in pileups.blocks():
            mended = Mended(block, round_.threads)
            del block  # before the next one comes
            for first, voted in consensus_in_parts(mended.pileups, fitted, round_.threads):
                made = mended.better(voted, first)
                inside = joined.add(mended.as_given(made, first))
                unconfirmed += int(np.count_nonzero(inside[unvoted(mended.pileups, made, first)]))
                round_.report("consensus", before + first + len(made), len(windows.reads))
            contradicted += windows.places(before, mended.contradicted)
            del mended
        polished = Unitigs(joined.taken(), unitigs.circular)
        save_arrays(artifact, polished)
        return {
            **fitted.fitted(),
            "reads on windows": len(rows),
            "reads used": len(used),
            "bases of reads used": int(store.lengths[used].sum()),
            "bases": polished.sequences.total_bases,
            "bases not confirmed": int(np.count_nonzero(polished.sequences.qualities == 0)),
            UNVOTED: unconfirmed,
            CONTRADICTED: contradicted,
        }

    made, facts = round_.stages.write(f"polish-{round_.number}", [rate, params.of_round()], write)
    return load_arrays(made, Unitigs), facts


class _Windows:
    """Windows of unitigs, which reads are laid on as if the windows were reads."""

    def __init__(self, unitigs: Unitigs) -> None:
        self._unitigs = unitigs
        sequences = unitigs.sequences
        bounds = windows_of(sequences.lengths, WINDOW_BASES, MARGIN, unitigs.circular)
        unitig, low, high = bounds.target, bounds.start_with_margin, bounds.end_with_margin
        length = sequences.lengths[unitig]
        parts: list[str] = []
        for u, windows in enumerate(itertools.pairwise(np.searchsorted(unitig, range(len(sequences) + 1)))):
            codes = sequences.codes(u)
            for window in range(*windows):
                places = np.arange(low[window], high[window])
                parts.append("".join(_LETTERS[codes.take(places, mode="wrap")]))
        self.reads = Reads.from_sequences(map(str, range(len(parts))), parts)
        self._unitig = unitig
        self.intervals = Windows(unitig, low, high, length)
        # Bases without margins. Bases inserted behind the end of a linear unitig belong to its last window.
        self._first, self._last = bounds.start - low, bounds.end - low
        self._last += (bounds.end == length) & (high == length)

    def places(self, before: int, found: list[tuple[int, int]]) -> list[tuple[str, int]]:
        """Return the unitigs, by name, and bases of places on windows, without those in margins.

        Parameters
        ----------
        before : int
            Added to the numbers of windows.
        found : list of tuple of int
            Window and base.
        """
        names, starts = self._unitigs.sequences.names, self.intervals.start
        return [
            (names[self._unitig[window]], int(starts[window] + place))
            for window, place in ((before + window, place) for window, place in found)
            if self._first[window] <= place < self._last[window]
        ]

    def joining(self) -> _Joined:
        """Return an empty consensus of the unitigs, to which that of windows is added."""
        return _Joined(self._unitigs.sequences, self._unitig, self._first, self._last)


class _Joined:
    """The consensus of unitigs, joined from that of their windows.

    Parameters
    ----------
    unitigs : Reads
    unitig, first, last : ndarray of int64, shape (windows,)
        Unitig of each window, and its bases without margins, half open.
    """

    def __init__(self, unitigs: Reads, unitig: np.ndarray, first: np.ndarray, last: np.ndarray) -> None:
        self._names = unitigs.names
        self._windows = unitig, first, last
        self._done = 0
        self._lengths = np.zeros(len(unitigs), np.int64)
        self._codes, self._quality = GrowingArray(np.dtype(np.uint8)), GrowingArray(np.dtype(np.uint8))

    def add(self, made: Consensus) -> np.ndarray:
        """Append the consensus of the next windows without margins; return a mask of the bases taken."""
        window = self._done + np.repeat(np.arange(len(made)), np.diff(made.offsets))
        self._done += len(made)
        unitig, first, last = (values[window] for values in self._windows)
        inside: np.ndarray = (made.origin >= first) & (made.origin < last)
        self._lengths += np.bincount(unitig[inside], minlength=len(self._lengths))
        self._codes.append(made.codes[inside])
        self._quality.append(made.quality[inside])
        return inside

    def taken(self) -> Reads:
        """Return the unitigs."""
        return pack_reads(self._codes.taken(), self._lengths, self._quality.taken(), self._names)


_LETTERS = np.array(list("ACGTN"))
