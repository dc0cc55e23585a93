"""Trimming of ends of contigs that too few reads cover for polishing or correction.

There a contig has the bases of one read, or of two or three that disagree: two such ends can hold more errors
than all that lies between.
"""

from __future__ import annotations

import numpy as np

from overlapper.assemble.agreement import AGREED
from overlapper.correct.uncovered import intervals_of
from overlapper.tables import Reads

REACH = 5_000
"""Bases of an end that are examined; at most half of the sequence."""
WORSE, HARMLESS = 10, 0.001
"""Ends may have an error rate of this many times that of the contig, or up to this rate in any case."""


def without_error_prone_ends(sequences: Reads, stays: np.ndarray) -> Reads:
    """Cut off both ends of sequences where their error probability is far above that of the rest.

    As in Mott's trimming, every base weighs a limit less the probability that it is wrong, which is 1 where
    no vote was taken. What is cut off is the shortest end that weighs least, if that is below 0. The limit is
    `WORSE` times the mean of the bases that were voted on, and at least `HARMLESS`. Where both ends are more
    than half of a sequence, it is not its ends that are wrong, and it stays as it is.

    Parameters
    ----------
    sequences : Reads
        With qualities, which are 0 where no vote was taken.
    stays : ndarray of bool, shape (n, 2)
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
        cut[number] = _error_prone(wrong[:reach], limit), _error_prone(wrong[::-1][:reach], limit)
    return _cut_off(sequences, np.where(stays, 0, cut))


def without_shallow_ends(sequences: Reads, stays: np.ndarray) -> Reads:
    """Cut off both ends of sequences laid out by exact overlaps, where few reads agree.

    There they are as they were given. Of `REACH` bases of each end those go before the first that enough
    reads agree in (`overlapper.assemble.agreement`). Where both ends are more than half of a sequence, it
    stays as it is.

    Parameters
    ----------
    sequences, stays
        As `without_error_prone_ends` takes them.
    """
    cut = np.zeros((len(sequences), 2), np.int64)
    for number in range(len(sequences)):
        quality = sequences.qualities_of(number)
        assert quality is not None
        agreed = quality >= AGREED
        cut[number] = [
            end.argmax() if end.any() else len(end) for end in (agreed[:REACH], agreed[::-1][:REACH])
        ]
    return _cut_off(sequences, np.where(stays, 0, cut))


def _cut_off(sequences: Reads, cut: np.ndarray) -> Reads:
    """Cut bases off either end of sequences (shape (n, 2)); a sequence that would lose most stays whole."""
    cut[2 * cut.sum(axis=1) > sequences.lengths] = 0
    if not cut.any():
        return sequences
    return intervals_of(sequences, cut[:, 0], sequences.lengths - cut[:, 1], sequences.names)


def _error_prone(wrong: np.ndarray, limit: float) -> int:
    """Return how many bases of an end to cut off, given the error probability of each."""
    weight = np.concatenate([[0.0], np.cumsum(limit - wrong)])
    return int(np.argmin(weight))
