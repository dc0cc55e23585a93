"""Alignments of chains by shortest edit paths; docs/algorithms/mapping.md has the definition.

CPU only.

A path is told by which base of the reference each base of the read is paired with, `INSERTED` if with none:
what lies between two paired bases of the reference is deleted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.edit_paths import READ_UNKNOWN, TARGET_UNKNOWN, edit_path, new_matrix, reach
from overlapper.kernels.common.growth import grow
from overlapper.kernels.common.oriented import unpack_bases
from overlapper.runtime.compile.cache import njit

INSERTED = -1
LONG_GAP = 32
"""Between anchors whose diagonals differ by more, bases are paired from either, as far as it pays."""
TILE, TILE_OVERLAP = 256, 64
"""Bases of the read that an end is extended by at a time, and how many of them the next time sees again."""


class Ends(NamedTuple):
    """Scores that decide where an alignment ends."""

    match: int
    mismatch: int
    gap_open: int
    gap_extend: int
    end_bonus: int


@njit(nogil=True, cache=True)
def align_chains(reads, reference, read, target, reverse, row_starts, x, y, length, ends):
    """Align every chain: edit paths between its anchors, and from them on as long as it pays.

    Parameters
    ----------
    reads, reference : PackedReads
    read, target, reverse : ndarray, shape (chains,)
    row_starts : ndarray of int64, shape (chains + 1,)
        Where the anchors of each chain start.
    x, y, length : ndarray of int64, shape (n,)
        First bases of the anchors, on the read as turned to the strand that matches and on the reference
        sequence, and their lengths. They ascend on both.
    ends : Ends

    Returns
    -------
    rows : ndarray of int64, shape (chains, 4)
        Interval on the read as turned, and on the sequence.
    cigar : ndarray of uint32
    cigar_offsets : ndarray of int64, shape (chains + 1,)
    """
    rows = np.zeros((len(read), 4), np.int64)
    offsets = np.zeros(len(read) + 1, np.int64)
    cigar = np.empty(1 << 12, np.uint32)
    matrix = new_matrix(1024)
    query, pair = np.empty(0, np.uint8), np.empty(0, np.int32)
    starts, window = np.empty(0, np.int32), np.empty(0, np.uint8)
    held = np.int64(-1)
    for chain in range(len(read)):
        first, last = row_starts[chain], row_starts[chain + 1] - 1
        q_length, t_length = reads.lengths[read[chain]], reference.lengths[target[chain]]
        if len(query) < q_length:
            query = np.empty(q_length * 5 // 4, np.uint8)
            pair, starts = np.empty(len(query), np.int32), np.empty(len(query), np.int32)
            held = np.int64(-1)
        if held != 2 * read[chain] + reverse[chain]:
            unpack_bases(reads, read[chain], 0, q_length, reverse[chain], TARGET_UNKNOWN, query)
            held = np.int64(2 * read[chain] + reverse[chain])
        # What may be needed of the reference: what the ends of the read reach, and some more.
        after = q_length - x[last]
        t_first = max(0, y[first] - _room(x[first]))
        t_last = min(t_length, y[last] + _room(after) + length[last])
        if len(window) < t_last - t_first:
            window = np.empty((t_last - t_first) * 5 // 4, np.uint8)
        unpack_bases(reference, target[chain], t_first, t_last, False, READ_UNKNOWN, window)
        q_start, q_end = x[first], x[first]
        t_start, t_end = y[first] - t_first, y[first] - t_first
        for anchor in range(first, last + 1):
            q, t = x[anchor], y[anchor] - t_first
            covered = max(q_end - q, t_end - t, 0)
            if covered >= length[anchor]:
                continue
            q, t = q + covered, t + covered
            differ = abs((q - q_end) - (t - t_end)) > LONG_GAP and min(q - q_end, t - t_end) > 0
            if not differ or not _pair_flanks(query, q_end, q, window, t_end, t, matrix, pair, ends):
                if max(q - q_end, t - t_end) > matrix.longest:
                    matrix = new_matrix(max(q - q_end, t - t_end) * 5 // 4)
                _pair_between(query, q_end, q, window, t_end, t, matrix, starts, pair)
            q_end, t_end = x[anchor] + length[anchor], y[anchor] - t_first + length[anchor]
            for i in range(q_end - q):
                pair[q + i] = t + i
        q_start, t_start = _extend_left(query, q_start, window, t_start, matrix, starts, pair, ends)
        q_end, t_end = _extend_right(
            query, q_end, q_length, window, t_end, t_last - t_first, matrix, starts, pair, ends
        )
        while len(cigar) < offsets[chain] + 2 * (q_end - q_start) + 1:
            cigar = grow(cigar, 2 * len(cigar))
        n = _write_runs(query, q_start, q_end, window, pair, cigar[offsets[chain] :])
        offsets[chain + 1] = offsets[chain] + n
        rows[chain, 0], rows[chain, 1] = q_start, q_end
        rows[chain, 2], rows[chain, 3] = t_first + t_start, t_first + t_end
    return rows, cigar[: offsets[-1]], offsets


@njit(nogil=True, cache=True)
def _room(bases):
    """Return how many bases of the reference an end of the read may be aligned with."""
    return bases + bases // 4 + 32


@njit(nogil=True, cache=True)
def _pair_between(query, q_start, q_end, window, t_start, t_end, matrix, starts, pair):
    """Pair the bases between two anchors."""
    if q_end - q_start == t_end - t_start == 1:
        pair[q_start] = t_start
        return
    edit_path(query, q_start, q_end, window, t_start, t_end, matrix, starts, np.int64(0))
    for i in range(q_start, q_end):
        stop = starts[i + 1] if i + 1 < q_end else t_end
        pair[i] = starts[i] if stop > starts[i] else INSERTED


@njit(nogil=True, cache=True)
def _pair_flanks(query, q_start, q_end, window, t_start, t_end, matrix, pair, ends):
    """Pair the bases between two anchors from either, as far as it pays; return whether hardly any are left.

    One sequence has far more bases between them than the other: the rest of these is one gap.
    """
    inserts = q_end - q_start > t_end - t_start
    if inserts:
        few, many = window[t_start:t_end], query[q_start:q_end]
    else:
        few, many = query[q_start:q_end], window[t_start:t_end]
    n = len(few)
    ends = Ends(ends.match, ends.mismatch, ends.gap_open, ends.gap_extend, 0)
    paired, starts, start = np.empty(n, np.int32), np.empty(n, np.int32), np.int64(0)
    a, b = _extend_right(few, start, n, many, start, len(many), matrix, starts, paired, ends)
    c, _ = _extend_left(few[a:], n - a, many[b:], len(many) - b, matrix, starts, paired[a:], ends)
    if c > LONG_GAP:
        return False
    for i in range(q_end - q_start):
        pair[q_start + i] = INSERTED
    for i in range(n):
        if paired[i] == INSERTED or a <= i < a + c:
            continue
        other = paired[i] + (b if i >= a else 0)
        if inserts:
            pair[q_start + other] = t_start + i
        else:
            pair[q_start + i] = t_start + other
    return True


@njit(nogil=True, cache=True)
def _extend_right(query, q, q_length, window, t, t_length, matrix, starts, pair, ends):
    """Extend to the end of the read, tile by tile, and return where it paid best."""
    best_q, best_t, best, score = q, t, np.int64(0), np.int64(0)
    while q < q_length and t < t_length:
        rows = min(TILE, q_length - q)
        columns = min(_room(rows), t_length - t)
        columns = reach(query, q, q + rows, window, t, t + columns, matrix)
        _pair_between(query, q, q + rows, window, t, t + columns, matrix, starts, pair)
        stop = q_length if q + rows == q_length else q + rows - TILE_OVERLAP
        improved = False
        gap, t_next = False, t
        for i in range(q, stop):
            if pair[i] == INSERTED:
                score += ends.gap_extend if gap else ends.gap_open + ends.gap_extend
                gap = True
                continue
            if pair[i] > t_next:
                score += ends.gap_open + ends.gap_extend * (pair[i] - t_next)
            t_next, gap = pair[i] + 1, False
            score += ends.match if query[i] == window[pair[i]] else ends.mismatch
            if score > best:
                best, best_q, best_t, improved = score, i + 1, t_next, True
        q, t = stop, t_next
        if q == q_length and score + ends.end_bonus >= best and pair[q - 1] != INSERTED:
            return q, t
        if not improved:
            break
    return best_q, best_t


@njit(nogil=True, cache=True)
def _extend_left(query, q, window, t, matrix, starts, pair, ends):
    """Extend to the start of the read, as to its end, through copies that run the other way."""
    if q == 0 or t == 0:
        return q, t
    flipped_query, flipped_window = np.empty(q, np.uint8), np.empty(min(t, _room(q)), np.uint8)
    for i in range(q):
        flipped_query[i] = query[q - 1 - i]
    for i in range(len(flipped_window)):
        flipped_window[i] = window[t - 1 - i]
    flipped, start = np.empty(q, np.int32), np.int64(0)
    q_more, t_more = _extend_right(
        flipped_query, start, q, flipped_window, start, len(flipped_window), matrix, starts, flipped, ends
    )
    for i in range(q_more):
        pair[q - 1 - i] = INSERTED if flipped[i] == INSERTED else t - 1 - flipped[i]
    return q - q_more, t - t_more


@njit(nogil=True, cache=True)
def _write_runs(query, q_start, q_end, window, pair, cigar):
    """Write the runs of a path whose first and last bases are paired; return how many."""
    n, run, kind = 0, 0, -1
    t = pair[q_start]
    for i in range(q_start, q_end):
        if pair[i] == INSERTED:
            now = 1
        else:
            if pair[i] > t:
                if run:
                    cigar[n] = run << 4 | kind
                    n += 1
                run, kind = pair[i] - t, 2
            now = 7 if query[i] == window[pair[i]] else 8
            t = pair[i] + 1
        if now != kind:
            if run:
                cigar[n] = run << 4 | kind
                n += 1
            run, kind = 0, now
        run += 1
    if run:
        cigar[n] = run << 4 | kind
        n += 1
    return n
