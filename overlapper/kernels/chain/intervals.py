"""The intervals of chains, from which walks go on to read ends; ``docs/algorithms/chaining.md``, *Ends*.

CPU only: the walks, which take the time, have a CUDA twin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.chain.chain import (
    FIRST_X,
    FIRST_Y,
    LAST_X,
    LAST_Y,
    LEFT_MISSING,
    RIGHT_MISSING,
    is_sure,
)
from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.walks import Seeds
from overlapper.runtime.compile.cache import njit

LEFT, RIGHT = range(2)
"""Ends of a chain, as the query reads."""


class Ending(NamedTuple):
    """Which ends are carried on to a read end; see `overlapper.params.stages.ChainParams`."""

    sure_seeds: int
    sure_score: int
    reach: int
    max_reach: int
    give_up: int
    end_tolerance: int


@njit(nogil=True, cache=True)
def begin(rows, query, target, lengths, k, ending):
    """Carry on the ends that seeds are sure of, and tell which ones have to be walked from.

    Parameters
    ----------
    rows : ndarray of int32, shape (n, COLUMNS)
        Chains.
    query, target : ndarray of int32, shape (n,)
        Their reads.
    lengths : ndarray of int64, shape (reads,)
    k : int
        Seed length.
    ending : Ending

    Returns
    -------
    q_ends, t_ends : ndarray of int32, shape (2, n)
        Starts and ends of the intervals, the target's on the query's strand.
    ends : ndarray of int64
        ``2 * chain``, plus 1 for its right end: the ends to walk from.
    """
    q_ends, t_ends = np.empty((2, len(rows)), np.int32), np.empty((2, len(rows)), np.int32)
    ends = np.empty(2 * len(rows), np.int64)
    n_ends = 0
    for i in range(len(rows)):
        row = rows[i]
        q_ends[LEFT, i], q_ends[RIGHT, i] = row[FIRST_X], row[LAST_X] + k
        t_ends[LEFT, i], t_ends[RIGHT, i] = row[FIRST_Y], row[LAST_Y] + k
        sure = is_sure(row, ending.sure_seeds, ending.sure_score)
        for side in range(2):
            missing = row[RIGHT_MISSING] if side else row[LEFT_MISSING]
            rest = _rest(q_ends, t_ends, side, i, lengths[query[i]], lengths[target[i]])
            if sure and missing <= ending.reach and rest <= ending.max_reach:
                _move(q_ends, t_ends, side, i, rest, rest)
            elif missing <= ending.give_up and (sure or side == LEFT):
                ends[n_ends] = 2 * i + side
                n_ends += 1
    return q_ends, t_ends, ends[:n_ends]


@njit(nogil=True, cache=True)
def seeds_at(ends, rows, query, target, reverse, lengths, k):
    """Return the seeds that walks start from, one for each end of a chain.

    Parameters
    ----------
    ends : ndarray of int64, shape (m,)
        As `begin` returns them.
    reverse : ndarray of bool, shape (n,)
        Strands of the chains.

    The others are those of `begin`.

    Returns
    -------
    Seeds
    """
    chains = ends >> 1
    x, y = np.empty(len(ends), np.int32), np.empty(len(ends), np.int32)
    for i in range(len(ends)):
        chain, right = chains[i], ends[i] & 1
        x[i] = rows[chain, LAST_X if right else FIRST_X]
        y[i] = rows[chain, LAST_Y if right else FIRST_Y]
        if reverse[chain]:
            y[i] = lengths[target[chain]] - k - y[i]
    return Seeds(query[chains], target[chains], reverse[chains], x, y, k)


@njit(nogil=True, cache=True)
def carry_on(ends, walked, rows, query, target, lengths, ending, q_ends, t_ends):
    """Move ends of chains as far as was walked, and those that are near a read end to it.

    Parameters
    ----------
    ends : ndarray of int64, shape (m,)
        As `begin` or this function returned them.
    walked : ndarray of int32, shape (m, 2)
        Query and target bases walked from each.
    q_ends, t_ends : ndarray of int32, shape (2, n)
        In and out: the intervals.

    The others are those of `begin`.

    Returns
    -------
    ndarray of int64
        Ends to walk from next: the right ones of chains that are not sure whose left one reached a read end.
        Such a chain is kept only if both do, so the left one is tried first.
    """
    after = np.empty(len(ends), np.int64)
    n_after = 0
    for i in range(len(ends)):
        chain, side = ends[i] >> 1, ends[i] & 1
        _move(q_ends, t_ends, side, chain, walked[i, 0], walked[i, 1])
        rest = _rest(q_ends, t_ends, side, chain, lengths[query[chain]], lengths[target[chain]])
        if rest > ending.end_tolerance:
            continue
        _move(q_ends, t_ends, side, chain, rest, rest)
        sure = is_sure(rows[chain], ending.sure_seeds, ending.sure_score)
        if not sure and side == LEFT and rows[chain, RIGHT_MISSING] <= ending.give_up:
            after[n_after] = ends[i] + RIGHT
            n_after += 1
    return after[:n_after]


@inner
def _rest(q_ends, t_ends, side, i, q_length, t_length):
    """Return the bases from an end of an interval to the nearer read end."""
    if side == LEFT:
        return np.int64(min(q_ends[LEFT, i], t_ends[LEFT, i]))
    return min(q_length - q_ends[RIGHT, i], t_length - t_ends[RIGHT, i])


@inner
def _move(q_ends, t_ends, side, i, q_bases, t_bases):
    """Move an end of an interval outwards."""
    out = 1 if side else -1
    q_ends[side, i] += out * q_bases
    t_ends[side, i] += out * t_bases
