"""Chances that decisions of a vote are wrong, and qualities of bases; the twin of kernels/cpu/chances.py."""

from __future__ import annotations

import math

from numba import cuda, float64, int64

from overlapper.kernels.cpu.chances import BEST_QUALITY, INNER, REFUSED, STAYS, STEPS, UNIT
from overlapper.kernels.cuda.offsets import owner


@cuda.jit(device=True)
def stays_row(run, at_end):
    """Return the row of a base that stays, in or at the end of a homopolymer run of so many bases."""
    if run > 1 and not at_end:
        return int64(INNER)
    return STAYS + min(run >> 1 if run < 4 else run - 2, int64(INNER - STAYS - 1))


@cuda.jit(device=True)
def refused_row(run):
    """Return the row of a base that is not inserted, which would have made a run of so many bases."""
    return REFUSED + min(max(run - 3, int64(0)), int64(3))


@cuda.jit(device=True)
def reach(weight, members, worth):
    """Return the clearness, in sixteenths of a step, of members that agree, of so much weight."""
    members = max(int64(1), members)
    if worth:
        return worth * int64(math.sqrt(math.sqrt(float64(members << 28)))) >> 6
    return 8 * weight // members


@cuda.jit(device=True)
def step_of(most, margin, whole):
    """Return the step of a decision whose margin is that share of the whole."""
    return min(max(most * margin // (16 * max(int64(1), whole)), int64(0)), int64(STEPS - 1))


@cuda.jit(device=True)
def step_for(weight, standing, total, threshold, most):
    """Return how clearly there is a base rather than none, and this one; the less clear of both."""
    there = step_of(most, 100 * standing - threshold * total, (100 - threshold) * total)
    return min(there, step_of(most, 2 * weight - standing, standing))


@cuda.jit
def add_doubts(draft_first, doubt, chances):
    """Add the doubt behind a base to its chance, and to the first one that before it; a thread a base."""
    x = cuda.grid(1)
    if x < draft_first[len(draft_first) - 1] and chances[x] > 0:
        p = owner(draft_first, x)
        chances[x] += min(doubt[x + p + 1], int64(UNIT))
        if x == draft_first[p]:
            chances[x] += min(doubt[x + p], int64(UNIT))


@cuda.jit
def qualities(draft_first, codes, chances, limits, quality):
    """Write the qualities of bases; a thread a base, the first one of a homopolymer run for all of it."""
    x = cuda.grid(1)
    if x >= draft_first[len(draft_first) - 1]:
        return
    p = owner(draft_first, x)
    if x > draft_first[p] and codes[x - 1] == codes[x]:
        return
    end, total, voted = int64(x), int64(0), int64(0)
    while end < draft_first[p + 1] and codes[end] == codes[x]:
        total += chances[end]
        voted += chances[end] > 0
        end += 1
    of_run = _phred(limits, total // max(voted, int64(1)))
    for y in range(x, end):
        quality[y] = of_run if chances[y] > 0 else 0


@cuda.jit(device=True)
def _phred(limits, chance):
    """Return the highest quality that promises no smaller chance of an error; at least 1."""
    low, high = int64(1), int64(BEST_QUALITY + 1)
    while high - low > 1:
        middle = (low + high) >> 1
        if chance <= limits[middle]:
            low = middle
        else:
            high = middle
    return low
