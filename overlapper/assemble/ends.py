"""Ends of contigs that too few reads cover to be polished.

There a contig has the bases of one read, with all of its errors: two such ends can hold more of them than all
that lies between.
"""

from __future__ import annotations

import numpy as np

from overlapper.correct.uncovered import intervals_of
from overlapper.tables import Reads


def without_unconfirmed_ends(sequences: Reads, whole: np.ndarray) -> Reads:
    """Cut off the bases at both ends of sequences that no vote confirmed.

    Parameters
    ----------
    sequences : Reads
        With qualities, which are 0 where no vote was taken.
    whole : ndarray of bool, shape (n, 2)
        Of each sequence whether the first end stays, and whether the last one does. A sequence without any
        confirmed base stays, too.
    """
    n = len(sequences)
    start, end = np.zeros(n, np.int64), sequences.lengths.astype(np.int64)
    for number in range(n):
        quality = sequences.qualities_of(number)
        confirmed = np.flatnonzero(quality) if quality is not None else np.zeros(0, np.int64)
        if len(confirmed):
            start[number] = 0 if whole[number, 0] else confirmed[0]
            end[number] = end[number] if whole[number, 1] else confirmed[-1] + 1
    if (end - start == sequences.lengths).all():
        return sequences
    return intervals_of(sequences, start, end, sequences.names)
