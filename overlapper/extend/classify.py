"""Containment, dovetail or internal match (Li 2016, algorithm 5).

Put the target on the query's strand. Left of the match the reads stick out by ``left_query`` and
``left_target`` bases, right of it by ``right_query`` and ``right_target``. At each side the smaller of the
two is a *hang*: bases that should have matched if the overlap were real. What is left of the larger one is
where that read goes on alone.

An overlap is

1. an **internal match** when a hang exceeds ``max_hang``, or when the match (the longer of the two intervals)
   is shorter than ``min_ratio`` of itself plus both hangs;
2. **query contained** when the query goes on alone at neither side, **target contained** when the target does
   not. When neither read goes on alone, the shorter one is contained; of equal lengths, the target;
3. else a **dovetail**: one read goes on alone at the left, the other at the right.

Algorithm 5 bounds the sum of the hangs; as in miniasm, ``max_hang`` bounds each hang here.

The graph, conversion and polishing use rule 1. ``overlap`` takes `reported_classes`, and finds internal
matches by what other overlaps do at the same place (`overlapper.extend.stops`).
"""

from __future__ import annotations

import numpy as np

from overlapper.errors import ParameterError
from overlapper.kernels.selection import overlap_classes
from overlapper.params.graph import MAX_HANG, MIN_RATIO
from overlapper.tables import Intervals, OverlapClass

_RATIO_UNIT = 1_000_000


def classify(
    overlaps: Intervals, lengths: np.ndarray, max_hang: int = MAX_HANG, min_ratio: float = MIN_RATIO
) -> np.ndarray:
    """Return the class of every overlap.

    Parameters
    ----------
    overlaps : Overlaps or other Intervals
        Rows of any order.
    lengths : ndarray of int, shape (reads,)
        Length of every read, in bases.
    max_hang : int
        Bases.
    min_ratio : float
        Counts to six decimals; all arithmetic is on integers.

    Returns
    -------
    ndarray of uint8, shape (len(overlaps),)
        Values of `OverlapClass`.
    """
    check_within(overlaps, lengths)
    ratio = round(min_ratio * _RATIO_UNIT)
    matches = overlap_classes.Matches.of(overlaps, lengths)
    return overlap_classes.classes(matches, max_hang, ratio, _RATIO_UNIT)


def reported_classes(overlaps: Intervals, lengths: np.ndarray) -> np.ndarray:
    """Return the class of every overlap that is reported, whatever others do at the places where it ends.

    A containment is one by rule 2, of a read of which `MIN_RATIO` or more matches, and `MAX_HANG` bases or
    fewer do not at either end. All others are dovetails.

    Parameters
    ----------
    lengths : ndarray of int, shape (reads,)

    Returns
    -------
    ndarray of uint8, shape (len(overlaps),)
        Values of `OverlapClass`; none is internal.
    """
    # Internal matches are taken as if they went on to a read end.
    kinds, o = classify(overlaps, lengths, int(np.max(lengths, initial=0)), 0.0), overlaps
    of_query = kinds == OverlapClass.QUERY_CONTAINED
    start, end = np.where(of_query, (o.q_start, o.q_end), (o.t_start, o.t_end)).astype(np.int64)
    length = np.asarray(lengths, np.int64)[np.where(of_query, o.query, o.target)]
    matches = (end - start) * _RATIO_UNIT >= length * round(MIN_RATIO * _RATIO_UNIT)
    whole = matches & (start <= MAX_HANG) & (length - end <= MAX_HANG)
    return np.where(whole, kinds, np.uint8(OverlapClass.DOVETAIL))


def check_within(overlaps: Intervals, lengths: np.ndarray) -> None:
    """Check that every overlap lies within its reads.

    Parameters
    ----------
    lengths : ndarray of int, shape (reads,)

    Raises
    ------
    ParameterError
        When one does not.
    """
    o = overlaps
    row = overlap_classes.first_outside(overlap_classes.Matches.of(overlaps, lengths))
    if row >= 0:
        raise ParameterError(
            f"overlap row {row} lies outside its reads: query {o.query[row]} "
            f"[{o.q_start[row]}, {o.q_end[row]}) of {lengths[o.query[row]]} bases, "
            f"target {o.target[row]} [{o.t_start[row]}, {o.t_end[row]}) of "
            f"{lengths[o.target[row]]}; the overlaps belong to other reads"
        )


def ends(overlaps: Intervals, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the bases of both reads beyond each end of the match, with the target on the query's strand.

    Parameters
    ----------
    lengths : ndarray of int, shape (reads,)

    Returns
    -------
    left_query, right_query, left_target, right_target : ndarray of int64, shape (len(overlaps),)
        Bases before and after the match.
    """
    check_within(overlaps, lengths)
    lengths = np.asarray(lengths, np.int64)
    left_query = overlaps.q_start.astype(np.int64)
    right_query = lengths[overlaps.query] - overlaps.q_end
    before_target = overlaps.t_start.astype(np.int64)
    after_target = lengths[overlaps.target] - overlaps.t_end
    left_target = np.where(overlaps.reverse, after_target, before_target)
    right_target = np.where(overlaps.reverse, before_target, after_target)
    return left_query, right_query, left_target, right_target
