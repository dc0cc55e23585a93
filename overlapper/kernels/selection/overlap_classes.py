"""Containment, dovetail or internal match. Definitions are in `overlapper.extend.classify`."""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.runtime.compile.cache import njit
from overlapper.tables import OverlapClass

_INTERNAL, _DOVETAIL = int(OverlapClass.INTERNAL), int(OverlapClass.DOVETAIL)
_QUERY_CONTAINED, _TARGET_CONTAINED = int(OverlapClass.QUERY_CONTAINED), int(OverlapClass.TARGET_CONTAINED)


@inner
def beyond(row, query, target, reverse, q_start, q_end, t_start, t_end, lengths):
    """Return the bases beyond a match, left and right of it on the query's strand: query's, then target's."""
    left_query, right_query = np.int64(q_start[row]), lengths[query[row]] - q_end[row]
    before_target, after_target = np.int64(t_start[row]), lengths[target[row]] - t_end[row]
    if reverse[row]:
        return left_query, right_query, after_target, before_target
    return left_query, right_query, before_target, after_target


@njit(nogil=True, cache=True)
def first_outside(query, target, q_start, q_end, t_start, t_end, lengths):
    """Return the first row that does not lie within its reads, -1 if all do."""
    for row in range(len(query)):
        if q_start[row] < 0 or q_end[row] > lengths[query[row]]:
            return row
        if t_start[row] < 0 or t_end[row] > lengths[target[row]]:
            return row
    return -1


@njit(nogil=True, cache=True)
def classes(
    query, target, reverse, q_start, q_end, t_start, t_end, lengths, max_hang, min_ratio, ratio_unit
):  # fmt: skip
    """Return the class of every overlap.

    Parameters
    ----------
    query, target, reverse, q_start, q_end, t_start, t_end : arrays, shape (n,)
        Overlaps within their reads.
    lengths : array of int64, shape (reads,)
    max_hang : int
    min_ratio : int
        In units of which ``ratio_unit`` are 1.
    ratio_unit : int

    Returns
    -------
    ndarray of uint8, shape (n,)
        Values of `OverlapClass`.
    """
    kinds = np.empty(len(query), np.uint8)
    for row in range(len(query)):
        q_length, t_length = lengths[query[row]], lengths[target[row]]
        left_query, right_query, left_target, right_target = beyond(
            row, query, target, reverse, q_start, q_end, t_start, t_end, lengths
        )
        left, right = min(left_query, left_target), min(right_query, right_target)
        match = np.int64(max(q_end[row] - q_start[row], t_end[row] - t_start[row]))
        query_within = left_query <= left_target and right_query <= right_target
        target_within = left_target <= left_query and right_target <= right_query
        if left > max_hang or right > max_hang or match * ratio_unit < (match + left + right) * min_ratio:
            kinds[row] = _INTERNAL
        elif query_within and (not target_within or q_length < t_length):
            kinds[row] = _QUERY_CONTAINED
        elif target_within:
            kinds[row] = _TARGET_CONTAINED
        else:
            kinds[row] = _DOVETAIL
    return kinds
