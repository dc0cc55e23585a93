"""Gaps of alignments moved left; docs/algorithms/mapping.md has the definition.

CPU only.
"""

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.packed import base_at
from overlapper.runtime.compile.cache import njit
from overlapper.tables.cigars import EQUAL, INSERTION, UNEQUAL


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


@inner
def _push(runs, first, top, run, kind):
    """Add columns behind the runs from ``first`` to ``top``; return where the runs end."""
    if run == 0:
        return top
    if top > first and np.int64(runs[top - 1] & 15) == kind:
        runs[top - 1] += run << 4
        return top
    runs[top] = run << 4 | kind
    return top + 1


@inner
def _repeated(reads, read, reverse, start, end, most):
    """Return how many bases before ``start``, at most ``most``, equal those before ``end``, in turn."""
    first_word, last = reads.word_offsets[read] << 5, reads.lengths[read] - 1
    steps = np.int64(0)
    while steps < most:
        one, other = start - 1 - steps, end - 1 - steps
        if reverse:
            one, other = last - one, last - other
        # The base before the gap is of an equal pair, so it is known.
        if base_at(reads.words, first_word + one) != base_at(reads.words, first_word + other):
            break
        if _is_unknown(reads, read, other):
            break
        steps += 1
    return steps


@inner
def _is_unknown(reads, read, position):
    """Return whether a base lies in a run of unknown ones."""
    low, high = reads.unknown_offsets[read], reads.unknown_offsets[read + 1]
    while low < high:
        middle = (low + high) >> 1
        if position >= reads.unknown_end[middle]:
            low = middle + 1
        elif position < reads.unknown_start[middle]:
            high = middle
        else:
            return True
    return False
