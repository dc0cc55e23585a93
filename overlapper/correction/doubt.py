"""Bases of contigs that are in doubt, and why: what ``contigs.doubt.bed`` lists."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator
from typing import Self

import numpy as np

from overlapper.tables import Reads
from overlapper.tables.base import Table, column
from overlapper.tables.ragged import runs_of

LOW_QUALITY = 30
"""Bases of a lower quality are in doubt: with an error in 1,000 bases or more. Judged in
``docs/notes/qualities.md``."""


class Reason(enum.IntEnum):
    """Why bases are in doubt; its name in lower case is that of the table."""

    UNCONFIRMED = 0
    """Too few reads voted or agree. The figure is the Phred value of the error rate of the reads."""
    LOW_QUALITY = 1
    """The figure is the Phred value of the mean chance of an error."""
    DEEP = 2
    """Of several copies, perhaps (`overlapper.assembly.deep`). The figure is the depth compared with the
    median of the contig."""
    MENDED = 3
    """Most reads contradicted what was there, and gave what is there. The figure is their number."""
    CONTRADICTED = 4
    """Most reads contradict what is there. The figure is their number."""
    BROKEN = 5
    """Reads end there on either side, and one or two go across. The figure is how many end on the side that
    has fewer."""
    UNCROSSED = 6
    """The same, but none goes across."""
    CUT = 7
    """The contig was cut there (`overlapper.assembly.cuts`). The figure is that of the reason."""
    UNDECIDED = 8
    """At most one read more has what is there than has something else (`overlapper.assembly.undecided`). The
    figure is how many reads have it."""
    STRANDS = 9
    """Most reads of one strand have something else (`overlapper.assembly.disagreeing`). The figure is how
    many."""


def turned_starts(
    contig: np.ndarray,
    start: np.ndarray,
    end: np.ndarray,
    first: np.ndarray,
    reverse: np.ndarray,
    lengths: np.ndarray,
) -> np.ndarray:
    """Return where stretches of contigs start that begin at another base, some of them on the other strand.

    Parameters
    ----------
    contig, start, end : ndarray of int, shape (n,)
        The stretches, half open.
    first : ndarray of int64, shape (contigs,)
        The base that becomes the first one.
    reverse : ndarray of bool, shape (contigs,)
        Whether the contig goes on from there on the other strand.
    lengths : ndarray of int64, shape (contigs,)
    """
    first, reverse = first[contig], reverse[contig]
    turned = np.where(reverse, first + 1 - end, start - first) % lengths[contig]
    return np.where((first > 0) | reverse, turned, start)


@dataclasses.dataclass(frozen=True, eq=False)
class OnContigs(Table):
    """Stretches of contigs."""

    contig: np.ndarray = column("i4")
    """int32, shape (n,); -1 for none."""
    start: np.ndarray = column("i8")
    end: np.ndarray = column("i8")
    """`start`, `end`: int64, shape (n,); half open."""

    def turned(self, first: np.ndarray, reverse: np.ndarray, lengths: np.ndarray) -> Self:
        """Return the same of contigs that begin at another base, some of them on the other strand.

        An end may lie beyond that of a circle.
        """
        start = turned_starts(self.contig, self.start, self.end, first, reverse, lengths)
        start = np.where(self.contig >= 0, start, self.start)
        return dataclasses.replace(self, start=start, end=start + self.end - self.start)

    def without_ends(self, cut: np.ndarray, lengths: np.ndarray) -> Self:
        """Return the same of contigs without some bases of both ends.

        Parameters
        ----------
        cut : ndarray of int64, shape (contigs, 2)
        lengths : ndarray of int64, shape (contigs,)
            Before.
        """
        behind = np.where(cut.any(axis=1), lengths - cut.sum(axis=1), np.iinfo(np.int64).max)[self.contig]
        start, end = ((at - cut[self.contig, 0]).clip(0, behind) for at in (self.start, self.end))
        return dataclasses.replace(self, start=start, end=end)


@dataclasses.dataclass(frozen=True, eq=False)
class Doubt(OnContigs):
    """Stretches of contigs that are in doubt."""

    reason: np.ndarray = column("u1")
    """uint8, shape (n,); see `Reason`."""
    figure: np.ndarray = column("f4")
    """float32, shape (n,)."""

    def contradicted(self) -> Self:
        """Return the rows that say that most reads contradict the contig."""
        return self.take(np.isin(self.reason, (Reason.CONTRADICTED, Reason.BROKEN, Reason.UNCROSSED)))


def of_qualities(contigs: Reads, error_rate: float) -> Doubt:
    """Return the bases of contigs that have a low quality, or none: these are as good as those of reads."""
    parts = [Doubt.empty()]
    for contig in range(len(contigs)):
        quality = contigs.qualities_of(contig)
        assert quality is not None
        chance = np.where(quality > 0, 10 ** (-0.1 * quality), error_rate)
        summed = np.append(0.0, np.cumsum(chance))
        low = (quality > 0) & (quality < LOW_QUALITY)
        for reason, some in ((Reason.UNCONFIRMED, quality == 0), (Reason.LOW_QUALITY, low)):
            start, end, runs = runs_of(some, np.array([0, len(quality)]))
            mean = np.maximum(summed[end] - summed[start], 1e-9) / (end - start)
            parts.append(
                Doubt(np.repeat(contig, runs), start, end, np.repeat(reason, runs), -10 * np.log10(mean))
            )
    return Doubt.concat(parts)


def bed(doubt: Doubt, contigs: Reads) -> Iterator[str]:
    """Yield tab-separated lines, by place: contig, start, end (half open), reason, and its figure.

    Stretches across the end of a circle are of two lines; what lies outside of contigs is left out.
    """
    names, lengths = contigs.names, contigs.lengths[doubt.contig]
    low, high = doubt.start.clip(0), np.minimum(doubt.end, lengths)
    around = np.flatnonzero(doubt.end > lengths)
    rows = np.concatenate([np.arange(len(doubt)), around])
    start = np.concatenate([low, np.zeros(len(around), np.int64)])
    end = np.concatenate([high, np.minimum(doubt.end - lengths, lengths)[around]])
    order = np.lexsort((doubt.reason[rows], end, start, doubt.contig[rows]))
    for at in order[(start < end)[order]].tolist():
        row = rows[at]
        reason = Reason(doubt.reason[row]).name.lower()
        yield f"{names[doubt.contig[row]]}\t{start[at]}\t{end[at]}\t{reason}\t{doubt.figure[row]:.1f}"
