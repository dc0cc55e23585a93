"""Contigs as they are laid out, with the places of their reads."""

from __future__ import annotations

import dataclasses
from typing import Self

import numpy as np

from overlapper.correction.own_reads import OwnReads
from overlapper.correction.packed_reads import with_names
from overlapper.correction.uncovered import intervals_of
from overlapper.graph.layout import copies_of, unitig_names
from overlapper.tables import Reads


@dataclasses.dataclass(frozen=True)
class Contigs:
    """Contigs and their links."""

    sequences: Reads
    """Named by `overlapper.graph.layout.unitig_names`, longest unitig first; with qualities in the end."""
    circular: np.ndarray
    """bool, shape (n,)."""
    depth: np.ndarray
    """float64, shape (n,); reads that cover a base, in the layout."""
    reads: np.ndarray
    """int64, shape (n,); reads that they consist of, contained ones included."""
    link_source: np.ndarray
    link_target: np.ndarray
    """`link_source`, `link_target`: int64; ends that are joined: ``2 * contig``, or ``2 * contig + 1`` for
    its reverse complement."""
    link_overlap: np.ndarray
    """int32; bases that the reads of both ends share."""

    def __len__(self) -> int:
        return len(self.sequences)

    @property
    def copies(self) -> np.ndarray:
        """Estimated copies of every contig (`overlapper.graph.layout.copies_of`)."""
        return copies_of(self.depth, self.sequences.lengths)

    def median_depth(self) -> float:
        """Return the depth that half of the bases lie below; 0 without contigs."""
        order = np.argsort(self.depth, kind="stable")
        bases = np.cumsum(self.sequences.lengths[order])
        return float(self.depth[order][np.searchsorted(2 * bases, bases[-1])]) if len(bases) else 0.0

    def of_all(self, own: OwnReads, weights: np.ndarray) -> Self:
        """Return the contigs with the depth of all reads, of which some were set aside.

        Parameters
        ----------
        own : OwnReads
        weights : ndarray of float64, shape (reads,)
            For how many each read stands.
        """
        bases = own.r_end - own.r_start
        laid_out = np.bincount(own.unitig, bases, len(self))
        of_all = np.bincount(own.unitig, bases * weights[own.read], len(self))
        return dataclasses.replace(self, depth=self.depth * of_all / np.maximum(laid_out, 1))

    def ends_that_stay(self) -> np.ndarray:
        """Return a mask (shape (n, 2)) of the ends that are linked to others or to themselves."""
        stays = np.repeat(self.circular, 2).reshape(-1, 2)
        stays[self.link_source >> 1, 1 - (self.link_source & 1)] = True
        stays[self.link_target >> 1, self.link_target & 1] = True
        return stays


@dataclasses.dataclass(frozen=True)
class LaidOut:
    """Contigs before polishing, and the places of their reads."""

    contigs: Contigs
    reads: OwnReads
    carried: OwnReads = dataclasses.field(default_factory=OwnReads.empty)
    """What ultra-long reads go through without a name (`overlapper.assembly.passages`)."""

    def without_ends(self, cut: np.ndarray) -> Self:
        """Return the contigs without some bases of their ends, with what they have of the reads.

        Parameters
        ----------
        cut : ndarray of int64, shape (contigs, 2)
            0 for circles.
        """
        sequences = self.contigs.sequences
        start, end = cut[:, 0], sequences.lengths - cut[:, 1]

        def of(own: OwnReads) -> OwnReads:
            shorter = cut.sum(axis=1)[own.unitig] > 0
            return OwnReads.concat([own.take(~shorter), own_within(own.take(shorter), start, end)])

        sequences = intervals_of(sequences, start, end, sequences.names)
        contigs = dataclasses.replace(self.contigs, sequences=sequences)
        return type(self)(contigs, of(self.reads), of(self.carried))

    def take(self, kept: np.ndarray) -> Self:
        """Return some of the contigs in a given order, named by it, and the links among them."""
        contigs, number = self.contigs, np.full(len(self.contigs), -1)
        number[kept] = np.arange(len(kept))
        own, carried = (
            dataclasses.replace(rows, unitig=number[rows.unitig])
            for rows in (of.take(number[of.unitig] >= 0) for of in (self.reads, self.carried))
        )
        circular = contigs.circular[kept]
        stay = (number[contigs.link_source >> 1] >= 0) & (number[contigs.link_target >> 1] >= 0)
        source, target = (
            2 * number[ends[stay] >> 1] + (ends[stay] & 1)
            for ends in (contigs.link_source, contigs.link_target)
        )
        made = Contigs(
            with_names(contigs.sequences.take(kept), unitig_names(circular)), circular, contigs.depth[kept],
            contigs.reads[kept], source, target, contigs.link_overlap[stay],
        )  # fmt: skip
        return type(self)(made, own, carried)

    def longest_first(self) -> Self:
        """Return all contigs, the longest first."""
        return self.take(np.argsort(-self.contigs.sequences.lengths, kind="stable"))

    def beside(self, other: Self) -> Self:
        """Return these contigs and those of another layout."""
        one, more, n = self.contigs, other.contigs, np.int32(len(self.contigs))
        moved = dataclasses.replace(
            more, link_source=more.link_source + 2 * n, link_target=more.link_target + 2 * n
        )
        columns = [field.name for field in dataclasses.fields(Contigs)[1:]]
        made = Contigs(
            Reads.concat([one.sequences, more.sequences]),
            *(np.concatenate([getattr(one, name), getattr(moved, name)]) for name in columns),
        )
        own = dataclasses.replace(other.reads, unitig=other.reads.unitig + n)
        return type(self)(made, OwnReads.concat([self.reads, own])).longest_first()


def own_within(own: OwnReads, start: np.ndarray, end: np.ndarray) -> OwnReads:
    """Return what stretches of linear contigs (half open, one a contig) have of the reads."""
    first = np.maximum(own.start, start[own.unitig])
    behind = np.minimum(own.start + own.r_end - own.r_start, end[own.unitig])
    rows = np.flatnonzero(first < behind)
    own, first, behind = own.take(rows), first[rows], behind[rows]
    before, after = first - own.start, own.start + own.r_end - own.r_start - behind
    return dataclasses.replace(
        own,
        start=first - start[own.unitig],
        r_start=own.r_start + np.where(own.reverse, after, before),
        r_end=own.r_end - np.where(own.reverse, before, after),
        unitig_length=(end - start)[own.unitig],
    )
