"""Pileups of reads on disk, loaded for as many targets at a time as fit into memory with their reads."""

from __future__ import annotations

import abc
import dataclasses
import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from overlapper.correct.pileups import WIDEN, Pileups, Rows, nearest_divergence, rows_of
from overlapper.io.artifacts import Artifact
from overlapper.io.stored_reads import StoredReads
from overlapper.runtime.threads import cut_evenly, even_ranges
from overlapper.tables import Overlaps, Reads
from overlapper.tables.ragged import offsets_of
from overlapper.tables.samples import spread

ROW = np.dtype([(field.name, field.metadata["dtype"]) for field in Rows.fields_of("column")])
_BUCKET_ROWS = 1 << 18
"""Average number of rows of a bucket, the range of targets whose rows are sorted together."""
_PART_ROWS, _BASES_OF_ROW = 1 << 16, 64
"""About the number of rows of a part (`rows_in_parts`); so many bases of targets count as one."""
_ROW_COPIES = 4
"""Most copies of the rows of a block that are in memory."""
_PLACED_BITS, _LOW = 16, 0xFFFF


def write_rows(artifact: Artifact, overlaps: Iterable[Overlaps], lengths: np.ndarray, expected: int) -> None:
    """Write the rows of overlaps that come in parts (`overlapper.correct.pileups.rows_of`), by target.

    Parameters
    ----------
    artifact : Artifact
    overlaps : iterable of Overlaps
    lengths : ndarray of int64, shape (reads,)
    expected : int
        About the number of overlaps.
    """
    share = int(lengths.sum()) * _BUCKET_ROWS // max(2 * expected, 1)
    bounds, count = cut_evenly(lengths, max(1, share)), 0
    for part in overlaps:
        rows = rows_of(part)
        cuts = np.searchsorted(rows.target, bounds).tolist()
        for bucket, (start, stop) in enumerate(itertools.pairwise(cuts)):
            if stop > start:
                artifact.append(f"bucket-{bucket}", _packed(rows.rows(start, stop)))
        count += len(part)
    of_target, nearest = np.zeros(len(lengths), np.int64), np.full(len(lengths), np.nan, np.float32)
    artifact.save("rows", np.empty(0, ROW))
    for bucket in range(len(bounds) - 1):
        if f"bucket-{bucket}" in artifact.named:
            packed = artifact.load(f"bucket-{bucket}", ROW)
            artifact.remove(f"bucket-{bucket}")
            artifact.append("rows", packed[np.argsort(packed["target"], kind="stable")])
            first, stop = int(bounds[bucket]), int(bounds[bucket + 1])
            target = packed["target"] - np.int32(first)
            of_target[first:stop] = np.bincount(target, minlength=stop - first)
            # An overlap is a row of either read, so that its rows as a target are those as a read.
            nearest[first:stop] = nearest_divergence(target, packed["divergence"], stop - first)
    artifact.save("first", offsets_of(of_target))
    artifact.save("nearest", nearest)
    artifact.facts |= {"overlaps": count, "divergence": _median(artifact, 2 * count)}


def _packed(rows: Rows) -> np.ndarray:
    packed = np.empty(len(rows), ROW)
    for name in ROW.names or ():
        packed[name] = getattr(rows, name)
    return packed


def _unpacked(packed: np.ndarray) -> Rows:
    return Rows(*(packed[name] for name in ROW.names or ()))


def _median(artifact: Artifact, n: int) -> float:
    """Return `Rows.typical_divergence` of rows on disk, by a radix selection of 16 bits at a time.

    Divergences are not negative, so that their bits, as integers, have the same order.
    """

    def bits() -> Iterator[np.ndarray]:
        for start in range(0, n, _BUCKET_ROWS):
            values = artifact.load("rows", ROW, start, min(start + _BUCKET_ROWS, n))["divergence"]
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


class StoredPileups(abc.ABC):
    """As `overlapper.correct.pileups.Pileups`, with reads on disk.

    Parameters
    ----------
    targets : Reads
        Only their lengths are used here.
    stored : StoredReads
    divergence : float
        Typical divergence of all rows.
    nearest : ndarray of float32, shape (reads,)
        `overlapper.correct.pileups.nearest_divergence` of the stored reads.
    room : int
        Bytes of memory for the reads and rows of a block.
    """

    targets_vote: bool
    first: np.ndarray
    reach = WIDEN

    def __init__(
        self, targets: Reads, stored: StoredReads, divergence: float, nearest: np.ndarray, room: int
    ) -> None:
        self.targets = targets
        self._stored = stored
        self.typical_divergence = divergence
        self._nearest = nearest
        self._room = room

    @abc.abstractmethod
    def rows_on(self, start: int, stop: int) -> Rows:
        """Return the rows on targets ``[start, stop)``."""

    @abc.abstractmethod
    def taken(self, targets: np.ndarray) -> Reads:
        """Return some of the targets, with their bases."""

    def blocks(self, targets: np.ndarray | None = None) -> Iterator[tuple[int, Pileups]]:
        """Yield pileups of successive targets, each with the number of its first target.

        Parameters
        ----------
        targets : ndarray of int64, optional
            Only these targets, ascending; they are numbered anew.
        """
        numbers = np.arange(len(self.targets)) if targets is None else targets
        held, weights = np.zeros(len(self._stored), bool), self._stored.bytes_of_each
        start, size = 0, 0
        rows: list[Rows] = []
        for place, target in enumerate(numbers.tolist()):
            on = self.rows_on(target, target + 1)
            own = int(self.targets.lengths[target]) + _ROW_COPIES * on.nbytes
            taken = own + int(weights[np.unique(on.read[~held[on.read]])].sum())
            if rows and size + taken > self._room:
                yield start, self._pileups(numbers[start:place], rows)
                held[:] = False
                start, size, rows = place, 0, []
                taken = own + int(weights[np.unique(on.read)].sum())
            held[on.read] = True
            size += taken
            rows.append(on)
        if rows:
            yield start, self._pileups(numbers[start:], rows)

    def sample(self, wanted: int) -> Pileups:
        """Return the pileups of ``wanted`` targets, evenly spread."""
        targets = spread(len(self.targets), wanted)
        pileups = self._pileups(targets, [self.rows_on(target, target + 1) for target in targets.tolist()])
        return dataclasses.replace(pileups, divergence=None)

    def _pileups(self, targets: np.ndarray, parts: list[Rows]) -> Pileups:
        """Load the reads of some targets (ascending), whose rows are given; return their pileups."""
        rows = Rows.concat(parts)
        needed = np.unique(rows.read)
        rows = dataclasses.replace(
            rows, target=np.searchsorted(targets, rows.target), read=np.searchsorted(needed, rows.read)
        )
        reads = self._stored.take(needed)
        return Pileups(
            self.taken(targets), reads, rows, self.targets_vote, self.typical_divergence, self.reach,
            self._nearest[needed], needed,
        )  # fmt: skip


class PileupsOfReads(StoredPileups):
    """Reads as targets of each other.

    Parameters
    ----------
    stored : StoredReads
    artifact : Artifact
        The rows, as `write_rows` leaves them.
    room : int
    """

    targets_vote = True

    def __init__(self, stored: StoredReads, artifact: Artifact, room: int) -> None:
        nearest = artifact.load("nearest", np.float32)
        super().__init__(_heads(stored), stored, artifact.facts["divergence"], nearest, room)
        self._artifact = artifact
        self.first = artifact.load("first", np.int64)

    def rows_on(self, start: int, stop: int) -> Rows:
        """See `StoredPileups`."""
        return _unpacked(self._artifact.load("rows", ROW, int(self.first[start]), int(self.first[stop])))

    def taken(self, targets: np.ndarray) -> Reads:
        """See `StoredPileups`."""
        return self._stored.take(targets)


class _RowsInMemory(StoredPileups):
    """Stored reads on targets whose rows are in memory.

    Parameters
    ----------
    targets : Reads or StoredReads
    stored : StoredReads
    rows : Rows
    divergence : float
    room : int
    """

    def __init__(
        self, targets: Reads | StoredReads, stored: StoredReads, rows: Rows, divergence: float, room: int
    ) -> None:
        nearest = nearest_divergence(rows.read, rows.divergence, len(stored))
        super().__init__(_heads(targets), stored, divergence, nearest, room)
        self._targets = targets
        self._rows = Pileups(self.targets, Reads.empty(), rows, targets_vote=self.targets_vote)
        self.first = self._rows.first

    def rows_on(self, start: int, stop: int) -> Rows:
        """See `StoredPileups`."""
        return self._rows.rows_on(start, stop)

    def taken(self, targets: np.ndarray) -> Reads:
        """See `StoredPileups`."""
        return self._targets.take(targets)


class PileupsOfUnitigs(_RowsInMemory):
    """Stored reads on unitigs, or windows of these."""

    targets_vote = False


class PileupsOfFollowers(_RowsInMemory):
    """Corrected leaders on the reads as they were (`overlapper.correct.leaders`)."""

    targets_vote = True
    reach = 0


def _heads(reads: Reads | StoredReads) -> Reads:
    """Return reads of these lengths without bases."""
    return Reads.without_bases([""] * len(reads), reads.lengths)


class RowsOfTargets(NamedTuple):
    """The rows of a range of targets.

    Attributes
    ----------
    rows : Rows
    first : ndarray of int64, shape (targets + 1,)
        Where those of each target start.
    lengths : ndarray of int64, shape (targets,)
        Bases of each target.
    """

    rows: Rows
    first: np.ndarray
    lengths: np.ndarray


def rows_in_parts(pileups: Pileups | StoredPileups) -> Iterator[RowsOfTargets]:
    """Yield the rows of successive targets in parts of about as many rows and bases."""
    rows_of_each = np.diff(pileups.first)
    for start, stop in even_ranges(rows_of_each + pileups.targets.lengths // _BASES_OF_ROW, _PART_ROWS):
        first = offsets_of(rows_of_each[start:stop])
        yield RowsOfTargets(pileups.rows_on(start, stop), first, pileups.targets.lengths[start:stop])
