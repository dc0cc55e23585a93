"""Alignments cut where they stop paying, and their chains with them; docs/algorithms/mapping.md defines both.

CPU only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.growth import grow, grow_rows
from overlapper.kernels.common.inlining import inner
from overlapper.kernels.mapping.anchor_chains import UNIT, gain, seeds_of
from overlapper.runtime.compile.cache import njit
from overlapper.tables.cigars import EQUAL, INSERTION, UNEQUAL

PATH, FIRST, LAST, Q_START, Q_END, T_START, T_END, SCORE = range(8)
COLUMNS = 8
"""Integers of a part: its alignment, its runs, half open, its interval on read and sequence, its score."""

CHAIN, PART, ANCHOR, ANCHORS, CHAIN_SCORE, SEEDS = range(6)
"""Integers of a piece of a chain: the chain; the part that it lies in, or -1; its first anchor, and how many
it has; its score in bases and its seeds."""


class Rule(NamedTuple):
    """When an alignment ends: the scores of its columns, and how far they may fall."""

    match: int
    mismatch: int
    gap_open: int
    gap_extend: int
    end_bonus: int
    drop: int
    min_score: int
    share: int


class Chained(NamedTuple):
    """Chains by read, with their intervals on its forward strand and on the reference sequence."""

    starts: np.ndarray
    target: np.ndarray
    reverse: np.ndarray
    q_start: np.ndarray
    q_end: np.ndarray
    t_start: np.ndarray
    t_end: np.ndarray


@njit(nogil=True, cache=True)
def cut_paths(read, target, reverse, lengths, rows, cigar, offsets, rivals, rule):
    """Cut alignments into parts that pay.

    Parameters
    ----------
    read, target, reverse : ndarray, shape (n,)
    lengths : ndarray of int64, shape (reads,)
    rows : ndarray of int64, shape (n, 4)
        Interval on the read as turned to the strand that matches, and on the reference sequence.
    cigar : ndarray of uint32
        Runs of =, X, I and D along the reference; the first and last are pairs.
    offsets : ndarray of int64, shape (n + 1,)
    rivals : Chained
        Chains that are not aligned; those on the same strand where the alignment lies are no rivals of it.
    rule : Rule

    Returns
    -------
    ndarray of int64, shape (parts, COLUMNS)
        By alignment, and along it.
    """
    parts, n = np.empty((len(offsets), COLUMNS), np.int64), 0
    others = np.empty(16, np.int64)
    for path in range(len(rows)):
        others, n_others, longest = _rivals_of(
            rivals, read[path], target[path], reverse[path], rows[path], others
        )
        q, t, first, q_first, t_first = (
            rows[path, 0],
            rows[path, 2],
            offsets[path],
            rows[path, 0],
            rows[path, 2],
        )
        last, q_last, t_last = first, q, t
        score, best, floor, inside = np.int64(0), np.int64(0), -rule.end_bonus, True
        for i in range(first, offsets[path + 1]):
            run, kind = np.int64(cigar[i] >> 4), np.int64(cigar[i] & 15)
            if kind == EQUAL:
                if not inside:
                    first, q_first, t_first = i, q, t
                    last, q_last, t_last = i, q, t
                    score, best, floor, inside = np.int64(0), np.int64(0), np.int64(0), True
                q, t, score = q + run, t + run, score + rule.match * run
            elif kind == UNEQUAL:
                q, t, score = q + run, t + run, score + rule.mismatch * run
            else:
                score += rule.gap_open + rule.gap_extend * run
                q, t = (q + run, t) if kind == INSERTION else (q, t + run)
            if not inside:
                continue
            ends, loss = score < floor, best - score
            if loss + rule.match * longest > rule.drop:
                shift = abs((q - q_last) - (t - t_last))
                pairs = min(longest, q - q_last, t - t_last)
                spare = rule.drop - rule.gap_extend * shift - loss
                if spare >= 0 and spare < rule.match * pairs:
                    length = lengths[read[path]]
                    start, end = (length - q, length - q_last) if reverse[path] else (q_last, q)
                    pairs = min(pairs, _longest_within(rivals, others[:n_others], start, end, rule.share))
                    ends |= spare < rule.match * pairs
                ends |= spare < 0
            if score > best or (i + 1 == offsets[path + 1] and not ends):
                best, last, q_last, t_last = score, i + 1, q, t
            if ends or i + 1 == offsets[path + 1]:
                inside = False
                if best >= rule.min_score:
                    part = parts[n]
                    part[PATH], part[FIRST], part[LAST], part[SCORE] = path, first, last, best
                    part[Q_START], part[Q_END], part[T_START], part[T_END] = q_first, q_last, t_first, t_last
                    n += 1
                    if n == len(parts):
                        parts = grow_rows(parts, 2 * n)
    return parts[:n]


@njit(nogil=True, cache=True)
def _rivals_of(rivals, read, target, reverse, row, others):
    """Write the numbers of the rivals of an alignment; return them, how many, and what the longest spans."""
    n, longest = 0, np.int64(0)
    for i in range(rivals.starts[read], rivals.starts[read + 1]):
        same = rivals.target[i] == target and rivals.reverse[i] == reverse
        if same and rivals.t_start[i] < row[3] and rivals.t_end[i] > row[2]:
            continue
        if n == len(others):
            others = grow(others, 2 * n)
        others[n] = i
        n += 1
        longest = max(longest, rivals.q_end[i] - rivals.q_start[i])
    return others, n, longest


@inner
def _longest_within(rivals, others, start, end, share):
    """Return the most bases that a rival spans, of those that lie mostly in a stretch of a read."""
    longest = np.int64(0)
    for i in others:
        shared = min(end, rivals.q_end[i]) - max(start, rivals.q_start[i])
        span = rivals.q_end[i] - rivals.q_start[i]
        if 100 * shared >= share * span:
            longest = max(longest, span)
    return longest


@njit(nogil=True, cache=True)
def cut_chains(starts, x, y, length, parts, scheme):
    """Cut chains into the anchors that lie in parts of their alignments, and what is left.

    Parameters
    ----------
    starts : ndarray of int64, shape (chains + 1,)
    x, y, length : ndarray of int64, shape (anchors,)
    parts : ndarray of int64, shape (parts, COLUMNS)
        Of the alignments of the chains.
    scheme : overlapper.kernels.mapping.anchor_chains.Scheme

    Returns
    -------
    ndarray of int64, shape (n, 6)
        By chain, and along it. Pieces outside of all parts are those that could be chains.
    """
    pieces, n, part = np.empty((len(starts) + len(parts), 6), np.int64), 0, 0
    for chain in range(len(starts) - 1):
        while part < len(parts) and parts[part, PATH] < chain:
            part += 1
        first = starts[chain]
        while first < starts[chain + 1]:
            middle = x[first] + length[first] // 2
            while part < len(parts) and parts[part, PATH] == chain and parts[part, Q_END] <= middle:
                part += 1
            within = part < len(parts) and parts[part, PATH] == chain
            stop = parts[part, Q_START] if within else np.iinfo(np.int64).max
            within = within and stop <= middle
            if within:
                stop = parts[part, Q_END]
            score, seeds, i = UNIT * np.int64(length[first]), seeds_of(length[first]), first + 1
            while i < starts[chain + 1] and x[i] + length[i] // 2 < stop:
                score += gain(x, y, length, i - 1, i, scheme)
                seeds += seeds_of(length[i])
                i += 1
            if within or (seeds >= scheme.min_seeds and score >= UNIT * scheme.min_score):
                if n == len(pieces):
                    pieces = grow_rows(pieces, 2 * n)
                piece = pieces[n]
                piece[CHAIN], piece[PART], piece[ANCHOR], piece[ANCHORS] = (
                    chain, part if within else -1, first, i - first,
                )  # fmt: skip
                piece[CHAIN_SCORE], piece[SEEDS] = score // UNIT, seeds
                n += 1
            first = i
    return pieces[:n]
