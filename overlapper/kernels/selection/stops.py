"""Stops and crossings of overlaps, counted along the reads (``docs/algorithms/internal-matches.md``)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.inlining import always_inline, inner
from overlapper.kernels.selection.overlap_classes import beyond, length_of
from overlapper.runtime.compile.cache import njit

STRETCH = 128
"""Bases of a stretch, the unit in which stops and crossings are counted."""
NEAR = 2
"""Stops at most this many stretches apart are at the same place."""
LEVELS = 3
"""Stops are tallied by how many are at the same place: one, two, more."""
COPIES = 4
"""Least depth of a repeat, in crossings, relative to the rest of the reads."""
ELSEWHERE = 4
"""At least one in this many stretches of a read lies outside of the repeat."""
DENSER = 2
"""Of reads of one place, at most this many times as many stop there as cross it, or cross any place."""
RARER = 8
"""Where few molecules are rearranged, at least this many times as many reads go one way as the other."""


class Evidence(NamedTuple):
    """What stops are judged by."""

    stops: np.ndarray
    crossings: np.ndarray
    """`stops`, `crossings`: arrays; as `accumulate` leaves them."""
    many: int
    """Stops at a place that nothing crosses, from which on the read is bad there."""
    few: int
    """Overlaps at a place that are too few to tell."""
    typical: int
    """Median number of crossings of a stretch."""


@always_inline
def _hangs(row, matches):
    """Return the hangs of an overlap, left and right of the match on the query's strand."""
    left_query, right_query, left_target, right_target = beyond(row, matches)
    return min(left_query, left_target), min(right_query, right_target)


@inner
def _inner_stretches(start, end):
    """Return the first stretch of a read that an interval crosses, and the one behind the last."""
    return (start + STRETCH - 1) // STRETCH + 1, end // STRETCH - 1


@always_inline
def _places(row, side, matches, first):
    """Return the stretches at a side of the match on both reads, and whether it is its end on the target."""
    at_end = (side == 1) != matches.reverse[row]
    q_base = matches.q_start[row] if side == 0 else matches.q_end[row] - 1
    t_base = matches.t_end[row] - 1 if at_end else matches.t_start[row]
    at_query = first[matches.query[row]] + q_base // STRETCH
    return at_query, first[matches.target[row]] + t_base // STRETCH, np.int64(at_end)


@njit(nogil=True, cache=True)
def add(matches, max_hang, first, read_start, read_stop, stops, crossings):
    """Count stops on a range of reads, and the steps by which the number of crossings changes.

    Parameters
    ----------
    matches : Matches
        Within their reads.
    max_hang : int
    first : array of int64, shape (reads + 1,)
        First stretch of each read.
    read_start, read_stop : int
        Counts are those on reads ``[read_start, read_stop)``.
    stops : array of int32, shape (2, stretches)
        At starts and at ends of matches; counted up.
    crossings : array of int32, shape (stretches,)
        Steps, counted up.
    """
    query, target = matches.query, matches.target
    for row in range(len(query)):
        of_query = read_start <= query[row] < read_stop
        of_target = read_start <= target[row] < read_stop
        if not (of_query or of_target):
            continue
        hangs = _hangs(row, matches)
        for side in range(2):
            if hangs[side] > max_hang:
                at_query, at_target, at_end = _places(row, side, matches, first)
                if of_query:
                    stops[side, at_query] += 1
                if of_target:
                    stops[at_end, at_target] += 1
        for which in range(2):
            if which == 0:
                here, read, start, end = of_query, query[row], matches.q_start[row], matches.q_end[row]
            else:
                here, read, start, end = of_target, target[row], matches.t_start[row], matches.t_end[row]
            low, high = _inner_stretches(start, end)
            if here and low < high:
                crossings[first[read] + low] += 1
                crossings[first[read] + high] -= 1


@njit(nogil=True, cache=True)
def may_be_internal(matches, max_hang, first):
    """Return a mask of the overlaps that stop on a side or may lie within a repeat; arguments as in `add`."""
    found = np.empty(len(matches.query), np.bool_)
    for row in range(len(found)):
        hangs = _hangs(row, matches)
        found[row] = max(hangs[0], hangs[1]) > max_hang
        found[row] |= _may_be_deep(matches.query[row], matches.q_start[row], matches.q_end[row], first)
        found[row] |= _may_be_deep(matches.target[row], matches.t_start[row], matches.t_end[row], first)
    return found


@inner
def _may_be_deep(read, start, end, first):
    """Return whether so much of a read lies beyond a match that the match may be the deeper one."""
    low, high = _inner_stretches(start, end)
    stretches = first[read + 1] - first[read]
    return low < high and ELSEWHERE * (stretches - (high - low)) >= stretches


@njit(nogil=True, cache=True)
def accumulate(first, stops, crossings):
    """Sum steps up to numbers of crossings, and stops up to those at the same place, in place.

    Returns
    -------
    covered, quiet : int
        Stretches that overlaps cross, counted once for either side, and those of them without a stop.
    """
    covered, quiet = 0, 0
    for read in range(len(first) - 1):
        low, high = first[read], first[read + 1]
        for stretch in range(low + 1, high):
            crossings[stretch] += crossings[stretch - 1]
        for side in range(2):
            own = stops[side, low:high].copy()
            near = own[:NEAR].sum()
            for at in range(high - low):
                if at + NEAR < len(own):
                    near += own[at + NEAR]
                if at > NEAR:
                    near -= own[at - NEAR - 1]
                stops[side, low + at] = near
                covered += crossings[low + at] > 0
                quiet += crossings[low + at] > 0 and near == 0
    return covered, quiet


@always_inline
def _judged(row, side, matches, first, evidence):
    """Return the stops and overlaps at the place of a stop, and whether one of the reads is alone.

    Of the numbers on the two reads the smaller one counts. A read is alone where it is bad, or where few
    molecules are as it is.
    """
    stops, crossings, many, few, typical = evidence
    at_query, at_target, at_end = _places(row, side, matches, first)
    q_stops, t_stops = stops[side, at_query], stops[at_end, at_target]
    q_crossings, t_crossings = crossings[at_query], crossings[at_target]
    alone = (
        _is_bad(q_stops, q_crossings, t_stops, t_crossings, many, typical)
        or _is_bad(t_stops, t_crossings, q_stops, q_crossings, many, typical)
        or _is_rare(q_stops, q_crossings, t_stops, t_crossings, few)
        or _is_rare(t_stops, t_crossings, q_stops, q_crossings, few)
    )
    return min(q_stops, t_stops), min(q_stops + q_crossings, t_stops + t_crossings), alone


@inner
def _is_bad(own_stops, own_crossings, other_stops, other_crossings, many, typical):
    """Return whether no read goes on as the own read does, and no more stop on the other than a place has."""
    of_one_place = max(many - 1, DENSER * max(typical, other_crossings))
    return own_stops >= many and own_crossings == 0 and other_stops <= of_one_place


@inner
def _is_rare(own_stops, own_crossings, other_stops, other_crossings, few):
    """Return whether far fewer reads go on as the own read does than as the other read does."""
    more_stop = RARER * np.int64(own_crossings) <= own_stops
    more_cross = RARER * np.int64(other_stops) <= other_crossings
    return own_crossings < few and more_stop and more_cross


@njit(nogil=True, cache=True)
def tally(matches, max_hang, first, evidence):
    """Count the stops at which no read is alone, by `LEVELS`.

    Parameters
    ----------
    matches, max_hang, first
        As `add` takes them.
    evidence : Evidence

    Returns
    -------
    ndarray of int64, shape (LEVELS,)
    """
    counts = np.zeros(LEVELS, np.int64)
    for row in range(len(matches.query)):
        hangs = _hangs(row, matches)
        for side in range(2):
            if hangs[side] > max_hang:
                near, _, alone = _judged(row, side, matches, first, evidence)
                if not alone:
                    counts[min(near, LEVELS) - 1] += 1
    return counts


@njit(nogil=True, cache=True)
def internal(matches, max_hang, first, evidence, least, min_ratio, ratio_unit):
    """Return which overlaps are internal matches.

    Parameters
    ----------
    matches, max_hang, first, evidence
        As `tally` takes them.
    least : int
        Stops at a border.
    min_ratio : int
        In units of which ``ratio_unit`` are 1.
    ratio_unit : int

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    found = np.zeros(len(matches.query), np.bool_)
    for row in range(len(found)):
        hangs = _hangs(row, matches)
        match = length_of(row, matches)
        short = match * ratio_unit < (match + hangs[0] + hangs[1]) * min_ratio
        for side in range(2):
            if hangs[side] > max_hang:
                near, known, alone = _judged(row, side, matches, first, evidence)
                border = near >= least and not alone
                found[row] |= short if known < evidence.few else border
    return found


@njit(nogil=True, cache=True)
def count_crossings(crossings, most):
    """Count the stretches by their number of crossings, 0 to ``most``; more count as ``most``."""
    counts = np.zeros(most + 1, np.int64)
    for number in crossings:
        counts[min(np.int64(number), most)] += 1
    return counts


@njit(nogil=True, cache=True)
def within_repeats(matches, first, crossings, typical):
    """Return a mask of the overlaps that lie within a repeat, beyond which one of the reads goes on.

    Parameters
    ----------
    matches, first
        As `add` takes them.
    crossings : array of int32
        As `accumulate` leaves them.
    typical : int
        Median number of crossings of a stretch.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    found = np.zeros(len(matches.query), np.bool_)
    for row in range(len(found)):
        q_start, q_end, t_start, t_end = (
            matches.q_start[row], matches.q_end[row], matches.t_start[row], matches.t_end[row],
        )  # fmt: skip
        found[row] = _is_deep(matches.query[row], q_start, q_end, first, crossings, typical)
        found[row] |= _is_deep(matches.target[row], t_start, t_end, first, crossings, typical)
    return found


@inner
def _is_deep(read, start, end, first, crossings, typical):
    """Return whether far more overlaps cross a match than is typical, and than cross the rest of its read."""
    if not _may_be_deep(read, start, end, first):
        return False
    low, high = _inner_stretches(start, end)
    fewest = np.int64(1 << 31)
    for stretch in range(first[read] + low, first[read] + high):
        fewest = min(fewest, np.int64(crossings[stretch]))
        if fewest <= COPIES * typical:
            return False
    outside = 0
    for stretch in range(first[read], first[read + 1]):
        # Stretches that nothing crosses, such as ends of reads, are not counted.
        if 0 < COPIES * np.int64(crossings[stretch]) < fewest:
            outside += 1
    return ELSEWHERE * outside >= first[read + 1] - first[read]
