"""Stops and crossings of overlaps, counted along the reads (``docs/algorithms/internal-matches.md``)."""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.selection.overlap_classes import beyond
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


@inner
def _hangs(row, query, target, reverse, q_start, q_end, t_start, t_end, lengths):
    """Return the hangs of an overlap, left and right of the match on the query's strand."""
    left_query, right_query, left_target, right_target = beyond(
        row, query, target, reverse, q_start, q_end, t_start, t_end, lengths
    )
    return min(left_query, left_target), min(right_query, right_target)


@inner
def _inner_stretches(start, end):
    """Return the first stretch of a read that an interval crosses, and the one behind the last."""
    return (start + STRETCH - 1) // STRETCH + 1, end // STRETCH - 1


@inner
def _places(row, side, query, target, reverse, q_start, q_end, t_start, t_end, first):
    """Return the stretches at a side of the match on both reads, and whether it is its end on the target."""
    if side == 0:
        q_stretch = q_start[row] // STRETCH
    else:
        q_stretch = (q_end[row] - 1) // STRETCH
    at_end = (side == 1) != reverse[row]
    if at_end:
        t_stretch = (t_end[row] - 1) // STRETCH
    else:
        t_stretch = t_start[row] // STRETCH
    return first[query[row]] + q_stretch, first[target[row]] + t_stretch, np.int64(at_end)


@njit(nogil=True, cache=True)
def add(
    query, target, reverse, q_start, q_end, t_start, t_end, lengths, max_hang, first, read_start, read_stop,
    stops, crossings,
):  # fmt: skip
    """Count stops on a range of reads, and the steps by which the number of crossings changes.

    Parameters
    ----------
    query, target, reverse, q_start, q_end, t_start, t_end : arrays, shape (n,)
        Overlaps within their reads.
    lengths : array of int64, shape (reads,)
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
    for row in range(len(query)):
        of_query = read_start <= query[row] < read_stop
        of_target = read_start <= target[row] < read_stop
        if not (of_query or of_target):
            continue
        hangs = _hangs(row, query, target, reverse, q_start, q_end, t_start, t_end, lengths)
        for side in range(2):
            if hangs[side] > max_hang:
                at_query, at_target, at_end = _places(
                    row, side, query, target, reverse, q_start, q_end, t_start, t_end, first
                )
                if of_query:
                    stops[side, at_query] += 1
                if of_target:
                    stops[at_end, at_target] += 1
        for which in range(2):
            if which == 0:
                here, read, start, end = of_query, query[row], q_start[row], q_end[row]
            else:
                here, read, start, end = of_target, target[row], t_start[row], t_end[row]
            low, high = _inner_stretches(start, end)
            if here and low < high:
                crossings[first[read] + low] += 1
                crossings[first[read] + high] -= 1


@njit(nogil=True, cache=True)
def may_be_internal(query, target, reverse, q_start, q_end, t_start, t_end, lengths, max_hang, first):
    """Return a mask of the overlaps that stop on a side or may lie within a repeat; arguments as in `add`."""
    found = np.empty(len(query), np.bool_)
    for row in range(len(query)):
        hangs = _hangs(row, query, target, reverse, q_start, q_end, t_start, t_end, lengths)
        found[row] = max(hangs[0], hangs[1]) > max_hang
        found[row] |= _may_be_deep(query[row], q_start[row], q_end[row], first)
        found[row] |= _may_be_deep(target[row], t_start[row], t_end[row], first)
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


@inner
def _evidence(at_query, at_target, side, at_end, stops, crossings, many, few, typical):
    """Return the evidence on a stop: stops and overlaps at its place, and whether one of the reads is alone.

    Of the numbers on the two reads the smaller one counts. A read is alone where it is bad, or where few
    molecules are as it is.
    """
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
def tally(
    query, target, reverse, q_start, q_end, t_start, t_end, lengths, max_hang, first, stops, crossings, many,
    few, typical,
):  # fmt: skip
    """Count the stops at which no read is alone, by `LEVELS`.

    Parameters
    ----------
    query, target, reverse, q_start, q_end, t_start, t_end, lengths, max_hang, first
        As `add` takes them.
    stops, crossings : arrays
        As `accumulate` leaves them.
    many : int
        Stops at a place that nothing crosses, from which on the read is bad there.
    few : int
        Overlaps at a place that are too few to tell.
    typical : int
        Median number of crossings of a stretch.

    Returns
    -------
    ndarray of int64, shape (LEVELS,)
    """
    counts = np.zeros(LEVELS, np.int64)
    for row in range(len(query)):
        hangs = _hangs(row, query, target, reverse, q_start, q_end, t_start, t_end, lengths)
        for side in range(2):
            if hangs[side] > max_hang:
                at_query, at_target, at_end = _places(
                    row, side, query, target, reverse, q_start, q_end, t_start, t_end, first
                )
                near, _, alone = _evidence(
                    at_query, at_target, side, at_end, stops, crossings, many, few, typical
                )
                if not alone:
                    counts[min(near, LEVELS) - 1] += 1
    return counts


@njit(nogil=True, cache=True)
def internal(
    query, target, reverse, q_start, q_end, t_start, t_end, lengths, max_hang, first, stops, crossings, many,
    few, typical, least, min_ratio, ratio_unit,
):  # fmt: skip
    """Return which overlaps are internal matches.

    Parameters
    ----------
    query, target, reverse, q_start, q_end, t_start, t_end, lengths, max_hang, first, stops, crossings, many,
    few, typical
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
    found = np.zeros(len(query), np.bool_)
    for row in range(len(query)):
        hangs = _hangs(row, query, target, reverse, q_start, q_end, t_start, t_end, lengths)
        match = np.int64(max(q_end[row] - q_start[row], t_end[row] - t_start[row]))
        short = match * ratio_unit < (match + hangs[0] + hangs[1]) * min_ratio
        for side in range(2):
            if hangs[side] > max_hang:
                at_query, at_target, at_end = _places(
                    row, side, query, target, reverse, q_start, q_end, t_start, t_end, first
                )
                near, known, alone = _evidence(
                    at_query, at_target, side, at_end, stops, crossings, many, few, typical
                )
                border = near >= least and not alone
                found[row] |= short if known < few else border
    return found


@njit(nogil=True, cache=True)
def count_crossings(crossings, most):
    """Count the stretches by their number of crossings, 0 to ``most``; more count as ``most``."""
    counts = np.zeros(most + 1, np.int64)
    for number in crossings:
        counts[min(np.int64(number), most)] += 1
    return counts


@njit(nogil=True, cache=True)
def within_repeats(query, target, q_start, q_end, t_start, t_end, first, crossings, typical):
    """Return a mask of the overlaps that lie within a repeat, beyond which one of the reads goes on.

    Parameters
    ----------
    query, target, q_start, q_end, t_start, t_end, first
        As `add` takes them.
    crossings : array of int32
        As `accumulate` leaves them.
    typical : int
        Median number of crossings of a stretch.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    found = np.zeros(len(query), np.bool_)
    for row in range(len(query)):
        found[row] = _is_deep(query[row], q_start[row], q_end[row], first, crossings, typical)
        found[row] |= _is_deep(target[row], t_start[row], t_end[row], first, crossings, typical)
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
