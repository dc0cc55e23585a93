"""Chimeras: reads that join two places of the genome, found before correction.

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
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.correct.pileups import Rows, rows_of
from overlapper.graph.cores import cores_of, partings_of
from overlapper.tables import Overlaps

CLIP = 250
"""Most bases of an overlap past a junction: an overlap near the end of a read is extended to that end, by up
to 228 bases in R10 reads of yeast."""
FEWEST = 3
"""Least overlaps that stop at a junction. In R10 reads of yeast at 29x, and in .5 to .08 of them, no overlap
crosses 382 places of chimeras where this many stop, and 784 places of other reads where fewer do."""


class Sound(NamedTuple):
    """The interval of each read that is of one place of the genome, half open.

    Attributes
    ----------
    start, end : ndarray of int64, shape (reads,)
    """

    start: np.ndarray
    end: np.ndarray

    def of_corrected(self, given: np.ndarray, origin: np.ndarray, lengths: np.ndarray) -> Sound:
        """Scale the intervals to the corrected reads, as if each part had changed its length alike.

        Parameters
        ----------
        given : ndarray of int64, shape (reads,)
            Bases of each read as it was given.
        origin : ndarray of int64, shape (reads,)
            Number of each corrected read among those given.
        lengths : ndarray of int64, shape (reads,)
            Bases of each corrected read.
        """
        before = np.maximum(given[origin], 1)
        return Sound(*(place[origin] * lengths // before for place in self))


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
    cores, _ = cores_of(overlaps, len(lengths), 1, CLIP, threads)
    sound = Sound(np.zeros(len(lengths), np.int64), lengths.astype(np.int64))
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


def _most_stops(on: Rows, left: int, right: int, lengths: np.ndarray) -> int:
    """Return the number of rows that stop at a gap ``[left, right)``, on the side where more do."""
    at_start, at_end = on.r_start, lengths[on.read] - on.r_end
    goes_on_before = np.where(on.reverse, at_end, at_start) >= CLIP
    goes_on_behind = np.where(on.reverse, at_start, at_end) >= CLIP
    stop_before = (on.t_start + CLIP <= left) & (on.t_end >= left - CLIP) & goes_on_behind
    stop_behind = (on.t_end - CLIP >= right) & (on.t_start <= right + CLIP) & goes_on_before
    return max(int(stop_before.sum()), int(stop_behind.sum()))
