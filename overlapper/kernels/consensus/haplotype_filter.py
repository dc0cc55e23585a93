"""The haplotype filter: layers of a pileup from another haplotype or copy of a repeat.

**Candidates.** A column of the draft is a candidate when its first two bases have at least `MIN_BOTH` percent
of its weight, deletions included, the second of them at least `MIN_SHARE` percent, and each has `MIN_LAYERS`
layers or more, the target included, on both strands: systematic errors are those of one strand.

**Sites.** Chance errors pile up too, above all between homopolymer runs, yet not twice in the same layers.
Two candidates at least `MIN_APART` columns apart are linked when of the layers that have one of the two
bases at both, at most `MAX_AGAINST` percent break the rule "the same base here, the same base there", one way
round or the other, and either base of either is held by `MIN_LAYERS` of those that keep it. Each candidate
is compared with the next `NEXT_CANDIDATES`; those with a link are sites.

**Left out.** A layer agrees with the target at a site where the two have the same of its two bases, and
disagrees where they have different ones of them. A layer that disagrees more often than it agrees is left
out: its vote would average what is different.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.consensus.votes import DELETION
from overlapper.runtime.compile.cache import njit

MIN_BOTH, MIN_SHARE = 80, 20
MIN_LAYERS = 4
MIN_APART = 30
MAX_AGAINST = 5
NEXT_CANDIDATES = 32


@njit(nogil=True, cache=True)
def leave_out(layers, starts, votes):
    """Mark the layers that disagree with the target as not used.

    Parameters
    ----------
    layers : Layers
    starts : ndarray of int32
    votes : Votes
        Of these layers.

    Returns
    -------
    int
        Layers left out.
    """
    columns, bases = _two_base_columns(votes)
    if len(columns) < 2:
        return 0
    columns, held = _candidates(layers, starts, columns, bases)
    site = _linked(columns, held)
    own = len(layers.start) - 1
    agree, disagree = np.zeros(own, np.int32), np.zeros(own, np.int32)
    for s in range(len(columns)):
        if site[s] and held[s, own] >= 0:
            for m in range(own):
                agree[m] += held[s, m] == held[s, own]
                disagree[m] += held[s, m] == 1 - held[s, own]
    left = 0
    for m in range(own):
        if layers.used[m] and disagree[m] > agree[m]:
            layers.used[m] = False
            left += 1
    return left


@njit(nogil=True, cache=True)
def _two_base_columns(votes):
    """Return the columns in which two bases have most of the weight, and those two bases."""
    column, differing = votes.column, votes.differing
    columns, bases = np.empty(len(column), np.int64), np.empty((len(column), 2), np.int64)
    n = 0
    for c in range(len(column)):
        if differing[c] < MIN_LAYERS:  # neither base but the draft's has as many
            continue
        first, second, total = -1, -1, np.int64(column[c, DELETION])
        for base in range(DELETION):
            total += column[c, base]
            if first < 0 or column[c, base] > column[c, first]:
                first, second = base, first
            elif second < 0 or column[c, base] > column[c, second]:
                second = base
        less, more = np.int64(column[c, second]), np.int64(column[c, first])
        if total and 100 * less >= MIN_SHARE * total and 100 * (less + more) >= MIN_BOTH * total:
            columns[n], bases[n, 0], bases[n, 1] = c, first, second
            n += 1
    return columns[:n], bases[:n]


@njit(nogil=True, cache=True)
def _candidates(layers, starts, columns, bases):
    """Return the candidates, and which of its two bases each layer has there: 0, 1, or -1 for neither."""
    held = np.empty((len(columns), len(layers.start)), np.int8)
    counts = np.empty((2, 2), np.int64)
    n = 0
    for s in range(len(columns)):
        counts[:] = 0
        for m in range(len(layers.start)):
            base = _base_at(layers, starts, m, columns[s])
            held[n, m] = 0 if base == bases[s, 0] else 1 if base == bases[s, 1] else -1
            if held[n, m] >= 0:
                counts[held[n, m], np.int64(layers.reverse[m])] += 1
        if min(counts[0].sum(), counts[1].sum()) >= MIN_LAYERS and counts.min() > 0:
            columns[n] = columns[s]
            n += 1
    return columns[:n], held[:n]


@njit(nogil=True, cache=True)
def _base_at(layers, starts, m, column):
    """Return the base that a layer has at a column, -1 where it does not vote or has none."""
    if not layers.used[m] or column < layers.start[m] or column >= layers.end[m]:
        return -1
    row = layers.at[m] + column
    if starts[row] == starts[row + 1]:
        return -1
    return np.int64(layers.bases[layers.first[m] + starts[row]])


@njit(nogil=True, cache=True)
def _linked(columns, held):
    """Tell which candidates are linked to another one."""
    linked = np.zeros(len(columns), np.bool_)
    counts = np.empty((2, 2), np.int64)
    for a in range(len(columns)):
        for b in range(a + 1, min(len(columns), a + 1 + NEXT_CANDIDATES)):
            if columns[b] - columns[a] < MIN_APART:
                continue
            counts[:] = 0
            for m in range(held.shape[1]):
                if held[a, m] >= 0 and held[b, m] >= 0:
                    counts[held[a, m], held[b, m]] += 1
            straight, crossed = counts[0, 0] + counts[1, 1], counts[0, 1] + counts[1, 0]
            if straight >= crossed:
                least, against = min(counts[0, 0], counts[1, 1]), crossed
            else:
                least, against = min(counts[0, 1], counts[1, 0]), straight
            if least >= MIN_LAYERS and 100 * against <= MAX_AGAINST * (straight + crossed):
                linked[a] = True
                linked[b] = True
    return linked
