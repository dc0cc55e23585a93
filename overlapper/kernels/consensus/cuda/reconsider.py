"""Uncertain columns of drafts, whose votes may come from the draft itself; the twin of ../reconsider.py.

A decision depends on those to its left, so a window is worked on from left to right, by a block. Its threads
share the layers, whose edit distances they add up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, int32, int64, uint64

from overlapper.kernels.common.cuda.groups import list_flagged
from overlapper.kernels.common.cuda.scan import exclusive_sums, last_of
from overlapper.kernels.common.edit_paths import CODES, TARGET_UNKNOWN
from overlapper.kernels.consensus.cuda.next_draft import moved_draft
from overlapper.kernels.consensus.cuda.votes import Draft, Layers, Votes
from overlapper.kernels.consensus.reconsider import FARTHEST, MIN_RIVAL_SHARE, REACH
from overlapper.kernels.consensus.votes import DELETION, MIN_DEPTH
from overlapper.runtime.gpu.launch import kernel_of, launch
from overlapper.runtime.gpu.memory import Arena

THREADS = 64
_ONE = np.uint64(1)
_NONE = np.uint64(0)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def reconsider(
    draft: Draft, layers: Layers, starts: Any, votes: Votes, changed: Any, arena: Arena
) -> tuple[Draft, Any]:
    """Replace or remove columns where that brings drafts closer to their layers; return ``place`` too.

    Parameters
    ----------
    draft : Draft
        Bases that change are written to it; columns that go stay in it.
    layers : Layers
    starts : device array of int32
    votes : Votes
        Of these layers on the drafts.
    changed : device array of uint8, shape (windows,)
        Gets which windows changed.
    arena : Arena
    """
    n = len(draft.codes)
    is_uncertain, kept = arena.array(n, np.uint8), arena.array(n, np.uint8)
    launch(mark_uncertain, n, arena, *draft, votes.column, is_uncertain, kept)
    place = exclusive_sums(is_uncertain, arena)
    columns = arena.array(last_of(place, arena), np.int64)
    launch(list_flagged, n, arena, is_uncertain, place, columns)
    kernel_of(decide).launch(
        len(changed), THREADS, arena.stream,
        *draft, columns, place, layers.layer_first, layers.first, layers.bases, layers.start,
        layers.end, layers.at, layers.used, starts, votes.column, kept, changed,
    )  # fmt: skip
    after, place = moved_draft(draft, kept, arena)
    launch(write_kept, n, arena, draft.codes, kept, place, after.codes)
    return after, place


@cuda.jit(device=True)
def _heaviest_other(column, x, old):
    """Return the heaviest base but one, of equals the lowest code, and the weight of the column."""
    other, total = int64(old == 0), int64(column[x, DELETION])
    for code in range(DELETION):
        total += column[x, code]
        if code != old and column[x, code] > column[x, other]:
            other = int64(code)
    return other, total


@cuda.jit
def mark_uncertain(draft_first, codes, column, is_uncertain, kept):
    """Mark the columns in which another base, or the deletion, weighs enough; a thread a column."""
    x = cuda.grid(1)
    if x >= len(codes):
        return
    inside = x < draft_first[len(draft_first) - 1]
    is_uncertain[x], kept[x] = 0, inside
    if inside and codes[x] < DELETION:
        other, total = _heaviest_other(column, x, codes[x])
        heaviest = max(int64(column[x, other]), int64(column[x, DELETION]))
        is_uncertain[x] = total > 0 and 100 * heaviest >= MIN_RIVAL_SHARE * total


@cuda.jit
def decide(
    draft_first, codes, columns, place, layer_first, first, bases, start, end, at, used, starts, column,
    kept, changed,
):  # fmt: skip
    """Decide on the columns in doubt, from left to right; a block a window."""
    p = cuda.blockIdx.x
    if p >= len(changed):
        return
    sums = cuda.shared.array(2, int32)
    low, high = draft_first[p], draft_first[p + 1]
    leads = cuda.threadIdx.x == 0
    for number in range(place[low], place[high]):
        x = columns[number]
        old = int64(codes[x])
        other, total = _heaviest_other(column, x, old)
        before = x - 1
        while before >= low and kept[before] == 0:
            before -= 1
        alone = (before < low or codes[before] != old) and (x + 1 == high or codes[x + 1] != old)
        replaceable = 100 * int64(column[x, other]) >= MIN_RIVAL_SHARE * total
        removable = alone and 100 * int64(column[x, DELETION]) >= MIN_RIVAL_SHARE * total
        if not (replaceable or removable):
            continue
        since, until = max(low, x - REACH), min(high, x + REACH + 1)
        best = _distance(
            p, since - low, until - low, low, codes, kept, layer_first, first, bases, start, end, at, used,
            starts, sums,
        )  # fmt: skip
        if replaceable and best >= 0:
            if leads:
                codes[x] = other
            replaced = _distance(
                p, since - low, until - low, low, codes, kept, layer_first, first, bases, start, end, at,
                used, starts, sums,
            )  # fmt: skip
            if replaced < best:
                best = replaced
                changed[p] = 1
            elif leads:
                codes[x] = old
        if removable and best >= 0:
            if leads:
                kept[x] = 0
            removed = _distance(
                p, since - low, until - low, low, codes, kept, layer_first, first, bases, start, end, at,
                used, starts, sums,
            )  # fmt: skip
            if removed < best:
                changed[p] = 1
            elif leads:
                kept[x] = 1
        cuda.syncthreads()


@cuda.jit(device=True)
def _distance(
    p, since, until, low, codes, kept, layer_first, first, bases, start, end, at, used, starts, sums
):  # fmt: skip
    """Return the edit distances of layers to columns, together, to all threads; -1 if too few cover them."""
    if cuda.threadIdx.x == 0:
        sums[0], sums[1] = 0, 0
    cuda.syncthreads()
    rows = cuda.local.array(CODES, uint64)
    for code in range(CODES):
        rows[code] = _NONE
    size = int64(0)
    for x in range(low + since, low + until):
        if kept[x]:
            rows[codes[x]] = uint64(rows[codes[x]] | uint64(_ONE << uint64(size)))
            size += 1
    rows[TARGET_UNKNOWN] = _NONE
    covering, total, most = int32(0), int32(0), int64((until - since) // FARTHEST)
    for m in range(layer_first[p] + cuda.threadIdx.x, layer_first[p + 1], cuda.blockDim.x):
        if used[m] and start[m] <= since and end[m] >= until:
            covering += int32(1)
            b, stop = starts[at[m] + since], starts[at[m] + until]
            total += int32(min(_edit_distance(rows, size, bases, first[m] + b, first[m] + stop), most))
    if covering > 0:
        cuda.atomic.add(sums, 0, covering)
        cuda.atomic.add(sums, 1, total)
    cuda.syncthreads()
    covered, distance = int64(sums[0]), int64(sums[1])
    cuda.syncthreads()
    return distance if covered >= MIN_DEPTH else int64(-1)


@cuda.jit(device=True)
def _edit_distance(rows, m, bases, begin, end):
    """Return the cost of ``m`` bases, at most 64, whose rows are given, and an interval of a layer."""
    if m == 0:
        return int64(end - begin)
    last = uint64(m - 1)
    above, below, cost = _ALL, _NONE, int64(m)
    for j in range(begin, end):
        equal = rows[bases[j]]
        vertical = uint64(equal | below)
        diagonal = uint64((uint64((equal & above) + above) ^ above) | equal)
        rises, falls = uint64(below | ~(diagonal | above)), uint64(above & diagonal)
        cost += int64((rises >> last) & _ONE) - int64((falls >> last) & _ONE)
        rises, falls = uint64((rises << _ONE) | _ONE), uint64(falls << _ONE)
        above, below = uint64(falls | ~(vertical | rises)), uint64(rises & vertical)
    return cost


@cuda.jit
def write_kept(codes, kept, place, next_codes):
    """Write the columns that are kept; a thread a column."""
    x = cuda.grid(1)
    if x < len(codes) and kept[x]:
        next_codes[place[x]] = codes[x]
