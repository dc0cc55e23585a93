"""Runs of unknown bases of a draft, before the first vote (``docs/algorithms/correction.md``, section 6)."""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.edit_paths import TARGET_UNKNOWN
from overlapper.kernels.common.inlining import inner
from overlapper.runtime.compile.cache import njit


@inner
def has_unknown(draft):
    """Return whether a draft has unknown columns."""
    for c in range(len(draft)):
        if draft[c] == TARGET_UNKNOWN:
            return True
    return False


@njit(nogil=True, cache=True)
def fill_unknown(draft, layers, starts, most):
    """Replace every run of unknown columns by the bases of the first layer that spans it.

    Parameters
    ----------
    draft : ndarray of uint8, shape (n,)
    layers : Layers
    starts : ndarray of int32
        Paths over the draft.
    most : int
        Most bases of a run; layers with more are passed over.

    Returns
    -------
    codes : ndarray of uint8
        The draft with runs replaced.
    place : ndarray of int64, shape (n + 1,)
        The column that each column became; all but the first of a replaced run lie behind the new bases.
    """
    n = len(draft)
    codes, place = np.empty(n + most * _unknown_runs(draft), np.uint8), np.empty(n + 1, np.int64)
    size, c = 0, 0
    while c < n:
        if draft[c] != TARGET_UNKNOWN:
            place[c], codes[size] = size, draft[c]
            size, c = size + 1, c + 1
            continue
        stop = c
        while stop < n and draft[stop] == TARGET_UNKNOWN:
            stop += 1
        giver = _first_across(layers, starts, c, stop, most)
        place[c] = size
        if giver < 0:
            for x in range(stop - c):
                place[c + x] = size + x
                codes[size + x] = TARGET_UNKNOWN
            size += stop - c
        else:
            bases, at = layers.bases[layers.first[giver] : layers.last[giver]], layers.at[giver]
            for b in range(starts[at + c], starts[at + stop]):
                codes[size] = bases[b]
                size += 1
            for x in range(c + 1, stop):
                place[x] = size
        c = stop
    place[n] = size
    return codes[:size], place


@njit(nogil=True, cache=True)
def _unknown_runs(draft):
    runs = 0
    for c in range(len(draft)):
        runs += draft[c] == TARGET_UNKNOWN and (c == 0 or draft[c - 1] != TARGET_UNKNOWN)
    return runs


@njit(nogil=True, cache=True)
def _first_across(layers, starts, c, stop, most):
    """Return the first layer that spans a run with known bases alone; -1 if there is none."""
    for m in range(len(layers.start) - 1):
        if not layers.used[m] or layers.start[m] >= c or layers.end[m] <= stop:
            continue
        first, at = layers.first[m], layers.at[m]
        low, high = np.int64(starts[at + c]), np.int64(starts[at + stop])
        known = high - low <= most
        for b in range(first + low, first + high):
            known &= layers.bases[b] < 4
        if known:
            return m
    return -1
