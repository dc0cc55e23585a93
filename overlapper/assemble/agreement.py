"""Qualities of contigs laid out by exact overlaps, by the number of reads that have each base.

Such contigs are not polished. Every base of them has been voted on in each of its reads, and the reads agree
in it to the last one; a vote of the reads as given would take again what a vote of better chosen reads found.

**Who agrees.** A read of the layout has the bases of its contig. So has a read that overlaps it, as far as
the overlap goes, for overlaps are exact; it may be of no contig itself, as the graph lets many reads go.
Where runs are cut before reads are compared (`overlapper.sketch.long_runs`), any length of a long one agrees.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from overlapper.correct.own_reads import OwnReads
from overlapper.correct.polish import Unitigs
from overlapper.correct.voted import CONFIRMED_DEPTH
from overlapper.tables import Overlaps, Reads
from overlapper.tables.ragged import offsets_of

AGREED = 50
"""Phred quality of a base that enough reads have, as high as polishing gives at most. Chosen; judged on LPA,
the MHC and yeast (HiFi; ``docs/notes/assembly.md``)."""


def with_agreement(unitigs: Unitigs, own: OwnReads, overlaps: Overlaps) -> Reads:
    """Return the sequences of unitigs, with qualities.

    A base that `CONFIRMED_DEPTH` reads have is of quality `AGREED`, others of 0, as polishing has it for
    bases on which no vote is taken.

    Parameters
    ----------
    unitigs : Unitigs
    own : OwnReads
        Where their reads lie, by unitig in any order.
    overlaps : Overlaps
        Exact ones, of the same reads.
    """
    sequences = unitigs.sequences
    agreeing = _once_a_read(_within(unitigs, _agreeing(own, overlaps)))
    bounds = np.searchsorted(agreeing.unitig, np.arange(len(sequences) + 1))
    parts = [np.empty(0, np.uint8)]
    for unitig, length in enumerate(sequences.lengths.tolist()):
        of_unitig = slice(bounds[unitig], bounds[unitig + 1])
        steps = np.zeros(length + 1, np.int64)
        np.add.at(steps, agreeing.start[of_unitig], 1)
        np.add.at(steps, agreeing.end[of_unitig], -1)
        depth = np.cumsum(steps[:-1])
        parts.append(np.where(depth >= CONFIRMED_DEPTH, AGREED, 0).astype(np.uint8))
    return dataclasses.replace(
        sequences, qualities=np.concatenate(parts), quality_offsets=offsets_of(sequences.lengths)
    )


class _Stretches(NamedTuple):
    """Stretches of unitigs, half open, on which a read agrees; columns of equal length."""

    unitig: np.ndarray
    read: np.ndarray
    start: np.ndarray
    end: np.ndarray


def _agreeing(own: OwnReads, overlaps: Overlaps) -> _Stretches:
    """Return the stretches of unitigs on which each read agrees, one for each overlap with a placed read."""
    reads = 1 + int(max(c.max(initial=-1) for c in (own.read, overlaps.query, overlaps.target)))
    place = np.full(reads, -1, np.int64)
    place[own.read] = np.arange(len(own))
    parts = [_on_unitigs(own, np.arange(len(own)), own.read, own.r_start, own.r_end)]
    for read, other, start, end in overlaps.sides():
        rows = np.flatnonzero(place[read] >= 0)
        parts.append(_on_unitigs(own, place[read[rows]], other[rows], start[rows], end[rows]))
    return _Stretches(*map(np.concatenate, zip(*parts, strict=True)))


def _on_unitigs(
    own: OwnReads, place: np.ndarray, other: np.ndarray, start: np.ndarray, end: np.ndarray
) -> _Stretches:
    """Return where intervals of placed reads lie on unitigs, with the other read of the overlap."""
    first, last = own.r_start[place], own.r_end[place]
    start, end = np.clip(start, first, last), np.clip(end, first, last)
    before = np.where(own.reverse[place], last - end, start - first)
    on_unitig = own.start[place] + before
    return _Stretches(own.unitig[place], other, on_unitig, on_unitig + end - start)


def _within(unitigs: Unitigs, stretches: _Stretches) -> _Stretches:
    """Cut stretches to their unitigs; on circular ones, what lies beyond an end goes to the other end."""
    unitig, read, start, end = stretches
    length = unitigs.sequences.lengths.astype(np.int64)[unitig]
    circular = unitigs.circular[unitig]
    begins = np.where(circular, start % np.maximum(length, 1), np.clip(start, 0, length))
    ends = np.where(circular, begins + end - start, np.clip(end, 0, length))
    beyond = np.flatnonzero(ends > length)
    again = np.minimum(ends - length, length)[beyond]
    return _Stretches(
        np.append(unitig, unitig[beyond]),
        np.append(read, read[beyond]),
        np.append(begins, np.zeros(len(beyond), np.int64)),
        np.append(np.minimum(ends, length), again),
    )


def _once_a_read(stretches: _Stretches) -> _Stretches:
    """Merge stretches of the same read and unitig that touch; return them by unitig."""
    order = np.lexsort((stretches.start, stretches.read, stretches.unitig))
    unitig, read, start, end = (column[order] for column in stretches)
    if not len(order):
        return stretches
    another = (np.diff(unitig, prepend=-1) != 0) | (np.diff(read, prepend=-1) != 0)
    # As ends grow from read to read, the furthest one so far is of the same read.
    shift = np.cumsum(another) * (1 + end.max())
    furthest = np.maximum.accumulate(end + shift)
    begins = np.append(True, (start + shift)[1:] > furthest[:-1])
    ends = np.append(begins[1:], True)
    return _Stretches(unitig[begins], read[begins], start[begins], (furthest - shift)[ends])
