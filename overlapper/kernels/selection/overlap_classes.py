"""Containment, dovetail or internal match. Definitions are in `overlapper.extend.classify`."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from overlapper.kernels.common.inlining import always_inline
from overlapper.runtime.compile.cache import njit
from overlapper.tables import OverlapClass

_INTERNAL, _DOVETAIL = int(OverlapClass.INTERNAL), int(OverlapClass.DOVETAIL)
_QUERY_CONTAINED, _TARGET_CONTAINED = int(OverlapClass.QUERY_CONTAINED), int(OverlapClass.TARGET_CONTAINED)


class Matches(NamedTuple):
    """Overlaps: columns of `overlapper.tables.Intervals`, and the lengths of all reads (int64)."""

    query: np.ndarray
    target: np.ndarray
    reverse: np.ndarray
    q_start: np.ndarray
    q_end: np.ndarray
    t_start: np.ndarray
    t_end: np.ndarray
    lengths: np.ndarray

    @classmethod
    def of(cls, overlaps: Any, lengths: np.ndarray) -> Self:
        """Return the columns of a table of overlaps."""
        columns = (getattr(overlaps, name) for name in cls._fields[:-1])
        return cls._make([*columns, np.asarray(lengths, np.int64)])


@always_inline
def beyond(row, matches):
    """Return the bases beyond a match, left and right of it on the query's strand: query's, then target's."""
    left_query = np.int64(matches.q_start[row])
    right_query = matches.lengths[matches.query[row]] - matches.q_end[row]
    before_target = np.int64(matches.t_start[row])
    after_target = matches.lengths[matches.target[row]] - matches.t_end[row]
    if matches.reverse[row]:
        return left_query, right_query, after_target, before_target
    return left_query, right_query, before_target, after_target


@njit(nogil=True, cache=True)
def first_outside(matches):
    """Return the first row that does not lie within its reads, -1 if all do."""
    for row in range(len(matches.query)):
        left_query, right_query, left_target, right_target = beyond(row, matches)
        if min(left_query, right_query, left_target, right_target) < 0:
            return row
    return -1


@njit(nogil=True, cache=True)
def classes(matches, max_hang, min_ratio, ratio_unit):
    """Return the class of every overlap.

    Parameters
    ----------
    matches : Matches
        Within their reads.
    max_hang : int
    min_ratio : int
        In units of which ``ratio_unit`` are 1.
    ratio_unit : int

    Returns
    -------
    ndarray of uint8, shape (n,)
        Values of `OverlapClass`.
    """
    kinds = np.empty(len(matches.query), np.uint8)
    for row in range(len(matches.query)):
        kinds[row] = _class_of(row, matches, max_hang, min_ratio, ratio_unit)
    return kinds


@always_inline
def _class_of(row, matches, max_hang, min_ratio, ratio_unit):
    left_query, right_query, left_target, right_target = beyond(row, matches)
    left, right = min(left_query, left_target), min(right_query, right_target)
    match = length_of(row, matches)
    query_within = left_query <= left_target and right_query <= right_target
    target_within = left_target <= left_query and right_target <= right_query
    shorter = matches.lengths[matches.query[row]] < matches.lengths[matches.target[row]]
    if left > max_hang or right > max_hang or match * ratio_unit < (match + left + right) * min_ratio:
        return _INTERNAL
    if query_within and (not target_within or shorter):
        return _QUERY_CONTAINED
    return _TARGET_CONTAINED if target_within else _DOVETAIL


@always_inline
def length_of(row, matches):
    """Return the bases of a match on the read where it has more."""
    return np.int64(max(matches.q_end[row] - matches.q_start[row], matches.t_end[row] - matches.t_start[row]))
