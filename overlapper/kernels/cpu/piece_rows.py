"""Rows cut to pieces of targets, and bases packed again after the vote."""

from __future__ import annotations

import numpy as np
from numba import njit

BIN = 256
"""Depth is counted in stretches of so many bases."""
MOST_ROWS = 1600
"""Rows on a stretch at most: votes of so many, of weight 40 at most, do not pass 16 bits."""
LEAST = 100
"""Bases of a piece that a row must keep."""


@njit(nogil=True, cache=True)
def cut_rows(first, t_start, t_end, r_start, r_end, reverse, target, start, end):
    """Cut rows to pieces of their targets, along the line from corner to corner of their intervals.

    Parameters
    ----------
    first : ndarray of int64, shape (targets + 1,)
        Where the rows of each target start.
    t_start, t_end, r_start, r_end : ndarray of int64
        Intervals of targets, and of the forward strands of reads.
    reverse : ndarray of bool
    target, start, end : ndarray of int64, shape (pieces,)

    Returns
    -------
    piece_first : ndarray of int64, shape (pieces + 1,)
        Where the rows of each piece start; they keep their order.
    row : ndarray of int64
        Which row it was.
    cut : ndarray of int64, shape (rows, 4)
        Interval of the piece, from its start, and of the read.
    """
    piece_first = np.zeros(len(target) + 1, np.int64)
    room = max(16, len(t_start))
    row, cut = np.empty(room, np.int64), np.empty((room, 4), np.int64)
    size = 0
    for p in range(len(target)):
        for r in range(first[target[p]], first[target[p] + 1]):
            low, high = max(t_start[r], start[p]), min(t_end[r], end[p])
            if high - low < min(LEAST, t_end[r] - t_start[r]) or high <= low:
                continue
            if size == room:
                room *= 2
                row, cut = np.append(row, np.empty(size, np.int64)), np.concatenate((cut, np.empty_like(cut)))
            run, rise = r_end[r] - r_start[r], t_end[r] - t_start[r]
            skipped, kept = (low - t_start[r]) * run // rise, (high - t_start[r]) * run // rise
            row[size] = r
            cut[size, 0], cut[size, 1] = low - start[p], high - start[p]
            cut[size, 2] = r_end[r] - kept if reverse[r] else r_start[r] + skipped
            cut[size, 3] = r_end[r] - skipped if reverse[r] else r_start[r] + kept
            size += 1
        piece_first[p + 1] = size
    return piece_first, row[:size], cut[:size]


@njit(nogil=True, cache=True)
def within_depth(piece_first, t_start, t_end, max_depth):
    """Take the rows of pieces in their order, but those that find every stretch of `BIN` bases full.

    A row that finds one stretch with `MOST_ROWS` rows is not taken either.

    Parameters
    ----------
    piece_first : ndarray of int64, shape (pieces + 1,)
        Where the rows of each piece start.
    t_start, t_end : ndarray of int64
        Their intervals of the piece.
    max_depth : int
        Rows that fill a stretch.

    Returns
    -------
    ndarray of bool
        Which rows are taken.
    """
    taken = np.zeros(len(t_start), np.bool_)
    depth = np.zeros((t_end.max() if len(t_end) else 0) // BIN + 1, np.int64)
    for p in range(len(piece_first) - 1):
        depth[:] = 0
        for r in range(piece_first[p], piece_first[p + 1]):
            stretches = depth[t_start[r] // BIN : (t_end[r] - 1) // BIN + 1]
            taken[r] = stretches.min() < max_depth and stretches.max() < MOST_ROWS
            stretches += np.int64(taken[r])
    return taken


@njit(nogil=True, cache=True)
def pack_codes(codes, offsets, word_offsets):
    """Pack sequences two bits a base; codes above 3 become 0.

    Parameters
    ----------
    codes : ndarray of uint8
    offsets : ndarray of int64, shape (n + 1,)
        Where each sequence starts.
    word_offsets : ndarray of int64, shape (n + 1,)
        Where the words of each are to start.

    Returns
    -------
    ndarray of uint64
    """
    words = np.zeros(word_offsets[-1], np.uint64)
    for s in range(len(offsets) - 1):
        for x in range(offsets[s + 1] - offsets[s]):
            code = codes[offsets[s] + x]
            if code < 4:
                words[word_offsets[s] + (x >> 5)] |= np.uint64(code) << np.uint64(2 * (x & 31))
    return words
