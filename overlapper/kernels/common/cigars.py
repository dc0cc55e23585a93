"""Columns, matches and scores of alignments, counted from their CIGARs.

CPU only.
"""

import numpy as np

from overlapper.runtime.compile.cache import njit
from overlapper.tables.cigars import DELETION, EQUAL, INSERTION, UNEQUAL

MATCHES, COLUMNS, GAPS, SCORE = range(4)


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


@njit(nogil=True, cache=True)
def trim_gaps(cigar, offsets):
    """Cut off the gaps that alignments start and end with.

    Parameters
    ----------
    cigar : ndarray of uint32
    offsets : ndarray of int64, shape (n + 1,)

    Returns
    -------
    cigar : ndarray of uint32
    offsets : ndarray of int64, shape (n + 1,)
    before, after : ndarray of int64, shape (n, 2)
        Bases of query and target that were cut off at either end.
    """
    n = len(offsets) - 1
    kept, starts = np.empty(len(cigar), np.uint32), np.zeros(n + 1, np.int64)
    before, after = np.zeros((n, 2), np.int64), np.zeros((n, 2), np.int64)
    for row in range(n):
        first, last = offsets[row], offsets[row + 1]
        while first < last and cigar[first] & 15 < EQUAL:
            before[row, (cigar[first] & 15) - INSERTION] += cigar[first] >> 4
            first += 1
        while last > first and cigar[last - 1] & 15 < EQUAL:
            after[row, (cigar[last - 1] & 15) - INSERTION] += cigar[last - 1] >> 4
            last -= 1
        starts[row + 1] = starts[row]
        for i in range(first, last):
            kept[starts[row + 1]] = cigar[i]
            starts[row + 1] += 1
    return kept[: starts[n]], starts, before, after


@njit(nogil=True, cache=True)
def put_cigars(cigar, offsets, places, swapped, reverse, out):
    """Copy CIGARs to their places.

    Parameters
    ----------
    cigar : ndarray of uint32
        In BAM's packing.
    offsets : ndarray of int64, shape (n + 1,)
        Where each CIGAR starts.
    places : ndarray of int64, shape (n,)
        Where in ``out`` it goes; -1 for one that is left out.
    swapped : ndarray of bool, shape (n,)
        Whether query and target change places.
    reverse : ndarray of bool, shape (n,)
        Whether they lie on opposite strands. If they change places, too, the CIGAR then runs backwards.
    out : ndarray of uint32
        Written.
    """
    both = np.uint32(INSERTION ^ DELETION)
    for row in range(len(places)):
        at = places[row]
        if at < 0:
            continue
        begin, end = offsets[row], offsets[row + 1]
        if not swapped[row]:
            for k in range(end - begin):
                out[at + k] = cigar[begin + k]
            continue
        for k in range(end - begin):
            run = cigar[end - 1 - k] if reverse[row] else cigar[begin + k]
            operation = run & np.uint32(15)
            gap = operation == INSERTION or operation == DELETION
            out[at + k] = run ^ both if gap else run
