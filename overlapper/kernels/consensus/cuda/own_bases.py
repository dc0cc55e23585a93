"""Bases that targets keep where layers are divided; the twin of ../own_bases.py, which defines them."""

from __future__ import annotations

from typing import Any

from numba import cuda, int32, int64, uint16

from overlapper.kernels.common.cuda.offsets import owner
from overlapper.kernels.consensus.cuda.votes import Draft, Layers, Votes
from overlapper.kernels.consensus.own_bases import KINDS, MILLION, MIN_HOLDING
from overlapper.kernels.consensus.votes import DELETION
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.gpu.memory import Arena

BY_STRAND = 2 * KINDS
"""Counts of a column: of each kind, on either strand."""


def keep_own(draft: Draft, layers: Layers, starts: Any, votes: Votes, alike: int, arena: Arena) -> None:
    """Take other votes away in columns where what the target has and something else are both held.

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
    )  # fmt: skip


@cuda.jit
def keep(
    draft_first, layer_first, first, bases, start, end, at, used, reverse, starts, alike, column
):  # fmt: skip
    """Do so in every column; a thread a column."""
    x = cuda.grid(1)
    if x >= draft_first[len(draft_first) - 1]:
        return
    several = 0
    for kind in range(KINDS):
        if column[x, kind] >= MIN_HOLDING:
            several += 1
    if several < 2:
        return
    p = owner(draft_first, x)
    c = x - draft_first[p]
    own = _kind_at(layer_first[p + 1] - 1, c, first, bases, start, end, at, used, starts)
    if own < 0:
        return
    counts = cuda.local.array(BY_STRAND, int32)
    for i in range(BY_STRAND):
        counts[i] = 0
    n = int64(0)
    for m in range(layer_first[p], layer_first[p + 1]):
        kind = _kind_at(m, c, first, bases, start, end, at, used, starts)
        if kind >= 0:
            counts[2 * kind + reverse[m]] += 1
            n += 1
    least = MILLION * MIN_HOLDING + alike * n
    if not _is_held(counts, own, least):
        return
    held = 0
    for kind in range(KINDS):
        if _is_held(counts, kind, least):
            held += 1
    if held > 1:
        for kind in range(KINDS):
            if kind != own:
                column[x, kind] = uint16(0)


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
def _is_held(counts, kind, least):
    """Tell whether layers on both strands hold a kind, as many as have to."""
    forward, backward = int64(counts[2 * kind]), int64(counts[2 * kind + 1])
    return min(forward, backward) > 0 and MILLION * (forward + backward) >= least
