"""Gaps of alignments moved left; docs/algorithms/mapping.md has the definition."""

import numpy as np
from numba import njit

from overlapper.kernels.cpu.cigars import EQUAL, INSERTION, UNEQUAL
from overlapper.kernels.cpu.packed import base_at

_UNKNOWN = 4


@njit(nogil=True, cache=True)
def align_left(reads, reference, read, target, reverse, rows, cigar, offsets):
    """Move the gaps of alignments left, and cut off those that come to the start.

    Parameters
    ----------
    reads, reference : PackedReads
    read, target, reverse : ndarray, shape (n,)
    rows : ndarray of int64, shape (n, 4)
        Interval on the read as turned to the strand that matches, and on the reference sequence. Their starts
        are changed where gaps are cut off.
    cigar : ndarray of uint32
        Runs of =, X, I and D along the reference; neighbours differ.
    offsets : ndarray of int64, shape (n + 1,)

    Returns
    -------
    cigar : ndarray of uint32
    offsets : ndarray of int64, shape (n + 1,)
    """
    # A gap that moves into a run of equal pairs cuts it in two.
    moved, starts = np.empty(2 * len(cigar), np.uint32), np.zeros(len(offsets), np.int64)
    for row in range(len(read)):
        first = starts[row]
        top, q, t = first, rows[row, 0], rows[row, 2]
        for i in range(offsets[row], offsets[row + 1]):
            run, kind = np.int64(cigar[i] >> 4), np.int64(cigar[i] & 15)
            if kind == EQUAL or kind == UNEQUAL:
                top = _push(moved, first, top, run, kind)
                q, t = q + run, t + run
                continue
            passed = np.int64(0)
            start, end = (q, q + run) if kind == INSERTION else (t, t + run)
            while top > first:
                before, before_kind = np.int64(moved[top - 1] >> 4), np.int64(moved[top - 1] & 15)
                if before_kind == kind:
                    start -= before
                    top -= 1
                elif before_kind == EQUAL:
                    if kind == INSERTION:
                        steps = _repeated(reads, read[row], reverse[row], start, end, before)
                    else:
                        steps = _repeated(reference, target[row], False, start, end, before)
                    start, end, passed = start - steps, end - steps, passed + steps
                    if steps < before:
                        moved[top - 1] = (before - steps) << 4 | EQUAL
                        break
                    top -= 1
                else:
                    break
            if top > first:
                top = _push(moved, first, top, end - start, kind)
            else:
                rows[row, 0 if kind == INSERTION else 2] += end - start
            top = _push(moved, first, top, passed, np.int64(EQUAL))
            q, t = (q + run, t) if kind == INSERTION else (q, t + run)
        starts[row + 1] = top
    return moved[: starts[-1]].copy(), starts


@njit(nogil=True, cache=True)
def _push(runs, first, top, run, kind):
    """Add columns behind the runs from ``first`` to ``top``; return where the runs end."""
    if run == 0:
        return top
    if top > first and np.int64(runs[top - 1] & 15) == kind:
        runs[top - 1] += run << 4
        return top
    runs[top] = run << 4 | kind
    return top + 1


@njit(nogil=True, cache=True)
def _repeated(reads, read, reverse, start, end, most):
    """Return how many bases before ``start``, at most ``most``, equal those before ``end``, in turn."""
    steps = np.int64(0)
    while steps < most:
        base = _base(reads, read, reverse, end - 1 - steps)
        if base == _UNKNOWN or base != _base(reads, read, reverse, start - 1 - steps):
            break
        steps += 1
    return steps


@njit(nogil=True, cache=True)
def _base(reads, read, reverse, position):
    """Return the code of a base, of the reverse complement if so asked."""
    at = reads.lengths[read] - 1 - position if reverse else position
    low, high = reads.unknown_offsets[read], reads.unknown_offsets[read + 1]
    if low < high:
        run = low + np.searchsorted(reads.unknown_start[low:high], at, side="right") - 1
        if run >= low and at < reads.unknown_end[run]:
            return np.int64(_UNKNOWN)
    base = np.int64(base_at(reads.words, 32 * reads.word_offsets[read] + at))
    return 3 - base if reverse else base
