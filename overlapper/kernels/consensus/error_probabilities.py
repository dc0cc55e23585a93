"""Error probabilities of the decisions of a vote, and qualities of bases (``docs/algorithms/correction.md``).

A table has the probability of a decision by its kind (row) and by its clearness (step).
"""

from __future__ import annotations

import math

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.runtime.compile.cache import njit

UNIT = 10_000_000
"""Probabilities are integers, in units of one over this number."""
BEST_QUALITY = 50
STAYS, INNER, CHANGED, REFUSED = 0, 6, 7, 8
"""First row of each kind of decision: a base stays, the last one of a homopolymer run of 1, 2 or 3, 4, 5, 6,
and more bases; a base stays farther left in a run; a column is removed or a base inserted; a base that would
have made a run of at most 3, 4, 5, and more is not inserted."""
STEPS = 20
"""Number of steps of clearness."""
FEWEST, FEW = 3, 7
"""Least layers of a vote; layers from which on votes of accurate reads have all of their worth."""
ORDINARY = 64
"""A worth of 1, in 64ths."""
WHOLE = 16
"""Doubts and clearness are in units of one over this of a step; a doubt whose factor is this counts once."""
_KNOWN = 256
"""Size of a cache of qualities, by the last bits of the probability."""
_PHRED = np.array(
    [
        [
            [2, 3, 4, 7, 9, 13, 16, 20, 24, 29, 34, 37, 41, 43, 46, 47, 50, 54, 59, 60],  # stays, run 1
            [3, 6, 8, 11, 15, 18, 22, 25, 29, 33, 36, 37, 39, 41, 44, 45, 50, 50, 53, 60],  # 2 or 3
            [1, 1, 1, 2, 3, 6, 9, 14, 17, 20, 21, 24, 25, 27, 29, 30, 34, 34, 34, 52],  # 4
            [1, 1, 1, 1, 2, 4, 5, 8, 10, 12, 14, 15, 16, 18, 18, 19, 22, 25, 25, 36],  # 5
            [1, 1, 1, 1, 2, 3, 5, 6, 7, 8, 9, 10, 10, 11, 11, 12, 13, 18, 19, 29],  # 6
            [1, 1, 1, 2, 3, 4, 5, 6, 7, 7, 7, 8, 8, 8, 8, 8, 9, 11, 14, 24],  # 7 or more
            [3, 5, 6, 8, 9, 12, 15, 18, 21, 26, 29, 32, 36, 40, 43, 43, 49, 51, 56, 60],  # farther left
            [6, 10, 14, 18, 22, 27, 29, 31, 38, 38, 40, 40, 43, 43, 43, 43, 43, 43, 43, 45],  # changed
            [1, 1, 1, 1, 1, 2, 3, 5, 8, 12, 18, 22, 27, 32, 36, 39, 43, 44, 48, 54],  # refused, to 3
            [8, 10, 12, 13, 15, 18, 19, 22, 23, 26, 27, 29, 32, 34, 35, 37, 40, 40, 46, 53],  # 4
            [5, 7, 8, 10, 11, 12, 14, 16, 17, 18, 20, 23, 25, 27, 29, 33, 34, 39, 42, 49],  # 5
            [4, 5, 6, 7, 8, 10, 11, 13, 14, 15, 18, 19, 20, 23, 26, 29, 29, 32, 34, 41],  # 6 or more
        ],
        [
            [17, 27, 27, 30, 32, 33, 37, 37, 40, 40, 48, 52, 52, 52, 52, 53, 57, 57, 60, 60],  # stays, run 1
            [18, 26, 28, 29, 31, 31, 34, 38, 38, 42, 42, 44, 45, 48, 55, 56, 57, 59, 60, 60],  # 2 or 3
            [8, 20, 20, 25, 25, 26, 28, 33, 33, 33, 33, 33, 33, 38, 48, 48, 48, 48, 48, 56],  # 4
            [8, 16, 16, 19, 19, 19, 19, 25, 25, 30, 36, 39, 39, 39, 39, 39, 39, 39, 39, 51],  # 5
            [7, 8, 9, 9, 12, 15, 16, 24, 24, 24, 24, 24, 26, 26, 26, 27, 27, 29, 31, 45],  # 6
            [5, 5, 5, 6, 9, 12, 16, 19, 29, 29, 29, 29, 29, 29, 29, 30, 32, 32, 34, 42],  # 7 or more
            [26, 36, 36, 36, 41, 41, 41, 45, 45, 51, 57, 58, 58, 58, 59, 59, 60, 60, 60, 60],  # farther left
            [9, 9, 9, 9, 9, 9, 10, 15, 15, 15, 20, 25, 25, 25, 25, 25, 25, 25, 25, 25],  # changed
            [21, 29, 29, 29, 29, 32, 32, 32, 33, 35, 36, 41, 41, 43, 44, 47, 55, 55, 60, 60],  # refused, to 3
            [15, 21, 22, 23, 24, 26, 26, 28, 28, 28, 31, 31, 35, 35, 35, 40, 40, 54, 54, 54],  # 4
            [18, 22, 22, 22, 23, 23, 25, 26, 27, 28, 30, 30, 30, 41, 52, 52, 52, 52, 52, 59],  # 5
            [20, 20, 20, 20, 20, 20, 23, 23, 24, 24, 25, 29, 31, 36, 46, 46, 46, 46, 46, 57],  # 6 or more
        ],
    ]
)
"""Probability in decibels, for raw and corrected reads, by kind of decision and step; how it was fitted is in
``docs/algorithms/correction.md``."""
_LEAST = np.array([
    [
        0, 0, 0, 2, 2, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 16, 17, 18, 19, 20, 20, 21, 21,
        22, 24, 24, 26, 26, 26, 28, 29, 29, 30, 30, 31, 31, 33, 34, 34, 34, 35, 37, 38, 40, 40, 41,
        41, 43, 43,
    ],
    [
        0, 0, 0, 0, 0, 0, 4, 4, 4, 4, 12, 12, 12, 12, 12, 15, 16, 18, 18, 18, 21, 21, 23, 23,
        23, 23, 25, 28, 28, 29, 29, 30, 30, 31, 31, 32, 34, 34, 34, 37, 37, 37, 40, 40, 40, 40,
        42, 42, 42, 42, 42,
    ],
])  # fmt: skip
"""Least decibels of the probability of a base of each quality, for raw and corrected reads."""


def parts(decibels):
    """Convert probabilities from decibels to parts of `UNIT`."""
    return np.round(UNIT * 10 ** (-decibels / 10)).astype(np.int32)


PROBABILITIES = parts(_PHRED)
"""Error probabilities of decisions by raw reads, and by corrected ones."""
LIMITS = parts(_LEAST)
"""Highest error probability of a base of each quality, by raw reads, and by corrected ones."""


@inner
def stays_row(run, at_end):
    """Return the row for a base that stays, in or at the end of a homopolymer run of ``run`` bases."""
    if run > 1 and not at_end:
        return INNER
    return STAYS + min(run >> 1 if run < 4 else run - 2, INNER - STAYS - 1)


@inner
def refused_row(run):
    """Return the row for a base that is not inserted, which would have made a run of ``run`` bases."""
    return REFUSED + min(max(run - 3, 0), 3)


@inner
def reach(weight, layers, worth, doubt):
    """Return the clearness of a unanimous decision, the greatest clearness, and the factor of doubts.

    Clearness is in sixteenths of a step. Arguments are the weight and number of the layers, and `worth` and
    `doubt` of `kernels.consensus.layers.Settings`.
    """
    layers = max(np.int64(1), layers)
    if worth > ORDINARY and layers < FEW:
        worth = ORDINARY + (worth - ORDINARY) * max(layers - FEWEST, np.int64(0)) // (FEW - FEWEST)
    if worth:
        return 5 * worth, 9 * worth * np.int64(math.sqrt(math.sqrt(layers << 28))) >> 9, doubt
    return 8 * weight // layers, 8 * weight // layers, doubt


@inner
def step_of(clear, margin, whole):
    """Return the step of a decision by its margin, relative to ``whole``, the margin of a unanimous one.

    The clearness that it lacks is doubt.
    """
    agreed, most, doubt = clear
    missing = WHOLE * STEPS - min(agreed * margin // max(np.int64(1), whole), most)
    return min(max((WHOLE * WHOLE * STEPS - missing * doubt) >> 8, 0), STEPS - 1)


@inner
def surest_step(clear):
    """Return the step of a unanimous decision."""
    return step_of(clear, np.int64(1), np.int64(1))


@inner
def step_for(weight, standing, total, threshold, clear):
    """Return the step of a base: the lower one of there being any base, and of its being this one."""
    there = step_of(clear, 100 * standing - threshold * total, (100 - threshold) * total)
    return min(there, step_of(clear, 2 * weight - standing, standing))


@njit(nogil=True, cache=True)
def qualities(codes, probabilities, limits):
    """Return the qualities of bases.

    All bases of a homopolymer run have the same, as any may be the wrong one.

    Parameters
    ----------
    codes : ndarray of uint8, shape (n,)
    probabilities : ndarray of int32, shape (n,)
        In parts of `UNIT`; 0 without a vote, for a quality of 0.
    limits : ndarray of int32
        One of `LIMITS`.
    """
    quality = np.zeros(len(codes), np.uint8)
    # A few probabilities come again and again: their qualities are cached.
    known, of_known = np.full(_KNOWN, -1, np.int64), np.empty(_KNOWN, np.uint8)
    start = 0
    for x in range(1, len(codes) + 1):
        if x < len(codes) and codes[x] == codes[start]:
            continue
        total, voted = np.int64(0), 0
        for y in range(start, x):
            total += probabilities[y]
            voted += probabilities[y] > 0
        if voted:
            mean = total if voted == 1 else total // voted
            place = mean & (_KNOWN - 1)
            if known[place] != mean:
                known[place], of_known[place] = mean, phred(mean, limits)
            of_run = of_known[place]
            for y in range(start, x):
                if probabilities[y] > 0:
                    quality[y] = of_run
        start = x
    return quality


@inner
def phred(probability, limits):
    """Return the highest quality, at least 1, whose limit the probability does not exceed."""
    low, high = 1, BEST_QUALITY + 1
    while high - low > 1:
        middle = (low + high) >> 1
        if probability <= limits[middle]:
            low = middle
        else:
            high = middle
    return low
