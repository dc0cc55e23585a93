"""Bases that targets keep where layers are divided; the twin of ../own_bases.py, which defines them."""

from __future__ import annotations

from typing import Any

from numba import cuda, int32, int64, uint16

from overlapper.kernels.common.cuda.offsets import owner
from overlapper.kernels.consensus.cuda.votes import Draft, Layers, Votes
from overlapper.kernels.consensus.own_bases import KINDS, MILLION, MIN_HOLDING, NOTHING, SOMETHING
from overlapper.kernels.consensus.votes import DELETION, SLOTS
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.gpu.memory import Arena

BY_STRAND = 2 * KINDS
"""Counts of a column: of each kind, on either strand."""


def keep_own(draft: Draft, layers: Layers, starts: Any, votes: Votes, alike: int, arena: Arena) -> None:
    """Take other votes away where what the target has and something else are both held.

    Parameters
    ----------
    draft : Draft
    layers : Layers
    starts : device array of int32
    votes : Votes
        Of these layers; changed.
    alike : int
        As in `overlapper.kernels.consensus.layers.Settings`.
    arena : Arena
    """
    launch(
        keep, len(draft.codes), arena, draft.first, layers.layer_first, layers.first, layers.bases,
        layers.start, layers.end, layers.at, layers.used, layers.reverse, starts, alike, votes.column,
        votes.inserted,
    )  # fmt: skip


@cuda.jit
def keep(
    draft_first, layer_first, first, bases, start, end, at, used, reverse, starts, alike, column, inserted
):  # fmt: skip
    """Do so at every column and behind it; a thread a column."""
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
    if several < 2 and weight < MIN_HOLDING:
        return
    p = owner(draft_first, x)
    c = x - draft_first[p]
    low, high = layer_first[p], layer_first[p + 1]
    counts = cuda.local.array(BY_STRAND, int32)
    own = _kind_at(high - 1, c, first, bases, start, end, at, used, starts)
    if several > 1 and own >= 0:
        for i in range(BY_STRAND):
            counts[i] = 0
        for m in range(low, high):
            kind = _kind_at(m, c, first, bases, start, end, at, used, starts)
            if kind >= 0:
                counts[2 * kind + reverse[m]] += 1
        if _is_divided(counts, own, alike):
            for kind in range(KINDS):
                if kind != own:
                    column[x, kind] = uint16(0)
    if weight >= MIN_HOLDING and _gained(high - 1, c, first, bases, start, end, at, used, starts) == NOTHING:
        for i in range(BY_STRAND):
            counts[i] = 0
        for m in range(low, high):
            gained = _gained(m, c, first, bases, start, end, at, used, starts)
            if gained >= 0:
                counts[2 * gained + reverse[m]] += 1
        if _is_divided(counts, int64(NOTHING), alike):
            for i in range(4 * SLOTS):
                inserted[x, i] = uint16(0)


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
    """Return whether a layer has bases inserted behind a column; -1 where it ends, or has unknown ones."""
    if used[m] == 0 or c < start[m] or c + 1 >= end[m]:
        return int64(-1)
    row = at[m] + c
    if starts[row + 1] - starts[row] < 2:
        return int64(NOTHING)
    return int64(SOMETHING) if bases[first[m] + starts[row] + 1] < DELETION else int64(-1)


@cuda.jit(device=True)
def _is_divided(counts, own, alike):
    """Tell whether what the target has is held, and something else is, too."""
    n = int64(0)
    for i in range(BY_STRAND):
        n += counts[i]
    least = MILLION * MIN_HOLDING + alike * n
    held = 0
    for kind in range(KINDS):
        if _is_held(counts, kind, least):
            held += 1
    return held > 1 and _is_held(counts, own, least)


@cuda.jit(device=True)
def _is_held(counts, kind, least):
    """Tell whether layers on both strands hold a kind, as many as have to."""
    forward, backward = int64(counts[2 * kind]), int64(counts[2 * kind + 1])
    return min(forward, backward) > 0 and MILLION * (forward + backward) >= least
