"""Ends of contigs that too few reads cover to be polished, or corrected.

There a contig has the bases of one read, or of two or three that disagree: two such ends can hold more errors
than all that lies between.
"""

from __future__ import annotations

import numpy as np

from overlapper.correct.own_reads import OwnReads
from overlapper.correct.uncovered import intervals_of
from overlapper.correct.voted import CONFIRMED_DEPTH
from overlapper.tables import Overlaps, Reads

REACH = 5_000
"""Bases of an end that are looked at, half of the sequence at most."""
WORSE, HARMLESS = 10, 0.001
"""How many times as often as on average bases of a contig may be wrong at its ends, and how often they may be
anyway."""


def without_doubtful_ends(sequences: Reads, whole: np.ndarray) -> Reads:
    """Cut off both ends of sequences where they are wrong much more often than the rest.

    As in Mott's trimming, every base weighs a limit less the probability that it is wrong, which is 1 where
    no vote was taken. What is cut off is the shortest end that weighs least, if that is below 0. The limit is
    `WORSE` times the mean of the bases that were voted on, and at least `HARMLESS`. Where both ends are more
    than half of a sequence, it is not its ends that are wrong, and it stays as it is.

    Parameters
    ----------
    sequences : Reads
        With qualities, which are 0 where no vote was taken.
    whole : ndarray of bool, shape (n, 2)
        Of each sequence whether the first end stays, and whether the last one does.
    """
    cut = np.zeros((len(sequences), 2), np.int64)
    for number in range(len(sequences)):
        quality = sequences.qualities_of(number)
        if quality is None or not quality.any():
            continue
        wrong = 10.0 ** (-0.1 * quality)
        limit = max(WORSE * float(wrong[quality > 0].mean()), HARMLESS)
        reach = min(REACH, len(wrong) // 2)
        cut[number] = _doubtful(wrong[:reach], limit), _doubtful(wrong[::-1][:reach], limit)
    return _cut_off(sequences, np.where(whole, 0, cut))


def without_shallow_ends(sequences: Reads, whole: np.ndarray, own: OwnReads, overlaps: Overlaps) -> Reads:
    """Cut off both ends of sequences that exact overlaps were laid out to, where few reads agree.

    There they are as they were given. Each end is that of one read: of `REACH` bases of it those go before
    the first that `CONFIRMED_DEPTH` reads agree in, itself included. Where both ends are more than half of a
    sequence, it stays as it is.

    Parameters
    ----------
    sequences, whole
        As `without_doubtful_ends` takes them.
    own : OwnReads
        Of the sequences.
    overlaps : Overlaps
        Exact ones of the same reads.
    """
    cut = np.zeros((len(sequences), 2), np.int64)
    ends = own.start == 0, own.start + own.r_end - own.r_start == own.unitig_length
    covered = _Covered(own.read[ends[0] | ends[1]], overlaps)
    by_length = np.argsort(own.r_end - own.r_start, kind="stable")  # the longest read has the last word
    for side, at_end in enumerate(ends):
        for row in by_length[at_end[by_length]].tolist():
            depth = 1 + covered.by(int(own.read[row]), int(own.r_start[row]), int(own.r_end[row]))
            inwards = depth[::-1] if bool(own.reverse[row]) != bool(side) else depth
            enough = inwards[:REACH] >= CONFIRMED_DEPTH
            cut[own.unitig[row], side] = enough.argmax() if enough.any() else len(enough)
    return _cut_off(sequences, np.where(whole, 0, cut))


class _Covered:
    """How many overlaps cover the bases of some reads.

    Parameters
    ----------
    reads : ndarray of int
    overlaps : Overlaps
    """

    def __init__(self, reads: np.ndarray, overlaps: Overlaps) -> None:
        as_query, as_target = np.isin(overlaps.query, reads), np.isin(overlaps.target, reads)
        read = np.concatenate([overlaps.query[as_query], overlaps.target[as_target]])
        order = np.argsort(read, kind="stable")
        self._read = read[order]
        self._start = np.concatenate([overlaps.q_start[as_query], overlaps.t_start[as_target]])[order]
        self._end = np.concatenate([overlaps.q_end[as_query], overlaps.t_end[as_target]])[order]

    def by(self, read: int, first: int, last: int) -> np.ndarray:
        """Return how many cover each of the bases ``[first, last)`` of a read."""
        of_read = slice(*np.searchsorted(self._read, [read, read + 1]))
        steps = np.zeros(last - first + 1, np.int64)
        np.add.at(steps, np.clip(self._start[of_read] - first, 0, last - first), 1)
        np.add.at(steps, np.clip(self._end[of_read] - first, 0, last - first), -1)
        return np.cumsum(steps[:-1])


def _cut_off(sequences: Reads, cut: np.ndarray) -> Reads:
    """Return sequences without so many bases at either end (shape (n, 2)), whole where these are most."""
    cut[2 * cut.sum(axis=1) > sequences.lengths] = 0
    if not cut.any():
        return sequences
    return intervals_of(sequences, cut[:, 0], sequences.lengths - cut[:, 1], sequences.names)


def _doubtful(wrong: np.ndarray, limit: float) -> int:
    """Return how many bases go, of an end of which each is wrong with some probability."""
    weight = np.concatenate([[0.0], np.cumsum(limit - wrong)])
    return int(np.argmin(weight))
