"""Runs of unknown bases of drafts, before the first vote; the twin of ../unknown_runs.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, int64

from overlapper.kernels.common.cuda.edit_paths import SIZES
from overlapper.kernels.common.cuda.offsets import owner
from overlapper.kernels.common.edit_paths import TARGET_UNKNOWN
from overlapper.kernels.consensus.cuda.next_draft import moved_draft
from overlapper.kernels.consensus.cuda.votes import Draft, Layers
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.gpu.memory import Arena

_LONGEST = SIZES[-1][0]


def fill_unknown(draft: Draft, layers: Layers, starts: Any, moving: Any, arena: Arena) -> tuple[Draft, Any]:
    """Give every run of unknown columns the bases of the first layer that spans it; return ``place`` too.

    Parameters
    ----------
    draft : Draft
    layers : Layers
    starts : device array of int32
    moving : device array of uint8, shape (windows,)
        Gets which windows have unknown bases and layers, and so are to be carried over.
    arena : Arena
    """
    n = len(draft.codes)
    sizes, giver = arena.array(n, np.int32), arena.array(n, np.int32)
    of_layers = (
        layers.layer_first, layers.first, layers.bases, layers.start, layers.end, layers.at,
        layers.used,
    )  # fmt: skip
    launch(count_filled, n, arena, *draft, *of_layers, starts, moving, sizes, giver)
    filled, place = moved_draft(draft, sizes, arena)
    launch(
        write_filled, n, arena, *draft, layers.first, layers.bases, layers.at, starts, giver, place,
        filled.codes,
    )  # fmt: skip
    return filled, place


@cuda.jit
def count_filled(
    draft_first, codes, layer_first, first, bases, start, end, at, used, starts, moving, sizes, giver
):
    """Count the bases that take the place of every column; a thread a column, for a run its first one.

    ``giver`` gets the layer that gives them at the first column of a run, -1 elsewhere.
    """
    x = cuda.grid(1)
    if x >= len(codes):
        return
    if codes[x] != TARGET_UNKNOWN:
        sizes[x], giver[x] = 1, -1
        return
    p = owner(draft_first, x)
    low = draft_first[p]
    if x > low and codes[x - 1] == TARGET_UNKNOWN:
        return
    stop = int64(x)
    while stop < draft_first[p + 1] and codes[stop] == TARGET_UNKNOWN:
        stop += 1
    given = int64(-1)
    for m in range(layer_first[p], layer_first[p + 1] - 1):
        if used[m] == 0:
            continue
        moving[p] = 1
        if given < 0 and start[m] < x - low and end[m] > stop - low:
            b, last = int64(starts[at[m] + x - low]), int64(starts[at[m] + stop - low])
            known = last - b <= _LONGEST
            while known and b < last:
                known = bases[first[m] + b] < 4
                b += 1
            if known:
                given = int64(m)
    for y in range(x, stop):
        sizes[y], giver[y] = 1 if given < 0 else 0, -1
    giver[x] = given
    if given >= 0:
        row = at[given] + x - low
        sizes[x] = starts[row + stop - x] - starts[row]


@cuda.jit
def write_filled(draft_first, codes, first, bases, at, starts, giver, place, filled):
    """Write the bases that take the place of every column; a thread a column."""
    x = cuda.grid(1)
    if x >= len(codes):
        return
    m, to, size = giver[x], place[x], place[x + 1] - place[x]
    if m < 0:
        if size:
            filled[to] = codes[x]
        return
    b = starts[at[m] + x - draft_first[owner(draft_first, x)]]
    for y in range(size):
        filled[to + y] = bases[first[m] + b + y]
