"""CIGARs of edges and containments, for export.

GFA 1 takes the first segment of a line as the reference of its CIGAR: D consumes the first, I the second.
What lies between the end of the alignment and the end of the overlap (a hang) counts as M, so that the CIGAR
spans the whole overlap on both segments.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.graph.pairs import has_alignment
from overlapper.tables import Overlaps
from overlapper.tables.cigars import DELETION, INSERTION, OPERATIONS

NO_ALIGNMENT = "*"
_SWAPPED = np.arange(len(OPERATIONS))
_SWAPPED[[INSERTION, DELETION]] = DELETION, INSERTION


class Side(NamedTuple):
    """A read on one side of an overlap."""

    read: int
    """Row of the read table."""
    start: int
    end: int
    """`start`, `end`: kept interval, half open, on the forward strand."""
    reverse: bool
    """The strand that the line names."""


def cigar_of(overlaps: Overlaps | None, row: int, first: Side, second: Side) -> str:
    """Return the CIGAR of an overlap between kept intervals of two reads, along the strand of the first.

    Parameters
    ----------
    overlaps : Overlaps or None
    row : int
    first, second : Side
        The two reads of that row, in any order, on strands that match each other.

    Returns
    -------
    str
        `NO_ALIGNMENT` where the row carries no alignment.
    """
    if overlaps is None or not has_alignment(overlaps, np.array([row]))[0]:
        return NO_ALIGNMENT
    swapped = int(overlaps.query[row]) != first.read
    query, target = (second, first) if swapped else (first, second)
    operations, sizes, (q_first, q_last), (t_first, t_last) = _cut(overlaps, row, query, target)
    if not swapped:
        operations = _SWAPPED[operations]
    if first.reverse != (swapped and bool(overlaps.reverse[row])):
        operations, sizes = operations[::-1], sizes[::-1]
    ends = {query.read: (q_first, q_last), target.read: (t_first, t_last)}
    left_first, right_first = _beyond(first, *ends[first.read])
    left_second, right_second = _beyond(second, *ends[second.read])
    operations = np.concatenate([[0], operations, [0]])
    sizes = np.concatenate([[min(left_first, left_second)], sizes, [min(right_first, right_second)]])
    return "".join(f"{n}{OPERATIONS[o]}" for n, o in zip(sizes, operations, strict=True) if n)


def _beyond(side: Side, first: int, last: int) -> tuple[int, int]:
    """Return the kept bases before and after the alignment, on the strand of the side."""
    before, after = first - side.start, side.end - last
    return (after, before) if side.reverse else (before, after)


def _cut(
    overlaps: Overlaps, row: int, query: Side, target: Side
) -> tuple[np.ndarray, np.ndarray, tuple[int, int], tuple[int, int]]:
    """Cut the alignment to the pairs of bases that both intervals hold.

    Returns
    -------
    operations, sizes : ndarray
        Along the forward strand of the query.
    query_interval, target_interval : tuple of int
        What it spans, on forward strands.
    """
    assert overlaps.cigar is not None and overlaps.cigar_offsets is not None
    packed = overlaps.cigar[overlaps.cigar_offsets[row] : overlaps.cigar_offsets[row + 1]]
    operations, sizes = (packed & 15).astype(np.int64), (packed >> 4).astype(np.int64)
    t_start, t_end = int(overlaps.t_start[row]), int(overlaps.t_end[row])
    reverse = bool(overlaps.reverse[row])
    low, high = (
        (t_end - target.end, t_end - target.start)
        if reverse
        else (target.start - t_start, target.end - t_start)
    )

    q_step = np.where(operations == DELETION, 0, sizes)
    t_step = np.where(operations == INSERTION, 0, sizes)
    q = int(overlaps.q_start[row]) + np.cumsum(q_step) - q_step
    t = np.cumsum(t_step) - t_step
    skip = np.maximum(np.maximum(query.start - q, low - t), 0)
    stop = np.minimum(np.minimum(query.end - q, high - t), sizes)
    inside = np.flatnonzero((operations != INSERTION) & (operations != DELETION) & (skip < stop))
    a, b = inside[0], inside[-1]
    sizes = sizes.copy()
    q_interval = int(q[a] + skip[a]), int(q[b] + stop[b])
    t_first, t_last = int(t[a] + skip[a]), int(t[b] + stop[b])
    sizes[b] = stop[b]
    sizes[a] -= skip[a]
    t_interval = (t_end - t_last, t_end - t_first) if reverse else (t_start + t_first, t_start + t_last)
    return operations[a : b + 1], sizes[a : b + 1], q_interval, t_interval
