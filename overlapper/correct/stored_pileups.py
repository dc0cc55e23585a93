"""Pileups of reads that are on disk: as many targets at a time as fit into memory with the reads on them."""

from __future__ import annotations

import abc
import dataclasses
import itertools
from collections.abc import Iterable, Iterator

import numpy as np

from overlapper.correct.pileups import WIDEN, Pileups, Rows, rows_of
from overlapper.io.artifacts import Artifact
from overlapper.io.stored_reads import StoredReads
from overlapper.runtime.threads import cut_evenly
from overlapper.tables import Overlaps, Reads
from overlapper.tables.base import offsets_of, spread

ROW = np.dtype([(field.name, field.metadata["dtype"]) for field in Rows.fields_of("column")])
_BUCKET_ROWS = 1 << 18
"""Rows that are put by target at a time, where they are as many everywhere."""
_ROW_COPIES = 4
"""How often rows of a block are in memory, at most."""
_PLACED_BITS, _LOW = 16, 0xFFFF


def write_rows(artifact: Artifact, overlaps: Iterable[Overlaps], lengths: np.ndarray, expected: int) -> None:
    """Write what `overlapper.correct.pileups.rows_of` gives of overlaps that come in parts.

    Parameters
    ----------
    artifact : Artifact
    overlaps : iterable of Overlaps
    lengths : ndarray of int64, shape (reads,)
    expected : int
        Overlaps, about.
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
    of_target = np.zeros(len(lengths), np.int64)
    artifact.save("rows", np.empty(0, ROW))
    for bucket in range(len(bounds) - 1):
        if f"bucket-{bucket}" in artifact.named:
            packed = artifact.load(f"bucket-{bucket}", ROW)
            artifact.remove(f"bucket-{bucket}")
            artifact.append("rows", packed[np.argsort(packed["target"], kind="stable")])
            np.add.at(of_target, *np.unique(packed["target"], return_counts=True))
    artifact.save("first", offsets_of(of_target))
    artifact.facts |= {"overlaps": count, "divergence": _median(artifact, 2 * count)}


def _packed(rows: Rows) -> np.ndarray:
    packed = np.empty(len(rows), ROW)
    for name in ROW.names or ():
        packed[name] = getattr(rows, name)
    return packed


def _unpacked(packed: np.ndarray) -> Rows:
    return Rows(*(packed[name] for name in ROW.names or ()))


def _median(artifact: Artifact, n: int) -> float:
    """Return what `Rows.typical_divergence` gives of all rows, by counting them twice, by half of their bits.

    Divergences are not negative: their bits, read as integers, are in their order.
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
    """Targets and the reads that lie on them, which are on disk; see `overlapper.correct.pileups.Pileups`.

    Parameters
    ----------
    targets : Reads
        Lengths will do.
    stored : StoredReads
    divergence : float
        What is typical of all rows.
    room : int
        Bytes that reads and rows may take at a time.
    """

    targets_vote: bool
    first: np.ndarray
    reach = WIDEN
    reads = None

    def __init__(self, targets: Reads, stored: StoredReads, divergence: float, room: int) -> None:
        self.targets = targets
        self._stored = stored
        self.typical_divergence = divergence
        self._room = room

    @abc.abstractmethod
    def rows_on(self, start: int, stop: int) -> Rows:
        """Return the rows on targets ``[start, stop)``."""

    @abc.abstractmethod
    def taken(self, targets: np.ndarray) -> Reads:
        """Return some targets with their bases."""

    def blocks(self, targets: np.ndarray | None = None) -> Iterator[tuple[int, Pileups]]:
        """Yield pileups of targets that follow each other, and the number of the first of them.

        Parameters
        ----------
        targets : ndarray of int64, optional
            Some, ascending, among which they are numbered then.
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
        """Return the pileups of so many of the targets, evenly spread."""
        targets = spread(len(self.targets), wanted)
        pileups = self._pileups(targets, [self.rows_on(target, target + 1) for target in targets.tolist()])
        return dataclasses.replace(pileups, divergence=None)

    def _pileups(self, targets: np.ndarray, parts: list[Rows]) -> Pileups:
        """Return the pileups of some targets, ascending, from the rows of each."""
        rows = Rows.concat(parts)
        needed = np.unique(rows.read)
        rows = dataclasses.replace(
            rows, target=np.searchsorted(targets, rows.target), read=np.searchsorted(needed, rows.read)
        )
        reads = self._stored.take(needed)
        return Pileups(
            self.taken(targets), reads, rows, self.targets_vote, self.typical_divergence, self.reach, needed
        )


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
        heads = Reads.without_bases([""] * len(stored), stored.lengths)
        super().__init__(heads, stored, artifact.facts["divergence"], room)
        self._artifact = artifact
        self.first = artifact.load("first", np.int64)

    def rows_on(self, start: int, stop: int) -> Rows:
        """See `StoredPileups`."""
        return _unpacked(self._artifact.load("rows", ROW, int(self.first[start]), int(self.first[stop])))

    def taken(self, targets: np.ndarray) -> Reads:
        """See `StoredPileups`."""
        return self._stored.take(targets)


class PileupsOfUnitigs(StoredPileups):
    """Stored reads on targets that are in memory with their rows.

    Parameters
    ----------
    targets : Reads
    stored : StoredReads
    rows : Rows
    room : int
    """

    targets_vote = False

    def __init__(self, targets: Reads, stored: StoredReads, rows: Rows, room: int) -> None:
        super().__init__(targets, stored, rows.typical_divergence(), room)
        self._rows = Pileups(targets, Reads.empty(), rows, targets_vote=False)
        self.first = self._rows.first

    def rows_on(self, start: int, stop: int) -> Rows:
        """See `StoredPileups`."""
        return self._rows.rows_on(start, stop)

    def taken(self, targets: np.ndarray) -> Reads:
        """See `StoredPileups`."""
        return self.targets.take(targets)


class PileupsOfFollowers(StoredPileups):
    """Leaders on the reads that follow them (`overlapper.correct.leaders`); rows are in memory.

    Parameters
    ----------
    given : StoredReads
        All reads.
    leaders : StoredReads
        As they were corrected.
    rows : Rows
        Leaders on reads.
    divergence : float
        What is typical of the overlaps of the reads.
    room : int
    """

    targets_vote = True
    reach = 0

    def __init__(
        self, given: StoredReads, leaders: StoredReads, rows: Rows, divergence: float, room: int
    ) -> None:
        heads = Reads.without_bases([""] * len(given), given.lengths)
        super().__init__(heads, leaders, divergence, room)
        self._given = given
        self._rows = Pileups(heads, Reads.empty(), rows, targets_vote=True, divergence=divergence)
        self.first = self._rows.first

    def rows_on(self, start: int, stop: int) -> Rows:
        """See `StoredPileups`."""
        return self._rows.rows_on(start, stop)

    def taken(self, targets: np.ndarray) -> Reads:
        """See `StoredPileups`."""
        return self._given.take(targets)
