"""Corrected reads judged by where they come from (``docs/algorithms/evaluation.md``)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from overlapper.errors import InputError
from overlapper.evaluation.read_scores import PlacedRead, ReadScores
from overlapper.evaluation.sites import beyond_ends, find_sites
from overlapper.evaluation.slices import memory_for_tables
from overlapper.io.truth import UNPLACED, Truth
from overlapper.kernels.common.walks import PackedReads
from overlapper.kernels.evaluation import placed_chains, placed_reads
from overlapper.kernels.evaluation.placed_chains import Windows
from overlapper.kernels.evaluation.placed_reads import Sites
from overlapper.kernels.mapping.chain_paths import align_chains
from overlapper.mapping.edits import ends_of
from overlapper.params.mapping import MapParams
from overlapper.runtime.messages import Report, unreported
from overlapper.runtime.threads import available_threads, even_ranges, map_in_order
from overlapper.tables import Reads
from overlapper.tables.base import Table, column
from overlapper.tables.ragged import offsets_of

MARGIN = 200
"""Bases on either side of a place that belong to the window."""
_BLOCK_BASES = 1 << 20
_HELD_PER_BASE = 0.25
_A_THREAD = 64 << 20


def evaluate_reads(
    corrected: Reads,
    truth: Truth,
    haplotypes: Sequence[Reads],
    *,
    raw: Reads | None = None,
    memory: int = 0,
    threads: int | None = None,
    report: Report = unreported,
) -> ReadScores:
    """Judge corrected reads by their places.

    Parameters
    ----------
    corrected : Reads
        Named as in the table of placements.
    truth : Truth
        See `overlapper.io.truth.read_truth`. Places may reach beyond the end of circular sequences.
    haplotypes : sequence of Reads
        The sequences that places are on, the haplotypes in one table or in several.
    raw : Reads, optional
        The reads before correction.
    memory : int
        Bytes to stay within; 0 is half of the machine's memory.
    threads : int, optional
        All that the process may use by default. Neither changes the scores.
    report : callable
        ``report(step, done, total)`` is told how far it is.

    Raises
    ------
    InputError
        When two sequences share a name, a place is on none, or no read has a place.
    ParameterError
        When there is too little memory.
    """
    sequences = Reads.concat(list(haplotypes))
    _check_names(sequences)
    placed = _Placements.of(truth, corrected, raw, sequences)
    threads = threads or available_threads()
    more = placed.beyond(sequences)
    bases = sum(reads.total_bases for reads in (corrected, sequences, *([raw] if raw else [])))
    tables = memory_for_tables(memory, int(_HELD_PER_BASE * bases) + threads * _A_THREAD)
    report("finding where haplotypes and copies differ", 0, 0)
    sites = find_sites(sequences, more > 0, tables, threads)
    judge = _Judge(_going_on(sequences, more), beyond_ends(sites, sequences.lengths, more), corrected, raw)
    blocks = even_ranges(placed.end - placed.start, _BLOCK_BASES)
    reads: list[PlacedRead] = []
    for first, counts in map_in_order(
        lambda block: (block[0], judge.block(placed.rows(*block))), blocks, threads
    ):
        report("comparing reads with where they come from", first, len(placed.read))
        for read, *rows in zip(placed.read[first:].tolist(), *counts, strict=False):
            reads.append(PlacedRead.of(corrected.name(read), int(corrected.lengths[read]), rows))
    return ReadScores(tuple(reads), placed.missing, len(corrected) - len(reads), len(sites.position))


def _check_names(sequences: Reads) -> None:
    names = sequences.names
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise InputError(
            f"two sequences of the reference have the name {twice!r}",
            remedy="Rename one of them, in the table of placements, too.",
        )


def _going_on(sequences: Reads, more: np.ndarray) -> Reads:
    """Return circular sequences with ``more`` of their first bases repeated at their ends."""
    if not more.any():
        return sequences
    parts = []
    for number, extra in enumerate(more.tolist()):
        part = sequences.take(np.array([number]))
        if extra:
            text = part.sequence(0)
            part = Reads.from_sequences(part.names, [text + text[:extra]])
        parts.append(part)
    return Reads.concat(parts)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class _Placements(Table):
    """Places of reads, in the order of the corrected reads."""

    read: np.ndarray = column("i8")
    raw: np.ndarray = column("i8")
    """`read`, `raw`: int64, shape (n,); numbers of the corrected and of the raw read."""
    target: np.ndarray = column("i8")
    start: np.ndarray = column("i8")
    end: np.ndarray = column("i8")
    """`target`, `start`, `end`: int64, shape (n,)."""
    reverse: np.ndarray = column("?")
    """bool, shape (n,)."""
    missing: int = 0
    """Placed reads that there is no corrected one of."""

    @classmethod
    def of(cls, truth: Truth, corrected: Reads, raw: Reads | None, sequences: Reads) -> _Placements:
        """Return the places of reads, looked up by name.

        Raises
        ------
        InputError
            When a place is on no sequence, or no read has a place.
        """
        names, counts = np.unique(truth.read[~np.isin(truth.ref, UNPLACED)], return_counts=True)
        once = np.isin(truth.read, names[counts == 1]) & ~np.isin(truth.ref, UNPLACED)
        rows = np.flatnonzero(once & (truth.kind == "normal"))
        target = _numbers(sequences.names, truth.ref[rows])
        if len(rows) and target.min() < 0:
            name = str(truth.ref[rows][target.argmin()])
            raise InputError(
                f"reads are placed on {name!r}, which is no sequence of the reference",
                remedy="Give all haplotypes that the reads come from, with --reference each.",
            )
        read = _numbers(corrected.names, truth.read[rows])
        kept = np.flatnonzero(read >= 0)
        kept = kept[np.argsort(read[kept], kind="stable")]
        if not len(kept):
            raise InputError(
                f"none of the {len(corrected):,} reads has one place in the table of placements",
                remedy="Give the table of these reads; corrected reads bear the names of the raw ones.",
            )
        chosen = rows[kept]
        start, end, target = truth.start[chosen], truth.end[chosen], target[kept]
        beyond = start >= sequences.lengths[target]
        if beyond.any():
            name, sequence = (str(column[chosen][beyond.argmax()]) for column in (truth.read, truth.ref))
            raise InputError(
                f"read {name!r} is placed behind the end of {sequence!r}",
                remedy="Give the reference that the placements are on.",
            )
        numbers = read[kept] if raw is None else _numbers(raw.names, truth.read[chosen])
        if numbers.min() < 0:
            name = str(truth.read[chosen][numbers.argmin()])
            raise InputError(
                f"read {name!r} is corrected, but not among the raw reads",
                remedy="Give the reads that were corrected.",
            )
        return cls(
            read[kept], numbers, target, start, end, truth.strand[chosen] == "-", len(rows) - len(kept)
        )

    def beyond(self, sequences: Reads) -> np.ndarray:
        """Return how many first bases of each sequence places need behind its end; those are circular."""
        more = np.zeros(len(sequences), np.int64)
        over = self.end - sequences.lengths[self.target]
        np.maximum.at(more, self.target, np.where(over > 0, over + MARGIN, 0))
        return np.minimum(more, sequences.lengths)


def _numbers(names: Sequence[str], wanted: np.ndarray) -> np.ndarray:
    """Return the numbers of names, -1 of those that are not there (int64)."""
    known = {name: number for number, name in enumerate(names)}
    return np.array([known.get(name, -1) for name in wanted.tolist()], np.int64)


@dataclasses.dataclass(frozen=True)
class _Judge:
    """Reference, sites and parameters by which blocks of reads are judged."""

    sequences: Reads
    sites: Sites
    corrected: Reads
    raw: Reads | None

    def block(self, placed: _Placements) -> list[np.ndarray]:
        """Return what is counted of the reads of some places: corrected, raw, and changes between them."""
        states, counts = self._spelled(self.corrected, placed, placed.read)
        if self.raw is None:
            return [counts]
        before, raw_counts = self._spelled(self.raw, placed, placed.raw)
        windows = self._windows(placed, placed.read)
        changes = placed_reads.compare(PackedReads.of(self.sequences), windows, before, states, self.sites)
        return [counts, raw_counts, changes]

    def _windows(self, placed: _Placements, read: np.ndarray) -> Windows:
        start = np.maximum(placed.start - MARGIN, 0)
        end = np.minimum(placed.end + MARGIN, self.sequences.lengths[placed.target])
        return Windows(read, placed.target, start, end, placed.reverse, offsets_of(end - start))

    def _spelled(self, reads: Reads, placed: _Placements, read: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what reads have at every base of their windows, and what is counted of each."""
        windows = self._windows(placed, read)
        packed, reference = PackedReads.of(reads), PackedReads.of(self.sequences)
        starts, x, y, length = placed_chains.chain_in_windows(packed, reference, windows)
        chained = np.flatnonzero(np.diff(starts))
        rows, cigar, offsets = align_chains(
            packed, reference, read[chained], placed.target[chained], placed.reverse[chained],
            np.append(starts[chained], len(x)), x, y, length, ends_of(MapParams()),
        )  # fmt: skip
        enough = 2 * (rows[:, 1] - rows[:, 0]) >= reads.lengths[read[chained]]
        states, counts = placed_reads.spell(packed, windows, chained, enough, rows, cigar, offsets)
        placed_reads.count_sites(reference, windows, states, self.sites, counts)
        return states, counts
