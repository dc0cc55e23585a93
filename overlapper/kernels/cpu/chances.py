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
"""Steps of clearness."""
_PHRED = np.array(
    [
        [
            [2, 3, 4, 7, 9, 13, 16, 20, 24, 29, 34, 37, 41, 43, 46, 47, 50, 54, 59, 60],  # stays, run of 1
            [3, 6, 8, 11, 15, 18, 22, 25, 29, 33, 36, 37, 39, 41, 44, 45, 50, 50, 53, 60],  # 2 or 3
            [1, 1, 1, 2, 3, 6, 9, 14, 17, 20, 21, 24, 25, 27, 29, 30, 34, 34, 34, 52],  # 4
            [1, 1, 1, 1, 2, 4, 5, 8, 10, 12, 14, 15, 16, 18, 18, 19, 22, 25, 25, 36],  # 5
            [1, 1, 1, 1, 2, 3, 5, 6, 7, 8, 9, 10, 10, 11, 11, 12, 13, 18, 19, 29],  # 6
            [1, 1, 1, 2, 3, 4, 5, 6, 7, 7, 7, 8, 8, 8, 8, 8, 9, 11, 14, 24],  # 7 or more
            [3, 5, 6, 8, 9, 12, 15, 18, 21, 26, 29, 32, 36, 40, 43, 43, 49, 51, 56, 60],  # farther left
            [6, 10, 14, 18, 22, 27, 29, 31, 38, 38, 40, 40, 43, 43, 43, 43, 43, 43, 43, 45],  # changed
            [1, 1, 1, 1, 1, 2, 3, 5, 8, 12, 18, 22, 27, 32, 36, 39, 43, 44, 48, 54],  # refused, up to 3
            [8, 10, 12, 13, 15, 18, 19, 22, 23, 26, 27, 29, 32, 34, 35, 37, 40, 40, 46, 53],  # 4
            [5, 7, 8, 10, 11, 12, 14, 16, 17, 18, 20, 23, 25, 27, 29, 33, 34, 39, 42, 49],  # 5
            [4, 5, 6, 7, 8, 10, 11, 13, 14, 15, 18, 19, 20, 23, 26, 29, 29, 32, 34, 41],  # 6 or more
        ],
        [
            [4, 6, 9, 13, 16, 19, 23, 25, 30, 30, 36, 37, 45, 45, 49, 53, 60, 60, 60, 60],  # stays, run of 1
            [8, 10, 12, 15, 17, 20, 23, 25, 30, 32, 40, 40, 44, 44, 44, 50, 58, 59, 60, 60],  # 2 or 3
            [2, 2, 3, 3, 5, 9, 14, 21, 24, 31, 31, 35, 35, 35, 35, 48, 48, 48, 48, 57],  # 4
            [1, 2, 3, 4, 6, 11, 14, 18, 21, 25, 29, 32, 36, 38, 38, 38, 38, 38, 38, 51],  # 5
            [1, 2, 4, 4, 7, 9, 14, 17, 20, 24, 24, 24, 28, 28, 28, 28, 28, 28, 30, 45],  # 6
            [2, 3, 4, 5, 7, 10, 12, 13, 18, 18, 30, 30, 30, 30, 30, 30, 30, 32, 39, 39],  # 7 or more
            [5, 7, 10, 16, 23, 33, 37, 41, 42, 42, 42, 51, 51, 51, 59, 60, 60, 60, 60, 60],  # farther left
            [4, 5, 8, 9, 10, 13, 14, 14, 17, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26, 26],  # changed
            [1, 3, 4, 8, 16, 25, 27, 27, 28, 29, 29, 31, 34, 37, 42, 43, 47, 54, 55, 60],  # refused, up to 3
            [7, 9, 11, 13, 16, 19, 19, 22, 24, 26, 26, 26, 28, 30, 34, 39, 42, 42, 54, 54],  # 4
            [7, 7, 9, 10, 13, 18, 20, 22, 25, 26, 26, 28, 32, 34, 34, 39, 52, 52, 52, 59],  # 5
            [6, 7, 8, 9, 14, 21, 22, 24, 24, 24, 24, 27, 27, 34, 34, 45, 45, 45, 48, 56],  # 6 or more
        ],
    ]
)
"""Decibels of the chance, by kind and step. `python -m tests.benchmarks.qualities fit` prints both tables."""
_LEAST = np.array([
    [
        0, 0, 0, 2, 2, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 16, 17, 18, 19, 20, 20, 21, 21,
        22, 24, 24, 26, 26, 26, 28, 29, 29, 30, 30, 31, 31, 33, 34, 34, 34, 35, 37, 38, 40, 40, 41,
        41, 43, 43,
    ],
    [
        0, 0, 0, 0, 4, 5, 5, 7, 7, 8, 9, 10, 11, 13, 14, 15, 16, 16, 18, 19, 19, 21, 22, 23, 23, 24,
        26, 26, 27, 27, 27, 28, 29, 30, 32, 32, 33, 33, 33, 33, 34, 34, 34, 39, 39, 39, 39, 39, 43,
        43, 43,
    ],
])  # fmt: skip
"""Decibels that the sum of chances behind a base of each quality has at least; 90 is never met."""


def parts(decibels):
    """Return chances that are given in decibels, in parts of `UNIT`."""
    return np.round(UNIT * 10 ** (-decibels / 10)).astype(np.int32)


CHANCES = parts(_PHRED)
"""Where raw reads decide, and corrected ones."""
LIMITS = parts(_LEAST)
"""Highest chance of a base of each quality, of raw reads and of corrected ones."""


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
    """Return how clear a decision is by members that agree, of so much weight, and how clear it is at most.

    Both in sixteenths of a step; the first one shrinks with the margin.
    """
    members = max(np.int64(1), members)
    if worth:
        return 5 * worth, 9 * worth * np.int64(math.sqrt(math.sqrt(members << 28))) >> 9
    return 8 * weight // members, 8 * weight // members


@inner
def step_of(clear, margin, whole):
    """Return the step of a decision whose margin is that share of the whole."""
    agreed, most = clear
    return min(max(min(agreed * margin // max(np.int64(1), whole), most) >> 4, 0), STEPS - 1)


@inner
def step_for(weight, standing, total, threshold, clear):
    """Return how clearly there is a base rather than none, and this one; the less clear of both."""
    there = step_of(clear, 100 * standing - threshold * total, (100 - threshold) * total)
    return min(there, step_of(clear, 2 * weight - standing, standing))


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
