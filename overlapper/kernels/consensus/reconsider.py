"""Reconsidering uncertain columns of a draft, whose votes the draft itself may have caused.

Beside a wrong column, layers with a base less in a homopolymer run align a base too early as cheaply as in
place, and so confirm the wrong column. Where a column is missing, layers with another error nearby pair its
base with a neighbour, or have it inserted elsewhere, and too few votes are left for it. The edit distances of
layers to the draft with and without the change decide (``docs/algorithms/correction.md``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.edit_paths import edit_distance
from overlapper.kernels.common.inlining import inner
from overlapper.kernels.consensus.next_draft import HOMOPOLYMER
from overlapper.kernels.consensus.votes import DELETION, MIN_DEPTH
from overlapper.runtime.compile.cache import njit

REACH = 15
"""Columns on either side of an uncertain one over which distances are taken."""
MIN_RIVAL_SHARE = 20
"""Least percentage of a column's weight of another base, or of the deletion, to try it; of its passing weight
of a base behind it."""
FARTHEST = 3
"""Distances are capped at one in this many columns: a layer that differs more may be of another place."""
_NONE = 255


@njit(nogil=True, cache=True)
def reconsider(draft, layers, starts, votes, matrix):
    """Replace, remove or insert columns where that brings the draft closer to its layers.

    Parameters
    ----------
    draft : ndarray of uint8, shape (n,)
        In and out: bases are replaced in it; columns are neither removed nor inserted.
    layers : Layers
    starts : ndarray of int32
        Paths over the draft.
    votes : Votes
        Of these layers on the draft.
    matrix : Matrix

    Returns
    -------
    codes : ndarray of uint8
        The draft without the removed columns, and with the inserted ones.
    place : ndarray of int64, shape (n + 1,)
        The column that each column became.
    changed : int
        Number of columns replaced, removed or inserted.
    """
    n = len(draft)
    change = _Change(draft, np.zeros(n, np.bool_), np.full(n, _NONE, np.uint8))
    nearby = np.empty(4 * REACH + 3, np.uint8)
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
        more, weight = _heaviest_inserted(votes.inserted[votes.behind[c]])
        insertable = 100 * weight >= MIN_RIVAL_SHARE * np.int64(votes.passing[c]) > 0
        insertable = insertable and _run_with(change, c, more) < HOMOPOLYMER
        if replaceable or removable or insertable:
            low, high = max(0, c - REACH), min(n, c + REACH + 1)
            best = _distance(change, low, high, layers, starts, nearby, matrix)
            if replaceable and best >= 0:
                draft[c] = other
                changed_to = _distance(change, low, high, layers, starts, nearby, matrix)
                if changed_to < best:
                    best, changed = changed_to, changed + 1
                else:
                    draft[c] = old
            if removable and best >= 0:
                change.gone[c] = True
                changed_to = _distance(change, low, high, layers, starts, nearby, matrix)
                if changed_to < best:
                    best, changed = changed_to, changed + 1
                else:
                    change.gone[c] = False
            if insertable and best >= 0:
                change.behind[c] = more
                if _distance(change, low, high, layers, starts, nearby, matrix) < best:
                    changed += 1
                else:
                    change.behind[c] = _NONE
        if change.behind[c] != _NONE:
            before = np.int64(change.behind[c])
        elif not change.gone[c]:
            before = np.int64(draft[c])
    codes, place, size = np.empty(2 * n + 1, np.uint8), np.empty(n + 1, np.int64), 0
    for c in range(n):
        place[c] = size
        size = _put(change, c, codes, size)
    place[n] = size
    return codes[:size], place, changed


class _Change(NamedTuple):
    """The draft, which of its columns go, and the base that comes in behind each, or `_NONE`."""

    draft: np.ndarray
    gone: np.ndarray
    behind: np.ndarray


@inner
def _run_with(change, c, base):
    """Return how long the homopolymer run of a base is that is inserted behind a column."""
    run, left, right = 1, c, c + 1
    while left >= 0:
        if change.behind[left] != _NONE:
            if change.behind[left] != base:
                break
            run += 1
        if not change.gone[left]:
            if change.draft[left] != base:
                break
            run += 1
        left -= 1
    while right < len(change.draft) and change.draft[right] == base:
        run, right = run + 1, right + 1
    return run


@inner
def _put(change, c, codes, size):
    """Write what is at and behind a column to ``codes`` from ``size`` on; return where that ends."""
    codes[size] = change.draft[c]
    size += not change.gone[c]
    codes[size] = change.behind[c]
    return size + (change.behind[c] != _NONE)


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
def _heaviest_inserted(inserted):
    """Return the heaviest base of the first insert slot (in a tie the lowest code), and its weight."""
    best = np.int64(0)
    for code in range(DELETION):
        if inserted[code] > inserted[best]:
            best = np.int64(code)
    return best, np.int64(inserted[best])


@inner
def _distance(change, low, high, layers, starts, nearby, matrix):
    """Return the sum of edit distances of layers to columns ``[low, high)``; -1 for too few layers."""
    size, covering, total, most = np.int64(0), 0, np.int64(0), (high - low) // FARTHEST
    for c in range(low, high):
        size = np.int64(_put(change, c, nearby, size))
    for m in range(len(layers.start)):
        if layers.used[m] and layers.start[m] <= low and layers.end[m] >= high:
            covering += 1
            first, at = layers.first[m], layers.at[m]
            begin, end = first + starts[at + low], first + starts[at + high]
            total += min(edit_distance(nearby, size, layers.bases, begin, end, matrix), most)
    return total if covering >= MIN_DEPTH else np.int64(-1)
