"""The pileup of reads on a draft: their votes, and the next draft.

Definitions are in ``docs/algorithms/correction.md``, sections 3 and 4. A *layer*
(`kernels.consensus.layers`) is a read, or the target itself, with an edit path (`kernels.common.edit_paths`)
over the columns ``[start, end)`` of a draft.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.vectors import Lanes, add, bit_and, load, shift_right, splat, store, widen
from overlapper.kernels.consensus.equal_runs import fetch_behind
from overlapper.kernels.consensus.error_probabilities import (
    CHANGED,
    PROBABILITIES,
    STEPS,
    UNIT,
    WHOLE,
    reach,
    refused_row,
    stays_row,
    step_for,
    step_of,
    surest_step,
)
from overlapper.runtime.compile.cache import njit

U64 = np.uint64
_LANES, _WIDTH = Lanes(16), 16
_FIRST = np.repeat(np.array([0xFFFF, 0], np.uint16), _WIDTH)
"""Masks of the first lanes: one that begins behind ``n`` of them has ``16 - n`` lanes."""
SLOTS = 8
"""Bases that one draft can gain behind a column."""
DELETION = 4
MIN_DEPTH = 3
"""Layers without which a column stays as it is."""
HOMOPOLYMER = 4
"""Bases of the shortest homopolymer run that has a threshold of its own."""


_MOST_AGREED = WHOLE * STEPS
"""From where on decisions are no clearer."""


class Votes(NamedTuple):
    """Votes of a pileup on a draft of ``n`` columns.

    Attributes
    ----------
    column : ndarray of uint16, shape (n, 5)
        Weight of every base, and of `DELETION`.
    behind : ndarray of int32, shape (n,)
        The row of each column in `inserted`; 0, which is empty, where no layer has bases inserted behind it.
    inserted : ndarray of uint16, shape (n + 1, SLOTS * 4)
        Weight of every base in every slot behind a column.
    passing : ndarray of uint16, shape (n,) or longer
        Weight of the layers that go on behind the column.
    depth : ndarray of int32, shape (n,)
        Layers that cover the column.
    differing, gaining : ndarray of uint16, shape (n,)
        Layers that have a deletion there or another base than the draft, or an unknown one, and those that
        have a known one inserted behind.
    """

    column: np.ndarray
    behind: np.ndarray
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
        np.zeros(length, np.int32),
        np.empty((length + 1, SLOTS * 4), np.uint16),
        np.zeros(length + _WIDTH, np.uint16),
        np.zeros(length + 1, np.int32),
        np.zeros(length, np.uint16),
        np.zeros(length, np.uint16),
    )
    votes.inserted[0] = 0
    agreeing, n_behind = np.zeros(length + _WIDTH, np.uint16), np.int64(0)
    for m in range(len(layers.start)):
        if layers.used[m]:
            n_behind = _vote_of_layer(draft, layers, m, starts, runs, agreeing, votes, n_behind)
    _add_up(draft, agreeing, votes)
    return votes


@inner
def _vote_of_layer(draft, layers, m, starts, runs, agreeing, votes, n_behind):
    """Count the votes of one layer, but for those of runs, which are counted in ``agreeing``."""
    votes.depth[layers.start[m]] += 1
    votes.depth[layers.end[m]] -= 1
    first, last = layers.first[m], layers.last[m]
    bases, weights = layers.bases[first:last], layers.weights[first:last]
    c, end, at = layers.start[m], layers.end[m], layers.at[m]
    for r in range(runs.first[m], runs.first[m + 1]):
        fetch_behind(runs, r, runs.first[m + 1], starts, at, bases)
        # Behind the last base of a run, others may be inserted.
        column, base, sure = np.int64(runs.column[r]), np.int64(runs.base[r]), runs.length[r] - 1
        n_behind = _vote(draft, starts, at, c, column, end, bases, weights, votes, n_behind)
        _agree(weights, base, sure, agreeing, votes.passing, column)
        c = column + sure
    return _vote(draft, starts, at, c, end, end, bases, weights, votes, n_behind)


@inner
def _add_up(draft, agreeing, votes):
    """Add the votes of runs, and count the layers that cover each column."""
    for c in range(U64(len(draft))):
        votes.depth[c + U64(1)] += votes.depth[c]
        if agreeing[c]:
            votes.column[c, U64(draft[c])] += agreeing[c]


@inner
def _agree(weights, base, length, agreeing, passing, column):
    """Count the votes of a layer for the draft's bases, from a base and a column on."""
    one = splat(_LANES, agreeing, 1)
    for x in range(0, length, _WIDTH):
        weight = widen(load(_LANES, weights, base + x))
        both = add(weight, widen(load(_LANES, weights, base + x + 1)))
        here = load(_LANES, _FIRST, max(np.int64(0), x + _WIDTH - length))
        at = column + x
        store(agreeing, at, add(load(_LANES, agreeing, at), bit_and(weight, here)))
        store(passing, at, add(load(_LANES, passing, at), bit_and(shift_right(both, one), here)))


@inner
def _vote(draft, starts, at, start, stop, end, bases, weights, votes, n_behind):
    """Count the votes of one layer on some of the columns that it covers, which end at ``end``.

    Behind so many columns bases were inserted before; return behind how many there are then.
    """
    final = U64(len(bases) - 1)
    here = U64(starts[U64(at + start)])
    for c in range(U64(start), U64(stop)):
        behind = U64(starts[U64(at) + c + U64(1)])
        before = behind - U64(behind > U64(0))
        around = np.uint16((U64(weights[before]) + U64(weights[min(behind, final)])) >> U64(1))
        # A base or its lack is chosen without a branch, as a processor cannot foresee it.
        is_gone = behind == here
        base = U64(bases[min(here, final)])
        known = is_gone | (base < U64(DELETION))
        weight = around if is_gone else np.uint16(weights[min(here, final)])
        votes.column[c, U64(DELETION) if is_gone else base & U64(3)] += weight if known else np.uint16(0)
        votes.differing[c] += np.uint16(is_gone | (base != U64(draft[c])))
        if behind > here + U64(1):
            slots = min(behind - here - U64(1), U64(SLOTS))
            if votes.behind[c] == 0:
                n_behind += 1
                votes.behind[c] = n_behind
                for entry in range(U64(SLOTS * 4)):
                    votes.inserted[U64(n_behind), entry] = 0
            for slot in range(slots):
                x = here + U64(1) + U64(slot)
                if bases[x] < 4:
                    row, vote = U64(votes.behind[c]), U64(4) * U64(slot) + U64(bases[x])
                    votes.inserted[row, vote] += np.uint16(weights[x])
                    votes.gaining[c] += np.uint16(slot == 0)
        if c + U64(1) < U64(end):
            votes.passing[c] += around
        here = behind
    return n_behind


@njit(nogil=True, cache=True)
def next_draft(draft, votes, thresholds, worth, doubt, is_last):
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
    is_last : bool
        Whether it is the consensus: of other drafts nobody asks how sure they are.

    Returns
    -------
    codes : ndarray of uint8
    place : ndarray of int64, shape (n + 1,)
        Where each column went, or would have.
    probabilities : ndarray of int32
        Of the last draft: that each base is wrong (`kernels.consensus.error_probabilities`); 0 where it was
        not voted on.
    depth : ndarray of uint8
        Of the last draft: layers at each base, 255 for more.
    """
    n = len(draft)
    most = (1 + SLOTS) * n
    codes, depth, probabilities = (
        np.empty(most, np.uint8),
        np.empty(most, np.uint8),
        np.empty(most + 1, np.int32),
    )
    place, left_of_run = np.empty(n + 1, np.int64), np.empty(n, np.int32)
    size = _decide(
        draft, votes, thresholds, worth, doubt, is_last, _clearest(worth, doubt),
        _surest_steps(worth, doubt), left_of_run, codes, place, probabilities, depth,
    )  # fmt: skip
    return codes[:size], place, probabilities[:size], depth[:size]


@inner
def _decide(
    draft, votes, thresholds, worth, doubt, is_last, clearest, surest, left_of_run, codes, place,
    probabilities, depth,
):  # fmt: skip
    """Write the next draft; return how many columns it has."""
    n = np.int64(len(draft))
    size, before, run = np.int64(0), np.int64(0), np.int64(0)
    table = PROBABILITIES[0 if worth else 1]
    _measure_runs(draft, left_of_run)
    for c in range(n):
        place[c] = size
        own_base = np.int64(draft[c])
        left = np.int64(left_of_run[c])
        run = left if c == 0 or draft[c - 1] != own_base else run
        passing = np.int64(votes.passing[c])
        layers = min(np.int64(votes.depth[c]), np.int64(255))
        voted, gaining = layers >= MIN_DEPTH, votes.gaining[c] > 0
        if voted and not votes.differing[c] | votes.gaining[c]:
            # All layers have the base of the draft, and nothing behind it, as of accurate reads most do.
            codes[size] = own_base
            if is_last:
                depth[size] = layers
                step = surest[_agreement(np.int64(votes.column[c, own_base]), layers, worth)]
                own = np.int64(table[stays_row(run, left == 1), step])
                _take_doubt(probabilities, size, own, before)
                before = np.int64(0)
                if passing:
                    row = refused_row(run + 1 if own_base == 0 else np.int64(1))
                    before += table[row, surest[_agreement(passing, layers, worth)]]
            size += 1
            continue
        column = votes.column[c]
        threshold = thresholds[np.int64(run >= HOMOPOLYMER)]
        base, standing = _heaviest(column, own_base, voted)
        total = standing + column[DELETION]
        stays = not voted or 100 * standing >= threshold * total
        if stays:
            codes[size] = base
        if is_last:
            clear = _clear(total, layers, clearest, worth, doubt)
            if stays:
                depth[size], own = layers, np.int64(0)
                if base < 4 and (voted or own_base > 3):
                    step = step_for(np.int64(column[base]), standing, total, threshold, clear)
                    own = np.int64(table[stays_row(run, left == 1), step])
                _take_doubt(probabilities, size, own, before)
                before = np.int64(0)
            else:
                step = step_of(clear, threshold * total - 100 * standing, threshold * total)
                before += table[CHANGED, step]
        size += stays
        if not voted or (not is_last and not gaining):
            continue
        clear = _clear(passing, layers, clearest, worth, doubt)
        inserted = votes.inserted[votes.behind[c]]
        for slot in range(SLOTS):
            best, standing = 4 * slot, np.int64(0)
            for code in range(4 * slot, 4 * slot + 4):
                standing += inserted[code]
                if inserted[code] > inserted[best]:
                    best = code
            longer = run + 1 if (best & 3) == own_base else np.int64(1)
            threshold = thresholds[np.int64(longer >= HOMOPOLYMER)]
            if 100 * standing <= threshold * passing:
                if is_last and passing:
                    step = step_of(clear, threshold * passing - 100 * standing, threshold * passing)
                    before += table[refused_row(longer), step]
                break
            codes[size] = best & 3
            if is_last:
                depth[size] = layers
                step = step_for(np.int64(inserted[best]), standing, passing, threshold, clear)
                _take_doubt(probabilities, size, np.int64(table[CHANGED, step]), before)
                before = np.int64(0)
            size += 1
    place[n] = size
    if is_last and size:
        _take_doubt(probabilities, size, np.int64(0), before)
    return size


@inner
def _heaviest(column, own, voted):
    """Return the heaviest base of a column, of equals its own, or its own without a vote; and all weight."""
    base, standing = own, np.int64(0)
    for code in range(4):
        standing += column[code]
        if column[code] > (column[base] if base < 4 else 0):
            base = np.int64(code)
    return (base if voted or own > 3 else own), standing


@njit(nogil=True, cache=True)
def _clearest(worth, doubt):
    """Return the first two numbers of `reach` by how many layers there are; of raw reads, no others count."""
    clearest = np.empty((256 if worth else 0, 2), np.int64)
    for layers in range(len(clearest)):
        clearest[layers, 0], clearest[layers, 1], _ = reach(np.int64(0), np.int64(layers), worth, doubt)
    return clearest


@njit(nogil=True, cache=True)
def _surest_steps(worth, doubt):
    """Return the step of a decision that all layers agree on, by `_agreement`."""
    steps = np.empty(_MOST_AGREED + 1, np.int64)
    for agreed in range(len(steps)):
        clear = np.int64(agreed), np.int64(agreed), doubt
        steps[agreed] = surest_step(reach(np.int64(0), np.int64(agreed), worth, doubt) if worth else clear)
    return steps


@inner
def _agreement(weight, layers, worth):
    """Return what tells how clear a decision is that all layers agree on."""
    if worth:
        return layers
    # Most corrected bases have the highest weight, and a division takes long.
    return 8 * weight // layers if 8 * weight < _MOST_AGREED * layers else np.int64(_MOST_AGREED)


@inner
def _clear(weight, layers, clearest, worth, doubt):
    """Return what `reach` does."""
    if worth:
        return clearest[layers, 0], clearest[layers, 1], doubt
    return reach(weight, np.int64(layers), worth, doubt)


@inner
def _measure_runs(codes, left_of_run):
    """Write how many bases there are from each one to the end of its homopolymer run, both included."""
    left = np.int64(0)
    for c in range(len(codes) - 1, -1, -1):
        left = left + 1 if c + 1 < len(codes) and codes[c + 1] == codes[c] else np.int64(1)
        left_of_run[c] = left


@inner
def _take_doubt(probabilities, size, own, doubt):
    """Set the probability of the next base, and add the doubt before it to that of the base before."""
    doubt = min(doubt, UNIT)
    if size == 0 and own > 0:
        own += doubt
    elif size and probabilities[size - 1] > 0:
        probabilities[size - 1] += doubt
    probabilities[size] = own
