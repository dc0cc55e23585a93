"""Targets keep their own base where layers are divided (``docs/algorithms/correction.md``, section 5)."""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.consensus.layers import UNLIKE
from overlapper.kernels.consensus.shares import is_of_one_strand
from overlapper.kernels.consensus.votes import DELETION, SLOTS
from overlapper.runtime.compile.cache import njit

MIN_HOLDING = 3
"""Least layers that hold a base, or its lack."""
STRETCH = SLOTS + 1
"""Columns missing in a row that are more than a draft can gain."""
_APART = (STRETCH + 1) // 2
"""Columns between those that are looked at for stretches."""
MILLION = 1_000_000
BESIDES = 3 * MILLION // 2
"""Least layers that hold it, in millionths of a layer, on top of those that may err alike."""
LONGEST_TABLED_RUN, MOST_MISSING = 32, 8
"""Longest homopolymer run, and most missing or inserted bases, of the table of errors that are alike."""
KINDS = DELETION + 1
"""Kinds at a column: four bases, or a deletion."""
NOTHING, SOMETHING = 0, 1
"""Kinds behind a column: no base inserted, or any."""


@njit(nogil=True, cache=True)
def keep_own(draft, layers, starts, votes, settings, marks):
    """Remove votes against the target's own base where both it and something else are held.

    Parameters
    ----------
    draft : ndarray of uint8
    layers : Layers
    starts : ndarray of int32
    votes : Votes
        Of these layers; changed.
    settings : Settings
    marks : ndarray of uint8, shape (layers,)
        Layers that have something else there become `UNLIKE`.
    """
    target = len(layers.start) - 1
    counts = np.empty((KINDS, 2), np.int64)
    alike = settings.alike
    fewest = alike.min()
    differing, gaining, depth = votes.differing, votes.gaining, votes.depth
    for c in range(len(differing)):
        if MILLION * differing[c] >= max(MILLION * MIN_HOLDING, BESIDES + fewest * depth[c]):
            own = _kind_at(layers, starts, target, c)
            counts[:] = 0
            run, run_end = _run_at(draft, c)
            bases = np.int64(0)
            for m in range(len(layers.start)):
                kind = _kind_at(layers, starts, m, c)
                if kind >= 0:
                    counts[kind, np.int64(layers.reverse[m])] += 1
                if kind == DELETION:
                    bases += _missing(layers, starts, m, run, run_end)
            errors = alike[_entry(run_end - run, bases, counts[DELETION].sum())]
            if own >= 0 and _is_divided(counts, own, errors, settings.strands):
                for kind in range(KINDS):
                    if kind != own:
                        votes.column[c, kind] = 0
                for m in range(target):
                    kind = _kind_at(layers, starts, m, c)
                    if kind >= 0 and kind != own:
                        marks[m] = UNLIKE
        if gaining[c] >= MIN_HOLDING and _gained(layers, starts, target, c) == 0:
            counts[:] = 0
            run, run_end = _run_at(draft, c)
            bases = np.int64(0)
            for m in range(len(layers.start)):
                gained = _gained(layers, starts, m, c)
                if gained >= 0:
                    counts[min(gained, SOMETHING), np.int64(layers.reverse[m])] += 1
                    bases += gained
            length = run_end - run if run_end == c + 1 else 1
            errors = alike[_entry(length, bases, counts[SOMETHING].sum())]
            if _is_divided(counts, NOTHING, errors, settings.strands):
                votes.behind[c] = 0
                for m in range(target):
                    if _gained(layers, starts, m, c) > 0:
                        marks[m] = UNLIKE


@njit(nogil=True, cache=True)
def keep_stretches(layers, starts, votes, settings):
    """Remove votes for the lack of a base that the target has in a stretch which other layers lack.

    For the first vote: other haplotypes vote there, too, and a stretch that goes does not come back.

    Parameters are those of `keep_own`.
    """
    target = len(layers.start) - 1
    lacking = _lacking_stretches(layers, starts, len(votes.differing))
    counts = np.empty((2, 2), np.int64)
    for c in range(len(lacking)):
        if lacking[c, 0] + lacking[c, 1] < MIN_HOLDING:
            continue
        own = _kind_at(layers, starts, target, c)
        if own < 0 or own == DELETION:
            continue
        counts[0], counts[1] = 0, lacking[c]
        for m in range(len(layers.start)):
            if _kind_at(layers, starts, m, c) == own:
                counts[0, np.int64(layers.reverse[m])] += 1
        if _is_divided(counts, 0, settings.alike[1, MOST_MISSING], settings.strands):
            votes.column[c, DELETION] = 0


@njit(nogil=True, cache=True)
def _lacking_stretches(layers, starts, columns):
    """Return how many layers of either strand lack each column, and `STRETCH` in a row with it or more."""
    lacking = np.zeros((columns, 2), np.int64)
    for m in range(len(layers.start)):
        if not layers.used[m]:
            continue
        at, strand, end = layers.at[m], np.int64(layers.reverse[m]), np.int64(layers.end[m])
        # Two columns that are looked at, one after the other, lie within or beside each stretch.
        c = np.int64(layers.start[m])
        while c + _APART <= end:
            here = starts[at + c]
            if starts[at + c + _APART] != here:
                c += _APART
                continue
            first, stop = c, c + _APART
            while first > layers.start[m] and starts[at + first - 1] == here:
                first -= 1
            while stop < end and starts[at + stop + 1] == here:
                stop += 1
            if stop - first >= STRETCH:
                for column in range(first, stop):
                    lacking[column, strand] += 1
            c = stop
    return lacking


@inner
def _run_at(draft, column):
    """Return where the homopolymer run of a column starts and ends on the draft."""
    start, end = column, column + 1
    while end < len(draft) and draft[end] == draft[column]:
        end += 1
    while start > 0 and draft[start - 1] == draft[column]:
        start -= 1
    return start, end


@inner
def _missing(layers, starts, m, run, run_end):
    """Return how many columns of a run a layer lacks."""
    missing = 0
    for c in range(max(run, layers.start[m]), min(run_end, layers.end[m])):
        missing += starts[layers.at[m] + c] == starts[layers.at[m] + c + 1]
    return missing


@inner
def _entry(length, bases, layers):
    """Return the entry of ``alike`` for a homopolymer run and the mean of missing or inserted bases."""
    mean = (2 * bases + layers) // max(2 * layers, 1)
    return min(length, LONGEST_TABLED_RUN), min(max(mean, 1), MOST_MISSING)


@inner
def _is_divided(counts, own, alike, strands):
    """Return whether both the target's own kind and another one are held."""
    held, own_held = np.int64(0), False
    for kind in range(len(counts)):
        if _is_held(counts, kind, alike, strands):
            held += 1
            own_held |= kind == own
    return held > 1 and own_held


@inner
def _kind_at(layers, starts, m, column):
    """Return the kind of a layer at a column; -1 for no vote or an unknown base."""
    if not layers.used[m] or column < layers.start[m] or column >= layers.end[m]:
        return -1
    row = layers.at[m] + column
    if starts[row] == starts[row + 1]:
        return DELETION
    base = np.int64(layers.bases[layers.first[m] + starts[row]])
    return base if base < DELETION else -1


@inner
def _gained(layers, starts, m, column):
    """Return how many bases a layer has inserted behind a column; -1 where it ends or they are unknown."""
    if not layers.used[m] or column < layers.start[m] or column + 1 >= layers.end[m]:
        return -1
    row = layers.at[m] + column
    gained = np.int64(starts[row + 1] - starts[row] - 1)
    if gained < 1:
        return 0
    return gained if layers.bases[layers.first[m] + starts[row] + 1] < DELETION else -1


@inner
def _is_held(counts, kind, alike, strands):
    """Return whether so many layers have a kind that it is no error, by the strands of these neither."""
    forward, reverse = counts[:, 0].sum(), counts[:, 1].sum()
    least = max(MILLION * MIN_HOLDING, BESIDES + alike * (forward + reverse))
    enough = MILLION * (counts[kind, 0] + counts[kind, 1]) >= least
    return enough and not is_of_one_strand(counts[kind, 0], counts[kind, 1], forward, reverse, strands)
