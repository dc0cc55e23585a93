"""Error probabilities of decisions, and qualities of bases; the twin of ../error_probabilities.py."""

from __future__ import annotations

from numba import cuda, int64

from overlapper.kernels.common.cuda.offsets import owner
from overlapper.kernels.consensus.error_probabilities import UNIT, phred


@cuda.jit
def add_between(draft_first, between, probabilities):
    """Add what is between a base and the next to its error probability, a thread a base.

    To that of the first base of a window, what is before it is added, too.
    """
    x = cuda.grid(1)
    if x < draft_first[len(draft_first) - 1] and probabilities[x] > 0:
        p = owner(draft_first, x)
        probabilities[x] += min(between[x + p + 1], int64(UNIT))
        if x == draft_first[p]:
            probabilities[x] += min(between[x + p], int64(UNIT))


@cuda.jit
def qualities(draft_first, codes, probabilities, limits, quality):
    """Write the qualities of bases; a thread a base, the first one of a homopolymer run for all of it."""
    x = cuda.grid(1)
    if x >= draft_first[len(draft_first) - 1]:
        return
    p = owner(draft_first, x)
    if x > draft_first[p] and codes[x - 1] == codes[x]:
        return
    end, total, voted = int64(x), int64(0), int64(0)
    while end < draft_first[p + 1] and codes[end] == codes[x]:
        total += probabilities[end]
        voted += probabilities[end] > 0
        end += 1
    of_run = phred(total // max(voted, int64(1)), limits)
    for y in range(x, end):
        quality[y] = of_run if probabilities[y] > 0 else 0
