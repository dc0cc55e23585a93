"""Links of sites: two sites that separate the same rows (``docs/algorithms/correction.md``, section 1).

Reads of another copy have all its differences, while errors hit each site independently. Recurrent errors are
often those of one strand, at many sites, so that rows are compared within their strand.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.packed import popcount
from overlapper.runtime.compile.cache import njit

MIN_APART = 100
"""Least columns between linked sites: motifs, and bases that can be aligned in several ways, are shorter."""
MIN_EXCESS = 3
"""Least rows that differ at both sites, beyond those expected by chance."""
MIN_CHI_SQUARE = 20
"""Least square of that excess, relative to its variance: where many rows differ at both sites, one pair of
sites in 130,000 has as much by chance."""
RARE = 100
"""Links by chance are expected to be fewer than one for so many sites that are linked."""
UNIT = 64
"""Unit of excess and variance: one over this number of a row."""


@njit(nogil=True, cache=True)
def linked_sites(columns, compared, differing, reverse, alone):
    """Return a mask of the sites that are linked to another one, or need no link.

    Parameters
    ----------
    columns : ndarray of int64, shape (sites,)
        Ascending.
    compared, differing : ndarray of bool, shape (sites, rows)
        Whether a row is compared at a site, and whether it differs there from the target.
    reverse : ndarray of bool, shape (rows,)
        Strand of each row.
    alone : ndarray of bool, shape (sites,)
        Whether a site needs no link.

    Returns
    -------
    ndarray of bool, shape (sites,)
    """
    compared, differing = _bits_by_strand(compared, reverse), _bits_by_strand(differing, reverse)
    linked = alone.copy()
    before = np.int64(-1)
    while before < linked.sum():
        before = linked.sum()
        _link(columns, compared, differing, max(1, before), linked)
    return linked


@njit(nogil=True, cache=True)
def _link(columns, compared, differing, before, linked):
    """Link sites, by chance so few that they hardly count beside those that were linked before."""
    pairs, counts = len(columns) * (len(columns) - 1) // 2, np.empty((2, 4), np.int64)
    for a in range(len(columns)):
        for b in range(a + 1, len(columns)):
            if columns[b] - columns[a] >= MIN_APART and not (linked[a] and linked[b]):
                _count(compared[a], differing[a], compared[b], differing[b], counts)
                if _are_linked(counts, pairs, before):
                    linked[a] = True
                    linked[b] = True


@njit(nogil=True, cache=True)
def _bits_by_strand(marks, reverse):
    """Pack the marks of rows to bits, by strand; shape (sites, strands, words)."""
    bits = np.zeros((len(marks), 2, (len(reverse) + 63) // 64), np.uint64)
    rank = np.zeros(2, np.int64)
    for m in range(len(reverse)):
        strand = np.int64(reverse[m])
        word, bit = rank[strand] >> 6, np.uint64(1) << np.uint64(rank[strand] & 63)
        rank[strand] += 1
        for s in range(len(marks)):
            if marks[s, m]:
                bits[s, strand, word] |= bit
    return bits


@inner
def _count(compared_a, differing_a, compared_b, differing_b, counts):
    """Count, by strand, the rows compared at both sites, and those that differ at one, the other, both."""
    for strand in range(2):
        n = a = b = both = np.int64(0)
        for w in range(compared_a.shape[1]):
            here = compared_a[strand, w] & compared_b[strand, w]
            n += popcount(here)
            a += popcount(here & differing_a[strand, w])
            b += popcount(here & differing_b[strand, w])
            both += popcount(here & differing_a[strand, w] & differing_b[strand, w])
        counts[strand, 0], counts[strand, 1], counts[strand, 2], counts[strand, 3] = n, a, b, both


@inner
def _are_linked(counts, pairs, before):
    """Return whether two sites separate the same rows, or opposite ones, more often than by chance."""
    excess, variance = _excess(counts)
    if abs(excess) < UNIT * MIN_EXCESS or excess * excess < UNIT * MIN_CHI_SQUARE * variance:
        return False
    return RARE * pairs * _chance(counts, excess > 0) < before


@inner
def _excess(counts):
    """Return how many more rows differ at both sites than by chance, and the variance.

    Of ``n`` rows, ``a`` differ at one, ``b`` at the other and ``both`` at both; the excess is ``both - a b /
    n``, of variance ``a (n - a) b (n - b) / (n^2 (n - 1))`` (Mantel and Haenszel 1959), in `UNIT` parts of a
    row, rounded down for each strand.
    """
    excess = variance = np.int64(0)
    for strand in range(2):
        n, a, b, both = counts[strand, 0], counts[strand, 1], counts[strand, 2], counts[strand, 3]
        if n > 1:
            excess += UNIT * (both * n - a * b) // n
            variance += UNIT * a * (n - a) * b * (n - b) // (n * n * (n - 1))
    return excess, variance


@inner
def _chance(counts, together):
    """Return at most how likely so many of the rows that differ at one site go together at the other one.

    Of ``n`` rows, ``b`` differ at the other site, or, if rows do not differ at both ``together``, do not.
    That ``x`` or more of ``a`` rows are among these ``b`` has a chance of ``C(a, x)`` at most, times that of
    ``x`` rows to be. The chances of the two strands are multiplied. Rounding may decide a tie: the factors
    are those of the definition, in its order.
    """
    chance = 1.0
    for strand in range(2):
        n, a, b, both = counts[strand, 0], counts[strand, 1], counts[strand, 2], counts[strand, 3]
        if not together:
            b, both = n - b, a - both
        here = 1.0
        for i in range(both):
            here *= (a - i) * (b - i) / ((i + 1) * (n - i))
        chance *= min(here, 1.0)
    return chance
