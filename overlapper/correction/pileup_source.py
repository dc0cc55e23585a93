"""Where pileups come from: rows by target and reads, in memory or on disk, loaded as far as they fit.

Without a limit of memory all targets are one block, and nothing is copied.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from overlapper.correction.pileups import WIDEN, Pileups, Rows, nearest_divergence, rows_of
from overlapper.io.artifacts import Artifact
from overlapper.io.memory_artifacts import MemoryArtifact
from overlapper.io.read_columns import ReadColumns
from overlapper.runtime.threads import cut_evenly, cut_falling, even_ranges, share_for_threads
from overlapper.tables import Overlaps, Reads
from overlapper.tables.ragged import offsets_of
from overlapper.tables.samples import spread

COLUMNS = {field.name: np.dtype(field.metadata["dtype"]) for field in Rows.fields_of("column")}
_ROW = np.dtype(list(COLUMNS.items()))
ROW_BYTES = _ROW.itemsize
_BUCKET_ROWS = 1 << 18
"""Average number of rows of a bucket, the range of targets whose rows are sorted together."""
_PART_ROWS, _BASES_OF_ROW = 1 << 16, 64
"""About the number of rows of a part (`rows_in_parts`); so many bases of targets count as one."""
_BYTES_OF_ROW = 4 * ROW_BYTES
"""Of memory in a block: four copies of a row at most."""
_PLACED_BITS, _LOW = 16, 0xFFFF
BLOCK_OF_WORKER = 1 << 22
"""Bases of targets of a block for a worker: the more, the fewer reads are loaded again for another one."""


def write_rows(
    artifact: Artifact, overlaps: Iterable[Overlaps], lengths: np.ndarray, expected: int | None, threads: int
) -> None:
    """Write the rows of overlaps that come in parts (`overlapper.correction.pileups.rows_of`), by target.

    Parameters
    ----------
    artifact : Artifact
    overlaps : iterable of Overlaps
    lengths : ndarray of int64, shape (reads,)
    expected : int or None
        About the number of overlaps, of whose rows some are sorted at a time; None sorts all at once.
    threads : int
        Changes nothing but the time.
    """
    if expected is None:
        sorted_rows = iter([(0, len(lengths), rows_of(Overlaps.concat(list(overlaps)), threads))])
    else:
        sorted_rows = _sorted_by_buckets(artifact, overlaps, lengths, expected, threads)
    of_target, nearest = np.zeros(len(lengths), np.int64), np.full(len(lengths), np.nan, np.float32)
    for name, dtype in COLUMNS.items():
        artifact.save(name, np.empty(0, dtype))
    for first, stop, rows in sorted_rows:
        target = rows.target - np.int32(first)
        of_target[first:stop] = np.bincount(target, minlength=stop - first)
        # An overlap is a row of either read, so that its rows as a target are those as a read.
        nearest[first:stop] = nearest_divergence(target, rows.divergence, stop - first)
        for name in COLUMNS:
            artifact.append(name, getattr(rows, name))
    count = int(of_target.sum())
    artifact.save("first", offsets_of(of_target))
    artifact.save("nearest", nearest)
    artifact.facts |= {"overlaps": count // 2, "divergence": _median(artifact, count)}


def _sorted_by_buckets(
    artifact: Artifact, overlaps: Iterable[Overlaps], lengths: np.ndarray, expected: int, threads: int
) -> Iterator[tuple[int, int, Rows]]:
    """Yield ranges of targets with their rows, by target; the rows wait in files, one for each range."""
    bounds = cut_evenly(lengths, max(1, int(lengths.sum()) * _BUCKET_ROWS // max(2 * expected, 1)))
    for part in overlaps:
        rows = rows_of(part, threads)
        cuts = np.searchsorted(rows.target, bounds).tolist()
        for bucket, (start, stop) in enumerate(itertools.pairwise(cuts)):
            if stop > start:
                packed = np.empty(stop - start, _ROW)
                for name in COLUMNS:
                    packed[name] = getattr(rows, name)[start:stop]
                artifact.append(f"bucket-{bucket}", packed)
    for bucket, (first, stop) in enumerate(itertools.pairwise(bounds.tolist())):
        if f"bucket-{bucket}" in artifact.named:
            packed = artifact.load(f"bucket-{bucket}", _ROW)
            artifact.remove(f"bucket-{bucket}")
            packed = packed[np.argsort(packed["target"], kind="stable")]
            yield first, stop, Rows(*(np.ascontiguousarray(packed[name]) for name in COLUMNS))


def _median(artifact: Artifact, n: int) -> float:
    """Return `Rows.typical_divergence` of ``n`` rows, by a radix selection of 16 bits at a time.

    Divergences are not negative, so that their bits, as integers, have the same order.
    """

    def bits() -> Iterator[np.ndarray]:
        for start in range(0, n, _BUCKET_ROWS):
            values = artifact.load("divergence", np.float32, start, min(start + _BUCKET_ROWS, n))
            yield values[~np.isnan(values)].view(np.uint32)

    def counted(values: Iterable[np.ndarray]) -> np.ndarray:
        counts = np.zeros(1 << _PLACED_BITS, np.int64)
        for some in values:
            counts += np.bincount(some, minlength=len(counts))
        return offsets_of(counts)

    by_high = counted(some >> _PLACED_BITS for some in bits())
    known = int(by_high[-1])
    if not known:
        return 1.0
    middle = []
    for place in ((known - 1) // 2, known // 2):
        high = int(np.searchsorted(by_high, place, "right")) - 1
        by_low = counted(some[some >> _PLACED_BITS == high] & _LOW for some in bits())
        low = int(np.searchsorted(by_low, place - by_high[high], "right")) - 1
        middle.append(high << _PLACED_BITS | low)
    return float(np.median(np.array(middle, np.uint32).view(np.float32)))


class Taken(NamedTuple):
    """Some of the reads of columns, or reads that are loaded already."""

    columns: ReadColumns | Reads
    """ReadColumns or Reads."""
    numbers: np.ndarray | None = None
    """int64; of columns."""

    def load(self) -> Reads:
        """Return the reads."""
        if isinstance(self.columns, Reads):
            return self.columns
        assert self.numbers is not None
        return self.columns.take(self.numbers)


class PileupBlock(NamedTuple):
    """Pileups of successive targets, loaded by whoever works on them.

    It is what a worker is sent (`overlapper.overlap.distributed.Part`).
    """

    first: int
    """Number of the first target."""
    targets: Taken
    reads: Taken
    make: Callable[[Reads, Reads], Pileups]
    """Gives the pileups of targets and reads."""

    def load(self) -> Pileups:
        """Return the pileups."""
        targets = self.targets.load()
        return self.make(targets, targets if self.targets is self.reads else self.reads.load())

    @property
    def folders(self) -> list[Path]:
        """Of targets and reads that are not loaded."""
        both = self.targets.columns, self.reads.columns
        return [columns.artifact.folder for columns in both if isinstance(columns, ReadColumns)]

    def whole(self) -> Self:
        """Return the same with targets and reads loaded."""
        return self._replace(targets=Taken(self.targets.load()), reads=Taken(self.reads.load()))


@dataclasses.dataclass(frozen=True, eq=False)
class PileupSource:
    """Targets and the reads that lie on them, of which pileups are made for as many as fit at a time."""

    targets: ReadColumns
    reads: ReadColumns
    rows: Artifact
    """Columns of the rows, sorted by target."""
    first: np.ndarray
    """int64, shape (targets + 1,); where the rows of each target start."""
    typical_divergence: float
    nearest_divergence: np.ndarray
    """float32, shape (reads,); see `overlapper.correction.pileups.nearest_divergence`."""
    room: int | None
    """Bytes of memory for the reads and rows of a block; None for all at once."""
    targets_vote: bool
    reach: int = WIDEN
    """`targets_vote`, `reach`: see `overlapper.correction.pileups.Pileups`."""

    @classmethod
    def of_reads(cls, reads: ReadColumns, written: Artifact, room: int | None) -> Self:
        """Return reads as targets of each other; their rows are as `write_rows` leaves them."""
        first, nearest = written.load("first", np.int64), written.load("nearest", np.float32)
        divergence = written.facts["divergence"]
        return cls(reads, reads, written, first, divergence, nearest, room, targets_vote=True)

    @classmethod
    def of_rows(
        cls,
        targets: ReadColumns,
        reads: ReadColumns,
        rows: Rows,
        room: int | None,
        *,
        targets_vote: bool,
        divergence: float | None = None,
        reach: int = WIDEN,
    ) -> Self:
        """Return pileups of rows that are in memory; without a ``divergence`` their median is typical."""
        if (np.diff(rows.target) < 0).any():
            rows = rows.take(np.argsort(rows.target, kind="stable"))
        columns = MemoryArtifact()
        for name in COLUMNS:
            columns.save(name, getattr(rows, name))
        first = np.searchsorted(rows.target, np.arange(len(targets) + 1))
        nearest = nearest_divergence(rows.read, rows.divergence, len(reads))
        typical = rows.typical_divergence() if divergence is None else divergence
        return cls(targets, reads, columns, first, typical, nearest, room, targets_vote, reach)

    def __len__(self) -> int:
        return len(self.targets)

    def rows_on(self, start: int, stop: int) -> Rows:
        """Return the rows on targets ``[start, stop)``."""
        low, high = int(self.first[start]), int(self.first[stop])
        return Rows(*(self.rows.load(name, dtype, low, high) for name, dtype in COLUMNS.items()))

    def blocks(self, targets: np.ndarray | None = None, workers: int = 0) -> Iterator[PileupBlock]:
        """Yield pileups of successive targets.

        Parameters
        ----------
        targets : ndarray of int64, optional
            Only these targets, ascending; they are numbered anew.
        workers : int
            Of a cluster, to which blocks are sent, in a limit of memory; 0 for this process alone.
        """
        numbers = np.arange(len(self)) if targets is None else targets
        for start, stop in self._cuts(numbers, workers):
            yield self._block(start, numbers[start:stop], self.typical_divergence)

    def sample(self, wanted: int) -> Pileups:
        """Return the pileups of ``wanted`` targets, evenly spread."""
        return self._block(0, spread(len(self), wanted), None).load()

    def _cuts(self, numbers: np.ndarray, workers: int) -> Iterator[tuple[int, int]]:
        """Yield the ranges of targets, of these numbers, for each of which there is memory and a worker."""
        if not workers:
            yield from self._that_fit(numbers, 0, len(numbers))
            return
        lengths = self.targets.lengths[numbers]
        share = share_for_threads(int(lengths.sum()), BLOCK_OF_WORKER, workers)
        for start, stop in itertools.pairwise(cut_falling(lengths, share, workers).tolist()):
            firsts, sizes = self._places_of(numbers[start:stop])
            read = np.unique(self.rows.gathered("read", np.int32, firsts, sizes))
            taken = lengths[start:stop].sum() + _BYTES_OF_ROW * sizes.sum() + self.reads.bytes_of(read).sum()
            if self.room is None or taken <= self.room:
                yield start, stop
            else:
                yield from self._that_fit(numbers, start, stop)

    def _that_fit(self, numbers: np.ndarray, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the ranges of targets within one that fit into memory with their reads and rows."""
        if self.room is None:
            yield from [(start, end)] if end > start else []
            return
        loaded, weights = np.zeros(len(self.reads), bool), self.reads.bytes_of_each
        size = 0
        for place, target in enumerate(numbers[start:end].tolist(), start):
            low, high = int(self.first[target]), int(self.first[target + 1])
            on = np.unique(self.rows.load("read", np.int32, low, high))
            own = int(self.targets.lengths[target]) + _BYTES_OF_ROW * (high - low)
            taken = own + int(weights[on[~loaded[on]]].sum())
            if place > start and size + taken > self.room:
                yield start, place
                loaded[:] = False
                start, size, taken = place, 0, own + int(weights[on].sum())
            loaded[on] = True
            size += taken
        if start < end:
            yield start, end

    def _block(self, first: int, targets: np.ndarray, divergence: float | None) -> PileupBlock:
        """Return a block of some targets (ascending)."""
        rows, (_, sizes) = self._rows_of(targets), self._places_of(targets)
        rows = dataclasses.replace(rows, target=np.repeat(np.arange(len(targets), dtype=np.int32), sizes))
        nearest, numbers = self.nearest_divergence, None
        if self._all_reads is None:
            numbers = np.unique(rows.read)
            rows = dataclasses.replace(rows, read=np.searchsorted(numbers, rows.read).astype(np.int32))
            reads, nearest, all_are_targets = Taken(self.reads, numbers), nearest[numbers], False
        else:
            reads = Taken(self._all_reads)
            all_are_targets = self.targets is self.reads and len(targets) == len(self.reads)
        make = partial(
            Pileups, rows=rows, targets_vote=self.targets_vote, divergence=divergence, reach=self.reach,
            nearest=nearest, numbers=numbers,
        )  # fmt: skip
        return PileupBlock(first, reads if all_are_targets else Taken(self.targets, targets), reads, make)

    def _rows_of(self, targets: np.ndarray) -> Rows:
        """Return the rows on some targets (ascending)."""
        first, stop = (int(targets[0]), int(targets[-1]) + 1) if len(targets) else (0, 0)
        if stop - first == len(targets):
            return self.rows_on(first, stop)
        firsts, sizes = self._places_of(targets)
        return Rows(*(self.rows.gathered(name, dtype, firsts, sizes) for name, dtype in COLUMNS.items()))

    def _places_of(self, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return where the rows of some targets start, and how many each has."""
        return self.first[targets], self.first[targets + 1] - self.first[targets]

    @functools.cached_property
    def _all_reads(self) -> Reads | None:
        """All reads, if there is no limit of memory."""
        return self.reads.whole() if self.room is None else None


class RowsOfTargets(NamedTuple):
    """The rows of a range of targets."""

    rows: Rows
    first: np.ndarray
    """int64, shape (targets + 1,); where those of each target start."""
    lengths: np.ndarray
    """int64, shape (targets,); bases of each target."""


def rows_in_parts(pileups: Pileups | PileupSource) -> Iterator[RowsOfTargets]:
    """Yield the rows of successive targets in parts of about as many rows and bases."""
    rows_of_each = np.diff(pileups.first)
    for start, stop in even_ranges(rows_of_each + pileups.targets.lengths // _BASES_OF_ROW, _PART_ROWS):
        first = offsets_of(rows_of_each[start:stop])
        yield RowsOfTargets(pileups.rows_on(start, stop), first, pileups.targets.lengths[start:stop])
