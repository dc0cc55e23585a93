"""Layers carried over from drafts to the next ones; the twin of ../carry_over.py."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int64

from overlapper.kernels.common.cuda.edit_paths import SIZES, Pairs, add_pair, align_all
from overlapper.kernels.common.cuda.offsets import gather, owner
from overlapper.kernels.common.cuda.scan import exclusive_sums, last_of
from overlapper.kernels.consensus.carry_over import MIN_RUN, RUN_ENDS
from overlapper.kernels.consensus.cuda.votes import Draft, Layers
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.gpu.memory import Arena

_LONGEST = SIZES[-1][0]
STRETCH = 64
"""Columns of a path that a thread looks at."""


class Runs(NamedTuple):
    """Runs of columns at which layers keep their pairs; those of layer ``m`` are at ``first[m]`` and on.

    Attributes
    ----------
    first : device array of int64, shape (layers + 1,)
    found : device array of int32, shape (n + 1, 3)
        First column of the next draft, first base of the layer, and length; the last row is spare.
    """

    first: Any
    found: Any


def carry_over(
    layers: Layers, starts: Any, before: Draft, after: Draft, place: Any, moving: Any, arena: Arena
) -> Any:
    """Carry the layers of windows over to their next drafts; return the paths of all layers there.

    Parameters
    ----------
    layers : Layers
        Gets the columns that paths cover, where they are, and which layers are lost.
    starts : device array of int32
        Paths over the drafts before.
    before, after : Draft
    place : device array of int64
        As in `overlapper.kernels.consensus.cuda.next_draft.Voted`.
    moving : device array of uint8, shape (windows,)
        Which windows; paths of the others stay as they are.
    arena : Arena
    """
    n = len(layers.window)
    sizes, stretches = arena.array(n, np.int32), arena.array(n, np.int32)
    of_layers = (layers.layer_first, layers.window, layers.start, layers.end, layers.used)
    launch(count_rows, n, arena, *of_layers, before.first, place, moving, sizes, stretches)
    new_at = exclusive_sums(sizes, arena)
    rows = last_of(new_at, arena)
    carried = arena.array(rows, np.int32)
    mark = arena.mark()
    runs = _find_runs(layers, starts, before, after, place, stretches, arena)
    # Runs that part two pairs have MIN_RUN columns and more.
    pairs = Pairs.room_for(rows // MIN_RUN + n, rows + len(layers.bases), arena)
    lost = arena.zeros(n, np.uint8)
    paths = (layers.window, layers.start, layers.end, layers.at, starts, before.first, place, new_at)
    launch(align_before_runs, len(runs.found), arena, *runs, *paths, carried, lost, *pairs)
    launch(
        finish_paths, n, arena, *runs, *paths, layers.layer_first, layers.used, moving, carried, lost,
        *pairs,
    )  # fmt: skip
    align_all(pairs, after.codes, after.first, layers, carried, arena)
    arena.release(mark)
    return carried


def _find_runs(
    layers: Layers, starts: Any, before: Draft, after: Draft, place: Any, stretches: Any, arena: Arena
) -> Runs:
    """Find the runs of all layers that keep their pairs."""
    n = len(layers.window)
    stretch_first = exclusive_sums(stretches, arena)
    total = last_of(stretch_first, arena)
    counts = arena.zeros(total, np.int32)
    arguments = (
        layers.window, layers.start, layers.end, layers.first, layers.bases, layers.at, starts,
        before.first, after.codes, place, stretch_first,
    )  # fmt: skip
    nowhere = arena.zeros(1, np.int64), arena.array((1, 3), np.int32)
    launch(find_runs, total, arena, *arguments, False, *nowhere, counts)
    found_first = exclusive_sums(counts, arena)
    runs = Runs(arena.array(n + 1, np.int64), arena.array((last_of(found_first, arena) + 1, 3), np.int32))
    launch(gather, n + 1, arena, found_first, stretch_first, runs.first)
    launch(find_runs, total, arena, *arguments, True, found_first, runs.found, counts)
    return runs


@cuda.jit
def count_rows(layer_first, window, start, end, used, draft_first, place, moving, sizes, stretches):
    """Count the rows of every layer's path over the next draft, and the stretches of the path before.

    There are none where a layer is lost, and no stretches where it does not move. A thread a layer.
    """
    m = cuda.grid(1)
    if m >= len(window):
        return
    p = window[m]
    sizes[m], stretches[m] = 0, 0
    if used[m] == 0 and m + 1 != layer_first[p + 1]:
        return
    if moving[p]:
        low = draft_first[p]
        sizes[m] = place[low + end[m]] - place[low + start[m]] + 1
        stretches[m] = (end[m] - start[m] + STRETCH - 1) // STRETCH
    else:
        sizes[m] = end[m] - start[m] + 1


@cuda.jit(device=True)
def _is_pair(c, starts, at, codes, place, low, bases, layer):
    """Return whether a layer's base at a column is that of the next draft there."""
    b, d = starts[at + c], place[low + c]
    return starts[at + c + 1] > b and place[low + c + 1] > d and codes[d] == bases[layer + b]


@cuda.jit
def find_runs(
    window, start, end, first, bases, at, starts, draft_first, codes, place, stretch_first, write,
    found_first, found, counts,
):  # fmt: skip
    """Count the runs that start in every stretch of layers' paths, or write them; a thread a stretch.

    Parameters
    ----------
    window, start, end, first, bases, at
        As in `Layers`.
    starts : device array of int32
    draft_first, codes, place
        Where the drafts before start, the next drafts, and where columns go.
    stretch_first : device array of int64, shape (layers + 1,)
        First stretch of each layer: the first `STRETCH` columns that its path covers, the next ones ...
    write : bool
        Whether to write to ``found``, as in `Runs`.
    found_first : device array of int64
        Where the runs of each stretch go.
    found
    counts : device array of int32
        Gets how many there are.
    """
    stretch = cuda.grid(1)
    if stretch >= stretch_first[len(window)]:
        return
    m = owner(stretch_first, stretch)
    low, layer, row = draft_first[window[m]], first[m], at[m]
    origin, stop = place[low], int64(end[m])
    begin = start[m] + (stretch - stretch_first[m]) * STRETCH
    # The pair before the stretch, if it is so near that a run may come from there.
    last_b, last_d = int64(-2), int64(-2)
    least_b, least_d = starts[row + begin] - 1, place[low + begin] - 1
    c = begin - 1
    while c >= start[m] and starts[row + c] >= least_b and place[low + c] >= least_d:
        if _is_pair(c, starts, row, codes, place, low, bases, layer):
            last_b, last_d = int64(starts[row + c]), place[low + c] - origin
            break
        c -= 1
    n, run, until = int64(0), int64(0), min(begin + STRETCH, stop)
    run_b, run_d = int64(0), int64(0)
    c = begin
    while c < stop and (c < until or run > 0):
        if _is_pair(c, starts, row, codes, place, low, bases, layer):
            b, d = int64(starts[row + c]), place[low + c] - origin
            if b == last_b + 1 and d == last_d + 1:
                run += run > 0
            else:
                if run >= MIN_RUN:
                    if write:
                        _put(found, found_first[stretch] + n, run_d, run_b, run)
                    n += 1
                run, run_b, run_d = int64(c < until), b, d
            last_b, last_d = b, d
        c += 1
    if run >= MIN_RUN:
        if write:
            _put(found, found_first[stretch] + n, run_d, run_b, run)
        n += 1
    counts[stretch] = n


@cuda.jit(device=True)
def _put(found, x, column, base, length):
    found[x, 0], found[x, 1], found[x, 2] = column, base, length


@cuda.jit
def align_before_runs(
    run_first, found, window, start, end, at, starts, draft_first, place, new_at, carried, lost,
    small, medium, large, counts,
):  # fmt: skip
    """List what lies before every run to be aligned, and pair the run but for its ends; a thread a run.

    Parameters
    ----------
    run_first, found
        As in `Runs`.
    window, start, end, at
        As in `Layers`.
    starts : device array of int32
    draft_first, place
        Where the drafts before start, and where columns go.
    new_at : device array of int64
        Where the rows of each layer's path start.
    carried : device array of int32
        Gets the paths.
    lost : device array of uint8
        Gets which layers have a window that is too long.
    small, medium, large, counts
        As in `Pairs`.
    """
    x = cuda.grid(1)
    if x >= run_first[len(window)]:
        return
    m = owner(run_first, x)
    low = draft_first[window[m]]
    new_start = place[low + start[m]] - place[low]
    to = new_at[m] - new_start
    column, base = new_start, int64(starts[at[m] + start[m]])
    if x > run_first[m]:
        column, base = _end_of(found, x - 1)
    run_column, run_base, run = int64(found[x, 0]), int64(found[x, 1]), int64(found[x, 2])
    until, base_until = run_column + RUN_ENDS, run_base + RUN_ENDS
    if not _align(small, medium, large, counts, m, column, until, base, base_until, carried, to):
        lost[m] = 1
    for y in range(RUN_ENDS, run - RUN_ENDS):
        carried[to + run_column + y] = run_base + y


@cuda.jit(device=True)
def _end_of(found, x):
    """Return where the kept pairs of a run end, on the next draft and on the layer."""
    return int64(found[x, 0]) + found[x, 2] - RUN_ENDS, int64(found[x, 1]) + found[x, 2] - RUN_ENDS


@cuda.jit
def finish_paths(
    run_first, found, window, start, end, at, starts, draft_first, place, new_at, layer_first, used, moving,
    carried, lost, small, medium, large, counts,
):  # fmt: skip
    """List what lies behind the last run of every layer, and move the layer; a thread a layer.

    Paths of layers that do not move are copied.
    """
    m = cuda.grid(1)
    if m >= len(window) or new_at[m + 1] == new_at[m]:
        return
    p, old_start, old_end, old_at = window[m], int64(start[m]), int64(end[m]), at[m]
    if not moving[p]:
        for row in range(old_end - old_start + 1):
            carried[new_at[m] + row] = starts[old_at + old_start + row]
        at[m] = new_at[m] - old_start
        return
    low = draft_first[p]
    new_start, new_end = place[low + old_start] - place[low], place[low + old_end] - place[low]
    to, last = new_at[m] - new_start, int64(starts[old_at + old_end])
    column, base = new_start, int64(starts[old_at + old_start])
    if run_first[m + 1] > run_first[m]:
        column, base = _end_of(found, run_first[m + 1] - 1)
    if not _align(small, medium, large, counts, m, column, new_end, base, last, carried, to):
        lost[m] = 1
    carried[to + new_end] = last
    start[m], end[m], at[m] = new_start, new_end, to
    if m + 1 != layer_first[p + 1] and (lost[m] or new_end == new_start):
        used[m] = 0


@cuda.jit(device=True)
def _align(small, medium, large, counts, m, column, column_end, base, base_end, carried, to):
    """Have a window aligned; where it is too long, pair bases side by side, and return False."""
    if max(column_end - column, base_end - base) <= _LONGEST:
        add_pair(small, medium, large, counts, m, column, column_end, base, base_end, carried, to)
        return True
    for c in range(column, column_end):
        carried[to + c] = min(base + c - column, base_end)
    return False
