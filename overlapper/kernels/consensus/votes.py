"""The pileup of reads on a draft: their votes, and the next draft.

Definitions are in ``docs/algorithms/correction.md``, sections 3 and 4. A *layer*
(`kernels.consensus.layers`) is a read, or the target itself, with an edit path (`kernels.common.edit_paths`)
over the columns ``[start, end)`` of a draft.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.consensus.error_probabilities import (
    CHANGED,
    PROBABILITIES,
    UNIT,
    reach,
    refused_row,
    stays_row,
    step_for,
    step_of,
    surest_step,
)
from overlapper.runtime.compile.cache import njit

U64 = np.uint64
SLOTS = 8
"""Bases that one draft can gain behind a column."""
DELETION = 4
MIN_DEPTH = 3
"""Layers without which a column stays as it is."""
HOMOPOLYMER = 4
"""Bases of the shortest homopolymer run that has a threshold of its own."""


class Votes(NamedTuple):
    """Votes of a pileup on a draft of ``n`` columns.

    Attributes
    ----------
    column : ndarray of uint16, shape (n, 5)
        Weight of every base, and of `DELETION`.
    inserted : ndarray of uint16, shape (n, SLOTS * 4)
        Weight of every base in every slot behind the column.
    passing : ndarray of uint16, shape (n,)
        Weight of the layers that go on behind the column.
    depth : ndarray of int32, shape (n,)
        Layers that cover the column.
    differing, gaining : ndarray of uint16, shape (n,)
        Layers that have a deletion there or another base than the draft, or an unknown one, and those that
        have a known one inserted behind.
    """

    column: np.ndarray
    inserted: np.ndarray
    passing: np.ndarray
    depth: np.ndarray
    differing: np.ndarray
    gaining: np.ndarray


@njit(nogil=True, cache=True)
def count_votes(draft, layers, starts, runs):
    """Count the votes of the layers that are used.

    Parameters
    ----------
    draft : ndarray of uint8, shape (n,)
    layers : Layers
    starts : ndarray of int32
        Their paths over the draft.
    runs : EqualRuns
        Of the paths.
    """
    length = len(draft)
    votes = Votes(
        np.zeros((length, 5), np.uint16),
        np.zeros((length, SLOTS * 4), np.uint16),
        np.zeros(length, np.uint16),
        np.zeros(length + 1, np.int32),
        np.zeros(length, np.uint16),
        np.zeros(length, np.uint16),
    )
    agreeing = np.zeros(length, np.uint16)
    for m in range(len(layers.start)):
        if layers.used[m]:
            votes.depth[layers.start[m]] += 1
            votes.depth[layers.end[m]] -= 1
            first, last = layers.first[m], layers.last[m]
            bases, weights = layers.bases[first:last], layers.weights[first:last]
            c, end, at = layers.start[m], layers.end[m], layers.at[m]
            for r in range(runs.first[m], runs.first[m + 1]):
                # Behind the last base of a run, others may be inserted.
                column, base, sure = np.int64(runs.column[r]), np.int64(runs.base[r]), runs.length[r] - 1
                _vote(draft, starts, at, c, column, end, bases, weights, votes)
                _agree(weights, base, sure, agreeing, votes.passing, column)
                c = column + sure
            _vote(draft, starts, at, c, end, end, bases, weights, votes)
    for c in range(length):
        votes.depth[c + 1] += votes.depth[c]
        if agreeing[c]:
            votes.column[c, draft[c]] += agreeing[c]
    return votes


@inner
def _agree(weights, base, length, agreeing, passing, column):
    """Count the votes of a layer for the draft's bases, from a base and a column on.

    Indices are unsigned: numba looks whether others are negative, which counts here.
    """
    for x in range(U64(length)):
        weight = np.uint16(weights[U64(base) + x])
        agreeing[U64(column) + x] += weight
        passing[U64(column) + x] += (weight + np.uint16(weights[U64(base) + x + U64(1)])) >> np.uint16(1)


@inner
def _vote(draft, starts, at, start, stop, end, bases, weights, votes):
    """Count the votes of one layer on some of the columns that it covers, which end at ``end``."""
    final = U64(len(bases) - 1)
    here = U64(starts[U64(at + start)])
    for c in range(U64(start), U64(stop)):
        behind = U64(starts[U64(at) + c + U64(1)])
        before = behind - U64(behind > U64(0))
        around = np.uint16((U64(weights[before]) + U64(weights[min(behind, final)])) >> U64(1))
        if behind == here:
            votes.column[c, U64(DELETION)] += around
            votes.differing[c] += np.uint16(1)
        else:
            votes.differing[c] += np.uint16(bases[here] != draft[c])
            if bases[here] < 4:
                votes.column[c, U64(bases[here])] += np.uint16(weights[here])
            for slot in range(min(behind - here - U64(1), U64(SLOTS))):
                x = here + U64(1) + U64(slot)
                if bases[x] < 4:
                    votes.inserted[c, U64(4) * U64(slot) + U64(bases[x])] += np.uint16(weights[x])
                    votes.gaining[c] += np.uint16(slot == 0)
        if c + U64(1) < U64(end):
            votes.passing[c] += around
        here = behind


@njit(nogil=True, cache=True)
def next_draft(draft, votes, thresholds, worth, doubt):
    """Make the next draft of the votes on one.

    Parameters
    ----------
    draft : ndarray of uint8, shape (n,)
    votes : Votes
    thresholds : ndarray of int64, shape (2,)
        Percentage of the weight that a base needs to stay, and has to exceed to be inserted; that of a base
        of a homopolymer run.
    worth, doubt : int
        As in `kernels.consensus.layers.Settings`.

    Returns
    -------
    codes : ndarray of uint8
    place : ndarray of int64, shape (n + 1,)
        Where each column went, or would have.
    probabilities : ndarray of int32
        That each base of the next draft is wrong (`kernels.consensus.error_probabilities`); 0 where it was
        not voted on.
    depth : ndarray of uint8
        Layers at each base, 255 for more.
    """
    n = len(draft)
    most = (1 + SLOTS) * n
    codes, depth, probabilities = (
        np.empty(most, np.uint8),
        np.empty(most, np.uint8),
        np.empty(most + 1, np.int32),
    )
    place = np.empty(n + 1, np.int64)
    size, before, run, run_end = 0, np.int64(0), 0, 0
    table = PROBABILITIES[0 if worth else 1]
    surest = np.empty(256, np.int64)
    for layers in range(256 if worth else 0):
        surest[layers] = surest_step(np.int64(0), np.int64(layers), worth, doubt)
    for c in range(n):
        place[c] = size
        if c == run_end:
            run_end = _run_end(draft, c)
            run = run_end - c
        column, layers, passing = votes.column[c], min(int(votes.depth[c]), 255), np.int64(votes.passing[c])
        if layers >= MIN_DEPTH and votes.differing[c] == 0 and votes.gaining[c] == 0:
            weight = np.int64(column[draft[c]])
            if weight > 0:
                # All layers have the draft's base, and none has another one behind it.
                codes[size], depth[size] = draft[c], layers
                step = surest[layers] if worth else surest_step(weight, layers, worth, doubt)
                _take_doubt(
                    probabilities, size, np.int64(table[stays_row(run, c + 1 == run_end), step]), before
                )
                size, before = size + 1, np.int64(0)
                if passing:
                    step = surest[layers] if worth else surest_step(passing, layers, worth, doubt)
                    before = np.int64(table[refused_row(run + 1 if draft[c] == 0 else 1), step])
                continue
        threshold = thresholds[np.int64(run >= HOMOPOLYMER)]
        base, standing = int(draft[c]), np.int64(0)
        for code in range(4):
            standing += column[code]
            if column[code] > (column[base] if base < 4 else 0):
                base = code
        voted = layers >= MIN_DEPTH
        if not voted and draft[c] < 4:
            base = int(draft[c])
        total = standing + column[DELETION]
        clear = reach(total, layers, worth, doubt)
        if not voted or 100 * standing >= threshold * total:
            codes[size], depth[size] = base, layers
            own = np.int64(0)
            if base < 4 and (voted or draft[c] > 3):
                row = stays_row(run, c + 1 == run_end)
                step = step_for(np.int64(column[base]), standing, total, threshold, clear)
                own = np.int64(table[row, step])
            _take_doubt(probabilities, size, own, before)
            size, before = size + 1, np.int64(0)
        else:
            step = step_of(clear, threshold * total - 100 * standing, threshold * total)
            before += table[CHANGED, step]
        for slot in range(SLOTS if voted else 0):
            best, standing = 4 * slot, np.int64(0)
            for code in range(4 * slot, 4 * slot + 4):
                standing += votes.inserted[c, code]
                if votes.inserted[c, code] > votes.inserted[c, best]:
                    best = code
            longer = run + 1 if (best & 3) == draft[c] else 1
            threshold = thresholds[np.int64(longer >= HOMOPOLYMER)]
            clear = reach(passing, layers, worth, doubt)
            if 100 * standing <= threshold * passing:
                if passing:
                    step = step_of(clear, threshold * passing - 100 * standing, threshold * passing)
                    before += table[refused_row(longer), step]
                break
            codes[size], depth[size] = best & 3, layers
            step = step_for(np.int64(votes.inserted[c, best]), standing, passing, threshold, clear)
            _take_doubt(probabilities, size, np.int64(table[CHANGED, step]), before)
            size, before = size + 1, np.int64(0)
    place[n] = size
    if size:
        _take_doubt(probabilities, size, np.int64(0), before)
    return codes[:size], place, probabilities[:size], depth[:size]


@inner
def _run_end(codes, start):
    """Return where the homopolymer run ends that starts there."""
    end = start + 1
    while end < len(codes) and codes[end] == codes[start]:
        end += 1
    return end


@inner
def _take_doubt(probabilities, size, own, doubt):
    """Set the probability of the next base, and add the doubt before it to that of the base before."""
    doubt = min(doubt, UNIT)
    if size == 0 and own > 0:
        own += doubt
    elif size and probabilities[size - 1] > 0:
        probabilities[size - 1] += doubt
    probabilities[size] = own
