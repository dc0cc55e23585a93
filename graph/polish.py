"""Unitigs raised to the consensus of the reads (``docs/algorithms/correction.md``).

A unitig is cut into pieces with margins that neighbours share; in a circular one the last piece and the
first are neighbours too, so that its origin is polished like any other place. Reads are laid on pieces by the
finder and the chain extender, pieces being their queries; a match that ends within both is internal and
falls. The consensus of pieces is joined where they meet.
"""

from __future__ import annotations

import dataclasses
import os
import re
from typing import Any

import numpy as np

from graph.consensus import Consensus, consensus_in_parts
from graph.machine import Machine
from graph.packing import packed
from graph.params import POLISHING_THRESHOLDS, CorrectParams
from graph.piles import Piles, Rows
from graph.rounds import Round
from graph.stages import Stages
from graph.thresholds import fit_threshold
from graph.unvoted import UNVOTED, unvoted, warning
from overlapper.candidates.registry import finder
from overlapper.devices import select_devices
from overlapper.extend import chain
from overlapper.extend.best_of_pair import best_of_pair
from overlapper.extend.classify import classify
from overlapper.pipeline import Report
from overlapper.presets import ErrorRate, preset_error_rate, preset_params
from overlapper.sketch.canonical import canonical_order, in_order
from overlapper.tables import Candidates, OverlapClass, Overlaps, Reads
from overlapper.tables.growing import GrowingArray
from overlapper.threads import map_in_order

PIECE_BASES, MARGIN = 40_000, 2_000
SAMPLE_PIECES = 16
_CIRCULAR_NAME = re.compile(r"\d+c$")


@dataclasses.dataclass(frozen=True)
class Unitigs:
    """Sequences to polish, and which of them are circles.

    Attributes
    ----------
    sequences : Reads
    circular : ndarray of bool
    """

    sequences: Reads
    circular: np.ndarray


@dataclasses.dataclass(frozen=True)
class Polished:
    """What `polish` made.

    Attributes
    ----------
    unitigs : Unitigs
        With qualities, in the order given.
    funnel : dict of str to int
        What went in, what every round found and what came out.
    warnings : list of str
        What the last round left undone (`graph.unvoted.warning`).
    """

    unitigs: Unitigs
    funnel: dict[str, int]
    warnings: list[str]


def read_unitigs(path: str | os.PathLike[str]) -> Unitigs:
    """Read unitigs from GFA 1, if the name ends in ``.gfa`` or ``.gfa.gz``, or else from FASTA.

    A segment that links to itself alone is a circle; in FASTA, a sequence whose name ends in a number and
    ``c``, as `graph.layout.Layout.names` and other programs have it.

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
    from graph.gfa import read_gfa_and_sequences
    from overlapper.errors import FormatError

    graph, bases = read_gfa_and_sequences(path)
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
    preset: str | ErrorRate = "auto",
    threads: int = 1,
    device: str = "auto",
    gpu_memory: int = 0,
    stages: Stages | None = None,
    report: Report = lambda step, done, total: None,
) -> Polished:
    """Replace unitigs by the consensus of the reads that lie on them.

    Parameters
    ----------
    unitigs : Unitigs
    reads : Reads
        Raw or corrected; weighted by their qualities, where they have them.
    params : CorrectParams, optional
        Each round lays the reads on the unitigs anew.
    preset : str or ErrorRate
        Of the reads.
    threads : int
        Changes nothing but the time.
    device : str
        What finds the consensus: ``cpu``; ``cuda`` for all GPUs, ``cuda:0,2`` for some; ``auto`` for all GPUs
        if there are any. Changes nothing but the time.
    gpu_memory : int
        Bytes to take on each GPU at most; 0 takes what is free.
    stages : Stages, optional
        Keep what every round makes; those of a run on the same unitigs and reads.
    report : callable
        Told how far it is.
    """
    params = params or CorrectParams(thresholds=POLISHING_THRESHOLDS)
    stages = stages or Stages()
    machine = Machine(threads, select_devices(device), gpu_memory)
    reads = in_order(reads, canonical_order(reads, threads), threads)
    rate = preset_error_rate(reads, preset, threads)
    funnel = {"unitigs": len(unitigs.sequences), "bases": unitigs.sequences.total_bases, "reads": len(reads)}
    warnings: list[str] = []
    for number in range(1, params.rounds + 1 if len(unitigs.sequences) else 1):
        unitigs, facts = _Round(number, stages, machine, report).vote(unitigs, reads, rate, params)
        params = params.with_fitted(facts)
        counts = ("reads on pieces", "bases", "bases not confirmed", UNVOTED)
        funnel |= {f"round {number}: {name}": facts[name] for name in counts}
        warnings = warning(facts)
    return Polished(unitigs, funnel, warnings)


class _Round(Round):
    """A round of polishing."""

    def vote(
        self, unitigs: Unitigs, reads: Reads, rate: ErrorRate, params: CorrectParams
    ) -> tuple[Unitigs, dict[str, Any]]:
        """Lay reads on unitigs and find their consensus; return it, and what was counted and derived."""

        def find() -> tuple[Unitigs, dict[str, Any]]:
            pieces = _Pieces(unitigs)
            rows = rows_on(pieces.reads, reads, rate, self.machine.threads, self.report)
            piles = Piles(pieces.reads, reads, rows, targets_vote=False)
            joined, crowded = pieces.joining(), 0
            with self.machine.holding(reads) as workers:
                fitted = fit_threshold(piles, params, workers)
                for before, block in piles.blocks():
                    for first, made in consensus_in_parts(block, fitted, workers):
                        inside = joined.add(made)
                        crowded += int(np.count_nonzero(inside[unvoted(block, made, first)]))
                        self.report("consensus", before + first + len(made), len(pieces.reads))
            polished = Unitigs(joined.taken(), unitigs.circular)
            return polished, {
                **fitted.fitted(),
                "reads on pieces": len(rows),
                "bases": polished.sequences.total_bases,
                "bases not confirmed": int(np.count_nonzero(polished.sequences.qualities == 0)),
                UNVOTED: crowded,
            }

        return self.stages.run(f"polish-{self.number}", Unitigs, [rate, params.of_round()], find)


def rows_on(targets: Reads, reads: Reads, rate: ErrorRate, threads: int, report: Report) -> Rows:
    """Lay reads on targets; at most one row for each pair.

    Parameters
    ----------
    targets, reads : Reads
    rate : ErrorRate
        Of the reads.
    threads : int
    report : callable
    """
    report("choosing parameters", 0, 0)
    params, _ = preset_params(reads, rate, threads)
    together = Reads.concat([targets.bases_alone(), reads.bases_alone()])
    report("seeding", 0, 0)
    seeder = finder(params.finder).prepare(together, params, threads)
    n = len(targets)
    sample = np.unique(np.linspace(0, n - 1, min(n, SAMPLE_PIECES)).astype(int))
    chaining = chain.fit(
        together,
        Candidates.concat([_of_reads(seeder.find(int(t), int(t) + 1), n) for t in sample]),
        params.chain,
    )

    def work(target: int) -> tuple[Overlaps, np.ndarray]:
        overlaps, _ = chain.extend(together, _of_reads(seeder.find(target, target + 1), n), chaining, 1)
        long = np.minimum(overlaps.q_end - overlaps.q_start, overlaps.t_end - overlaps.t_start)
        kept = best_of_pair(overlaps, long >= params.classes.min_overlap)
        inner = classify(overlaps, together.lengths) == OverlapClass.INTERNAL
        return overlaps.take(kept), inner[kept]

    parts, inner = [], []
    for target, (part, internal) in enumerate(map_in_order(work, range(n), threads)):
        parts.append(part)
        inner.append(internal)
        report("laying reads on pieces", target + 1, n)
    found = Overlaps.concat(parts)
    rows = Rows(
        found.query, found.target - n, found.reverse, found.q_start, found.q_end, found.t_start, found.t_end,
        found.score, found.divergence,
    )  # fmt: skip
    return rows.take(~bettered(rows, np.concatenate(inner)))


def bettered(rows: Rows, internal: np.ndarray) -> np.ndarray:
    """Return which internal matches lie, by half or more, where the same read has a row of a higher score.

    Reads have bad ends, at which an alignment stops short; but what a copy of a repeat shares with a read
    from elsewhere stops short, too, and that read lies better where it comes from.

    Parameters
    ----------
    rows : Rows
    internal : ndarray of bool, shape (n,)
        Which rows end within both the target and the read.
    """
    order = np.lexsort((rows.target, rows.r_start, rows.r_end, -rows.score, rows.read))
    read, start, end = rows.read[order], rows.r_start[order], rows.r_end[order]
    first = np.searchsorted(read, read)
    worse = np.zeros(len(rows), bool)
    for i in np.flatnonzero(internal[order]):
        better = slice(first[i], i)
        shared = np.minimum(end[better], end[i]) - np.maximum(start[better], start[i])
        worse[order[i]] = 2 * shared.max(initial=0) >= end[i] - start[i]
    return worse


def _of_reads(candidates: Candidates, first_read: int) -> Candidates:
    """Leave out candidates of two targets."""
    return candidates.take(candidates.target >= first_read)


class _Pieces:
    """Unitigs cut into pieces, as reads."""

    def __init__(self, unitigs: Unitigs) -> None:
        self._unitigs = unitigs
        sequences = unitigs.sequences
        names, parts, unitig, start, end, margin = [], [], [], [], [], []
        for u in range(len(sequences)):
            codes, length = sequences.codes(u), int(sequences.lengths[u])
            circular = bool(unitigs.circular[u]) and length > 2 * MARGIN
            count = max(1, -(-length // PIECE_BASES))
            for p in range(count):
                a, b = p * length // count, (p + 1) * length // count
                low, high = (
                    (a - MARGIN, b + MARGIN) if circular else (max(0, a - MARGIN), min(length, b + MARGIN))
                )
                parts.append("".join(_LETTERS[codes.take(np.arange(low, high), mode="wrap")]))
                names.append(f"{u}.{p}")
                unitig.append(u)
                margin.append(a - low)
                start.append(a)
                # What is inserted behind the last base of a linear unitig belongs to its last piece.
                end.append(b + (b == length and not circular))
        self.reads = Reads.from_sequences(names, parts)
        self._unitig = np.array(unitig, np.int64)
        # Bases that do not belong to margins.
        self._first = np.array(margin, np.int64)
        self._last = self._first + np.array(end) - np.array(start)

    def joining(self) -> _Joined:
        """Return what the consensus of pieces is joined by."""
        return _Joined(self._unitigs.sequences, self._unitig, self._first, self._last)


class _Joined:
    """The consensus of unitigs, from that of their pieces.

    Parameters
    ----------
    unitigs : Reads
    unitig, first, last : ndarray of int64, shape (pieces,)
        Of each piece its unitig, and which of its bases are not of a margin, half open.
    """

    def __init__(self, unitigs: Reads, unitig: np.ndarray, first: np.ndarray, last: np.ndarray) -> None:
        self._names = unitigs.names
        self._pieces = unitig, first, last
        self._done = 0
        self._lengths = np.zeros(len(unitigs), np.int64)
        self._codes, self._quality = GrowingArray(np.dtype(np.uint8)), GrowingArray(np.dtype(np.uint8))

    def add(self, made: Consensus) -> np.ndarray:
        """Put the consensus of the next pieces behind; return which of its bases are not of margins."""
        piece = self._done + np.repeat(np.arange(len(made)), np.diff(made.offsets))
        self._done += len(made)
        unitig, first, last = (values[piece] for values in self._pieces)
        inside: np.ndarray = (made.origin >= first) & (made.origin < last)
        self._lengths += np.bincount(unitig[inside], minlength=len(self._lengths))
        self._codes.append(made.codes[inside])
        self._quality.append(made.quality[inside])
        return inside

    def taken(self) -> Reads:
        """Return the unitigs."""
        return packed(self._codes.taken(), self._lengths, self._quality.taken(), self._names)


_LETTERS = np.array(list("ACGTN"))
