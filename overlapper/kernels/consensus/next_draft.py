"""Decisions of a vote, which make the next draft (``docs/algorithms/correction.md``, sections 4 and 7)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.inlining import always_inline, inner
from overlapper.kernels.common.packed import trailing_zeros
from overlapper.kernels.common.vectors import bits_of, load, maximum, splat, store
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
def next_draft(draft, votes, thresholds, worth, doubt):
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

    Returns
    -------
    codes : ndarray of uint8
    place : ndarray of int64, shape (n + 1,)
        The column of the next draft that each column became, or would have become.
    """
    size, made = _made_from(draft, votes, thresholds, worth, doubt, False)
    return made.codes[:size], made.place


@njit(nogil=True, cache=True)
def last_draft(draft, votes, thresholds, worth, doubt):
    """Make the consensus from the votes on the draft before.

    Parameters
    ----------
    draft, votes, thresholds, worth, doubt
        As `next_draft` takes them.

    Returns
    -------
    codes, place : ndarray
        As `next_draft` returns them.
    probabilities : ndarray of int32
        Error probability of each base (`kernels.consensus.error_probabilities`); 0 without a vote.
    depth : ndarray of uint8
        Layers at each base, at most 255.
    """
    size, made = _made_from(draft, votes, thresholds, worth, doubt, True)
    return made.codes[:size], made.place, made.probabilities[:size], made.depth[:size]


@njit(nogil=True, cache=True)
def _made_from(draft, votes, thresholds, worth, doubt, is_last):
    """Make a draft; return how many columns it has, and the draft with room for more.

    Error probabilities and depth are those of the consensus alone (``is_last``).
    """
    n = len(draft)
    most = (1 + SLOTS) * n
    rule = _Rule(
        thresholds, worth, doubt, is_last, PROBABILITIES[0 if worth else 1], _clearest(worth, doubt),
        _surest_steps(worth, doubt),
    )  # fmt: skip
    out = _Draft(
        np.empty(most, np.uint8), np.empty(n + 1, np.int64), np.empty(most + 1, np.int32),
        np.empty(most, np.uint8),
    )  # fmt: skip
    return _decide(draft, votes, rule, np.empty(n, np.int32), out), out


class _Rule(NamedTuple):
    """What decides: arguments of `_made_from`, one of `PROBABILITIES`, `_clearest` and `_surest_steps`."""

    thresholds: np.ndarray
    worth: int
    doubt: int
    is_last: bool
    table: np.ndarray
    clearest: np.ndarray
    surest: np.ndarray


class _Draft(NamedTuple):
    """The next draft as it is written, the columns that `last_draft` returns."""

    codes: np.ndarray
    place: np.ndarray
    probabilities: np.ndarray
    depth: np.ndarray


class _Column(NamedTuple):
    """A column of the draft."""

    base: np.int64
    """int."""
    run: np.int64
    """int; bases of its homopolymer run."""
    ends_run: bool
    """Whether it is the last of them."""
    layers: np.int64
    """int; layers at it, at most 255."""
    weights: np.ndarray
    """uint16, shape (5,); as `Votes.column`."""
    passing: np.int64
    """int; as `Votes.passing`."""


@inner
def _decide(draft, votes, rule, left_of_run, out):
    """Write the next draft; return how many columns it has.

    The error probability of decisions by which there is no base (a column removed, a base not inserted) goes
    to the bases on either side. ``between`` sums it up from the last base written on.
    """
    n = np.int64(len(draft))
    size, between, run, seen, done = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    _measure_runs(draft, left_of_run)
    for c in range(n):
        if c < done:
            continue
        if not rule.is_last and c + WIDTH <= n:
            # Columns that all layers agree on are copied.
            alike = _agreed(votes, c)
            if alike:
                store(out.codes, size, load(LANES, draft, c))
                for x in range(alike):
                    out.place[c + x] = size + x
                size, done = size + alike, c + alike
                continue
        out.place[c] = size
        run = _run_of(draft, left_of_run, np.int64(c), seen, run)
        seen = np.int64(c) + 1
        column = _Column(
            np.int64(draft[c]), run, left_of_run[c] == 1, min(np.int64(votes.depth[c]), np.int64(255)),
            votes.column[c], np.int64(votes.passing[c]),
        )  # fmt: skip
        voted = column.layers >= MIN_DEPTH
        if voted and not votes.differing[c] | votes.gaining[c]:
            between = _keep(column, rule, size, between, out)
            size += 1
            continue
        stays, between = _keep_or_remove(column, voted, rule, size, between, out)
        size += stays
        if voted and (rule.is_last or votes.gaining[c] > 0):
            size, between = _insert_behind(column, votes.inserted[votes.behind[c]], rule, size, between, out)
    out.place[n] = size
    if rule.is_last and size:
        _put_probability(out.probabilities, size, np.int64(0), between)
    return size


@always_inline
def _run_of(draft, left_of_run, c, seen, run):
    """Return the bases of the homopolymer run of column c, given that of the last column looked at.

    It is the same run, or begins behind that column, which is the one before ``seen``.
    """
    first = c
    while first > seen and draft[first - 1] == draft[c]:
        first -= 1
    if first == 0 or draft[first - 1] != draft[c]:
        return np.int64(left_of_run[first])
    return run


@always_inline
def _keep(column, rule, size, between, out):
    """Write a column whose base all layers have, and nothing behind it: most columns of accurate reads.

    Return ``between``, as the two functions that follow.
    """
    out.codes[size] = column.base
    if not rule.is_last:
        return between
    out.depth[size] = column.layers
    step = rule.surest[_agreement(np.int64(column.weights[column.base]), column.layers, rule.worth)]
    own = np.int64(rule.table[stays_row(column.run, column.ends_run), step])
    _put_probability(out.probabilities, size, own, between)
    if not column.passing:
        return np.int64(0)
    # No layer has a base inserted: code 0 (A) counts as the base that is not, as in `_insert_behind`.
    row = refused_row(column.run + 1 if column.base == 0 else np.int64(1))
    return np.int64(rule.table[row, rule.surest[_agreement(column.passing, column.layers, rule.worth)]])


@always_inline
def _keep_or_remove(column, voted, rule, size, between, out):
    """Write a column with its heaviest base, or leave it out; return whether it stays, and ``between``."""
    threshold = rule.thresholds[np.int64(column.run >= HOMOPOLYMER)]
    base, standing = _heaviest(column.weights, column.base, voted)
    total = standing + column.weights[DELETION]
    stays = not voted or 100 * standing >= threshold * total
    if stays:
        out.codes[size] = base
    if not rule.is_last:
        return stays, between
    clear = _clear(total, column.layers, rule.clearest, rule.worth, rule.doubt)
    if not stays:
        step = step_of(clear, threshold * total - 100 * standing, threshold * total)
        return stays, between + rule.table[CHANGED, step]
    out.depth[size], own = column.layers, np.int64(0)
    if base < 4 and (voted or column.base > 3):
        step = step_for(np.int64(column.weights[base]), standing, total, threshold, clear)
        own = np.int64(rule.table[stays_row(column.run, column.ends_run), step])
    _put_probability(out.probabilities, size, own, between)
    return stays, np.int64(0)


@always_inline
def _insert_behind(column, inserted, rule, size, between, out):
    """Write the bases inserted behind a column; return how many columns there are then, and ``between``.

    ``inserted`` is a row of `Votes.inserted`.
    """
    passing = column.passing
    clear = _clear(passing, column.layers, rule.clearest, rule.worth, rule.doubt)
    for slot in range(SLOTS):
        best, standing = 4 * slot, np.int64(0)  # code 0 (A), also where no layer has a base inserted
        for code in range(4 * slot, 4 * slot + 4):
            standing += inserted[code]
            if inserted[code] > inserted[best]:
                best = code
        longer = column.run + 1 if (best & 3) == column.base else np.int64(1)
        threshold = rule.thresholds[np.int64(longer >= HOMOPOLYMER)]
        if passing == 0 or 100 * standing <= threshold * passing:
            if rule.is_last and passing:
                step = step_of(clear, threshold * passing - 100 * standing, threshold * passing)
                between += rule.table[refused_row(longer), step]
            break
        out.codes[size] = best & 3
        if rule.is_last:
            out.depth[size] = column.layers
            step = step_for(np.int64(inserted[best]), standing, passing, threshold, clear)
            _put_probability(out.probabilities, size, np.int64(rule.table[CHANGED, step]), between)
            between = np.int64(0)
        size += 1
    return size, between


@inner
def _agreed(votes, c):
    """Return on how many successive columns (at most `WIDTH`) all layers agree, `MIN_DEPTH` or more."""
    changed = load(LANES, votes.differing, c) | load(LANES, votes.gaining, c)
    depth = load(LANES, votes.depth, c)
    deep = maximum(depth, splat(LANES, votes.depth, MIN_DEPTH)) == depth
    agreed = bits_of(changed == splat(LANES, votes.differing, 0)) & bits_of(deep)
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
def _put_probability(probabilities, size, own, between):
    """Set the error probability of the next base; add that of decisions before it to the base before."""
    between = min(between, UNIT)
    if size == 0 and own > 0:
        own += between
    elif size and probabilities[size - 1] > 0:
        probabilities[size - 1] += between
    probabilities[size] = own
