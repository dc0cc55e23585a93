"""Votes of the layers known to be of the target's haplotype, where haplotypes differ.

The haplotype filter tells the *sides* of layers: those that agree with the target at more sites than they
disagree are `SAME`, those that it leaves out `OTHER`. Each of the rest may be of either haplotype: it is
compared with the target at no site, or agrees as often as it disagrees. With its vote both haplotypes would
decide a difference that is no site, as that of the length of a run most often is.

So the target and the layers of its side alone vote at a column if `MIN_KNOWN` of these cover it, if
`MIN_LAYERS` or more of the layers that are left differ from the draft there, or have bases inserted behind
it, and if the two sides differ: of the shares of either that differ from the draft, or of those that have
bases inserted, chi square is `MIN_CHI_SQUARE` or more. Where sides are alike, many votes are better than few
(``docs/algorithms/correction.md``, section 5).
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.consensus.haplotype_filter import MIN_LAYERS, SAME
from overlapper.kernels.consensus.shares import UNIT, differ
from overlapper.kernels.consensus.votes import vote_on
from overlapper.runtime.compile.cache import njit

MIN_KNOWN = 6
"""Least layers of the target's side that cover a column for them to decide it."""
MIN_CHI_SQUARE = 8 * UNIT


@njit(nogil=True, cache=True)
def let_known_decide(draft, layers, starts, votes, sides):
    """Take the vote from layers that may be of either haplotype, where haplotypes differ.

    Parameters
    ----------
    draft : ndarray of uint8
    layers : Layers
    starts : ndarray of int32
    votes : Votes
        Of these layers. Their weights change; `depth`, `differing` and `gaining` stay those of all.
    sides : ndarray of int8, shape (layers,)
        As `kernels.consensus.haplotype_filter.leave_out` returns them.
    """
    covering = np.zeros(len(draft) + 1, np.int32)
    for m in range(len(sides)):
        if sides[m] == SAME:
            covering[layers.start[m]] += 1
            covering[layers.end[m]] -= 1
    covered, counts = np.int64(0), np.empty((2, 3), np.int64)
    for c in range(len(draft)):
        covered += covering[c]
        if covered >= MIN_KNOWN and max(votes.differing[c], votes.gaining[c]) >= MIN_LAYERS:
            _count_sides(draft, layers, starts, sides, c, counts)
            same, other = counts[0], counts[1]
            differing = differ(same[0], same[1], other[0], other[1], MIN_CHI_SQUARE)
            if differing or differ(same[0], same[2], other[0], other[2], MIN_CHI_SQUARE):
                _vote_again(draft, layers, starts, votes, sides, c)


@inner
def _count_sides(draft, layers, starts, sides, c, counts):
    """Count the layers of either side on a column, those unlike the draft, and those with bases behind it."""
    counts[:] = 0
    for m in range(len(sides)):
        if sides[m] and layers.start[m] <= c < layers.end[m]:
            side, row = sides[m] - SAME, layers.at[m] + c
            here, behind = starts[row], starts[row + 1]
            counts[side, 0] += 1
            counts[side, 1] += behind == here or layers.bases[layers.first[m] + here] != draft[c]
            counts[side, 2] += behind > here + 1


@inner
def _vote_again(draft, layers, starts, votes, sides, c):
    """Replace the votes on a column, and behind it, by those of the target and of layers of its side."""
    differing, gaining = votes.differing[c], votes.gaining[c]
    votes.column[c], votes.passing[c] = 0, 0
    if votes.behind[c]:
        votes.inserted[votes.behind[c]] = 0
    for m in range(len(sides)):
        votes_here = sides[m] == SAME or (m == len(sides) - 1 and layers.used[m])
        if votes_here and layers.start[m] <= c < layers.end[m]:
            at, end = np.int64(layers.at[m]), np.int64(layers.end[m])
            bases = layers.bases[layers.first[m] : layers.last[m]]
            weights = layers.weights[layers.first[m] : layers.last[m]]
            vote_on(draft, starts, at, c, end, bases, weights, votes, 0)
    votes.differing[c], votes.gaining[c] = differing, gaining
