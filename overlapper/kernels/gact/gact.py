"""GACT on the CPU: tiles, traceback, trimming and joining (definition in docs/algorithms/gact.md).

GPU twin: cuda/gact.py.

Sequences are codes, one byte a base, on the query's strand. An alignment is a list of runs in BAM's packing,
``length << 4 | operation``; an extension collects its runs from the anchor outward.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.growth import with_room
from overlapper.kernels.common.oriented import unpack_bases
from overlapper.kernels.common.walks import QUERY_UNKNOWN, TARGET_UNKNOWN
from overlapper.kernels.gact.gact_tile import (
    AFFINE_PLANES,
    LANES,
    LINEAR_PLANES,
    Scores,
    fits_bytes,
    narrow_tile,
    wide_tile,
    workspace,
)
from overlapper.runtime.compile.cache import njit
from overlapper.tables.cigars import DELETION, EQUAL, INSERTION, UNEQUAL


class _Rule(NamedTuple):
    """How far a tile reaches, how much of it counts, and when an extension ends."""

    tile: int
    step: int
    gain: int
    loss: int
    give_up: int


@njit(nogil=True, cache=True)
def extend_candidates(
    reads, query, target, reverse, query_anchor, target_anchor,
    match, mismatch, gap_open, gap_extend, tile, overlap, min_identity, give_up,
):  # fmt: skip
    """Extend every candidate to both sides of its anchor.

    Parameters
    ----------
    reads : PackedReads
    query, target : ndarray of int32, shape (n,)
        Read numbers.
    reverse : ndarray of bool, shape (n,)
        True aligns the reverse complement of the target.
    query_anchor, target_anchor : ndarray of int64, shape (n,)
        The alignment passes between these bases and those before them, counted on the query's strand.
    match, mismatch, gap_open, gap_extend, tile, overlap, min_identity, give_up : int
        As in `GactParams`.

    Returns
    -------
    rows : ndarray of int64, shape (n, 7)
        Query start and end, target start and end (on the query's strand), score, equal pairs, columns.
    cigar : ndarray of uint32
        Runs along the query.
    cigar_offsets : ndarray of int64, shape (n + 1,)
        Where the runs of each candidate start.
    """
    n = len(query)
    scores = Scores(match, mismatch, gap_open, gap_extend)
    rule = _Rule(tile, tile - overlap, 100 - min_identity, min_identity, give_up)
    work = workspace(tile, scores)
    longest_query = longest_target = 0
    for row in range(n):
        longest_query = max(longest_query, reads.lengths[query[row]])
        longest_target = max(longest_target, reads.lengths[target[row]])
    query_codes, target_codes = np.empty(longest_query, np.uint8), np.empty(longest_target, np.uint8)

    rows = np.empty((n, 7), np.int64)
    cigar, cigar_offsets = np.empty(1024, np.int32), np.zeros(n + 1, np.int64)
    runs = np.empty(1024, np.int32)
    q = query_codes
    for row in range(n):
        if row == 0 or query[row] != query[row - 1]:
            q = query_codes[: reads.lengths[query[row]]]
            unpack_bases(reads, query[row], 0, len(q), False, QUERY_UNKNOWN, q)
        t = target_codes[: reads.lengths[target[row]]]
        unpack_bases(reads, target[row], 0, len(t), reverse[row], TARGET_UNKNOWN, t)
        q_anchor, t_anchor = query_anchor[row], target_anchor[row]
        left, runs = _extend(q, t, q_anchor, t_anchor, np.int64(-1), rule, scores, work, runs, np.int64(0))
        right, runs = _extend(q, t, q_anchor, t_anchor, np.int64(1), rule, scores, work, runs, left)

        cigar = with_room(cigar, cigar_offsets[row], right)
        start = cigar_offsets[row]
        count = _join(runs[:left], runs[left:right], cigar[start:], q_anchor, t_anchor, rows[row])
        cigar_offsets[row + 1] = start + count
        _rescore(cigar[start : start + count], scores, rows[row])
    return rows, cigar[: cigar_offsets[n]].view(np.uint32), cigar_offsets


@njit(nogil=True, cache=True)
def _extend(q, t, q_anchor, t_anchor, way, rule, scores, work, runs, first):
    """Extend from the anchor to the right (``way`` 1) or to the left (-1).

    Runs are appended to ``runs`` from ``first`` on. Returns where the kept ones end, and ``runs``, which
    may have moved.
    """
    narrow = fits_bytes(scores)
    q_left = len(q) - q_anchor if way > 0 else q_anchor
    t_left = len(t) - t_anchor if way > 0 else t_anchor
    count = kept = scored = first
    columns = kept_columns = gain = kept_gain = 0
    while q_left > 0 and t_left > 0:
        height, width = min(rule.tile, q_left), min(rule.tile, t_left)
        if way > 0:
            _load_rightward(q, len(q) - q_left, height, t, len(t) - t_left, width, work)
        else:
            _load_leftward(q, q_left, height, t, t_left, width, work)
        if narrow:
            narrow_tile(work, height, width, scores)
        else:
            wide_tile(work, height, width, scores)
        runs = with_room(runs, count, height + width)
        count, q_step, t_step = _trace(work, height, width, scores, rule.step, runs, first, count)
        q_left -= q_step
        t_left -= t_step

        # The last run may still grow: it is looked at now and scored for good when the next one has begun.
        for run in range(scored, count):
            length, operation = runs[run] >> 4, runs[run] & 15
            run_gain = gain + (length * rule.gain if operation == EQUAL else -length * rule.loss)
            if run_gain > kept_gain:
                kept_gain, kept, kept_columns = run_gain, run + 1, columns + length
            if run + 1 < count:
                gain, columns, scored = run_gain, columns + length, run + 1
        if columns + (runs[count - 1] >> 4) - kept_columns >= rule.give_up:
            break
    return kept, runs


@njit(nogil=True, cache=True)
def _load_rightward(q, q_at, height, t, t_at, width, work):
    """Lay out the tile that starts at the given bases; its far corner becomes row 0 and column 0."""
    for i in range(height):
        work.rows[i] = q[q_at + height - 1 - i]
    for j in range(width):
        work.columns[work.origin - j] = t[t_at + width - 1 - j]


@njit(nogil=True, cache=True)
def _load_leftward(q, q_at, height, t, t_at, width, work):
    """Lay out the tile that ends before the given bases; its far corner becomes row 0 and column 0."""
    for i in range(height):
        work.rows[i] = q[q_at - height + i]
    for j in range(width):
        work.columns[work.origin - j] = t[t_at - width + j]


@njit(nogil=True, cache=True)
def _trace(work, height, width, scores, step, runs, first, count):
    """Follow the path from the anchor of a tile until ``step`` bases of either read are used, or to its edge.

    Returns the new end of ``runs``, and the bases of query and target that were used.
    """
    affine = scores.gap_open != 0
    planes = AFFINE_PLANES if affine else LINEAR_PLANES
    stride = width + LANES - 1
    i, j = height - 1, width - 1
    last_i, last_j = i - step, j - step
    previous = length = 0
    if count > first:
        count -= 1
        previous, length = runs[count] & 15, runs[count] >> 4
    in_gap = 0
    while i >= 0 and j >= 0:
        word = ((i >> 6) * stride + j + (i & 63)) * planes
        lane = np.uint64(i & 63)
        if in_gap == INSERTION and (work.directions[word + 2] >> lane) & 1:
            operation = INSERTION
        elif in_gap == DELETION and (work.directions[word + 3] >> lane) & 1:
            operation = DELETION
        elif i <= last_i or j <= last_j:
            break
        elif (work.directions[word] >> lane) & 1:
            operation = EQUAL if work.rows[i] == work.columns[work.origin - j] else UNEQUAL
        elif (work.directions[word + 1] >> lane) & 1:
            operation = INSERTION
        else:
            operation = DELETION
        if operation != DELETION:
            i -= 1
        if operation != INSERTION:
            j -= 1
        if affine:
            in_gap = operation
        if operation == previous:
            length += 1
        else:
            if previous:
                runs[count] = length << 4 | previous
                count += 1
            previous, length = operation, 1
    runs[count] = length << 4 | previous
    return count + 1, height - 1 - i, width - 1 - j


@njit(nogil=True, cache=True)
def _join(left, right, cigar, q_anchor, t_anchor, row):
    """Write the runs of both extensions as one alignment and its interval to ``row[:4]``; return its runs.

    Runs beside the anchor that are no equal pairs are dropped when nothing lies beyond the anchor.
    """
    drop_left = drop_right = 0
    while len(right) == 0 and drop_left < len(left) and left[drop_left] & 15 != EQUAL:
        drop_left += 1
    while len(left) == 0 and drop_right < len(right) and right[drop_right] & 15 != EQUAL:
        drop_right += 1
    count = 0
    for run in left[drop_left:][::-1]:
        cigar[count] = run
        count += 1
    for run in right[drop_right:]:
        if count and cigar[count - 1] & 15 == run & 15:
            cigar[count - 1] += (run >> 4) << 4
        else:
            cigar[count] = run
            count += 1
    q_left, t_left = _bases(left)
    q_dropped, t_dropped = _bases(right[:drop_right])
    row[0], row[2] = q_anchor - q_left + q_dropped, t_anchor - t_left + t_dropped
    q_used, t_used = _bases(cigar[:count])
    row[1], row[3] = row[0] + q_used, row[2] + t_used
    return count


@njit(nogil=True, cache=True)
def _bases(runs):
    """Return how many bases of query and target some runs use."""
    q = t = 0
    for run in runs:
        length, operation = run >> 4, run & 15
        q += length if operation != DELETION else 0
        t += length if operation != INSERTION else 0
    return q, t


@njit(nogil=True, cache=True)
def _rescore(cigar, scores, row):
    """Write score, equal pairs and columns of an alignment to ``row[4:]``."""
    score = equal = columns = 0
    for run in cigar:
        length, operation = run >> 4, run & 15
        columns += length
        if operation == EQUAL:
            equal += length
            score += length * scores.match
        elif operation == UNEQUAL:
            score += length * scores.mismatch
        else:
            score += scores.gap_open + length * scores.gap_extend
    row[4], row[5], row[6] = score, equal, columns
