"""Stretches of paths where a layer has the bases of the draft, one for one: what need not be looked at again.

Most bases of accurate reads are in long matches, which anchors tell first and `next_draft` carries on. Votes
along them are added up without a look at the path, and a match is carried over to the next draft as one.
Runs are found with the paths; a path may have others, which are short or in gaps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.edit_paths import TARGET_UNKNOWN
from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.packed import prefetch, trailing_zeros
from overlapper.kernels.common.vectors import Lanes, add, bits_of, equal, load, splat, store
from overlapper.runtime.compile.cache import njit

U64 = np.uint64
SHORTEST = 8
"""Columns of a run; those of shorter ones are looked at one by one."""
LANES, WIDTH = Lanes(16), 16
"""Rows of a path that are written at once; as many may be overwritten behind those of a run."""
_BASES = Lanes(32)
AHEAD = 4
"""Runs ahead of the one that is come to, of what is fetched."""
_EACH = np.arange(WIDTH, dtype=np.int32)


class EqualRuns(NamedTuple):
    """Runs of equal pairs of the layers of a pileup.

    Attributes
    ----------
    first : ndarray of int64, shape (m + 1,)
        Where the runs of each layer begin.
    column, base, length : ndarray of int32
        First column, first base of the layer, and how many; ascending within a layer. Behind the last base
        of a run, others may be inserted.
    """

    first: np.ndarray
    column: np.ndarray
    base: np.ndarray
    length: np.ndarray


@njit(nogil=True, cache=True)
def new_equal_runs(layers, rows):
    """Return room for the runs of so many layers, whose paths have so many rows together."""
    most = rows // SHORTEST + 1
    return EqualRuns(
        np.zeros(layers + 1, np.int64), np.empty(most, np.int32), np.empty(most, np.int32),
        np.empty(most, np.int32),
    )  # fmt: skip


@inner
def add_equal_run(runs, n, column, base, length):
    """Put a run behind ``n`` others, if it is long enough; return how many there are then."""
    if length < SHORTEST:
        return n
    runs.column[n], runs.base[n], runs.length[n] = column, base, length
    return n + 1


@inner
def add_runs_of_target(runs, n, target):
    """Put the runs of known bases of the target on itself behind ``n`` others; return how many there are."""
    start = np.int64(0)
    for c in range(len(target) + 1):
        if c == len(target) or target[c] == TARGET_UNKNOWN:
            n = add_equal_run(runs, n, start, start, c - start)
            start = np.int64(c) + 1
    return n


@inner
def equal_bases(target, j, read, i, most):
    """Return how many bases, from j and i on, are equal in a row, of so many at most."""
    length = np.int64(0)
    while length + 32 <= most:
        alike = equal(load(_BASES, target, j + length), load(_BASES, read, i + length))
        unlike = ~bits_of(alike) & 0xFFFFFFFF
        if unlike:
            return length + trailing_zeros(np.uint64(unlike))
        length += 32
    while length < most and read[U64(i + length)] == target[U64(j + length)]:
        length += 1
    return length


@inner
def side_by_side(starts, at, base):
    """Return how many rows, `WIDTH` at most, are those of bases that follow each other, from ``base`` on.

    Parameters
    ----------
    starts : ndarray of int32
        Paths.
    at : int
        The first row.
    base : int
    """
    expected = add(splat(LANES, starts, base), load(LANES, _EACH, 0))
    return trailing_zeros(U64(~bits_of(equal(load(LANES, starts, at), expected))))


@inner
def unlike_bases(draft, column, bases, base, n):
    """Return at which of ``n`` columns, `WIDTH` at most, bases are not those of the draft, a bit for each."""
    alike = bits_of(equal(load(LANES, draft, column), load(LANES, bases, base)))
    return U64(~alike & ((1 << n) - 1))


@inner
def fetch_behind(runs, r, last, starts, at, bases):
    """Fetch into the cache what a layer has behind a later run, which the processor does not foresee.

    Parameters
    ----------
    runs : EqualRuns
    r, last : int
        The run that is come to, and where those of the layer end.
    starts, bases : ndarray
        Paths; bases of the layer.
    at : int
        As in `kernels.consensus.layers.Layers`.
    """
    later = min(r + AHEAD, last - 1)
    length = np.int64(runs.length[later])
    prefetch(starts, at + runs.column[later] + length)
    prefetch(bases, np.int64(runs.base[later]) + length)


@inner
def write_pairs(starts, at, base, length):
    """Write the rows of so many pairs, from a base on; up to `WIDTH` rows behind them get any value."""
    each = load(LANES, _EACH, 0)
    for x in range(0, length, WIDTH):
        store(starts, at + x, add(splat(LANES, starts, base + x), each))
