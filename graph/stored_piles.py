"""Piles of reads that are on disk: as many targets at a time as fit into memory with the reads on them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator

import numpy as np

from graph.piles import Piles, Rows, rows_of, spread
from overlapper.io.artifacts import Artifact
from overlapper.io.stored_reads import StoredReads
from overlapper.tables import Overlaps, Reads
from overlapper.tables.base import offsets_of
from overlapper.threads import cut_evenly

ROW = np.dtype([(field.name, field.metadata["dtype"]) for field in Rows.fields_of("column")])
_BUCKET_ROWS = 1 << 18
"""Rows that are put by target at a time, where they are as many everywhere."""
_PLACED_BITS, _LOW = 16, 0xFFFF


def write_rows(artifact: Artifact, overlaps: Iterable[Overlaps], lengths: np.ndarray, expected: int) -> None:
    """Write what `graph.piles.rows_of` gives of overlaps that come in parts.

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


@dataclasses.dataclass(frozen=True, eq=False)
class StoredPiles:
    """Reads as targets of each other, on disk; see `graph.piles.Piles`.

    Attributes
    ----------
    stored : StoredReads
    artifact : Artifact
        The rows, as `write_rows` leaves them.
    first : ndarray of int64, shape (reads + 1,)
        Where the rows of each target start.
    room : int
        Bytes that reads and rows may take at a time.
    """

    stored: StoredReads
    artifact: Artifact
    first: np.ndarray
    room: int
    targets_vote = True
    reads = None

    @property
    def targets(self) -> Reads:
        """Lengths of the targets."""
        return Reads.without_bases([""] * len(self.stored), self.stored.lengths)

    def blocks(self) -> Iterator[tuple[int, Piles]]:
        """Yield piles of targets that follow each other, and the number of the first of them."""
        held, weights = np.zeros(len(self.stored), bool), self.stored.bytes_of_each
        start, size, rows = 0, 0, [np.empty(0, ROW)]
        for target in range(len(self.stored)):
            on = self._rows_on(target)
            reads = np.append(on["read"], target)
            more = _unheld(held, reads)
            # What is a target is there twice.
            taken = int(weights[more].sum()) + int(weights[target]) + 3 * on.nbytes
            if size and size + taken > self.room:
                yield start, self._piles(np.arange(start, target), np.concatenate(rows))
                held[:] = False
                start, size, rows = target, 0, []
                taken = int(weights[_unheld(held, reads)].sum()) + int(weights[target]) + 3 * on.nbytes
            held[reads] = True
            size += taken
            rows.append(on)
        yield start, self._piles(np.arange(start, len(self.stored)), np.concatenate(rows))

    def sample(self, wanted: int) -> Piles:
        """Return the piles of so many of the targets, evenly spread."""
        targets = spread(len(self.stored), wanted)
        rows = [np.empty(0, ROW), *(self._rows_on(target) for target in targets.tolist())]
        return dataclasses.replace(self._piles(targets, np.concatenate(rows)), divergence=None)

    def _rows_on(self, target: int) -> np.ndarray:
        return self.artifact.load("rows", ROW, int(self.first[target]), int(self.first[target + 1]))

    def _piles(self, targets: np.ndarray, packed: np.ndarray) -> Piles:
        """Return the piles of some targets, ascending, of which the rows are given."""
        rows = _unpacked(packed)
        needed = np.unique(np.concatenate([targets, rows.read]))
        reads = self.stored.take(needed)
        rows = dataclasses.replace(
            rows, target=np.searchsorted(targets, rows.target), read=np.searchsorted(needed, rows.read)
        )
        on = reads.take(np.searchsorted(needed, targets))
        return Piles(on, reads, rows, targets_vote=True, divergence=self.artifact.facts["divergence"])


def _unheld(held: np.ndarray, reads: np.ndarray) -> np.ndarray:
    """Return which of some reads are not held, each once."""
    return np.unique(reads[~held[reads]])
