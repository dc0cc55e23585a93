"""Decisions of a vote, which make the next draft (``docs/algorithms/correction.md``, sections 4 and 7)."""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.packed import trailing_zeros
from overlapper.kernels.common.vectors import bit_or, bits_of, equal, load, maximum, splat, store
from overlapper.kernels.consensus.equal_runs import LANES, WIDTH
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
from overlapper.kernels.consensus.votes import DELETION, MIN_DEPTH, SLOTS
from overlapper.runtime.compile.cache import njit

HOMOPOLYMER = 4
"""Bases of the shortest homopolymer run that has a threshold of its own."""
_MOST_AGREED = WHOLE * STEPS
"""Largest measure of agreement; beyond it, decisions are as clear as they get."""


@njit(nogil=True, cache=True)
def next_draft(draft, votes, thresholds, worth, doubt, is_last):
    """Make the next draft from the votes on a draft.

    Parameters
    ----------
    draft : ndarray of uint8, shape (n,)
    votes : Votes
    thresholds : ndarray of int64, shape (2,)
        Percentage of the weight that a base needs to stay, and must exceed to be inserted; then the same for
        a base of a homopolymer run.
    worth, doubt : int
        As in `kernels.consensus.layers.Settings`.
    is_last : bool
        Whether the next draft is the consensus, which needs probabilities and depth.

    Returns
    -------
    codes : ndarray of uint8
    place : ndarray of int64, shape (n + 1,)
        The column of the next draft that each column became, or would have become.
    probabilities : ndarray of int32
        For the consensus: error probability of each base (`kernels.consensus.error_probabilities`); 0 without
        a vote.
    depth : ndarray of uint8
        For the consensus: layers at each base, at most 255.
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
    size, before, run, seen, done = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    table = PROBABILITIES[0 if worth else 1]
    _measure_runs(draft, left_of_run)
    for c in range(n):
        if c < done:
            continue
        if not is_last and c + WIDTH <= n:
            # Columns that all layers agree on are copied.
            alike = _agreed(votes, c)
            if alike:
                store(codes, size, load(LANES, draft, c))
                for x in range(alike):
                    place[c + x] = size + x
                size, done = size + alike, c + alike
                continue
        place[c] = size
        own_base = np.int64(draft[c])
        left = np.int64(left_of_run[c])
        # The homopolymer run of a column is that of the last column looked at, or begins behind it.
        first = np.int64(c)
        while first > seen and draft[first - 1] == own_base:
            first -= 1
        if first == 0 or draft[first - 1] != own_base:
            run = np.int64(left_of_run[first])
        seen = np.int64(c) + 1
        passing = np.int64(votes.passing[c])
        layers = min(np.int64(votes.depth[c]), np.int64(255))
        voted, gaining = layers >= MIN_DEPTH, votes.gaining[c] > 0
        if voted and not votes.differing[c] | votes.gaining[c]:
            # All layers have the draft's base and nothing behind it: most columns of accurate reads.
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
def _agreed(votes, c):
    """Return on how many successive columns (at most `WIDTH`) all layers agree, `MIN_DEPTH` or more."""
    changed = bit_or(load(LANES, votes.differing, c), load(LANES, votes.gaining, c))
    depth = load(LANES, votes.depth, c)
    deep = equal(maximum(depth, splat(LANES, votes.depth, MIN_DEPTH)), depth)
    agreed = bits_of(equal(changed, splat(LANES, votes.differing, 0))) & bits_of(deep)
    return trailing_zeros(np.uint64(~agreed))


@inner
def _heaviest(column, own, voted):
    """Return the heaviest base of a column (in a tie or without a vote, its own), and the weight of all."""
    base, standing = own, np.int64(0)
    for code in range(4):
        standing += column[code]
        if column[code] > (column[base] if base < 4 else 0):
            base = np.int64(code)
    return (base if voted or own > 3 else own), standing


@njit(nogil=True, cache=True)
def _clearest(worth, doubt):
    """Tabulate the first two numbers of `reach` for raw reads, by the number of layers."""
    clearest = np.empty((256 if worth else 0, 2), np.int64)
    for layers in range(len(clearest)):
        clearest[layers, 0], clearest[layers, 1], _ = reach(np.int64(0), np.int64(layers), worth, doubt)
    return clearest


@njit(nogil=True, cache=True)
def _surest_steps(worth, doubt):
    """Tabulate the step of unanimous decisions by `_agreement`."""
    steps = np.empty(_MOST_AGREED + 1, np.int64)
    for agreed in range(len(steps)):
        clear = np.int64(agreed), np.int64(agreed), doubt
        steps[agreed] = surest_step(reach(np.int64(0), np.int64(agreed), worth, doubt) if worth else clear)
    return steps


@inner
def _agreement(weight, layers, worth):
    """Return what the clearness of a unanimous decision depends on."""
    if worth:
        return layers
    # Most corrected bases have the highest weight, and a division takes long.
    return 8 * weight // layers if 8 * weight < _MOST_AGREED * layers else np.int64(_MOST_AGREED)


@inner
def _clear(weight, layers, clearest, worth, doubt):
    """Return `reach`, from the table ``clearest`` for raw reads."""
    if worth:
        return clearest[layers, 0], clearest[layers, 1], doubt
    return reach(weight, np.int64(layers), worth, doubt)


@inner
def _measure_runs(codes, left_of_run):
    """Write the number of bases from each base to the end of its homopolymer run, both included."""
    left = np.int64(0)
    for c in range(len(codes) - 1, -1, -1):
        left = left + 1 if c + 1 < len(codes) and codes[c + 1] == codes[c] else np.int64(1)
        left_of_run[c] = left


@inner
def _take_doubt(probabilities, size, own, doubt):
    """Set the error probability of the next base; add that of decisions before it to the base before."""
    doubt = min(doubt, UNIT)
    if size == 0 and own > 0:
        own += doubt
    elif size and probabilities[size - 1] > 0:
        probabilities[size - 1] += doubt
    probabilities[size] = own
