"""The haplotype filter: layers of a pileup from another haplotype or copy of a repeat.

**Kinds.** At a column a layer has a base, or a *long gap*: a deletion of `LONG_GAP` successive columns or
more. Shorter deletions are often errors, and are nothing. So are long gaps of reads that err so much that any
share of layers may lack a run of as many bases by error (``docs/algorithms/correction.md``, section 5).

**Candidates.** A column of the draft is a candidate when the first two of its bases and the deletion have at
least `MIN_BOTH` percent of its weight, the second of them at least `MIN_SHARE` percent, and each kind has
`MIN_LAYERS` layers or more, the target included, and is no error of one strand (`kernels.consensus.shares`).
Of successive candidates of long gaps the one counts at which most layers have the gap, of equals the first:
where layers that lack a part of a run differ in its length, some of them have a base beside it.

**Sites.** Chance errors pile up too, above all between homopolymer runs, yet not twice in the same layers.
Two candidates at least `MIN_APART` columns apart are linked when of the layers that have one of the two
kinds at both, at most `MAX_AGAINST` percent break the rule "the same kind here, the same kind there", one way
round or the other, and either kind of either is held by `MIN_LAYERS` of those that keep it. Each candidate
is compared with the next `NEXT_CANDIDATES`; those with a link are sites. So are those that are as well
explained by two haplotypes as by errors: of the n layers that have either kind, each is that of 3/2 + q n or
more, with the q of a base that stands alone.

**Left out.** A layer agrees with the target at a site where the two have the same of its two kinds, and
disagrees where they have different ones of them. A layer that disagrees more often than it agrees is left
out: its vote would average what is different. Of many haplotypes two differ at few of the sites. So where the
target votes, a layer that disagrees at more of ``s`` sites than errors explain is left out, too: more than
``1 + 2 (e s + sqrt(e s))``, rounded down, as layers err in a share ``e`` of their bases, and the target may
be wrong at one.

**Cis.** Of the sites of this filter and of the copy filter (`kernels.consensus.copy_filter`), a layer agrees
at `MIN_CIS` or more, and disagrees at no more than one, and one more for each `CIS_SHARE` at which it agrees,
as by errors.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.consensus.copy_filter import by_error
from overlapper.kernels.consensus.layers import ELSEWHERE, UNLIKE
from overlapper.kernels.consensus.own_bases import BESIDES, MILLION
from overlapper.kernels.consensus.shares import is_of_one_strand
from overlapper.kernels.consensus.votes import DELETION
from overlapper.runtime.compile.cache import njit

MIN_BOTH, MIN_SHARE = 80, 10
MIN_LAYERS = 4
MIN_APART = 30
MAX_AGAINST = 5
NEXT_CANDIDATES = 32
LONG_GAP = 5
MIN_CIS, CIS_SHARE = 4, 64
SAME, OTHER = 1, 2
"""Sides of layers: the target's haplotype, and what is left out."""


@njit(nogil=True, cache=True)
def leave_out(layers, starts, votes, settings, marks, agreeing, differing):
    """Take the vote from layers that disagree with the target more often than they agree.

    Parameters
    ----------
    layers : Layers
    starts : ndarray of int32
    votes : Votes
        Of these layers.
    settings : Settings
    marks : ndarray of uint8, shape (layers,)
        Layers that disagree with the target at a site become `UNLIKE`, those left out `ELSEWHERE`.
    agreeing, differing : ndarray of int32, shape (layers - 1,)
        At how many sites each layer agrees and disagrees; those of this filter are added.

    Returns
    -------
    left : int
        Number of layers left out.
    sides : ndarray of int8, shape (layers,)
        `SAME` for layers that agree with the target more often than they disagree, `OTHER` for those left
        out, 0 for the rest and for the target.
    """
    alike = settings.alike
    columns, kinds = _columns_of_two(votes, alike[LONG_GAP, LONG_GAP] < alike.max())
    sides = np.zeros(len(layers.start), np.int8)
    if len(columns) == 0:
        return 0, sides
    columns, held, lone = _candidates(layers, starts, columns, kinds, alike[1, 1], settings.strands)
    site = _linked(columns, held) | lone
    own = len(layers.start) - 1
    agree, disagree = np.zeros(own, np.int32), np.zeros(own, np.int32)
    for s in range(len(columns)):
        if site[s] and held[s, own] >= 0:
            for m in range(own):
                agree[m] += held[s, m] == held[s, own]
                disagree[m] += held[s, m] == 1 - held[s, own]
    left = 0
    for m in range(own):
        if disagree[m] > 0:
            marks[m] = UNLIKE
        if layers.used[m] and disagree[m] > _explained(agree[m], disagree[m], settings):
            layers.used[m] = False
            marks[m] = ELSEWHERE
            sides[m] = OTHER
            left += 1
        elif layers.used[m] and agree[m] > disagree[m]:
            sides[m] = SAME
    agreeing += agree
    differing += disagree
    return left, sides


@inner
def is_cis(agreeing, differing):
    """Return whether a layer is of the target's copy, by the sites at which it agrees and disagrees."""
    return agreeing >= MIN_CIS and CIS_SHARE * (differing - 1) <= agreeing


@inner
def _explained(agree, disagree, settings):
    """Return the most sites at which a layer of the target's haplotype disagrees."""
    if not settings.target_votes:
        return np.int64(agree)
    by_error_of_layer = by_error(settings.errors, MILLION, np.int64(agree) + disagree)
    return min(np.int64(agree), 1 + by_error_of_layer)


@njit(nogil=True, cache=True)
def _columns_of_two(votes, gaps):
    """Return the columns where two kinds (bases or the deletion) have most of the weight, and these kinds."""
    column, differing = votes.column, votes.differing
    columns, kinds = np.empty(len(column), np.int64), np.empty((len(column), 2), np.int64)
    n = 0
    for c in range(len(column)):
        if differing[c] < MIN_LAYERS:  # no other kind than the draft's base has as many
            continue
        first, second, total = -1, -1, np.int64(0)
        for kind in range(DELETION + 1):
            total += column[c, kind]
            if first < 0 or column[c, kind] > column[c, first]:
                first, second = kind, first
            elif second < 0 or column[c, kind] > column[c, second]:
                second = kind
        if not gaps and max(first, second) == DELETION:
            continue
        less, more = np.int64(column[c, second]), np.int64(column[c, first])
        if total and 100 * less >= MIN_SHARE * total and 100 * (less + more) >= MIN_BOTH * total:
            columns[n], kinds[n, 0], kinds[n, 1] = c, first, second
            n += 1
    return columns[:n], kinds[:n]


@njit(nogil=True, cache=True)
def _candidates(layers, starts, columns, kinds, alike, strands):
    """Return candidates, the kind of each layer there (0, 1, or -1 for neither), and which need no link."""
    held, lone = np.empty((len(columns), len(layers.start)), np.int8), np.empty(len(columns), np.bool_)
    counts = np.empty((2, 2), np.int64)
    n, behind_gap, most = 0, np.int64(-1), np.int64(0)
    for s in range(len(columns)):
        counts[:] = 0
        for m in range(len(layers.start)):
            kind = _kind_at(layers, starts, m, columns[s])
            held[n, m] = 0 if kind == kinds[s, 0] else 1 if kind == kinds[s, 1] else -1
            if held[n, m] >= 0:
                counts[held[n, m], np.int64(layers.reverse[m])] += 1
        fewest = min(counts[0].sum(), counts[1].sum())
        forward, reverse = counts[:, 0].sum(), counts[:, 1].sum()
        if fewest >= MIN_LAYERS and not is_of_one_strand(
            counts[0, 0], counts[0, 1], forward, reverse, strands
        ):
            c, in_gap = columns[s], max(kinds[s, 0], kinds[s, 1]) == DELETION
            gaps = counts[0 if kinds[s, 0] == DELETION else 1].sum()
            follows = in_gap and c == behind_gap
            if not follows or gaps > most:
                place = n - 1 if follows else n
                columns[place], held[place], most = c, held[n], gaps
                lone[place] = MILLION * fewest >= BESIDES + alike * counts.sum()
                n = place + 1
            if in_gap:
                behind_gap = c + 1
    return columns[:n], held[:n], lone[:n]


@inner
def _kind_at(layers, starts, m, column):
    """Return the kind of a layer at a column; -1 for no vote, an unknown base or a short gap."""
    if not layers.used[m] or column < layers.start[m] or column >= layers.end[m]:
        return np.int64(-1)
    row = layers.at[m] + column
    if starts[row + 1] > starts[row]:
        base = np.int64(layers.bases[layers.first[m] + starts[row]])
        return base if base < DELETION else np.int64(-1)
    return np.int64(DELETION) if _is_in_gap(layers, starts, m, column) else np.int64(-1)


@inner
def _is_in_gap(layers, starts, m, column):
    """Return whether a column that a layer lacks is one of `LONG_GAP` in a row, or more."""
    at, first, end = layers.at[m], np.int64(column), np.int64(column) + 1
    here = starts[at + column]
    while end - first < LONG_GAP and first > layers.start[m] and starts[at + first - 1] == here:
        first -= 1
    while end - first < LONG_GAP and end < layers.end[m] and starts[at + end + 1] == here:
        end += 1
    return end - first >= LONG_GAP


@njit(nogil=True, cache=True)
def _linked(columns, held):
    """Return a mask of the candidates that are linked to another one."""
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
