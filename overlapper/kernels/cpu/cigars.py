"""What the runs of alignments add up to."""

import numpy as np
from numba import njit

MATCHES, COLUMNS, GAPS, SCORE = range(4)
EQUAL, UNEQUAL, INSERTION, DELETION = 7, 8, 1, 2
"""BAM's codes of the operations of a CIGAR."""


@njit(nogil=True, cache=True)
def summarise(cigar, offsets, match, mismatch, gap_open, gap_extend):
    """Count the columns of alignments and score them.

    Parameters
    ----------
    cigar : ndarray of uint32
        Runs of =, X, I and D.
    offsets : ndarray of int64, shape (n + 1,)
        Where the runs of each alignment start.
    match, mismatch, gap_open, gap_extend : int

    Returns
    -------
    ndarray of int64, shape (n, 4)
        Equal pairs, columns, gaps and score.
    """
    sums = np.zeros((len(offsets) - 1, 4), np.int64)
    for row in range(len(offsets) - 1):
        matches = columns = gaps = score = np.int64(0)
        for i in range(offsets[row], offsets[row + 1]):
            run, kind = np.int64(cigar[i] >> 4), cigar[i] & 15
            columns += run
            if kind == EQUAL:
                matches += run
                score += match * run
            elif kind == UNEQUAL:
                score += mismatch * run
            else:
                gaps += 1
                score += gap_open + gap_extend * run
        sums[row, MATCHES], sums[row, COLUMNS], sums[row, GAPS], sums[row, SCORE] = (
            matches,
            columns,
            gaps,
            score,
        )
    return sums
