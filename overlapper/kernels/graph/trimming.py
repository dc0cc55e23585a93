"""Trimming: the interval of a read that others confirm, and overlaps cut to these intervals.

Definitions are in `overlapper.graph.trim`.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.sorting import sort_few
from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def intervals_by_read(query, q_start, q_end, target, t_start, t_end, reads):
    """Collect the matching intervals of every read, from both sides of its overlaps.

    Returns
    -------
    offsets : ndarray of int64, shape (reads + 1,)
    start, end : ndarray of int32
        Intervals of read ``i`` at ``offsets[i]`` to ``offsets[i + 1]``.
    """
    offsets = np.zeros(reads + 1, np.int64)
    for row in range(len(query)):
        offsets[query[row] + 1] += 1
        offsets[target[row] + 1] += 1
    for read in range(reads):
        offsets[read + 1] += offsets[read]
    fill = offsets[:-1].copy()
    start = np.empty(2 * len(query), np.int32)
    end = np.empty(2 * len(query), np.int32)
    for row in range(len(query)):
        for side in range(2):
            read = target[row] if side else query[row]
            slot = fill[read]
            start[slot] = t_start[row] if side else q_start[row]
            end[slot] = t_end[row] if side else q_end[row]
            fill[read] = slot + 1
    return offsets, start, end


@njit(nogil=True, cache=True)
def covered(offsets, start, end, first, last, min_depth, clip):
    """Find the two longest intervals of each read that enough overlaps cover.

    Parameters
    ----------
    offsets, start, end : arrays of int
        As `intervals_by_read` gives them.
    first, last : int
        Which reads, half open.
    min_depth : array of int, shape (reads,)
        Intervals that must cover a base of each read; 1 or more.
    clip : array of int, shape (reads,)
        Bases that are taken off both ends of every interval of a read, and given back to the result.

    Returns
    -------
    ndarray of int64, shape (last - first, 4)
        Start and end of the longest such interval, then of the second longest; of equals, the leftmost first.
        One that does not exist is 0 to 0.
    """
    found = np.zeros((last - first, 4), np.int64)
    most = 0
    for read in range(first, last):
        most = max(most, offsets[read + 1] - offsets[read])
    opens, closes = np.empty(most, np.int32), np.empty(most, np.int32)
    for read in range(first, last):
        size, needed = 0, min_depth[read]
        for i in range(offsets[read], offsets[read + 1]):
            if start[i] + clip[read] < end[i] - clip[read]:
                opens[size], closes[size] = start[i] + clip[read], end[i] - clip[read]
                size += 1
        sort_few(opens[:size])
        sort_few(closes[:size])
        best = found[read - first]
        closed = 0
        begin = -1
        for opened in range(size):
            while closes[closed] < opens[opened]:
                closed += 1
                if begin >= 0 and opened - closed == needed - 1:
                    _keep_longest(best, begin, closes[closed - 1])
                    begin = -1
            if begin < 0 and opened + 1 - closed >= needed:
                begin = opens[opened]
        if begin >= 0:
            _keep_longest(best, begin, closes[size - needed])
        for side in range(0, 4, 2):
            if best[side + 1] > best[side]:
                best[side] -= clip[read]
                best[side + 1] += clip[read]
    return found


@njit(nogil=True, cache=True)
def _keep_longest(best, start, end):
    if end - start > best[1] - best[0]:
        best[2], best[3] = best[0], best[1]
        best[0], best[1] = start, end
    elif end - start > best[3] - best[2]:
        best[2], best[3] = start, end


@njit(nogil=True, cache=True)
def grown(offsets, start, end, low, high, reach):
    """Grow an interval of each read by overlaps that reach into it, until none adds to it.

    Parameters
    ----------
    offsets, start, end : arrays of int
        As `intervals_by_read` gives them.
    low, high : arrays of int32, shape (reads,)
        The intervals; an empty one stays so.
    reach : array of int, shape (reads,)
        Bases that an overlap must share with the interval as it is.

    Returns
    -------
    low, high : ndarray of int32, shape (reads,)
    """
    low, high = low.copy(), high.copy()
    for read in range(len(low)):
        growing = low[read] < high[read]
        while growing:
            growing = False
            for i in range(offsets[read], offsets[read + 1]):
                if min(end[i], high[read]) - max(start[i], low[read]) < reach[read]:
                    continue
                if start[i] < low[read] or end[i] > high[read]:
                    low[read], high[read] = min(low[read], start[i]), max(high[read], end[i])
                    growing = True
    return low, high


@njit(nogil=True, cache=True)
def opposed_ends(query, target, reverse, q_start, q_end, t_start, t_end, lengths, low, high, hang):
    """Find the ends of reads, outside an interval of each, that some overlap speaks about.

    Parameters
    ----------
    query, target, reverse, q_start, q_end, t_start, t_end : arrays, shape (n,)
        Overlaps.
    lengths : array of int, shape (reads,)
        Of the whole reads.
    low, high : arrays of int32, shape (reads,)
        The intervals.
    hang : int
        Bases that another read may go on past the interval.

    Returns
    -------
    ndarray of bool, shape (reads, 2)
        True for the start and the end of a read when an overlap matches outside the interval at that side, or
        when the other read would go on past the interval by more than ``hang``.
    """
    opposed = np.zeros((len(lengths), 2), np.bool_)
    for row in range(len(query)):
        q, t = query[row], target[row]
        q_before, q_after = q_start[row], lengths[q] - q_end[row]
        t_before, t_after = t_start[row], lengths[t] - t_end[row]
        for side in range(2):
            read, start, end = (t, t_start[row], t_end[row]) if side else (q, q_start[row], q_end[row])
            before, after = (q_before, q_after) if side else (t_before, t_after)
            if reverse[row]:
                before, after = after, before
            if start < low[read] or start - before < low[read] - hang:
                opposed[read, 0] = True
            if end > high[read] or end + after > high[read] + hang:
                opposed[read, 1] = True
    return opposed


@njit(nogil=True, cache=True)
def cut_linear(query, target, reverse, q_start, q_end, t_start, t_end, low, high):
    """Cut matches to intervals of their reads, as if gaps were spread evenly.

    Parameters
    ----------
    query, target, reverse, q_start, q_end, t_start, t_end : arrays, shape (n,)
        The matches.
    low, high : arrays of int, shape (reads,)
        The interval of each read to cut to.

    Returns
    -------
    ndarray of int32, shape (4, n)
        ``q_start, q_end, t_start, t_end``; all 0 where nothing is left.
    """
    cut = np.zeros((4, len(reverse)), np.int32)
    for row in range(len(reverse)):
        q, t = query[row], target[row]
        q_span, t_span = np.int64(q_end[row] - q_start[row]), np.int64(t_end[row] - t_start[row])
        if q_span == 0 or t_span == 0:
            continue
        q_left, q_right = max(low[q] - q_start[row], 0), max(q_end[row] - high[q], 0)
        t_left, t_right = max(low[t] - t_start[row], 0), max(t_end[row] - high[t], 0)
        if reverse[row]:
            t_left, t_right = t_right, t_left
        q_left, t_left = _larger_cut(q_left, t_left, q_span, t_span)
        q_right, t_right = _larger_cut(q_right, t_right, q_span, t_span)
        if q_left + q_right >= q_span or t_left + t_right >= t_span:
            continue
        if reverse[row]:
            t_left, t_right = t_right, t_left
        cut[0, row], cut[1, row] = q_start[row] + q_left, q_end[row] - q_right
        cut[2, row], cut[3, row] = t_start[row] + t_left, t_end[row] - t_right
    return cut


@njit(nogil=True, cache=True)
def _larger_cut(q_cut, t_cut, q_span, t_span):
    """Cut both reads as the one that loses more is cut."""
    if q_cut * t_span >= t_cut * q_span:
        return q_cut, max(t_cut, q_cut * t_span // q_span)
    return max(q_cut, t_cut * q_span // t_span), t_cut


@njit(nogil=True, cache=True)
def cut_aligned(
    reverse, q_start, t_start, t_end, cigar, cigar_offsets, rows, q_low, q_high, t_low, t_high
):  # fmt: skip
    """Cut matches to intervals of their reads, along their alignments.

    Parameters
    ----------
    reverse, q_start, t_start, t_end : arrays, shape (n,)
        The matches.
    cigar, cigar_offsets : arrays
        Alignments in BAM's packing, along the forward strand of the query.
    rows : array of int, shape (n,)
        Which alignment belongs to each match.
    q_low, q_high, t_low, t_high : arrays of int, shape (n,)
        The interval of each read to cut to.

    Returns
    -------
    ndarray of int32, shape (4, n)
        From the first to the last aligned pair of bases inside both intervals; all 0 where there is none.
    """
    cut = np.zeros((4, len(reverse)), np.int32)
    for i in range(len(reverse)):
        low, high = t_low[i] - t_start[i], t_high[i] - t_start[i]
        if reverse[i]:
            low, high = t_end[i] - t_high[i], t_end[i] - t_low[i]
        q, t = np.int64(q_start[i]), np.int64(0)
        q_first, t_first, q_last, t_last = np.int64(-1), np.int64(0), np.int64(0), np.int64(0)
        for c in range(cigar_offsets[rows[i]], cigar_offsets[rows[i] + 1]):
            size, operation = np.int64(cigar[c] >> 4), cigar[c] & 15
            if operation == 1:
                q += size
            elif operation == 2:
                t += size
            else:
                skip = max(q_low[i] - q, low - t, 0)
                stop = min(q_high[i] - q, high - t, size)
                if skip < stop:
                    if q_first < 0:
                        q_first, t_first = q + skip, t + skip
                    q_last, t_last = q + stop, t + stop
                q += size
                t += size
        if q_first < 0:
            continue
        cut[0, i], cut[1, i] = q_first, q_last
        if reverse[i]:
            cut[2, i], cut[3, i] = t_end[i] - t_last, t_end[i] - t_first
        else:
            cut[2, i], cut[3, i] = t_start[i] + t_first, t_start[i] + t_last
    return cut


@njit(nogil=True, cache=True)
def shadowed(query, target, reverse, q_start, q_end, t_start, t_end):
    """Find overlaps that repeat a longer one of the same reads and strand.

    Parameters
    ----------
    query, target, reverse, q_start, q_end, t_start, t_end : arrays, shape (n,)
        Overlaps; those of the same query, target and strand lie next to each other.

    Returns
    -------
    ndarray of bool, shape (n,)
        True where another overlap, longer on both reads together (of equals, the one that comes first),
        covers more than half of the interval on both, and starts or ends on nearly the same diagonal: within
        a tenth of the shorter interval. Those of reads that go round a small circle more than once do not.
    """
    shadow = np.zeros(len(query), np.bool_)
    begin = 0
    for row in range(1, len(query) + 1):
        if (
            row < len(query)
            and query[row] == query[begin]
            and target[row] == target[begin]
            and reverse[row] == reverse[begin]
        ):
            continue
        for i in range(begin, row):
            size = q_end[i] - q_start[i] + t_end[i] - t_start[i]
            for j in range(begin, row):
                other = q_end[j] - q_start[j] + t_end[j] - t_start[j]
                q_shared = min(q_end[i], q_end[j]) - max(q_start[i], q_start[j])
                t_shared = min(t_end[i], t_end[j]) - max(t_start[i], t_start[j])
                first = other > size or (other == size and j < i)
                if (
                    not first
                    or 2 * q_shared <= q_end[i] - q_start[i]
                    or 2 * t_shared <= t_end[i] - t_start[i]
                ):
                    continue
                at_start, at_end = q_start[j] - q_start[i], q_end[j] - q_end[i]
                if reverse[i]:
                    apart = min(abs(at_start + t_end[j] - t_end[i]), abs(at_end + t_start[j] - t_start[i]))
                else:
                    apart = min(abs(at_start - t_start[j] + t_start[i]), abs(at_end - t_end[j] + t_end[i]))
                if 10 * apart <= min(q_end[i] - q_start[i], t_end[i] - t_start[i]):
                    shadow[i] = True
                    break
        begin = row
    return shadow
