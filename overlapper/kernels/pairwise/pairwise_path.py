"""Pairwise alignment, the path: backwards through the directions of a part of the matrix.

GPU twin: cuda/pairwise_path.py.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.vectors import width
from overlapper.kernels.pairwise.pairwise_stripes import stripe_columns
from overlapper.runtime.compile.cache import njit
from overlapper.tables.cigars import DELETION, EQUAL, INSERTION, UNEQUAL

ROW, COLUMN, GAP, SCORE, RUNS = range(5)
"""What the state of a path holds: the cell it is at, the gap that led there (0, INSERTION or DELETION), H of
that cell, and how many runs lie behind it."""


@njit(nogil=True, cache=True)
def follow(lanes, part, work, scores, matrix, directions, state, runs):
    """Follow a path up to the row above a part, to column 0 or to its begin.

    Parameters
    ----------
    lanes, part, work, scores, directions
        As in `fill`.
    matrix : ndarray of int64, shape (5, 5)
        Scores of pairs of bases.
    state : ndarray of int64, shape (5,)
        Where the path is; kept up.
    runs : ndarray of uint32
        BAM's operations, the last one first.

    Returns
    -------
    begun : bool
        Whether a local alignment has begun here.
    runs : ndarray of uint32
        The same or a larger array.
    """
    local = scores.floor == 0
    row, column, gap, score = state[ROW], state[COLUMN], state[GAP], state[SCORE]
    floor = max(part.first * width(lanes), work.padding)
    stripe, before = np.int64(-1), np.int64(0)
    begun = False
    while row > floor and column > 0:
        if (row - 1) // width(lanes) != stripe:
            stripe = (row - 1) // width(lanes)
            before, _ = stripe_columns(lanes, stripe, part, work)
        lane = row - 1 - stripe * width(lanes)
        planes = directions[stripe - part.first, column - 1 - before + lane]
        if gap == INSERTION and not (planes[2] >> lane) & 1:
            gap, score = 0, score - scores.gap_open
        elif gap == DELETION and not (planes[3] >> lane) & 1:
            gap, score = 0, score - scores.gap_open
        if gap == 0:
            if local and score == 0:
                begun = True
                break
            if (planes[0] >> lane) & 1:
                query, target = work.query[row - 1], work.target[work.origin + 1 - column]
                score -= matrix[query, target]
                row, column = row - 1, column - 1
                runs = push_run(runs, state, EQUAL if query == target and query < 4 else UNEQUAL, 1)
                continue
            gap = INSERTION if (planes[1] >> lane) & 1 else DELETION
        if gap == INSERTION:
            row -= 1
        else:
            column -= 1
        score -= scores.gap_extend
        runs = push_run(runs, state, gap, 1)
    state[ROW], state[COLUMN], state[GAP], state[SCORE] = row, column, gap, score
    return begun, runs


@njit(nogil=True, cache=True)
def push_run(runs, state, operation, length):
    """Put columns of one operation before a path; return the runs, in a larger array if need be."""
    count = state[RUNS]
    if count > 0 and runs[count - 1] & 15 == operation:
        runs[count - 1] += length << 4
        return runs
    if count == len(runs):
        larger = np.empty(2 * count, np.uint32)
        larger[:count] = runs
        runs = larger
    runs[count] = length << 4 | operation
    state[RUNS] = count + 1
    return runs
