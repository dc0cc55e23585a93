"""The consensus of the reads of a round: packed bases, qualities, and covered intervals.

They are written as the consensus comes, and take a byte and a quarter a base.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np

from overlapper.correction.consensus import Consensus, joined
from overlapper.correction.packed_reads import pack_reads
from overlapper.correction.pileups import Rows
from overlapper.correction.vote_settings import WEIGHT
from overlapper.io.arrays import ArrayWriter, TableWriter, load_arrays, loaded_arrays
from overlapper.io.artifacts import Artifact
from overlapper.io.read_columns import ReadColumns
from overlapper.kernels.consensus.consensus import COLUMNS, COUNTS
from overlapper.runtime.threads import cut_evenly
from overlapper.tables import Reads
from overlapper.tables.base import Table, column, offsets, ragged
from overlapper.tables.ragged import offsets_of, runs_of
from overlapper.tables.reads import UNKNOWN

_AT_A_TIME = 1 << 21
"""Bases of a part that is put in order at a time: small enough for its arrays to be reused, not mapped
anew."""
CONFIRMED_DEPTH = 3
"""Least reads on a base, the read itself included, that change or confirm it."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Covered(Table):
    """Stretches of ``n`` corrected reads that enough reads cover."""

    depth: np.ndarray = column("f8")
    """float64, shape (n,); mean number of other reads that cover a base."""
    start: np.ndarray = ragged("i4", by="offsets")
    end: np.ndarray = ragged("i4", by="offsets")
    """`start`, `end`: int32; stretches that `CONFIRMED_DEPTH` reads cover, half open, ascending within a
    read."""
    offsets: np.ndarray = offsets()
    """int64, shape (n + 1,); where the stretches of each read start."""


@dataclasses.dataclass(frozen=True, eq=False)
class ReadConsensus:
    """Consensus of ``n`` reads."""

    reads: ReadColumns
    """With qualities."""
    covered: Covered
    counts: np.ndarray
    """int64, shape (n, COUNTS); see `overlapper.kernels.consensus.consensus.COUNTS`."""

    @classmethod
    def within(cls, artifact: Artifact) -> Self:
        """Return what a `ConsensusWriter` wrote."""
        counts = loaded_arrays(artifact, ["counts"])["counts"]
        return cls(ReadColumns.within(artifact, "reads."), load_arrays(artifact, Covered, "covered."), counts)

    def take(self, numbers: np.ndarray) -> ConsensusPart:
        """Return the consensus of some of the reads."""
        return ConsensusPart(self.reads.take(numbers), self.covered.take(numbers), self.counts[numbers])


@dataclasses.dataclass(frozen=True, eq=False)
class Leaders(ReadConsensus):
    """Consensus of leaders (`overlapper.correction.leaders`), and their rows on the reads like them."""

    rows: Rows
    """Leaders on all reads."""
    numbers: np.ndarray
    """int64, shape (n,); which of all reads each leader is."""

    @classmethod
    def within(cls, artifact: Artifact) -> Self:
        """See `ReadConsensus`."""
        made, numbers = ReadConsensus.within(artifact), loaded_arrays(artifact, ["numbers"])["numbers"]
        return cls(made.reads, made.covered, made.counts, load_arrays(artifact, Rows, "rows."), numbers)


class ConsensusPart(NamedTuple):
    """Consensus of some reads; columns as of `ReadConsensus`."""

    reads: Reads
    covered: Covered
    counts: np.ndarray

    @classmethod
    def of(cls, made: Consensus, given: Reads) -> Self:
        """Return the consensus of some reads.

        Parameters
        ----------
        made : Consensus
        given : Reads
            The reads before correction.
        """
        lengths = np.diff(made.offsets)
        start, end, runs = runs_of(made.depth >= CONFIRMED_DEPTH, made.offsets)
        return cls(
            pack_reads(made.codes, lengths, _with_old_qualities(made, given), [""] * len(made)),
            Covered(_mean_depth(made, lengths), start, end, offsets_of(runs)),
            made.counts,
        )

    @classmethod
    def unchanged(cls, reads: Reads, depth: np.ndarray) -> Self:
        """Return uncorrected reads as their own consensus, each covered by ``depth`` others on average."""
        counts = np.zeros((len(reads), COUNTS), np.int64)
        counts[:, COLUMNS] = reads.lengths
        some = reads.lengths > 0
        whole = reads.lengths[some].astype(np.int32)
        return cls(reads, Covered(depth, np.zeros_like(whole), whole, offsets_of(some)), counts)

    @classmethod
    def in_order(cls, parts: Sequence[Self], order: np.ndarray) -> Iterator[Self]:
        """Yield the reads of several parts in a given order, `_AT_A_TIME` bases at a time.

        Parameters
        ----------
        parts : sequence of ConsensusPart
        order : ndarray of int64, shape (n,)
            Numbers of the reads, counted through all parts.
        """
        sizes = [len(part.counts) for part in parts]
        part_of, first = np.repeat(np.arange(len(parts)), sizes), offsets_of(np.array(sizes))
        lengths = np.concatenate([part.reads.lengths for part in parts])
        bounds = cut_evenly(lengths[order], _AT_A_TIME)
        for some in np.split(order, bounds[1:-1]):
            # Successive reads of a part are copied together.
            breaks = np.flatnonzero((np.diff(some) != 1) | (np.diff(part_of[some]) != 0)) + 1
            of_piece = part_of[some[np.r_[0, breaks]]]
            begin = (some[np.r_[0, breaks]] - first[of_piece]).tolist()
            end = (some[np.r_[breaks - 1, -1]] - first[of_piece] + 1).tolist()
            pieces = zip(of_piece.tolist(), begin, end, strict=True)
            reads, covered, counts = zip(*(parts[part]._rows(b, e) for part, b, e in pieces), strict=True)
            yield cls(Reads.concat(list(reads)), Covered.concat(list(covered)), np.concatenate(counts))

    def _rows(self, start: int, stop: int) -> ConsensusPart:
        """Return a view of the reads ``[start, stop)``."""
        counts = self.counts[start:stop]
        return ConsensusPart(self.reads.rows(start, stop), self.covered.rows(start, stop), counts)


class ConsensusWriter:
    """Writes the consensus of all reads, part by part.

    Parameters
    ----------
    artifact : Artifact
    """

    def __init__(self, artifact: Artifact) -> None:
        self._others = ArrayWriter(artifact)
        self._reads, self._covered = TableWriter(artifact, "reads."), TableWriter(artifact, "covered.")
        self._rows = TableWriter(artifact, "rows.")
        self.add(ConsensusPart.of(joined([]), Reads.empty()))  # so that all columns are there

    def add(self, part: ConsensusPart) -> None:
        """Append a part."""
        self._reads.add(part.reads)
        self._covered.add(part.covered)
        self._others.append("counts", part.counts)

    def add_rows(self, rows: Rows) -> None:
        """Append rows to those of `Leaders`."""
        self._rows.add(rows)

    def add_numbers(self, numbers: np.ndarray) -> None:
        """Append numbers to those of `Leaders`."""
        self._others.append("numbers", numbers)

    def finish(self) -> None:
        """Write what is known once all reads are there."""
        self._reads.finish()
        self._covered.finish()


def _mean_depth(made: Consensus, lengths: np.ndarray) -> np.ndarray:
    """Return the mean number of other reads on a base of each read; 0 for a read without bases."""
    sums, some = np.zeros(len(lengths), np.int64), lengths > 0
    if some.any():
        sums[some] = np.add.reduceat(np.maximum(made.depth, 1), made.offsets[:-1][some], dtype=np.int64)
    return np.where(some, sums / np.maximum(lengths, 1) - 1, 0.0)


def _with_old_qualities(made: Consensus, given: Reads) -> np.ndarray:
    """Return qualities: a base without a vote keeps its old quality, or has `WEIGHT`."""
    unvoted = np.flatnonzero((made.quality == 0) & (made.codes != UNKNOWN))
    quality = made.quality.copy()
    quality[unvoted] = WEIGHT
    if given.qualities is not None and given.quality_offsets is not None:
        target = np.searchsorted(made.offsets, unvoted, "right") - 1
        last = np.diff(given.quality_offsets)[target] - 1
        known = last >= 0
        place = given.quality_offsets[target] + np.minimum(made.origin[unvoted], last)
        quality[unvoted[known]] = given.qualities[place[known]]
    return quality
