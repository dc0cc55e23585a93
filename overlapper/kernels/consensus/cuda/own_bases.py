"""Bases that targets keep where layers are divided; the twin of ../own_bases.py, which defines them."""

from __future__ import annotations

from typing import Any

from numba import cuda, int32, int64, uint16

from overlapper.kernels.common.cuda.offsets import owner
from overlapper.kernels.consensus.cuda.votes import Draft, Layers, Votes
from overlapper.kernels.consensus.layers import UNLIKE
from overlapper.kernels.consensus.own_bases import (
    BESIDES,
    KINDS,
    LONGEST_TABLED_RUN,
    MILLION,
    MIN_HOLDING,
    MOST_MISSING,
    NOTHING,
    SOMETHING,
    STRETCH,
)
from overlapper.kernels.consensus.votes import DELETION, SLOTS
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.gpu.memory import Arena

BY_STRAND = 2 * KINDS
"""Counts of a column: of each kind, on either strand."""


def keep_own(
    draft: Draft,
    layers: Layers,
    starts: Any,
    votes: Votes,
    alike: Any,
    marks: Any,
    decided: Any,
    arena: Arena,
) -> None:
    """Take other votes away where what the target has and something else are both held.

    Parameters
    ----------
    draft : Draft
    layers : Layers
    starts : device array of int32
    votes : Votes
        Of these layers; changed.
    alike : ndarray of int64
        As in `overlapper.kernels.consensus.layers.Settings`.
    marks : device array of uint8, shape (layers,)
        Layers that have something else there are marked.
    decided : device array of uint8, shape (columns,)
        Columns on which not all layers voted, whose votes do not tell whether these are divided.
    arena : Arena
    """
    launch(
        keep, len(draft.codes), arena, draft.first, draft.codes, layers.layer_first, layers.first,
        layers.bases, layers.start, layers.end, layers.at, layers.used, layers.reverse, starts,
        arena.upload(alike.ravel()), votes.column, votes.inserted, marks, decided,
    )  # fmt: skip


def keep_stretches(draft: Draft, layers: Layers, starts: Any, votes: Votes, alike: Any, arena: Arena) -> None:
    """Take the votes of layers away that lack a stretch of the target's.

    Parameters
    ----------
    draft, layers, starts, votes, alike, arena
        As for `keep_own`.
    """
    launch(
        keep_in_stretches, len(draft.codes), arena, draft.first, layers.layer_first, layers.first,
        layers.bases, layers.start, layers.end, layers.at, layers.used, layers.reverse, starts,
        arena.upload(alike.ravel()), votes.column,
    )  # fmt: skip


@cuda.jit
def keep_in_stretches(
    draft_first, layer_first, first, bases, start, end, at, used, reverse, starts, alike, column
):
    """Take votes for a deletion away, as `keep_stretches` says, at every column; a thread a column."""
    x = cuda.grid(1)
    if x >= draft_first[len(draft_first) - 1] or column[x, DELETION] < MIN_HOLDING:
        return
    p = owner(draft_first, x)
    c = x - draft_first[p]
    low, high = layer_first[p], layer_first[p + 1]
    own = _kind_at(high - 1, c, first, bases, start, end, at, used, starts)
    if own < 0 or own == DELETION:
        return
    counts = cuda.local.array(BY_STRAND, int32)
    for i in range(BY_STRAND):
        counts[i] = 0
    n = int64(0)
    for m in range(low, high):
        kind = _kind_at(m, c, first, bases, start, end, at, used, starts)
        if kind == own or (kind == DELETION and is_in_gap(m, c, start, end, at, starts, STRETCH)):
            counts[2 * kind + reverse[m]] += 1
            n += 1
    least = max(int64(MILLION * MIN_HOLDING), BESIDES + alike[(MOST_MISSING + 1) + MOST_MISSING] * n)
    if _is_held(counts, own, least) and _is_held(counts, DELETION, least):
        column[x, DELETION] = uint16(0)


@cuda.jit(device=True)
def is_in_gap(m, c, start, end, at, starts, columns):
    """Return whether a column that a layer lacks is one of so many in a row, or more."""
    here = starts[at[m] + c]
    low, high = int64(c), int64(c) + 1
    while high - low < columns and low > start[m] and starts[at[m] + low - 1] == here:
        low -= 1
    while high - low < columns and high < end[m] and starts[at[m] + high + 1] == here:
        high += 1
    return high - low >= columns


@cuda.jit
def keep(
    draft_first, codes, layer_first, first, bases, start, end, at, used, reverse, starts, alike, column,
    inserted, marks, decided,
):  # fmt: skip
    """Take votes away, as `keep_own` says, at every column and behind it; a thread a column."""
    x = cuda.grid(1)
    if x >= draft_first[len(draft_first) - 1]:
        return
    several = 0
    for kind in range(KINDS):
        if column[x, kind] >= MIN_HOLDING:
            several += 1
    weight = int64(0)
    for base in range(DELETION):
        weight += inserted[x, base]
    kinds, gain = several > 1 or decided[x] > 0, weight >= MIN_HOLDING or decided[x] > 0
    if not kinds and not gain:
        return
    p = owner(draft_first, x)
    c = x - draft_first[p]
    low, high = layer_first[p], layer_first[p + 1]
    run, run_end = x, x + 1
    while run_end < draft_first[p + 1] and codes[run_end] == codes[x]:
        run_end += 1
    while run > draft_first[p] and codes[run - 1] == codes[x]:
        run -= 1
    run, run_end = run - draft_first[p], run_end - draft_first[p]
    counts = cuda.local.array(BY_STRAND, int32)
    own = _kind_at(high - 1, c, first, bases, start, end, at, used, starts)
    if kinds and own >= 0:
        for i in range(BY_STRAND):
            counts[i] = 0
        missing = int64(0)
        for m in range(low, high):
            kind = _kind_at(m, c, first, bases, start, end, at, used, starts)
            if kind >= 0:
                counts[2 * kind + reverse[m]] += 1
            if kind == DELETION:
                for r in range(max(run, start[m]), min(run_end, end[m])):
                    missing += starts[at[m] + r] == starts[at[m] + r + 1]
        lacking = int64(counts[2 * DELETION]) + counts[2 * DELETION + 1]
        if _is_divided(counts, own, alike[_entry(run_end - run, missing, lacking)]):
            for kind in range(KINDS):
                if kind != own:
                    column[x, kind] = uint16(0)
            for m in range(low, high - 1):
                kind = _kind_at(m, c, first, bases, start, end, at, used, starts)
                if kind >= 0 and kind != own:
                    marks[m] = UNLIKE
    if gain and _gained(high - 1, c, first, bases, start, end, at, used, starts) == 0:
        for i in range(BY_STRAND):
            counts[i] = 0
        gains = int64(0)
        for m in range(low, high):
            gained = _gained(m, c, first, bases, start, end, at, used, starts)
            if gained >= 0:
                counts[2 * min(gained, int64(SOMETHING)) + reverse[m]] += 1
                gains += gained
        gaining = int64(counts[2 * SOMETHING]) + counts[2 * SOMETHING + 1]
        length = run_end - run if run_end == c + 1 else int64(1)
        if _is_divided(counts, int64(NOTHING), alike[_entry(length, gains, gaining)]):
            for i in range(4 * SLOTS):
                inserted[x, i] = uint16(0)
            for m in range(low, high - 1):
                if _gained(m, c, first, bases, start, end, at, used, starts) > 0:
                    marks[m] = UNLIKE


@cuda.jit(device=True)
def _entry(length, bases, layers):
    """Return the entry of a run and of the bases that some layers lack there, or have inserted."""
    mean = (2 * bases + layers) // max(2 * layers, int64(1))
    return min(length, LONGEST_TABLED_RUN) * (MOST_MISSING + 1) + min(max(mean, int64(1)), MOST_MISSING)


@cuda.jit(device=True)
def _kind_at(m, c, first, bases, start, end, at, used, starts):
    """Return what a layer has at a column, -1 where it does not vote or has an unknown base."""
    if used[m] == 0 or c < start[m] or c >= end[m]:
        return int64(-1)
    row = at[m] + c
    if starts[row] == starts[row + 1]:
        return int64(DELETION)
    base = int64(bases[first[m] + starts[row]])
    return base if base < DELETION else int64(-1)


@cuda.jit(device=True)
def _gained(m, c, first, bases, start, end, at, used, starts):
    """Return how many bases a layer has inserted behind a column; -1 where it ends, or has unknown ones."""
    if used[m] == 0 or c < start[m] or c + 1 >= end[m]:
        return int64(-1)
    row = at[m] + c
    gained = int64(starts[row + 1]) - starts[row] - 1
    if gained < 1:
        return int64(0)
    return gained if bases[first[m] + starts[row] + 1] < DELETION else int64(-1)


@cuda.jit(device=True)
def _is_divided(counts, own, alike):
    """Return whether both the target's own kind and another one are held."""
    n = int64(0)
    for i in range(BY_STRAND):
        n += counts[i]
    least = max(MILLION * MIN_HOLDING, BESIDES + alike * n)
    held = 0
    for kind in range(KINDS):
        if _is_held(counts, kind, least):
            held += 1
    return held > 1 and _is_held(counts, own, least)


@cuda.jit(device=True)
def _is_held(counts, kind, least):
    """Return whether enough layers, on both strands, hold a kind."""
    forward, backward = int64(counts[2 * kind]), int64(counts[2 * kind + 1])
    return min(forward, backward) > 0 and MILLION * (forward + backward) >= least
