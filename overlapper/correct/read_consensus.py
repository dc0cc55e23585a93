"""The consensus of the reads of a round: packed bases, qualities, and covered intervals.

They are written as the consensus comes, and take a byte and a quarter a base.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Self

import numpy as np

from overlapper.correct.consensus import Consensus, joined
from overlapper.correct.pileups import Rows
from overlapper.correct.vote_settings import WEIGHT
from overlapper.io.arrays import ArrayWriter, loaded_arrays
from overlapper.io.artifacts import Artifact
from overlapper.io.read_columns import ReadColumns
from overlapper.kernels.common.packed import pack_codes
from overlapper.kernels.consensus.consensus import COLUMNS, COUNTS
from overlapper.runtime.threads import cut_evenly
from overlapper.tables import Reads
from overlapper.tables.base import Table, column, offsets, ragged
from overlapper.tables.ragged import offsets_of, runs_of
from overlapper.tables.reads import UNKNOWN, words_for

_AT_A_TIME = 1 << 21
"""Bases of a part that is put in order at a time: small enough for its arrays to be reused, not mapped
anew."""
CONFIRMED_DEPTH = 3
"""Least reads on a base, the read itself included, that change or confirm it."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Covered(Table):
    """Stretches of ``n`` corrected reads that enough reads cover.

    Attributes
    ----------
    depth : ndarray of float64, shape (n,)
        Mean number of other reads that cover a base.
    start, end : ndarray of int32
        Stretches that `CONFIRMED_DEPTH` reads cover, half open, ascending within a read.
    offsets : ndarray of int64, shape (n + 1,)
        Where the stretches of each read start.
    """

    depth: np.ndarray = column("f8")
    start: np.ndarray = ragged("i4", by="offsets")
    end: np.ndarray = ragged("i4", by="offsets")
    offsets: np.ndarray = offsets()


@dataclasses.dataclass(frozen=True, eq=False)
class ReadConsensus:
    """Consensus of ``n`` reads.

    Attributes
    ----------
    reads : ReadColumns
        With qualities.
    covered : Covered
    counts : ndarray of int64, shape (n, COUNTS)
        See `overlapper.kernels.consensus.consensus.COUNTS`.
    """

    reads: ReadColumns
    covered: Covered
    counts: np.ndarray

    @classmethod
    def within(cls, artifact: Artifact) -> Self:
        """Return what a `ConsensusWriter` wrote."""
        covered = Covered(**loaded_arrays(artifact, ["depth", "start", "end", "offsets"], "covered."))
        counts = loaded_arrays(artifact, ["counts"])["counts"]
        return cls(ReadColumns.within(artifact, "reads."), covered, counts)


@dataclasses.dataclass(frozen=True, eq=False)
class Leaders(ReadConsensus):
    """Consensus of leaders (`overlapper.correct.leaders`), and their rows on the reads like them.

    Attributes
    ----------
    rows : Rows
        Leaders on all reads.
    numbers : ndarray of int64, shape (n,)
        Which of all reads each leader is.
    """

    rows: Rows
    numbers: np.ndarray

    @classmethod
    def within(cls, artifact: Artifact) -> Self:
        """See `ReadConsensus`."""
        made = ReadConsensus.within(artifact)
        rows = Rows(**loaded_arrays(artifact, [field.name for field in Rows.fields_of("column")], "rows."))
        numbers = loaded_arrays(artifact, ["numbers"])["numbers"]
        return cls(made.reads, made.covered, made.counts, rows, numbers)


@dataclasses.dataclass(frozen=True, eq=False)
class ConsensusPart:
    """Consensus of some reads: columns of `ReadConsensus`, those with several values a read by themselves."""

    large: dict[str, np.ndarray]
    sizes: dict[str, np.ndarray]

    @property
    def bases(self) -> int:
        """Bases of these reads, summed."""
        return int(self.sizes["lengths"].sum())

    @classmethod
    def taken(cls, made: ReadConsensus, numbers: np.ndarray) -> Self:
        """Return some of the reads of another consensus."""
        return cls._of_reads(made.reads.take(numbers), made.covered.take(numbers), made.counts[numbers])

    @classmethod
    def kept(cls, reads: Reads, depth: np.ndarray) -> Self:
        """Return uncorrected reads as their own consensus, each covered by ``depth`` others on average."""
        counts = np.zeros((len(reads), COUNTS), np.int64)
        counts[:, COLUMNS] = reads.lengths
        some = reads.lengths > 0
        whole = reads.lengths[some].astype(np.int32)
        return cls._of_reads(reads, Covered(depth, np.zeros_like(whole), whole, offsets_of(some)), counts)

    @classmethod
    def _of_reads(cls, reads: Reads, covered: Covered, counts: np.ndarray) -> Self:
        assert reads.qualities is not None
        return cls(
            {
                "reads.words": reads.words,
                "reads.qualities": reads.qualities,
                "reads.unknown_start": reads.unknown_start,
                "reads.unknown_end": reads.unknown_end,
                "covered.start": covered.start,
                "covered.end": covered.end,
            },
            {
                "lengths": reads.lengths,
                "unknown": np.diff(reads.unknown_offsets),
                "covered": np.diff(covered.offsets),
                "depth": covered.depth,
                "counts": counts,
            },
        )

    @classmethod
    def in_order(cls, parts: Sequence[Self], order: np.ndarray) -> Iterator[Self]:
        """Yield the reads of several parts in a given order, `_AT_A_TIME` bases at a time.

        Parameters
        ----------
        parts : sequence of ConsensusPart
        order : ndarray of int64, shape (n,)
            Numbers of the reads, counted through all parts.
        """
        sizes = {name: np.concatenate([part.sizes[name] for part in parts]) for name in parts[0].sizes}
        reads = [len(part.sizes["lengths"]) for part in parts]
        part_of, first = np.repeat(np.arange(len(parts)), reads), offsets_of(np.array(reads))
        starts = {name: [offsets_of(part._counts(name)) for part in parts] for name in parts[0].large}
        bounds = cut_evenly(sizes["lengths"][order], _AT_A_TIME)
        for some in np.split(order, bounds[1:-1]):
            # Successive reads of a part are copied together.
            breaks = np.flatnonzero((np.diff(some) != 1) | (np.diff(part_of[some]) != 0)) + 1
            of_piece = part_of[some[np.r_[0, breaks]]]
            begin = (some[np.r_[0, breaks]] - first[of_piece]).tolist()
            end = (some[np.r_[breaks - 1, -1]] - first[of_piece] + 1).tolist()
            pieces = list(zip(of_piece.tolist(), begin, end, strict=True))
            large = {
                name: np.concatenate(
                    [parts[p].large[name][starts[name][p][b] : starts[name][p][e]] for p, b, e in pieces]
                )
                for name in parts[0].large
            }
            yield cls(large, {name: values[some] for name, values in sizes.items()})

    def _counts(self, name: str) -> np.ndarray:
        """Return how many values each read has in a large column."""
        if name == "reads.words":
            return words_for(self.sizes["lengths"])
        if name == "reads.qualities":
            return self.sizes["lengths"]
        return self.sizes["covered" if name.startswith("covered.") else "unknown"]

    @classmethod
    def of(cls, made: Consensus, given: Reads) -> Self:
        """Return the consensus of some reads as a part.

        Parameters
        ----------
        made : Consensus
        given : Reads
            The reads before correction.
        """
        lengths = np.diff(made.offsets)
        unknown = runs_of(made.codes == UNKNOWN, made.offsets)
        covered = runs_of(made.depth >= CONFIRMED_DEPTH, made.offsets)
        return cls(
            {
                "reads.words": pack_codes(made.codes, made.offsets, offsets_of(words_for(lengths))),
                "reads.qualities": _with_old_qualities(made, given),
                "reads.unknown_start": unknown[0],
                "reads.unknown_end": unknown[1],
                "covered.start": covered[0],
                "covered.end": covered[1],
            },
            {
                "lengths": lengths,
                "unknown": unknown[2],
                "covered": covered[2],
                "depth": _mean_depth(made, lengths),
                "counts": made.counts,
            },
        )


class ConsensusWriter:
    """Writes the consensus of all reads, part by part, to the columns of `ReadConsensus`.

    Parameters
    ----------
    artifact : Artifact
    """

    def __init__(self, artifact: Artifact) -> None:
        self._columns = ArrayWriter(artifact)
        self._sizes: list[dict[str, np.ndarray]] = []
        self.add(ConsensusPart.of(joined([]), Reads.empty()))  # so that all columns are there

    def add(self, part: ConsensusPart) -> None:
        """Append a part."""
        for name, values in part.large.items():
            self._columns.append(name, values)
        self._sizes.append(part.sizes)

    def add_rows(self, rows: Rows) -> None:
        """Append rows to those of `Leaders`."""
        for field in Rows.fields_of("column"):
            self._columns.append(f"rows.{field.name}", getattr(rows, field.name))

    def add_numbers(self, numbers: np.ndarray) -> None:
        """Append numbers to those of `Leaders`."""
        self._columns.append("numbers", numbers)

    def finish(self) -> None:
        """Write the columns with one value a read."""
        sizes = {name: np.concatenate([part[name] for part in self._sizes]) for name in self._sizes[0]}
        lengths = sizes["lengths"]
        columns = {
            "reads.lengths": lengths,
            "reads.word_offsets": offsets_of(words_for(lengths)),
            "reads.unknown_offsets": offsets_of(sizes["unknown"]),
            "reads.quality_offsets": offsets_of(lengths),
            "covered.depth": sizes["depth"],
            "covered.offsets": offsets_of(sizes["covered"]),
            "counts": sizes["counts"],
        }
        for name, values in columns.items():
            self._columns.append(name, values)


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
