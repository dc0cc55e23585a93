"""First paths of layers, through the anchors of their chains; the twin of ../layer_paths.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, int32, int64

from overlapper.kernels.common.cuda.edit_paths import Pairs, Scratch, add_pair, align_all, fill, trace
from overlapper.kernels.common.cuda.offsets import owner
from overlapper.kernels.consensus.cuda.mem_anchors import Anchors
from overlapper.kernels.consensus.cuda.votes import Draft, Layers
from overlapper.kernels.consensus.layer_paths import ANCHOR_ENDS, MAX_REACH, MORE
from overlapper.runtime.gpu.launch import kernel_of, launch
from overlapper.runtime.gpu.memory import Arena

_NO_CHAIN = -1
_LIST = 1
"""Of `edit_paths.SIZES`: ends have up to 200 bases on one side, and 266 on the other."""


def first_paths(
    draft: Draft,
    layers: Layers,
    anchors: Anchors,
    sizes: Any,
    starts: Any,
    target_votes: bool,
    arena: Arena,
) -> None:
    """Align all layers to their targets.

    Parameters
    ----------
    draft : Draft
        The targets.
    layers : Layers
        Gets the columns that paths cover, and which layers are used.
    anchors : Anchors
    sizes : device array of int32
        Anchors of each chain.
    starts : device array of int32
        Gets the paths.
    target_votes : bool
    arena : Arena
    """
    n, total = len(layers.window), len(draft.codes)
    mark = arena.mark()
    launch(
        lay_targets, total, arena, draft.first, layers.layer_first, layers.at, target_votes, layers.end,
        layers.used, starts,
    )  # fmt: skip
    ends = arena.array((n, 4), np.int32)
    # A chain has a pair before each of its anchors.
    pairs = Pairs.room_for(len(anchors.score), len(starts) + len(layers.bases), arena)
    launch(follow_chains, n, arena, anchors.first, anchors.found, sizes, layers.at, starts, ends, *pairs)
    align_all(pairs, draft.codes, draft.first, layers, starts, arena)
    scratch = Scratch.for_list(_LIST, 2 * n, arena)
    kernel_of(align_ends).launch(
        *scratch.grid, arena.stream,
        ends, *draft, layers.window, layers.t_start, layers.t_end, layers.bases, layers.first,
        layers.at, *scratch, layers.start, layers.end, layers.used, starts,
    )  # fmt: skip
    arena.release(mark)


@cuda.jit
def lay_targets(target_first, layer_first, at, target_votes, end, used, starts):
    """Pair every target with itself; a thread a base."""
    x = cuda.grid(1)
    if x >= target_first[len(target_first) - 1]:
        return
    p = owner(target_first, x)
    own, c = layer_first[p + 1] - 1, x - target_first[p]
    starts[at[own] + c] = c
    if x + 1 == target_first[p + 1]:
        starts[at[own] + c + 1] = c + 1
        end[own], used[own] = c + 1, target_votes


@cuda.jit
def follow_chains(anchor_first, found, sizes, at, starts, ends, small, medium, large, counts):
    """Pair the bases of every chain's anchors, and list what lies between them; a thread a layer.

    ``ends`` gets where a chain starts and ends, on the layer and on the target.
    """
    m = cuda.grid(1)
    if m >= len(sizes):
        return
    if sizes[m] == 0:
        ends[m, 0] = _NO_CHAIN
        return
    low = anchor_first[m]
    i, j = int64(found[low, 0]) + ANCHOR_ENDS, int64(found[low, 1]) + ANCHOR_ENDS
    ends[m, 0], ends[m, 1] = i, j
    for a in range(low, low + sizes[m]):
        first_i, first_j = int64(found[a, 0]) + ANCHOR_ENDS, int64(found[a, 1]) + ANCHOR_ENDS
        length = int64(found[a, 2]) - 2 * ANCHOR_ENDS
        overlap = max(int64(0), max(i - first_i, j - first_j))
        if overlap >= length:
            continue
        first_i, first_j, length = first_i + overlap, first_j + overlap, length - overlap
        add_pair(small, medium, large, counts, m, j, first_j, i, first_i, starts, at[m])
        for x in range(length):
            starts[at[m] + first_j + x] = first_i + x
        i, j = first_i + length, first_j + length
    ends[m, 2], ends[m, 3] = i, j


@cuda.jit
def align_ends(
    ends, target_first, targets, window, t_start, t_end, bases, first, at,
    rows, up, down, threads, start, end, used, starts,
):  # fmt: skip
    """Let every path go on beyond its chain; a thread an end, in turn: before the chain, then behind it.

    Parameters
    ----------
    ends
        From `follow_chains`.
    target_first, targets
        The targets.
    window, t_start, t_end, bases, first, at
        As in `Layers`.
    rows, up, down, threads
        As in `Scratch`.
    start, end, used
        As in `Layers`.
    starts : device array of int32
    """
    thread = cuda.grid(1)
    if thread >= threads:
        return
    for item in range(thread, 2 * len(window), threads):
        m, behind = item >> 1, (item & 1) == 1
        if ends[m, 0] == _NO_CHAIN:
            continue
        target, read = target_first[window[m]], first[m]
        if behind:
            i, j, step = int64(ends[m, 2]), int64(ends[m, 3]), int64(1)
            t_left, r_left = t_end[m] - j, first[m + 1] - read - i
            t_at, r_at = target + j, read + i
        else:
            i, j, step = int64(ends[m, 0]), int64(ends[m, 1]), int64(-1)
            t_left, r_left = j - t_start[m], i
            t_at, r_at = target + j - 1, read + i - 1
        shorter = min(min(t_left, r_left), int64(MAX_REACH))
        more = shorter + shorter // 4 + MORE
        rise, run = shorter, shorter
        if shorter == 0:
            pass
        elif t_left <= r_left:
            run = fill(
                targets, t_at, bases, r_at, step, shorter, min(r_left, more), rows, up, down, thread, threads
            )
        else:
            rise = fill(
                bases, r_at, targets, t_at, step, shorter, min(t_left, more), rows, up, down, thread, threads
            )
        if behind:
            _write_path(
                targets, target, j, rise, bases, read, i, run, rows, up, down, thread, threads, starts, at[m]
            )
            starts[at[m] + j + rise] = i + run
            end[m], used[m] = j + rise, 1
        else:
            _write_path(
                targets, target, j - rise, rise, bases, read, i - run, run, rows, up, down, thread, threads,
                starts, at[m],
            )  # fmt: skip
            start[m] = j - rise


@cuda.jit(device=True)
def _write_path(targets, target, j, rise, bases, read, i, run, rows, up, down, thread, threads, starts, at):
    """Write the path of ``rise`` bases of the target from ``j`` on and ``run`` bases from ``i`` on."""
    if rise == 0:
        return
    if run == 0:
        for x in range(rise):
            starts[at + j + x] = i
        return
    fill(targets, target + j, bases, read + i, int64(1), rise, run, rows, up, down, thread, threads)
    trace(rise, run, up, down, thread, threads, starts, at + j, int32(i))
