"""Contigs cut where their reads contradict them and could not mend them.

A contig is cut where reads end on either side and none goes across, or where most reads contradict `LONG`
bases or more of it, after the last round of polishing (``docs/algorithms/correction.md``, section 8). What
lies between the two ends is left out; from `LEAST_KEPT` bases on it is a contig of its own. A place within
`LONG` bases of an end of a linear contig is left alone: few reads can go across there. A circle that is cut
becomes linear.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple, Self, TypeVar

import numpy as np

from overlapper.assembly.beginnings import Beginnings
from overlapper.assembly.laid_out import Contigs, LaidOut, own_within
from overlapper.assembly.rubbish import LeftOut
from overlapper.correction.crossings import SURE
from overlapper.correction.doubt import Doubt, OnContigs, Reason
from overlapper.correction.own_reads import OwnReads
from overlapper.correction.uncovered import intervals_of
from overlapper.graph.layout import unitig_names
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of, places_within

LONG = SURE
"""Bases."""
LEAST_KEPT = 2_000
"""Bases: the shortest part of a read that a layout takes by default (`overlapper.params.graph`)."""
_Rows = TypeVar("_Rows", bound=OnContigs)


class Pieces(NamedTuple):
    """What contigs are cut into, the longest first."""

    contig: np.ndarray
    start: np.ndarray
    end: np.ndarray
    """`contig`, `start`, `end`: int64, shape (pieces,); half open."""

    @classmethod
    def between(cls, places: Doubt, lengths: np.ndarray) -> Self:
        """Return what is left between places of contigs of these lengths."""
        contigs = np.arange(len(lengths))
        start = np.concatenate([np.zeros(len(lengths), np.int64), places.end])
        end = np.concatenate([lengths, places.start])
        contig = np.concatenate([contigs, places.contig])
        start, end = start[np.lexsort((start, contig))], end[np.lexsort((end, contig))]
        contig = np.sort(contig)
        some = np.flatnonzero(start < end)
        order = some[np.argsort(start[some] - end[some], kind="stable")]
        return cls(contig[order], start[order], end[order])

    def of(self, rows: _Rows, lengths: np.ndarray) -> _Rows:
        """Return stretches of contigs of these lengths on the pieces where they begin, or the next ones."""
        order, before = np.lexsort((self.end, self.contig)), offsets_of(lengths)
        ends = (before[self.contig] + self.end)[order]
        piece = order[np.searchsorted(ends, before[rows.contig] + rows.start, "right").clip(0, len(ends) - 1)]
        start, end = (
            (at - self.start[piece]).clip(0, (self.end - self.start)[piece]) for at in (rows.start, rows.end)
        )
        here = rows.contig >= 0
        return dataclasses.replace(
            rows,
            contig=np.where(here, piece, rows.contig),
            start=np.where(here, start, rows.start),
            end=np.where(here, end, rows.end),
        )

    def links(self, contigs: Contigs) -> tuple[np.ndarray, np.ndarray]:
        """Return source and target of the links of contigs as those of the pieces at their ends."""
        order, contig = np.lexsort((self.start, self.contig)), np.arange(len(contigs))
        first = order[np.searchsorted(self.contig[order], contig)]
        last = order[np.searchsorted(self.contig[order], contig, "right") - 1]
        source, target = contigs.link_source, contigs.link_target
        leaves = np.where(source & 1, first[source >> 1], last[source >> 1])
        comes = np.where(target & 1, last[target >> 1], first[target >> 1])
        return 2 * leaves + (source & 1), 2 * comes + (target & 1)


class Cut(NamedTuple):
    """Contigs that were cut."""

    laid_out: LaidOut
    sequences: Reads
    """Their polished sequences."""
    doubt: Doubt
    left_out: LeftOut


def cut_where_contradicted(given: Cut) -> Cut:
    """Cut contigs where their reads contradict them."""
    places = _places(given)
    if not len(places):
        return given
    turned, places = _from_first_places(given, places)
    lengths, contigs = turned.sequences.lengths, turned.laid_out.contigs
    pieces = Pieces.between(places, lengths)
    circular = contigs.circular[pieces.contig] & ~np.isin(pieces.contig, places.contig)
    names = unitig_names(circular)
    sequences = intervals_of(turned.sequences.take(pieces.contig), pieces.start, pieces.end, names)
    own, carried = (
        _own(rows, pieces, len(contigs)) for rows in (turned.laid_out.reads, turned.laid_out.carried)
    )
    source, target = pieces.links(contigs)
    made = Contigs(
        sequences, circular, contigs.depth[pieces.contig], np.bincount(own.unitig, minlength=len(circular)),
        source, target, contigs.link_overlap,
    )  # fmt: skip
    cut = dataclasses.replace(places, reason=np.full(len(places), Reason.CUT))
    before = dataclasses.replace(cut, start=cut.start - 1, end=cut.start)
    first = cut.end % lengths[cut.contig]
    behind = dataclasses.replace(cut, start=first, end=first + 1)
    left = turned.doubt.take(~_is_cut(turned.doubt, lengths, contigs.circular))
    doubt = pieces.of(Doubt.concat([left, before, behind]), lengths)
    return Cut(LaidOut(made, own, carried), sequences, doubt, pieces.of(turned.left_out, lengths))


def _is_cut(doubt: Doubt, lengths: np.ndarray, circular: np.ndarray) -> np.ndarray:
    """Return a mask of the places where contigs are cut."""
    inside = (doubt.start >= LONG) & (doubt.end <= lengths[doubt.contig] - LONG)
    long = (doubt.reason == Reason.CONTRADICTED) & (doubt.end - doubt.start >= LONG)
    return ((doubt.reason == Reason.UNCROSSED) | long) & (inside | circular[doubt.contig])


def _places(given: Cut) -> Doubt:
    """Return where contigs are cut, two places without bases for one that is kept, by contig and start."""
    places = given.doubt.take(_is_cut(given.doubt, given.sequences.lengths, given.laid_out.contigs.circular))
    long = places.end - places.start >= LEAST_KEPT
    behind = places.take(long)
    first = dataclasses.replace(places, end=np.where(long, places.start, places.end))
    places = Doubt.concat([first, dataclasses.replace(behind, start=behind.end)])
    return places.take(np.lexsort((places.start, places.contig)))


def _from_first_places(given: Cut, places: Doubt) -> tuple[Cut, Doubt]:
    """Turn circles so that they end with the first place where they are cut; scale reads to the sequences."""
    contigs, lengths = given.laid_out.contigs, given.sequences.lengths
    first, row = np.unique(places.contig, return_index=True)
    begin = np.zeros(len(contigs), np.int64)
    begin[first] = np.where(contigs.circular[first], places.end[row] % lengths[first], 0)
    turn = Beginnings(begin, np.zeros(len(contigs), np.bool_))

    def turned(own: OwnReads) -> OwnReads:
        start = own.start * lengths[own.unitig] // own.unitig_length - begin[own.unitig]
        circular, length = contigs.circular[own.unitig], lengths[own.unitig]
        own = dataclasses.replace(own, start=np.where(circular, start % length, start), unitig_length=length)
        around = own.take(circular & (own.start + own.r_end - own.r_start > length))
        return OwnReads.concat([own, dataclasses.replace(around, start=around.start - around.unitig_length)])

    laid_out = LaidOut(contigs, turned(given.laid_out.reads), turned(given.laid_out.carried))
    doubt, places = given.doubt.turned(*turn, lengths), places.turned(*turn, lengths)
    last = np.where(contigs.circular[places.contig] & (places.end == 0), lengths[places.contig], 0)
    places = dataclasses.replace(places, start=places.start + last, end=places.end + last)
    left_out = given.left_out.turned(*turn, lengths)
    return Cut(laid_out, turn.turned(given.sequences), doubt, left_out), places


def _own(own: OwnReads, pieces: Pieces, contigs: int) -> OwnReads:
    """Return what the pieces of contigs have of the reads."""
    parts = []
    within = np.zeros(len(pieces.contig), np.int64)
    order = np.argsort(pieces.contig, kind="stable")
    within[order] = places_within(np.bincount(pieces.contig, minlength=contigs))
    for some in range(int(within.max(initial=0)) + 1):
        piece = np.flatnonzero(within == some)
        start, end, number = (np.zeros(contigs, np.int64) for _ in range(3))
        start[pieces.contig[piece]], end[pieces.contig[piece]] = pieces.start[piece], pieces.end[piece]
        number[pieces.contig[piece]] = piece
        inside = own_within(own, start, end)
        parts.append(dataclasses.replace(inside, unitig=number[inside.unitig]))
    return OwnReads.concat(parts)
