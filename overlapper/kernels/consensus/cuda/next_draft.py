"""Decisions of a vote, which make the next drafts; the twin of ../next_draft.py.

A thread works on each column of all drafts. Where columns go is told by ``place``, of all columns and one
more: how many columns of the next drafts come before.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int64, uint16

from overlapper.kernels.common.cuda.offsets import gather, owner
from overlapper.kernels.common.cuda.scan import exclusive_sums, last_of
from overlapper.kernels.consensus.cuda.error_probabilities import add_between
from overlapper.kernels.consensus.cuda.votes import Draft, Votes
from overlapper.kernels.consensus.error_probabilities import (
    CHANGED,
    LONG_RUN,
    PROBABILITIES,
    reach,
    refused_row,
    stays_row,
    step_for,
    step_of,
)
from overlapper.kernels.consensus.next_draft import HOMOPOLYMER
from overlapper.kernels.consensus.votes import DELETION, MIN_DEPTH, SLOTS
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.gpu.memory import Arena


class Voted(NamedTuple):
    """Next drafts of all windows.

    Attributes
    ----------
    draft : Draft
    place : device array of int64, shape (columns + 1,)
        Where each column of the drafts before went, or would have.
    probabilities : device array of int32
    depth : device array of uint8
        These two as `overlapper.kernels.consensus.next_draft.last_draft` returns them.
    """

    draft: Draft
    place: Any
    probabilities: Any
    depth: Any


def next_draft(
    draft: Draft, votes: Votes, thresholds: np.ndarray, worth: int, doubt: int, arena: Arena
) -> Voted:
    """Make the next drafts of the votes on all drafts.

    Parameters
    ----------
    draft : Draft
    votes : Votes
    thresholds : ndarray of int64, shape (2,)
    worth, doubt : int
        These as for `overlapper.kernels.consensus.next_draft.next_draft`.
    arena : Arena
    """
    n = len(draft.codes)
    sizes = arena.array(n, np.uint8)
    both = int(thresholds[0]), int(thresholds[1])
    launch(count_bases, n, arena, *draft, *votes, *both, sizes)
    moved, place = moved_draft(draft, sizes, arena)
    size = len(moved.codes)
    probabilities, depth = arena.array(size, np.int32), arena.array(size, np.uint8)
    between = arena.zeros(size + len(moved.first) - 1, np.int64)
    table = arena.upload(PROBABILITIES[0 if worth else 1])
    launch(
        write_bases, n, arena, *draft, *votes, *both, worth, doubt, table, place, moved.codes, probabilities,
        depth, between,
    )  # fmt: skip
    launch(add_between, size, arena, moved.first, between, probabilities)
    return Voted(moved, place, probabilities, depth)


def moved_draft(draft: Draft, sizes: Any, arena: Arena) -> tuple[Draft, Any]:
    """Cut room for the next drafts, given how many bases each column gets; return them and ``place``."""
    place = exclusive_sums(sizes, arena)
    first = arena.array(len(draft.first), np.int64)
    launch(gather, len(first), arena, place, draft.first, first)
    return Draft(first, arena.array(last_of(place, arena), np.uint8)), place


@cuda.jit(device=True)
def _stands(codes, low, high, x, threshold, run_threshold, column, depth):
    """Decide on a column.

    Return its base, whether it stays, the weights of bases alone and with deletions, the threshold, and how
    long the homopolymer run is.
    """
    base, standing = int64(codes[x]), int64(0)
    for code in range(4):
        standing += column[x, code]
        if column[x, code] > (column[x, base] if base < 4 else uint16(0)):
            base = int64(code)
    voted = depth[x] >= MIN_DEPTH
    if not voted and codes[x] < 4:
        base = int64(codes[x])
    total, run = standing + column[x, DELETION], _run_length(codes, low, high, x)
    if run >= HOMOPOLYMER:
        threshold = run_threshold
    return base, not voted or 100 * standing >= threshold * total, standing, total, threshold, run


@cuda.jit(device=True)
def _run_length(codes, low, high, x):
    """Return how many columns the homopolymer run of one has, or `LONG_RUN` or more if it has as many."""
    before, behind = x, x + 1
    while before > low and codes[before - 1] == codes[x] and x - before < LONG_RUN:
        before -= 1
    while behind < high and codes[behind] == codes[x] and behind - before < LONG_RUN:
        behind += 1
    return behind - before


@cuda.jit(device=True)
def _inserted(codes, low, high, x, slot, threshold, run_threshold, inserted, passing):
    """Decide on a slot.

    Return its base, whether it is inserted, the weights of all its bases and of that one, the threshold, and
    how long a homopolymer run it would make.
    """
    best, standing = int64(4 * slot), int64(0)
    for place in range(4 * slot, 4 * slot + 4):
        standing += inserted[x, place]
        if inserted[x, place] > inserted[x, best]:
            best = int64(place)
    base, run = best & 3, int64(1)
    if base == codes[x]:
        run += _run_length(codes, low, high, x)
    if run >= HOMOPOLYMER:
        threshold = run_threshold
    enters = passing[x] > 0 and 100 * standing > threshold * int64(passing[x])
    return base, enters, standing, int64(inserted[x, best]), threshold, run


@cuda.jit
def count_bases(
    draft_first, codes, column, inserted, passing, depth, threshold, run_threshold, sizes
):  # fmt: skip
    """Count the bases that every column gets in the next draft; a thread a column."""
    x = cuda.grid(1)
    if x >= len(codes):
        return
    if x >= draft_first[len(draft_first) - 1]:
        sizes[x] = 0
        return
    p = owner(draft_first, x)
    low, high = draft_first[p], draft_first[p + 1]
    size = int64(_stands(codes, low, high, x, threshold, run_threshold, column, depth)[1])
    for slot in range(SLOTS if depth[x] >= MIN_DEPTH else 0):
        if not _inserted(codes, low, high, x, slot, threshold, run_threshold, inserted, passing)[1]:
            break
        size += 1
    sizes[x] = size


@cuda.jit
def write_bases(
    draft_first, codes, column, inserted, passing, depth, threshold, run_threshold, worth, doubt,
    table, place, next_codes, probabilities, next_depth, between,
):  # fmt: skip
    """Write the bases of every column in the next draft, and what is ``between`` them; a thread a column.

    That is the probability that decisions against a base between two others are wrong, or against one before
    the first or behind the last one of a window: before base ``y`` of window ``p`` it is ``between[y + p]``.
    """
    x = cuda.grid(1)
    if x >= draft_first[len(draft_first) - 1]:
        return
    p = owner(draft_first, x)
    low, high, to = draft_first[p], draft_first[p + 1], place[x]
    layers = min(int64(depth[x]), int64(255))
    voted = layers >= MIN_DEPTH
    base, stays, standing, total, limit, run = _stands(
        codes, low, high, x, threshold, run_threshold, column, depth
    )
    clear = reach(total, layers, worth, doubt)
    if stays:
        next_codes[to], next_depth[to], probabilities[to] = base, layers, 0
        if base < 4 and (voted or codes[x] > 3):
            row = stays_row(run, x + 1 == high or codes[x + 1] != codes[x])
            probabilities[to] = table[row, step_for(int64(column[x, base]), standing, total, limit, clear)]
        to += 1
    else:
        step = step_of(clear, limit * total - 100 * standing, limit * total)
        cuda.atomic.add(between, to + p, int64(table[CHANGED, step]))
    going_on = int64(passing[x])
    clear = reach(going_on, layers, worth, doubt)
    for slot in range(SLOTS if voted else 0):
        base, enters, standing, weight, limit, run = _inserted(
            codes, low, high, x, slot, threshold, run_threshold, inserted, passing
        )
        if not enters:
            if going_on > 0:
                step = step_of(clear, limit * going_on - 100 * standing, limit * going_on)
                cuda.atomic.add(between, to + p, int64(table[refused_row(run), step]))
            break
        next_codes[to], next_depth[to] = base, layers
        probabilities[to] = table[CHANGED, step_for(weight, standing, going_on, limit, clear)]
        to += 1
