"""Votes of pileups of reads on drafts; the twin of ../votes.py.

A batch holds the pileups of many windows. The columns of all drafts lie one after the other, a thread works
on each; so do the layers, a thread on each, and the pairs of sequences that are aligned anew.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int32, int64, uint16

from overlapper.kernels.common.cuda.offsets import owner
from overlapper.kernels.consensus.votes import DELETION, SLOTS
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.gpu.memory import Arena

STANDING, INSERTED = DELETION + 1, 4 * SLOTS
"""Weights of a column itself, and of the insert slots behind it."""


class Layers(NamedTuple):
    """Layers of the pileups of a batch, by window; the last of each window is its target.

    Attributes
    ----------
    layer_first : device array of int64, shape (windows + 1,)
        First layer of each window.
    window : device array of int32, shape (m,)
    t_start, t_end : device array of int32, shape (m,)
        Interval of the window that the row names; -1 for targets.
    reverse : device array of uint8, shape (m,)
    first : device array of int64, shape (m + 1,)
        Where the bases of each start.
    bases, weights : device array of uint8
        Codes and weights of all layers, each on the strand of its window.
    start, end : device array of int32, shape (m,)
        Columns that its path covers.
    at : device array of int64, shape (m,)
        Row ``c`` of its path is ``starts[at + c]``; row ``end`` is there too.
    used : device array of uint8, shape (m,)
        Whether it votes.
    agreeing, differing : device array of int32, shape (m,)
        At how many sites of the filters it agrees with its target, and at how many it differs.
    """

    layer_first: Any
    window: Any
    t_start: Any
    t_end: Any
    reverse: Any
    first: Any
    bases: Any
    weights: Any
    start: Any
    end: Any
    at: Any
    used: Any
    agreeing: Any
    differing: Any


class Votes(NamedTuple):
    """Votes on all columns of a batch, as in kernels/consensus/votes.py, on the device."""

    column: Any
    inserted: Any
    passing: Any
    depth: Any


class Draft(NamedTuple):
    """Drafts of all windows.

    Attributes
    ----------
    first : device array of int64, shape (windows + 1,)
        Where each starts.
    codes : device array of uint8
    """

    first: Any
    codes: Any


def bytes_of_votes(columns: int) -> int:
    """Return the device memory of the votes on ``columns`` columns, marks of these, and next drafts."""
    return columns * (2 * (STANDING + INSERTED + 1) + 4 + 1 + 32)


def count_votes(draft: Draft, layers: Layers, starts: Any, arena: Arena) -> Votes:
    """Count the votes of the layers that are used, on all drafts."""
    n = len(draft.codes)
    votes = Votes(
        arena.array((n, STANDING), np.uint16), arena.array((n, INSERTED), np.uint16),
        arena.array(n, np.uint16), arena.array(n, np.int32),
    )  # fmt: skip
    launch(
        vote, n, arena, draft.first, layers.layer_first, layers.first, layers.bases, layers.weights,
        layers.start, layers.end, layers.at, layers.used, starts, *votes,
    )  # fmt: skip
    return votes


@cuda.jit
def vote(
    draft_first, layer_first, first, bases, weights, start, end, at, used, starts,
    column, inserted, passing, depth,
):  # fmt: skip
    """Count the votes on every column; a thread a column."""
    x = cuda.grid(1)
    if x >= draft_first[len(draft_first) - 1]:
        return
    p = owner(draft_first, x)
    c = x - draft_first[p]
    standing = cuda.local.array(STANDING, int32)
    behind_it = cuda.local.array(INSERTED, int32)
    clear_votes(standing, behind_it)
    going_on, covering = int32(0), int32(0)
    for m in range(layer_first[p], layer_first[p + 1]):
        if used[m] == 0 or c < start[m] or c >= end[m]:
            continue
        covering += int32(1)
        going_on += add_votes(m, c, first, bases, weights, end, at, starts, standing, behind_it)
    write_votes(x, standing, behind_it, going_on, column, inserted, passing)
    depth[x] = covering


@cuda.jit(device=True)
def clear_votes(standing, behind_it):
    """Forget the votes on a column, and behind it."""
    for code in range(STANDING):
        standing[code] = 0
    for place in range(INSERTED):
        behind_it[place] = 0


@cuda.jit(device=True)
def add_votes(m, c, first, bases, weights, end, at, starts, standing, behind_it):
    """Add the votes of a layer on a column that it covers, and behind it; return its weight of passing."""
    low, length = first[m], first[m + 1] - first[m]
    here, behind = int64(starts[at[m] + c]), int64(starts[at[m] + c + 1])
    left = int32(weights[low + max(behind - 1, int64(0))])
    around = int32(left + int32(weights[low + min(behind, length - 1)])) >> int32(1)
    if behind == here:
        standing[DELETION] += around
    else:
        if bases[low + here] < 4:
            standing[bases[low + here]] += int32(weights[low + here])
        for y in range(here + 1, min(behind, here + 1 + SLOTS)):
            if bases[low + y] < 4:
                behind_it[4 * (y - here - 1) + bases[low + y]] += int32(weights[low + y])
    return around if c + 1 < end[m] else int32(0)


@cuda.jit(device=True)
def write_votes(x, standing, behind_it, going_on, column, inserted, passing):
    """Write the votes on a column, behind it, and of passing."""
    for code in range(STANDING):
        column[x, code] = uint16(standing[code])
    for place in range(INSERTED):
        inserted[x, place] = uint16(behind_it[place])
    passing[x] = uint16(going_on)
