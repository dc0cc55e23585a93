"""Colinear chains of a read's seeds on a reference; docs/algorithms/mapping.md has the definition.

CPU only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.growth import grow, grow_rows
from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.sorting import sort_few
from overlapper.runtime.compile.cache import njit

READ, TARGET, REVERSE, SCORE, SEEDS, Q_START, Q_END, T_START, T_END = range(9)
COLUMNS = 9
"""Integers of a chain: its read, reference sequence, strand, score in bases and seeds; its interval on the
read, turned to the strand that matches, and on the sequence."""

SEED_BASES = 15
"""Bases of an anchor that count as one seed; each anchor counts as one at least: long matches are few."""
UNIT = 256
"""Scores are in 256ths of a base."""
BAND_BITS = 6
"""Anchors whose diagonals differ by less than 64 are in the same band, or in neighbouring ones."""
_DRIFT = 8
"""Diagonals of neighbouring anchors that differ by more belong to different runs of a chain."""
_DETOUR = 16
"""Runs that a detour has at most."""
_SPREAD = 0x9E3779B97F4A7
_IMPOSSIBLE = np.int64(-1 << 62)
_RANK_BITS = 28
_RANK_MASK = (1 << _RANK_BITS) - 1
"""The number of an anchor, of which a read may have 2^28, has the low bits of a word, its score the rest."""


class Bands(NamedTuple):
    """The last anchor of every band of diagonals of a read: a table by open addressing."""

    band: np.ndarray
    """int64."""
    last: np.ndarray
    """int32; -1 where there is none."""


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
    size = 4
    while size < 2 * longest:
        size *= 2
    bands = Bands(np.empty(size, np.int64), np.empty(size, np.int32))
    rows = np.empty((len(starts) * 2 + 16, COLUMNS), np.int64)
    row_starts = np.zeros(len(rows) + 1, np.int64)
    anchors = np.empty(len(x) + 1, np.int64)
    n_rows = 0
    for read in range(len(starts) - 1):
        first, n = starts[read], starts[read + 1] - starts[read]
        _score_anchors(
            x[first:], y[first:], length[first:], reverse[first:], n, sequence_starts, scheme,
            score, before, highest, bands,
        )  # fmt: skip
        n_ends = _rank_ends(score, before, highest, n, UNIT * scheme.min_score, ends)
        for end in range(n_ends - 1, -1, -1):
            at = n - 1 - np.int64(ends[end] & np.uint64(_RANK_MASK))
            place = row_starts[n_rows]
            members, chain_score = _take(at, score, before, first, anchors[place:])
            seeds = 0
            for i in range(place, place + members):
                seeds += seeds_of(length[anchors[i]])
            if seeds < scheme.min_seeds or chain_score < UNIT * scheme.min_score:
                continue
            if n_rows + 1 == len(rows):
                rows, row_starts = grow_rows(rows, 2 * len(rows)), grow(row_starts, 2 * len(rows) + 1)
            a, b = anchors[place], anchors[place + members - 1]
            target = np.searchsorted(sequence_starts, y[a], side="right") - 1
            row = rows[n_rows]
            row[READ], row[TARGET], row[REVERSE] = read, target, reverse[a]
            row[SCORE], row[SEEDS] = chain_score // UNIT, seeds
            row[Q_START], row[Q_END] = x[a], x[b] + length[b]
            row[T_START], row[T_END] = (
                y[a] - sequence_starts[target],
                y[b] + length[b] - sequence_starts[target],
            )
            n_rows += 1
            row_starts[n_rows] = place + members
    return rows[:n_rows], row_starts[: n_rows + 1], anchors[: row_starts[n_rows]]


@inner
def seeds_of(length):
    """Return how many seeds an anchor counts as."""
    return max(np.int64(1), np.int64(length // SEED_BASES))


@inner
def gain(x, y, length, j, i, scheme):
    """Return what anchor i adds to a chain behind anchor j."""
    dx, dy = x[i] + length[i] - x[j] - length[j], y[i] + length[i] - y[j] - length[j]
    return _gain(length[i], min(dx, dy), abs(dx - dy), scheme)


@inner
def _gain(length, near, gap, scheme):
    doublings, left = 0, gap
    while left > 1:
        left >>= 1
        doublings += 1
    cost = scheme.gap_cost * gap + scheme.doubling_cost * doublings
    return UNIT * min(length, near) - cost - scheme.distance_cost * near


@njit(nogil=True, cache=True)
def _score_anchors(x, y, length, reverse, n, sequence_starts, scheme, score, before, highest, bands):
    """Score the best chain that ends at each anchor.

    ``highest[j]`` is the highest score up to anchor j: when even that and the whole anchor do not beat the
    best so far, no anchor further back does, and looking back ends early.
    """
    longest, mask = 0, 3
    for i in range(n):
        longest = max(longest, length[i])
    while mask + 1 < 2 * n:
        mask = 2 * mask + 1
    for place in range(mask + 1):
        bands.last[place] = -1
    low, sequence_start, sequence_end = 0, np.int64(0), np.int64(0)
    for i in range(n):
        if i == 0 or reverse[i] != reverse[i - 1] or y[i] >= sequence_end:
            low = i
            following = np.searchsorted(sequence_starts, y[i], side="right")
            sequence_start, sequence_end = sequence_starts[following - 1], sequence_starts[following]
        while y[i] - y[low] - longest > scheme.max_gap:
            low += 1
        best, best_before = np.int64(UNIT * length[i]), -1
        band = (y[i] - sequence_start - x[i]) >> BAND_BITS
        for near in range(band - 1, band + 2):
            j = bands.last[_place(bands, near, mask)]
            if j >= low:
                through_j = score[j] + _step(x, y, length, j, i, scheme)
                if through_j > best or (through_j == best and j > best_before):
                    best, best_before = through_j, j
        for j in range(i - 1, max(low, i - scheme.look_back) - 1, -1):
            if highest[j] + UNIT * length[i] < best + (j <= best_before):
                break
            through_j = score[j] + _step(x, y, length, j, i, scheme)
            if through_j > best or (through_j == best and j > best_before):
                best, best_before = through_j, j
        score[i], before[i] = best, best_before
        highest[i] = best if i == 0 else max(highest[i - 1], best)
        place = _place(bands, band, mask)
        bands.band[place], bands.last[place] = band, i


@inner
def _place(bands, band, mask):
    """Return where a band is in the table, or where it would be."""
    place = (band * _SPREAD >> 20) & mask
    while bands.last[place] >= 0 and bands.band[place] != band:
        place = (place + 1) & mask
    return place


@inner
def _step(x, y, length, j, i, scheme):
    """Return what anchor i adds to a chain behind anchor j, or how far off any chain is."""
    x_step, y_step = np.int64(x[i] - x[j]), y[i] - y[j]
    if x_step <= 0 or y_step <= 0 or max(x_step, y_step) - length[j] > scheme.max_gap:
        return _IMPOSSIBLE
    dx, dy = x_step + length[i] - length[j], y_step + length[i] - length[j]
    if min(dx, dy) <= 0 or abs(dx - dy) > scheme.bandwidth:
        return _IMPOSSIBLE
    return _gain(length[i], min(dx, dy), abs(dx - dy), scheme)


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


@njit(nogil=True, cache=True)
def straight(starts, x, y, length, match, gap_open, gap_extend):
    """Tell which anchors of chains stay when detours that cost more in gaps than they bring are left out.

    Parameters
    ----------
    starts : ndarray of int64, shape (chains + 1,)
    x, y, length : ndarray of int64, shape (anchors,)
    match, gap_open, gap_extend : int

    Returns
    -------
    ndarray of bool, shape (anchors,)
    """
    stays = np.ones(len(x), np.bool_)
    firsts, before, score = (
        np.empty(len(x) + 1, np.int64),
        np.empty(len(x), np.int64),
        np.empty(len(x), np.int64),
    )
    for chain in range(len(starts) - 1):
        n = 0
        for i in range(starts[chain], starts[chain + 1]):
            covered = np.int64(0)
            if n == 0 or abs((y[i] - x[i]) - (y[i - 1] - x[i - 1])) > _DRIFT:
                firsts[n], score[n], before[n] = i, 0, -1
                n += 1
            else:
                covered = max(covered, x[i - 1] + length[i - 1] - x[i])
            score[n - 1] += match * (length[i] - covered)
        if n < 3:
            continue
        firsts[n] = starts[chain + 1]
        for run in range(1, n):
            best = _IMPOSSIBLE
            for other in range(run - 1, max(-1, run - 1 - _DETOUR), -1):
                first, last = firsts[run], firsts[other + 1] - 1
                gap = abs((y[first] - x[first]) - (y[last] - x[last]))
                through = score[other] + (gap_open + gap_extend * gap if gap else 0)
                if through > best:
                    best, before[run] = through, other
            score[run] += best
        run = n - 1
        while run > 0:
            for i in range(firsts[before[run] + 1], firsts[run]):
                stays[i] = False
            run = before[run]
    return stays
