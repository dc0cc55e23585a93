"""Seed extension with affine gaps, pruned where scores fall to 0; docs/algorithms/mapping.md defines it.

CPU only.

Of every column the score in the row before is kept, and the best of those that end in a gap along the target;
0 stands for none. A row covers the columns that can be above 0.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.oriented import unpack_bases
from overlapper.kernels.common.walks import QUERY_UNKNOWN, TARGET_UNKNOWN
from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def extend_pairs(queries, targets, x, y, start_score, match, mismatch, gap_open, gap_extend):
    """Extend a base of every pair to both sides, backwards first.

    Parameters
    ----------
    queries, targets : PackedReads
        n of each.
    x, y : ndarray of int64, shape (n,)
        The bases, which are equal.
    start_score : ndarray of int64, shape (n,)
        What the extension before the base starts from; that behind it starts from what was reached.
    match, mismatch, gap_open, gap_extend : int

    Returns
    -------
    ndarray of int64, shape (n, 4)
        Query start and end, target start and end.
    """
    ends = np.empty((len(x), 4), np.int64)
    for pair in range(len(x)):
        q_length, t_length = queries.lengths[pair], targets.lengths[pair]
        query, target = np.empty(q_length, np.uint8), np.empty(t_length, np.uint8)
        unpack_bases(queries, pair, 0, q_length, False, QUERY_UNKNOWN, query)
        unpack_bases(targets, pair, 0, t_length, False, TARGET_UNKNOWN, target)
        scores = (match, mismatch, gap_open, gap_extend)
        score, q_more, t_more = _extend(
            query[: x[pair]][::-1], target[: y[pair]][::-1], start_score[pair], scores
        )
        ends[pair, 0], ends[pair, 2] = x[pair] - q_more, y[pair] - t_more
        _, q_more, t_more = _extend(query[x[pair] + 1 :], target[y[pair] + 1 :], score, scores)
        ends[pair, 1], ends[pair, 3] = x[pair] + 1 + q_more, y[pair] + 1 + t_more
    return ends


@njit(nogil=True, cache=True)
def _extend(query, target, start_score, scores):
    """Return the highest score of an extension and how many bases of each it takes to get there."""
    match, mismatch, gap_open, gap_extend = scores
    n = len(query)
    above, along = np.zeros(n + 2, np.int64), np.zeros(n + 2, np.int64)
    above[0], low, high = start_score, 0, 0
    for j in range(1, n + 1):
        if start_score + gap_open + gap_extend * j <= 0:
            break
        above[j], high = start_score + gap_open + gap_extend * j, j
    best, best_q, best_t = start_score, np.int64(0), np.int64(0)
    for i in range(1, len(target) + 1):
        base = target[i - 1]
        diagonal = left = across = np.int64(0)
        first, last = n + 1, 0
        j = low
        while j <= n and (j <= high + 1 or left > 0):
            gap = max(above[j] + gap_open + gap_extend, along[j] + gap_extend, np.int64(0))
            across = max(left + gap_open + gap_extend, across + gap_extend, np.int64(0))
            left = max(gap, across)
            if diagonal > 0:
                left = max(left, diagonal + (match if query[j - 1] == base else mismatch))
            diagonal, above[j], along[j] = above[j], left, gap
            if left > 0:
                first, last = min(first, j), j
                if left > best:
                    best, best_q, best_t = left, np.int64(j), np.int64(i)
            j += 1
        if first > n:
            break
        low, high = first, last
    return best, best_q, best_t
