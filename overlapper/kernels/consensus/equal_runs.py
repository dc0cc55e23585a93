"""Runs of equal pairs: stretches of a path where layer and draft have the same bases, one for one.

Most bases of accurate reads lie in long runs, which are first known from anchors. Votes along a run are
counted without its path, and `carry_over` carries it over as one. Runs are a shortcut: a path may have equal
stretches that are not listed, because they are short or in gaps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.edit_paths import TARGET_UNKNOWN
from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.packed import prefetch, trailing_zeros
from overlapper.kernels.common.vectors import Lanes, bits_of, load, splat, store
from overlapper.runtime.compile.cache import njit

U64 = np.uint64
SHORTEST = 8
"""Columns of the shortest run that is listed."""
LANES, WIDTH = Lanes(16), 16
"""Rows of a path that are written at once; this many behind those of a run may be overwritten."""
_BASES = Lanes(32)
AHEAD = 4
"""How many runs ahead data are prefetched."""
_EACH = np.arange(WIDTH, dtype=np.int32)


class EqualRuns(NamedTuple):
    """Runs of equal pairs of the layers of a pileup."""

    first: np.ndarray
    """int64, shape (m + 1,); where the runs of each layer begin."""
    column: np.ndarray
    base: np.ndarray
    length: np.ndarray
    """`column`, `base`, `length`: int32; first column, first base of the layer, and number of pairs;
    ascending within a layer. The layer may have bases inserted behind the last pair."""


@njit(nogil=True, cache=True)
def new_equal_runs(layers, rows):
    """Return memory for the runs of ``layers`` layers, whose paths have ``rows`` rows in all."""
    most = rows // SHORTEST + 1
    return EqualRuns(
        np.zeros(layers + 1, np.int64), np.empty(most, np.int32), np.empty(most, np.int32),
        np.empty(most, np.int32),
    )  # fmt: skip


@inner
def add_equal_run(runs, n, column, base, length):
    """Append a run to ``n`` others if it is long enough; return the new number of runs."""
    if length < SHORTEST:
        return n
    runs.column[n], runs.base[n], runs.length[n] = column, base, length
    return n + 1


@inner
def add_runs_of_target(runs, n, target):
    """Append the runs of the target on itself, of known bases, to ``n`` others; return their new number."""
    start = np.int64(0)
    for c in range(len(target) + 1):
        if c == len(target) or target[c] == TARGET_UNKNOWN:
            n = add_equal_run(runs, n, start, start, c - start)
            start = np.int64(c) + 1
    return n


@inner
def equal_bases(target, j, read, i, most):
    """Return how many successive bases, from j and i on, are equal, ``most`` at most."""
    length = np.int64(0)
    while length + 32 <= most:
        alike = load(_BASES, target, j + length) == load(_BASES, read, i + length)
        unlike = ~bits_of(alike) & 0xFFFFFFFF
        if unlike:
            return length + trailing_zeros(np.uint64(unlike))
        length += 32
    while length < most and read[U64(i + length)] == target[U64(j + length)]:
        length += 1
    return length


@inner
def side_by_side(starts, at, base):
    """Return how many rows of a path (at most `WIDTH`) pair successive columns with successive bases.

    Parameters
    ----------
    starts : ndarray of int32
        Paths.
    at : int
        The first row.
    base : int
    """
    expected = splat(LANES, starts, base) + load(LANES, _EACH, 0)
    return trailing_zeros(U64(~bits_of(load(LANES, starts, at) == expected)))


@inner
def unlike_bases(draft, column, bases, base, n):
    """Return a bit for each of ``n`` columns (at most `WIDTH`): whether the base differs from the draft."""
    alike = bits_of(load(LANES, draft, column) == load(LANES, bases, base))
    return U64(~alike & ((1 << n) - 1))


@inner
def fetch_behind(runs, r, last, starts, at, bases):
    """Prefetch path and bases of a layer behind a later run, which the processor cannot predict.

    Parameters
    ----------
    runs : EqualRuns
    r, last : int
        The current run, and the end of the runs of the layer.
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
    """Write the rows of ``length`` pairs, from a base on; up to `WIDTH` rows behind are overwritten."""
    each = load(LANES, _EACH, 0)
    for x in range(0, length, WIDTH):
        store(starts, at + x, splat(LANES, starts, base + x) + each)
