"""The votes of the reads of a pileup on a draft.

The definition is in ``docs/algorithms/correction.md``, section 3. A *layer* (`kernels.consensus.layers`)
is a read, or the target itself, with an edit path (`kernels.common.edit_paths`) over the columns
``[start, end)`` of a draft.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.packed import trailing_zeros
from overlapper.kernels.common.vectors import Lanes, load, select, splat, store, widen
from overlapper.kernels.consensus.equal_runs import fetch_behind, side_by_side, unlike_bases
from overlapper.runtime.compile.cache import njit

U64 = np.uint64
_LANES, _WIDTH = Lanes(16), 16
_FIRST = np.repeat(np.array([0xFFFF, 0], np.uint16), _WIDTH)
"""Masks of lanes: the mask loaded from ``n`` on has the first ``16 - n`` lanes set."""
SLOTS = 8
"""Insert slots: most bases that one draft can gain behind a column."""
DELETION = 4
MIN_DEPTH = 3
"""Least layers of a vote; a column with fewer stays as it is."""


class Votes(NamedTuple):
    """Votes of a pileup on a draft of ``n`` columns."""

    column: np.ndarray
    """uint16, shape (n, 5); weight of every base, and of `DELETION`."""
    behind: np.ndarray
    """int32, shape (n,); the row of each column in `inserted`; row 0, which is empty, where no layer has
    bases inserted."""
    inserted: np.ndarray
    """uint16, shape (n + 1, SLOTS * 4); weight of every base in every insert slot behind a column."""
    passing: np.ndarray
    """uint16, shape (n,) or longer; weight of the layers that do not end at the column."""
    depth: np.ndarray
    """int32, shape (n,); layers that cover the column."""
    differing: np.ndarray
    gaining: np.ndarray
    """`differing`, `gaining`: uint16, shape (n,); layers that have a deletion, another base than the draft or
    an unknown one at the column; layers that have a known base inserted behind it."""


@njit(nogil=True, cache=True)
def count_votes(draft, layers, starts, runs):
    """Count the votes of the layers that are used.

    Parameters
    ----------
    draft : ndarray of uint8, shape (n,)
    layers : Layers
    starts : ndarray of int32
        Paths of the layers over the draft.
    runs : EqualRuns
        Of the paths.
    """
    length = len(draft)
    votes = Votes(
        np.zeros((length, 5), np.uint16),
        np.zeros(length, np.int32),
        np.empty((length + 1, SLOTS * 4), np.uint16),
        np.zeros(length + _WIDTH, np.uint16),
        np.zeros(length + 1, np.int32),
        np.zeros(length + _WIDTH, np.uint16)[:length],
        np.zeros(length, np.uint16),
    )
    votes.inserted[0] = 0
    agreeing, n_behind = np.zeros(length + _WIDTH, np.uint16), np.int64(0)
    for m in range(len(layers.start)):
        if layers.used[m]:
            n_behind = _vote_of_layer(draft, layers, m, starts, runs, agreeing, votes, n_behind)
    _add_up(draft, agreeing, votes)
    return votes


@inner
def _vote_of_layer(draft, layers, m, starts, runs, agreeing, votes, n_behind):
    """Count the votes of one layer; those along runs of equal pairs go to ``agreeing``."""
    votes.depth[layers.start[m]] += 1
    votes.depth[layers.end[m]] -= 1
    first, last = layers.first[m], layers.last[m]
    bases, weights = layers.bases[first:last], layers.weights[first:last]
    c, end, at = np.int64(layers.start[m]), np.int64(layers.end[m]), np.int64(layers.at[m])
    n_runs = runs.first[m + 1]
    for r in range(runs.first[m], n_runs + 1):
        column = np.int64(runs.column[r]) if r < n_runs else end
        n_behind = _vote(draft, starts, at, c, column, end, bases, weights, agreeing, votes, n_behind)
        if r < n_runs:
            fetch_behind(runs, r, n_runs, starts, at, bases)
            # The last pair is left out: bases may be inserted behind it.
            base, sure = np.int64(runs.base[r]), np.int64(runs.length[r]) - 1
            _agree(weights, base, sure, agreeing, votes.passing, column)
            c = column + sure
    return n_behind


@inner
def _add_up(draft, agreeing, votes):
    """Add the votes along runs, and sum up the depth of each column."""
    for c in range(U64(len(draft))):
        votes.depth[c + U64(1)] += votes.depth[c]
        if agreeing[c]:
            votes.column[c, U64(draft[c])] += agreeing[c]


@inner
def _agree(weights, base, length, agreeing, passing, column):
    """Count the votes of a layer along a run of equal pairs."""
    one = splat(_LANES, agreeing, 1)
    for x in range(0, length, _WIDTH):
        weight = widen(load(_LANES, weights, base + x))
        both = weight + widen(load(_LANES, weights, base + x + 1))
        here = load(_LANES, _FIRST, max(np.int64(0), x + _WIDTH - length))
        at = column + x
        _add_to(agreeing, at, weight & here)
        _add_to(passing, at, (both >> one) & here)


@inner
def _vote(draft, starts, at, start, stop, end, bases, weights, agreeing, votes, n_behind):
    """Count the votes of one layer on columns ``[start, stop)``; it covers columns up to ``end``.

    ``n_behind`` is the number of columns with bases inserted behind them; the new number is returned.
    """
    final, c, here = np.int64(len(bases) - 1), start, np.int64(starts[U64(at + start)])
    while c < stop:
        paired = np.int64(0)
        if c + _WIDTH <= len(draft):
            paired = min(side_by_side(starts, at + c + 1, here + 1), stop - c, final - here)
        if paired > 0:
            _vote_side_by_side(draft, c, paired, end, bases, weights, here, agreeing, votes)
            c, here = c + paired, here + paired
        else:
            n_behind = vote_on(draft, starts, at, c, end, bases, weights, votes, n_behind)
            c, here = c + 1, np.int64(starts[U64(at + c + 1)])
    return n_behind


@inner
def _vote_side_by_side(draft, c, paired, end, bases, weights, here, agreeing, votes):
    """Count the votes of one layer on columns that are paired with successive bases, from ``here`` on."""
    one, none = splat(_LANES, agreeing, 1), splat(_LANES, agreeing, 0)
    weight = widen(load(_LANES, weights, here))
    around = (weight + widen(load(_LANES, weights, here + 1))) >> one
    alike = load(_LANES, draft, c) == load(_LANES, bases, here)
    counted = load(_LANES, _FIRST, _WIDTH - paired)
    goes_on = load(_LANES, _FIRST, _WIDTH - min(paired, end - 1 - c))
    _add_to(agreeing, c, select(alike, weight, none) & counted)
    _add_to(votes.differing, c, select(alike, none, one) & counted)
    _add_to(votes.passing, c, around & goes_on)
    unlike = unlike_bases(draft, c, bases, here, paired)
    while unlike:
        x = U64(trailing_zeros(unlike))
        base = U64(bases[U64(here) + x])
        if base < U64(DELETION):
            votes.column[U64(c) + x, base] += np.uint16(weights[U64(here) + x])
        unlike &= unlike - U64(1)


@inner
def _add_to(values, at, some):
    store(values, at, load(_LANES, values, at) + some)


@inner
def vote_on(draft, starts, at, column, end, bases, weights, votes, n_behind):
    """Count the votes of one layer on one column."""
    c, final = U64(column), U64(len(bases) - 1)
    here, behind = U64(starts[U64(at) + c]), U64(starts[U64(at) + c + U64(1)])
    before = behind - U64(behind > U64(0))
    around = np.uint16((U64(weights[before]) + U64(weights[min(behind, final)])) >> U64(1))
    # A base or its lack is selected without a branch, as a processor cannot predict it.
    is_gone = behind == here
    base = U64(bases[min(here, final)])
    known = is_gone | (base < U64(DELETION))
    weight = around if is_gone else np.uint16(weights[min(here, final)])
    votes.column[c, U64(DELETION) if is_gone else base & U64(3)] += weight if known else np.uint16(0)
    votes.differing[c] += np.uint16(is_gone | (base != U64(draft[c])))
    if behind > here + U64(1):
        slots = min(behind - here - U64(1), U64(SLOTS))
        if votes.behind[c] == 0:
            n_behind += 1
            votes.behind[c] = n_behind
            for entry in range(U64(SLOTS * 4)):
                votes.inserted[U64(n_behind), entry] = 0
        for slot in range(slots):
            x = here + U64(1) + U64(slot)
            if bases[x] < 4:
                row, vote = U64(votes.behind[c]), U64(4) * U64(slot) + U64(bases[x])
                votes.inserted[row, vote] += np.uint16(weights[x])
                votes.gaining[c] += np.uint16(slot == 0)
    if c + U64(1) < U64(end):
        votes.passing[c] += around
    return n_behind
