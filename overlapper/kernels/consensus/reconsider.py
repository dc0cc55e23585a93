"""Reconsidering uncertain columns of a draft, whose votes the draft itself may have caused.

Beside a wrong column, layers with a base less in a homopolymer run align a base too early as cheaply as in
place, and so confirm the wrong column. The edit distances of layers to the draft with and without the change
decide (``docs/algorithms/correction.md``).
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.edit_paths import edit_distance
from overlapper.kernels.common.inlining import inner
from overlapper.kernels.consensus.votes import DELETION, MIN_DEPTH
from overlapper.runtime.compile.cache import njit

REACH = 15
"""Columns on either side of an uncertain one over which distances are taken."""
MIN_RIVAL_SHARE = 20
"""Least percentage of a column's weight of another base, or of the deletion, to try it."""
FARTHEST = 3
"""Distances are capped at one in this many columns: a layer that differs more may be of another place."""


@njit(nogil=True, cache=True)
def reconsider(draft, layers, starts, votes, matrix):
    """Replace or remove columns where that brings the draft closer to its layers.

    Parameters
    ----------
    draft : ndarray of uint8, shape (n,)
        In and out: bases are replaced in it, columns are not removed.
    layers : Layers
    starts : ndarray of int32
        Paths over the draft.
    votes : Votes
        Of these layers on the draft.
    matrix : Matrix

    Returns
    -------
    codes : ndarray of uint8
        The draft without the removed columns.
    place : ndarray of int64, shape (n + 1,)
        The column that each column became.
    changed : int
        Number of columns replaced or removed.
    """
    n = len(draft)
    gone, nearby = np.zeros(n, np.bool_), np.empty(2 * REACH + 1, np.uint8)
    changed, before = 0, np.int64(-1)
    for c in range(n):
        old, column = np.int64(draft[c]), votes.column[c]
        if old >= DELETION:
            before = old
            continue
        other, total = _heaviest_other(column, old)
        replaceable = 100 * np.int64(column[other]) >= MIN_RIVAL_SHARE * total > 0
        alone = old != before and (c + 1 == n or old != draft[c + 1])
        removable = alone and 100 * np.int64(column[DELETION]) >= MIN_RIVAL_SHARE * total > 0
        if replaceable or removable:
            low, high = max(0, c - REACH), min(n, c + REACH + 1)
            best = _distance(draft, gone, low, high, layers, starts, nearby, matrix)
            if replaceable and best >= 0:
                draft[c] = other
                changed_to = _distance(draft, gone, low, high, layers, starts, nearby, matrix)
                if changed_to < best:
                    best, changed = changed_to, changed + 1
                else:
                    draft[c] = old
            if removable and best >= 0:
                gone[c] = True
                if _distance(draft, gone, low, high, layers, starts, nearby, matrix) < best:
                    changed += 1
                else:
                    gone[c] = False
        if not gone[c]:
            before = np.int64(draft[c])
    codes, place, size = np.empty(n, np.uint8), np.empty(n + 1, np.int64), 0
    for c in range(n):
        place[c] = size
        codes[size] = draft[c]
        size += not gone[c]
    place[n] = size
    return codes[:size], place, changed


@inner
def _heaviest_other(column, old):
    """Return the heaviest base but ``old`` (in a tie the lowest code), and the weight of the column."""
    other, total = np.int64(old == 0), np.int64(column[DELETION])
    for code in range(DELETION):
        total += column[code]
        if code != old and column[code] > column[other]:
            other = np.int64(code)
    return other, total


@inner
def _distance(draft, gone, low, high, layers, starts, nearby, matrix):
    """Return the sum of edit distances of layers to columns ``[low, high)``; -1 for too few layers."""
    size, covering, total, most = np.int64(0), 0, np.int64(0), (high - low) // FARTHEST
    for c in range(low, high):
        if not gone[c]:
            nearby[size] = draft[c]
            size += 1
    for m in range(len(layers.start)):
        if layers.used[m] and layers.start[m] <= low and layers.end[m] >= high:
            covering += 1
            first, at = layers.first[m], layers.at[m]
            begin, end = first + starts[at + low], first + starts[at + high]
            total += min(edit_distance(nearby, size, layers.bases, begin, end, matrix), most)
    return total if covering >= MIN_DEPTH else np.int64(-1)
