"""The haplotype filter of pileups; the twin of ../haplotype_filter.py, which defines it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, int32, int64

from overlapper.kernels.common.cuda.groups import list_flagged
from overlapper.kernels.common.cuda.offsets import owner
from overlapper.kernels.common.cuda.scan import exclusive_sums, last_of
from overlapper.kernels.consensus.cuda.own_bases import is_in_gap
from overlapper.kernels.consensus.cuda.votes import Draft, Layers, Votes
from overlapper.kernels.consensus.haplotype_filter import (
    LONG_GAP,
    MAX_AGAINST,
    MIN_APART,
    MIN_BOTH,
    MIN_LAYERS,
    MIN_SHARE,
    NEXT_CANDIDATES,
    OTHER,
    SAME,
)
from overlapper.kernels.consensus.layers import ELSEWHERE, UNLIKE
from overlapper.kernels.consensus.own_bases import BESIDES, MILLION
from overlapper.kernels.consensus.votes import DELETION
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.gpu.memory import Arena

LINKED, LONE = 1, 2
"""States of candidates: those that need a link to be sites, and those that do not."""


def leave_out(
    draft: Draft,
    layers: Layers,
    starts: Any,
    votes: Votes,
    alike: np.ndarray,
    left_out: Any,
    marks: Any,
    sides: Any,
    arena: Arena,
) -> None:
    """Mark the layers that disagree with their targets as not used, and count the sites of all.

    Parameters
    ----------
    draft : Draft
    layers : Layers
    starts : device array of int32
    votes : Votes
        Of these layers.
    alike : ndarray of int64
        As in `kernels.consensus.layers.Settings`.
    left_out : device array of int64, shape (windows,)
        Gets how many.
    marks : device array of uint8, shape (layers,)
        Layers that disagree with their targets at a site are marked.
    sides : device array of uint8, shape (layers,)
        Those that agree with their targets more often than they disagree become `SAME`, others that are
        left out `OTHER`.
    arena : Arena
    """
    mark = arena.mark()
    n = len(draft.codes)
    state, is_candidate = arena.array(n, np.uint8), arena.array(n, np.uint8)
    gaps = arena.array(n, np.int32)
    paths = (
        layers.layer_first, layers.first, layers.bases, layers.start, layers.end, layers.at,
        layers.used, starts,
    )  # fmt: skip
    errors, with_gaps = int(alike[1, 1]), bool(alike[LONG_GAP, LONG_GAP] < alike.max())
    launch(
        mark_candidates, n, arena, draft.first, *paths, layers.reverse, votes.column, errors, with_gaps,
        state, gaps,
    )  # fmt: skip
    launch(choose_of_gaps, n, arena, draft.first, state, gaps, is_candidate)
    place = exclusive_sums(is_candidate, arena)
    count = last_of(place, arena)
    if count:
        candidates, is_site = arena.array(count, np.int64), arena.zeros(count, np.uint8)
        launch(list_flagged, n, arena, is_candidate, place, candidates)
        launch(mark_lone, count, arena, candidates, state, is_site)
        pairs = count * NEXT_CANDIDATES
        launch(link, pairs, arena, candidates, draft.first, *paths, votes.column, is_site)
        launch(
            judge, len(layers.window), arena, layers.window, candidates, is_site, draft.first, place,
            *paths, votes.column, left_out, marks, sides, layers.agreeing, layers.differing,
        )  # fmt: skip
    arena.release(mark)


@cuda.jit(device=True)
def _two_kinds(column, x):
    """Return the two heaviest of bases and deletion at a column, of equals the lower code."""
    first, second = int64(-1), int64(-1)
    for kind in range(DELETION + 1):
        if first < 0 or column[x, kind] > column[x, first]:
            first, second = int64(kind), first
        elif second < 0 or column[x, kind] > column[x, second]:
            second = int64(kind)
    return first, second


@cuda.jit(device=True)
def _held(m, c, first, bases, start, end, at, used, starts, one, other):
    """Return which of two kinds a layer has at a column: 0, 1, or -1 for neither."""
    if used[m] == 0 or c < start[m] or c >= end[m]:
        return -1
    row = at[m] + c
    here = starts[row]
    if starts[row + 1] > here:
        kind = int64(bases[first[m] + here])
        if kind >= DELETION:
            return -1
    else:
        if not is_in_gap(m, c, start, end, at, starts, LONG_GAP):
            return -1
        kind = int64(DELETION)
    return 0 if kind == one else 1 if kind == other else -1


@cuda.jit
def mark_candidates(
    draft_first, layer_first, first, bases, start, end, at, used, starts, reverse, column, errors, with_gaps,
    state, gaps,
):  # fmt: skip
    """Mark the candidates among columns, and those that need no link; a thread for each column.

    ``gaps`` gets how many layers have a long gap at a candidate, 0 where that is none of its kinds.
    """
    x = cuda.grid(1)
    if x >= len(state):
        return
    state[x] = 0
    gaps[x] = 0
    if x >= draft_first[len(draft_first) - 1]:
        return
    one, other = _two_kinds(column, x)
    if max(one, other) == DELETION and not with_gaps:
        return
    total = int64(0)
    for kind in range(DELETION + 1):
        total += column[x, kind]
    less, both = int64(column[x, other]), int64(column[x, one]) + int64(column[x, other])
    if total == 0 or 100 * less < MIN_SHARE * total or 100 * both < MIN_BOTH * total:
        return
    p = owner(draft_first, x)
    c = x - draft_first[p]
    counts = cuda.local.array(4, int32)
    for i in range(4):
        counts[i] = 0
    for m in range(layer_first[p], layer_first[p + 1]):
        held = _held(m, c, first, bases, start, end, at, used, starts, one, other)
        if held >= 0:
            counts[2 * held + reverse[m]] += 1
    zero, ones = counts[0] + counts[1], counts[2] + counts[3]
    fewest = min(zero, ones)
    if fewest >= MIN_LAYERS and min(min(counts[0], counts[1]), min(counts[2], counts[3])) > 0:
        lone = int64(MILLION) * fewest >= BESIDES + errors * (zero + ones)
        state[x] = LONE if lone else LINKED
        if max(one, other) == DELETION:
            gaps[x] = zero if one == DELETION else ones


@cuda.jit
def choose_of_gaps(draft_first, state, gaps, is_candidate):
    """Mark the candidates, of successive ones of long gaps that of most; a thread a column."""
    x = cuda.grid(1)
    if x >= len(state):
        return
    is_candidate[x] = state[x] > 0
    if gaps[x] == 0:
        return
    p = owner(draft_first, x)
    y = x
    while y > draft_first[p] and gaps[y - 1] > 0:
        y -= 1
    while y < draft_first[p + 1] and gaps[y] > 0:
        if gaps[y] > gaps[x] or (gaps[y] == gaps[x] and y < x):
            is_candidate[x] = 0
            return
        y += 1


@cuda.jit
def mark_lone(candidates, state, is_site):
    """Mark the candidates that need no link; a thread a candidate."""
    s = cuda.grid(1)
    if s < len(candidates):
        is_site[s] = state[candidates[s]] == LONE


@cuda.jit
def link(candidates, draft_first, layer_first, first, bases, start, end, at, used, starts, column, is_site):
    """Mark the candidates that are linked to another one; a thread a pair of candidates."""
    pair = cuda.grid(1)
    a = pair // NEXT_CANDIDATES
    b = a + 1 + pair % NEXT_CANDIDATES
    if b >= len(candidates):
        return
    p = owner(draft_first, candidates[a])
    if candidates[b] >= draft_first[p + 1] or candidates[b] - candidates[a] < MIN_APART:
        return
    a_one, a_other = _two_kinds(column, candidates[a])
    b_one, b_other = _two_kinds(column, candidates[b])
    a_column, b_column = candidates[a] - draft_first[p], candidates[b] - draft_first[p]
    counts = cuda.local.array(4, int32)
    for i in range(4):
        counts[i] = 0
    for m in range(layer_first[p], layer_first[p + 1]):
        here = _held(m, a_column, first, bases, start, end, at, used, starts, a_one, a_other)
        if here < 0:
            continue
        there = _held(m, b_column, first, bases, start, end, at, used, starts, b_one, b_other)
        if there >= 0:
            counts[2 * here + there] += 1
    straight, crossed = counts[0] + counts[3], counts[1] + counts[2]
    if straight >= crossed:
        least, against = min(counts[0], counts[3]), crossed
    else:
        least, against = min(counts[1], counts[2]), straight
    if least >= MIN_LAYERS and 100 * against <= MAX_AGAINST * (straight + crossed):
        is_site[a] = 1
        is_site[b] = 1


@cuda.jit
def judge(
    window, candidates, is_site, draft_first, place, layer_first, first, bases, start, end, at, used, starts,
    column, left_out, marks, sides, agreeing, differing,
):  # fmt: skip
    """Leave a layer out that disagrees with its target more often than it agrees; a thread a layer."""
    m = cuda.grid(1)
    if m >= len(window):
        return
    p = window[m]
    own = layer_first[p + 1] - 1
    if m == own or used[m] == 0:
        return
    low = draft_first[p]
    agree, disagree = int32(0), int32(0)
    for s in range(place[low], place[draft_first[p + 1]]):
        if is_site[s] == 0:
            continue
        one, other = _two_kinds(column, candidates[s])
        c = candidates[s] - low
        wanted = _held(own, c, first, bases, start, end, at, used, starts, one, other)
        held = _held(m, c, first, bases, start, end, at, used, starts, one, other)
        if wanted >= 0 and held >= 0:
            agree += held == wanted
            disagree += held != wanted
    agreeing[m] += agree
    differing[m] += disagree
    if disagree > 0:
        marks[m] = UNLIKE
    if agree > disagree:
        sides[m] = SAME
    if disagree > agree:
        used[m] = 0
        marks[m] = ELSEWHERE
        sides[m] = OTHER
        cuda.atomic.add(left_out, p, 1)
