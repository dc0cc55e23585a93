"""Ends of contigs that too few reads cover to be polished.

There a contig has the bases of one read, or of two or three that disagree: two such ends can hold more errors
than all that lies between.
"""

from __future__ import annotations

import numpy as np

from overlapper.correct.uncovered import intervals_of
from overlapper.tables import Reads

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
    n = len(sequences)
    start, end = np.zeros(n, np.int64), sequences.lengths.astype(np.int64)
    for number in range(n):
        quality = sequences.qualities_of(number)
        if quality is None or not quality.any():
            continue
        wrong = 10.0 ** (-0.1 * quality)
        limit = max(WORSE * float(wrong[quality > 0].mean()), HARMLESS)
        reach = min(REACH, len(wrong) // 2)
        if not whole[number, 0]:
            start[number] = _doubtful(wrong[:reach], limit)
        if not whole[number, 1]:
            end[number] -= _doubtful(wrong[::-1][:reach], limit)
        if 2 * (end[number] - start[number]) < len(wrong):
            start[number], end[number] = 0, len(wrong)
    if (end - start == sequences.lengths).all():
        return sequences
    return intervals_of(sequences, start, end, sequences.names)


def _doubtful(wrong: np.ndarray, limit: float) -> int:
    """Return how many bases go, of an end of which each is wrong with some probability."""
    weight = np.concatenate([[0.0], np.cumsum(limit - wrong)])
    return int(np.argmin(weight))
