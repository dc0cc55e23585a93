"""Colinear chains of a read's seeds on a reference; docs/algorithms/mapping.md has the definition.

CPU only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.growth import grow, grow_rows
from overlapper.kernels.common.sorting import sort_few
from overlapper.runtime.compile.cache import njit

READ, TARGET, REVERSE, SCORE, SEEDS, Q_START, Q_END, T_START, T_END = range(9)
COLUMNS = 9
"""Integers of a chain: its read, reference sequence, strand, score in bases and seeds; its interval on the
read, turned to the strand that matches, and on the sequence."""

SEED_BASES = 15
"""Bases of an anchor that count as one seed; each anchor counts as one at least: long matches are few."""
_UNIT = 256
"""Scores are in 256ths of a base."""
_RANK_BITS = 28
_RANK_MASK = (1 << _RANK_BITS) - 1
"""The number of an anchor, of which a read may have 2^28, has the low bits of a word, its score the rest."""


class Scheme(NamedTuple):
    """The numbers of `overlapper.params.mapping.AnchorChainParams`."""

    look_back: int
    max_gap: int
    bandwidth: int
    gap_cost: int
    distance_cost: int
    doubling_cost: int
    min_seeds: int
    min_score: int


@njit(nogil=True, cache=True)
def chain_anchors(starts, x, y, length, reverse, sequence_starts, scheme):
    """Chain the anchors of every read.

    Parameters
    ----------
    starts : ndarray of int64, shape (reads + 1,)
        Where the anchors of each read start.
    x : ndarray of int32, shape (n,)
        First base on the read, turned to the strand that matches.
    y : ndarray of int64, shape (n,)
        First base on the reference, counted through all sequences.
    length : ndarray of int32, shape (n,)
    reverse : ndarray of bool, shape (n,)
        Anchors of a read ascend by strand, then by y, then by x.
    sequence_starts : ndarray of int64, shape (sequences + 1,)
        First base of every sequence of the reference.
    scheme : Scheme

    Returns
    -------
    rows : ndarray of int64, shape (chains, COLUMNS)
        By read; of a read, by the score that their last anchor has, the highest first.
    row_starts : ndarray of int64, shape (chains + 1,)
        Where the anchors of each chain start in the following array.
    anchors : ndarray of int64, shape (m,)
        Numbers of the anchors of every chain, ascending on read and reference.
    """
    longest = 0
    for read in range(len(starts) - 1):
        longest = max(longest, starts[read + 1] - starts[read])
    score, highest = np.empty(longest, np.int64), np.empty(longest, np.int64)
    before, ends = np.empty(longest, np.int32), np.empty(longest, np.uint64)
    rows = np.empty((len(starts) * 2 + 16, COLUMNS), np.int64)
    row_starts = np.zeros(len(rows) + 1, np.int64)
    anchors = np.empty(len(x) + 1, np.int64)
    n_rows = 0
    for read in range(len(starts) - 1):
        first, n = starts[read], starts[read + 1] - starts[read]
        _score_anchors(
            x[first:], y[first:], length[first:], reverse[first:], n, sequence_starts, scheme,
            score, before, highest,
        )  # fmt: skip
        n_ends = _rank_ends(score, before, highest, n, _UNIT * scheme.min_score, ends)
        for end in range(n_ends - 1, -1, -1):
            at = n - 1 - np.int64(ends[end] & np.uint64(_RANK_MASK))
            place = row_starts[n_rows]
            members, chain_score = _take(at, score, before, first, anchors[place:])
            seeds = 0
            for i in range(place, place + members):
                seeds += max(1, length[anchors[i]] // SEED_BASES)
            if seeds < scheme.min_seeds or chain_score < _UNIT * scheme.min_score:
                continue
            if n_rows + 1 == len(rows):
                rows, row_starts = grow_rows(rows, 2 * len(rows)), grow(row_starts, 2 * len(rows) + 1)
            a, b = anchors[place], anchors[place + members - 1]
            target = np.searchsorted(sequence_starts, y[a], side="right") - 1
            row = rows[n_rows]
            row[READ], row[TARGET], row[REVERSE] = read, target, reverse[a]
            row[SCORE], row[SEEDS] = chain_score // _UNIT, seeds
            row[Q_START], row[Q_END] = x[a], x[b] + length[b]
            row[T_START], row[T_END] = (
                y[a] - sequence_starts[target],
                y[b] + length[b] - sequence_starts[target],
            )
            n_rows += 1
            row_starts[n_rows] = place + members
    return rows[:n_rows], row_starts[: n_rows + 1], anchors[: row_starts[n_rows]]


@njit(nogil=True, cache=True)
def _doublings(gap):
    """Return how often 1 can be doubled without passing a gap; 0 for no gap."""
    n = 0
    while gap > 1:
        gap >>= 1
        n += 1
    return n


@njit(nogil=True, cache=True)
def _score_anchors(x, y, length, reverse, n, sequence_starts, scheme, score, before, highest):
    """Score the best chain that ends at each anchor.

    ``highest[j]`` is the highest score up to anchor j: when even that and the whole anchor do not beat the
    best so far, no anchor further back does, and looking back ends early.
    """
    longest = 0
    for i in range(n):
        longest = max(longest, length[i])
    low, sequence_end = 0, np.int64(0)
    for i in range(n):
        if i == 0 or reverse[i] != reverse[i - 1] or y[i] >= sequence_end:
            low = i
            sequence_end = sequence_starts[np.searchsorted(sequence_starts, y[i], side="right")]
        while y[i] - y[low] - longest > scheme.max_gap:
            low += 1
        best, best_before = np.int64(_UNIT * length[i]), -1
        for j in range(i - 1, max(low, i - scheme.look_back) - 1, -1):
            if highest[j] + _UNIT * length[i] <= best:
                break
            x_step, y_step = np.int64(x[i] - x[j]), y[i] - y[j]
            if x_step <= 0 or y_step <= 0:
                continue
            if max(x_step, y_step) - length[j] > scheme.max_gap:
                continue
            dx, dy = x_step + length[i] - length[j], y_step + length[i] - length[j]
            near, gap = min(dx, dy), abs(dx - dy)
            if near <= 0 or gap > scheme.bandwidth:
                continue
            cost = scheme.gap_cost * gap + scheme.doubling_cost * _doublings(gap)
            through_j = score[j] + _UNIT * min(length[i], near) - cost - scheme.distance_cost * near
            if through_j > best:
                best, best_before = through_j, j
        score[i], before[i] = best, best_before
        highest[i] = best if i == 0 else max(highest[i - 1], best)


@njit(nogil=True, cache=True)
def _rank_ends(score, before, continued, n, least, ends):
    """Write the anchors that chains may end at, the lowest score first, of equal ones the last.

    They score enough, and no chain through them scores more: it is taken before, and they with it. Returns
    how many there are; ``continued`` is memory.
    """
    for i in range(n):
        continued[i] = 0
    for i in range(n):
        if before[i] >= 0 and score[i] > score[before[i]]:
            continued[before[i]] = 1
    n_ends = 0
    for i in range(n):
        if score[i] >= least and continued[i] == 0:
            ends[n_ends] = np.uint64(score[i]) << np.uint64(_RANK_BITS) | np.uint64(n - 1 - i)
            n_ends += 1
    sort_few(ends[:n_ends])
    return n_ends


@njit(nogil=True, cache=True)
def _take(end, score, before, first, anchors):
    """Take the anchors of a chain up to one that was taken before; return how many, and what they score.

    Their scores are made -1, which marks them.
    """
    members, i = 0, end
    while i >= 0 and score[i] >= 0:
        members += 1
        i = before[i]
    if members == 0:
        return 0, np.int64(0)
    place, i = members - 1, end
    own = score[end]
    while place >= 0:
        anchors[place] = first + i
        last, i = i, before[i]
        score[last] = -1 - score[last]
        place -= 1
    if i >= 0:
        own -= -1 - score[i]
    return members, own
