"""Chances that decisions of a vote are wrong, and qualities of bases (``docs/algorithms/correction.md``).

The chance of a decision is looked up by what is decided (a row of the table) and by how clearly (a step).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from overlapper.kernels.cpu.inner import inner

UNIT = 10_000_000
"""Chances are integers, in so many parts."""
BEST_QUALITY = 50
STAYS, INNER, CHANGED, REFUSED = 0, 6, 7, 8
"""First row of each kind of decision: a base stays at the end of a homopolymer run of 1, 2 or 3, 4, 5, 6, and
more bases; it stays farther left in a run; a column goes or a base is inserted; a base is not inserted that
would have made a run of at most 3, 4, 5, and more."""
LONGEST_RUN = 7
"""Bases of the shortest homopolymer run that counts as the longest."""
STEPS = 20
"""Steps of clearness: 8 times the fourth root of the raw reads that agree, or half of the mean quality of
corrected ones."""
_PHRED = np.array(
    [
        [
            [3, 4, 8, 11, 13, 17, 23, 27, 31, 37, 40, 43, 44, 47, 49, 51, 53, 53, 58, 58],
            [4, 7, 10, 13, 18, 21, 25, 29, 34, 38, 38, 41, 42, 46, 47, 53, 53, 53, 53, 60],
            [1, 1, 2, 4, 6, 11, 14, 17, 21, 24, 25, 27, 29, 30, 32, 34, 36, 36, 36, 52],
            [1, 1, 1, 2, 3, 5, 7, 9, 11, 12, 14, 16, 18, 19, 21, 22, 23, 25, 28, 33],
            [1, 1, 1, 2, 3, 4, 6, 7, 8, 8, 9, 9, 10, 12, 14, 14, 15, 18, 18, 28],
            [1, 1, 2, 3, 3, 4, 5, 5, 6, 6, 6, 7, 7, 7, 8, 10, 10, 10, 11, 20],
            [3, 5, 7, 9, 11, 14, 17, 20, 24, 27, 31, 34, 38, 41, 44, 47, 53, 53, 53, 60],
            [7, 11, 14, 20, 23, 29, 32, 39, 39, 42, 46, 46, 46, 46, 46, 46, 46, 46, 46, 46],
            [1, 1, 1, 1, 3, 3, 8, 12, 16, 21, 26, 30, 34, 37, 40, 43, 45, 47, 48, 51],
            [6, 8, 10, 12, 15, 17, 21, 23, 26, 30, 31, 32, 35, 37, 41, 42, 42, 45, 45, 52],
            [4, 5, 7, 9, 10, 12, 14, 17, 19, 21, 24, 25, 28, 30, 33, 35, 40, 42, 42, 48],
            [3, 3, 5, 7, 7, 9, 12, 13, 15, 18, 19, 20, 23, 25, 27, 30, 33, 35, 35, 39],
        ],
        [
            [3, 6, 9, 13, 16, 19, 22, 25, 28, 31, 35, 38, 41, 44, 47, 50, 54, 57, 60, 60],
            [5, 9, 12, 15, 19, 22, 25, 29, 32, 35, 38, 42, 45, 48, 52, 55, 58, 60, 60, 60],
            [6, 9, 12, 16, 19, 22, 25, 29, 32, 35, 38, 41, 45, 48, 51, 54, 58, 60, 60, 60],
            [1, 5, 8, 12, 15, 19, 22, 26, 29, 33, 36, 39, 43, 46, 50, 53, 57, 60, 60, 60],
            [2, 5, 7, 10, 12, 14, 17, 19, 22, 24, 27, 29, 32, 34, 37, 39, 42, 44, 47, 49],
            [4, 6, 8, 10, 12, 14, 16, 18, 20, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39, 40],
            [5, 10, 14, 18, 22, 26, 31, 35, 39, 43, 48, 52, 56, 60, 60, 60, 60, 60, 60, 60],
            [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40],
            [9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 38, 41, 44, 47, 50, 53, 56, 59, 60, 60],
            [1, 2, 4, 7, 9, 12, 14, 17, 19, 22, 24, 26, 29, 31, 34, 36, 39, 41, 44, 46],
            [3, 6, 9, 12, 15, 18, 21, 25, 28, 31, 34, 37, 40, 44, 47, 50, 53, 56, 59, 60],
            [5, 7, 10, 13, 16, 18, 21, 24, 27, 29, 32, 35, 38, 41, 43, 46, 49, 52, 54, 57],
        ],
    ],
    np.float64,
)
CHANCES = np.round(UNIT * 10 ** (-_PHRED / 10)).astype(np.int32)
"""Where raw reads decide, and corrected ones; fitted by tests/benchmarks/qualities.py."""
LIMITS = np.floor(UNIT * 10 ** (-np.arange(BEST_QUALITY + 1) / 10)).astype(np.int32)[None].repeat(2, 0)
"""Highest chance of a base of each quality."""


@inner
def stays_row(run, at_end):
    """Return the row of a base that stays, in or at the end of a homopolymer run of so many bases."""
    if run > 1 and not at_end:
        return INNER
    return STAYS + min(run >> 1 if run < 4 else run - 2, INNER - STAYS - 1)


@inner
def refused_row(run):
    """Return the row of a base that is not inserted, which would have made a run of so many bases."""
    return REFUSED + min(max(run - 3, 0), 3)


@inner
def reach(weight, members, worth):
    """Return the clearness, in sixteenths of a step, of members that agree, of so much weight."""
    members = max(np.int64(1), members)
    if worth:
        return worth * np.int64(math.sqrt(math.sqrt(members << 28))) >> 6
    return 8 * weight // members


@inner
def step_of(most, margin, whole):
    """Return the step of a decision whose margin is that share of the whole."""
    return min(max(most * margin // (16 * max(np.int64(1), whole)), 0), STEPS - 1)


@inner
def step_for(weight, standing, total, threshold, most):
    """Return how clearly there is a base rather than none, and this one; the less clear of both."""
    there = step_of(most, 100 * standing - threshold * total, (100 - threshold) * total)
    return min(there, step_of(most, 2 * weight - standing, standing))


@njit(nogil=True, cache=True)
def qualities(codes, chances, limits):
    """Return the qualities of bases; those of a homopolymer run have the same, as any may be the wrong one.

    Parameters
    ----------
    codes : ndarray of uint8, shape (n,)
    chances : ndarray of int32, shape (n,)
        In parts of `UNIT`; 0 where there was no vote, and the quality is 0 then.
    limits : ndarray of int32
        One of `LIMITS`.
    """
    quality = np.zeros(len(codes), np.uint8)
    start = 0
    for x in range(1, len(codes) + 1):
        if x < len(codes) and codes[x] == codes[start]:
            continue
        total, voted = np.int64(0), 0
        for y in range(start, x):
            total += chances[y]
            voted += chances[y] > 0
        if voted:
            of_run = phred(total // voted, limits)
            for y in range(start, x):
                if chances[y] > 0:
                    quality[y] = of_run
        start = x
    return quality


@inner
def phred(chance, limits):
    """Return the highest quality that allows for such a chance; at least 1."""
    low, high = 1, BEST_QUALITY + 1
    while high - low > 1:
        middle = (low + high) >> 1
        if chance <= limits[middle]:
            low = middle
        else:
            high = middle
    return low
