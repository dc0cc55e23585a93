"""Chimeras: reads that join two places of the genome or leave a molecule, found before correction.

Overlaps of corrected reads that match to the last base end at an error just as they do at the junction of a
chimera. Those of reads as given go on across errors, and end at the junction::

    chimera                 ══════════════════════╪════════════════
    reads of one place          ──────────────────────────
                           ───────────────────────────
    of the other one                       ──────────────────────────────
                                                 ────────────────────────────────

**Junction.** Of the intervals of a read that any overlap covers, after `CLIP` bases are taken off both ends
of every overlap and given back to the intervals, the two longest have a junction between them if, on either
side of it, `FEWEST` overlaps or more *stop* there: they end within `2 CLIP` bases of where the last one does,
and the other read goes on for `CLIP` bases or more. Where few reads lie on a read, none may reach across by
chance, but then these end where their overlaps do.

**Sound** is the longer of the two intervals, the first one of equals, without the `CLIP` bases that it was
given at the junction, and all on the far side of it.

**End of a molecule.** Reads break anywhere, so that few end at one place but where a molecule does. A read
that goes on there has bases from nowhere, or is of two molecules that were ligated, and is the only one from
which a unitig could go on::

    reads of this molecule     ─────────────────────┤
                                      ──────────────┤
                                          ──────────┤
    a read beyond it                   ═════════════╪════════

A read *ends* on another where their overlap of `CLIP` bases and more does, and it has at most `REST` bases
more: what is left of an adapter. Of all windows of `RAGGED` bases on a read that with most such ends is
looked at, of equals the first one; the *place* is the middle one of them, the first of two. An overlap
*crosses* it that has `CLIP` bases and more on either side. A molecule ends there if at least `FEWEST` reads
end in the window and

- none crosses, and of all overlaps that reach from `CLIP` bases before the place to there, but for those that
  stop no more than `RAGGED` bases from it, at least half end in the window: where a molecule ends as it
  begins, as many stop at the end as reads have the other copy, or
- fewer cross than end in the window, and than *begin* in that of most beginnings, which is no more than
  `CLIP` bases away: ligated molecules, such as phages with cohesive ends, of which some circularize. Of a
  circle few reads break at one place.

Beginnings are ends of the reverse complement. *Within the molecule* is the part up to the place if it is the
longer one, or no overlap goes on for more than `CLIP` bases beyond; else that behind it. Ends that are at
most `RAGGED` bases further stay.

A read *stops* on another where an overlap of `CLIP` bases and more does, and it has more than `REST` bases
more.

**Bases from elsewhere.** A read that goes on with bases from nowhere, or with another place of a circle that
others go round once, is longer than these, and would be the first one to be laid out::

    from elsewhere                ~~~~~~~╪════════════════════
    others                   ───────────────────────────
                          ────────────────────────────────────

Of all windows of `RAGGED` bases on a read, more than `RAGGED` bases from its ends, that with most stops is
looked at, of equals the first one; the place is the middle one of them, the first of two. The read goes on
elsewhere if at least `BY_CHANCE` reads stop in the window, and as many for each overlap that crosses the
place with `CLIP` bases and more on either side, or all but `RAGGED` that the read has there. Of these there
are fewer than `FEWEST`: where a repeat ends, as many cross as the genome is deep. What is kept is as above;
so for beginnings, but those that are less than `CLIP` bases from an end of what is left then, unless no
overlap begins as far before them: both sides of a junction show it. Only of deep molecules, of which reads
are set aside: overlaps stop at bad stretches, too, and where reads are few, a read with one may be the only
one that goes on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from overlapper.correction.own_reads import OwnReads
from overlapper.correction.pileups import Rows, rows_of
from overlapper.graph.cores import cores_of, partings_of
from overlapper.kernels.graph import molecule_ends
from overlapper.runtime.threads import even_ranges, map_in_order, share_of_block
from overlapper.sketch.read_parts import intervals_of
from overlapper.tables import Overlaps, Reads

CLIP = 250
"""Most bases of an overlap past a junction: an overlap near the end of a read is extended to that end, by up
to 228 bases in R10 reads of yeast."""
REST, RAGGED = 150, 50
"""Chosen: adapters with barcodes have 110 bases; ends of alignments of noisy reads differ by some 30."""
FEWEST = 3
"""Least overlaps that stop at a junction, or end with a molecule. In R10 reads of yeast at 29x, and in .5 to
.08 of them, no overlap crosses 382 places of chimeras where this many stop, and 784 places of other reads
where fewer do."""
BY_CHANCE = 10
"""Overlaps that stop where a read goes on elsewhere, for each that crosses the place: walks go on over bases
from nowhere by chance, and other reads may be joined alike. Chosen on plasmids of 0.9 to 12 kb at 150x to
1,500x, `real-ont` and R9."""
JUMP = 16
"""Chosen: one base in so many of an overlap is more than two noisy reads differ by in length, by their
insertions and deletions."""

_BLOCK_ROWS = 1 << 20
_NEVER = 1 << 30
"""More overlaps than stop anywhere."""


class Sound(NamedTuple):
    """The interval of each read that is of one place of the genome, half open."""

    start: np.ndarray
    end: np.ndarray
    """`start`, `end`: int64, shape (reads,)."""
    length: np.ndarray
    """int64, shape (reads,); bases of the whole reads."""

    @classmethod
    def whole(cls, lengths: np.ndarray) -> Sound:
        """Return the intervals of reads of some lengths all of which is of one place."""
        lengths = lengths.astype(np.int64)
        return cls(np.zeros(len(lengths), np.int64), lengths, lengths)

    def of_corrected(self, given: np.ndarray, lengths: np.ndarray) -> Sound:
        """Scale the intervals to the corrected reads, as if each part had changed its length alike.

        Parameters
        ----------
        given : ndarray of int64, shape (reads,)
            Bases of each read as it was given.
        lengths : ndarray of int64, shape (reads,)
            Bases of each corrected read.
        """
        before = np.maximum(given, 1)
        return Sound(self.start * lengths // before, self.end * lengths // before, lengths)

    def cut(self, reads: Reads) -> Reads:
        """Return the intervals of reads, of which only bases and qualities count."""
        return intervals_of(reads, self.start, self.end)

    def cut_parts(self, parts: Iterable[Reads]) -> Iterator[Reads]:
        """Yield the intervals of reads that come in parts."""
        first = 0
        for part in parts:
            rows = slice(first, first + len(part))
            yield Sound(*(column[rows] for column in self)).cut(part)
            first += len(part)

    def on_whole(self, own: OwnReads) -> OwnReads:
        """Return the rows of reads that were cut to the intervals as rows of the whole reads."""
        start = self.start[own.read].astype(np.int32)
        return dataclasses.replace(
            own, r_start=own.r_start + start, r_end=own.r_end + start, read_length=self.length[own.read]
        )

    def within(self, other: Sound) -> Sound:
        """Return what both have of each read; what one has where they have nothing in common."""
        start, end = np.maximum(self.start, other.start), np.minimum(self.end, other.end)
        common = start < end
        return Sound(np.where(common, start, self.start), np.where(common, end, self.end), self.length)


def sound_parts(overlaps: Overlaps, lengths: np.ndarray, threads: int) -> Sound:
    """Find the part of each read that is of one place of the genome.

    Parameters
    ----------
    overlaps : Overlaps
        Of the reads as they were given.
    lengths : ndarray of int64, shape (reads,)
    threads : int
        Changes nothing but the time.
    """
    cores, _ = cores_of(overlaps, 1, np.full(len(lengths), CLIP), threads)
    sound = Sound.whole(lengths)
    partings = list(partings_of(cores))
    parted = np.zeros(len(lengths), bool)
    parted[[parting.read for parting in partings]] = True
    rows = rows_of(overlaps.take(np.flatnonzero(parted[overlaps.query] | parted[overlaps.target])))
    for read, left, right, keeps_left in partings:
        on = rows.rows(*np.searchsorted(rows.target, [read, read + 1]).tolist())
        if _most_stops(on, left - CLIP, right + CLIP, lengths) >= FEWEST:
            if keeps_left:
                sound.end[read] = left - CLIP
            else:
                sound.start[read] = right + CLIP
    return sound


def within_molecules(overlaps: Overlaps, lengths: np.ndarray, is_deep: bool, threads: int) -> Sound:
    """Find the part of each read that is within one molecule.

    Parameters
    ----------
    overlaps : Overlaps
        Of the reads as they were given.
    lengths : ndarray of int64, shape (reads,)
    is_deep : bool
        Whether reads were set aside, so that bases from elsewhere are cut off, too.
    threads : int
        Changes nothing but the time.
    """
    by_chance = BY_CHANCE if is_deep else _NEVER
    bases = np.stack([overlaps.q_end - overlaps.q_start, overlaps.t_end - overlaps.t_start])
    jumps = np.abs(bases[0] - bases[1]) > CLIP + bases.min(axis=0) // JUMP
    overlaps = overlaps.take(np.flatnonzero(~jumps)) if jumps.any() else overlaps
    offsets, *rows = molecule_ends.overlaps_by_read(
        overlaps.query, overlaps.q_start, overlaps.q_end, overlaps.target, overlaps.t_start, overlaps.t_end,
        overlaps.reverse, lengths, REST, CLIP,
    )  # fmt: skip
    share = share_of_block(len(rows[0]), _BLOCK_ROWS, threads)
    found = map_in_order(
        lambda block: molecule_ends.within_molecules(
            offsets, *rows, lengths, *block, CLIP, RAGGED, FEWEST, by_chance
        ),
        even_ranges(np.diff(offsets), share),
        threads,
    )
    start, end = np.concatenate([np.empty((0, 2), np.int64), *found]).T
    return Sound(start, end, lengths)


def _most_stops(on: Rows, left: int, right: int, lengths: np.ndarray) -> int:
    """Return the number of rows that stop at a gap ``[left, right)``, on the side where more do."""
    at_start, at_end = on.r_start, lengths[on.read] - on.r_end
    goes_on_before = np.where(on.reverse, at_end, at_start) >= CLIP
    goes_on_behind = np.where(on.reverse, at_start, at_end) >= CLIP
    stop_before = (on.t_start + CLIP <= left) & (on.t_end >= left - CLIP) & goes_on_behind
    stop_behind = (on.t_end - CLIP >= right) & (on.t_start <= right + CLIP) & goes_on_before
    return max(int(stop_before.sum()), int(stop_behind.sum()))
