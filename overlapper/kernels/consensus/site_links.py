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
_AT_ONCE = 64
"""Sites that are compared with another one at a time."""
_ROUNDED = 2.1
"""More than rounding changes excess and variance, on both strands."""


@njit(nogil=True, cache=True)
def linked_sites(columns, compared, differing, reverse, alone):
    """Return a mask of the sites that are linked to another one, or need no link.

    Parameters
    ----------
    columns : ndarray of int64, shape (sites,)
        Ascending.
    compared, differing : ndarray of bool, shape (sites, rows)
        Whether a row is compared at a site, and whether it differs there from the target; none differs where
        it is not compared.
    reverse : ndarray of bool, shape (rows,)
        Strand of each row.
    alone : ndarray of bool, shape (sites,)
        Whether a site needs no link.

    Returns
    -------
    ndarray of bool, shape (sites,)
    """
    compared, differing = _bits_by_strand(compared, reverse), _bits_by_strand(differing, reverse)
    sites, behind = len(columns), np.int64(0)
    expected = np.empty(sites)
    for site in range(sites):
        expected[site] = 0.0 if alone[site] else np.inf
    before = _number_linked(expected, 1)
    # Most sites of a copy are linked to one that is not far behind.
    for a in range(sites):
        while behind < sites and columns[behind] < columns[a] + MIN_APART:
            behind += 1
        if expected[a] >= before:
            _expect_links(columns, compared, differing, a, behind, min(behind + _AT_ONCE, sites), expected)
    before = _number_linked(expected, before)
    for a in range(sites):
        if expected[a] >= before:
            for low in range(0, sites, _AT_ONCE):
                _expect_links(columns, compared, differing, a, low, min(low + _AT_ONCE, sites), expected)
                if expected[a] < before:
                    break
            before = _number_linked(expected, before)
    return _are_linked(expected, before)


@njit(nogil=True, cache=True)
def _are_linked(expected, before):
    """Return a mask of the sites whose link is expected less than ``before`` times by chance."""
    linked = np.empty(len(expected), np.bool_)  # numba takes longer to compile a comparison of arrays
    for site in range(len(expected)):
        linked[site] = expected[site] < before
    return linked


@njit(nogil=True, cache=True)
def _number_linked(expected, before):
    """Return how many sites are linked at least, 1 or more, if there are ``before`` of them at least.

    The more sites are linked, the more often a link may be expected by chance. That of a site which is linked
    even so need not be found: it would change the number no more.
    """
    linked = max(before, _are_linked(expected, before).sum())
    while before < linked:
        before, linked = linked, _are_linked(expected, linked).sum()
    return before


@njit(nogil=True, cache=True)
def _expect_links(columns, compared, differing, a, low, high, expected):
    """Find the links of a site and those of ``[low, high)`` that are least expected by chance.

    Parameters
    ----------
    columns, compared, differing
        As for `linked_sites`, the marks of rows as `_bits_by_strand` packs them.
    a, low, high : int
        `_AT_ONCE` sites at most.
    expected : ndarray of float64, shape (sites,)
        The least `_links_by_chance` so far of each site and another one.
    """
    sites = len(columns)
    common, about = np.empty((2, 4, _AT_ONCE), np.int64), np.empty((2, _AT_ONCE), np.float64)
    counts = np.empty((2, 4), np.int64)
    _compare_with(compared, differing, a, low, high, common, about)
    for b in range(low, high):
        if abs(columns[b] - columns[a]) >= MIN_APART and _may_separate(about, b - low):
            _copy_counts(common, b - low, b < a, counts)
            by_chance = _links_by_chance(counts, sites * (sites - 1) // 2)
            expected[a], expected[b] = min(expected[a], by_chance), min(expected[b], by_chance)


@njit(nogil=True, cache=True)
def _bits_by_strand(marks, reverse):
    """Pack the marks of rows to bits, by strand; shape (strands, words, sites)."""
    bits = np.zeros((2, (len(reverse) + 63) // 64, len(marks)), np.uint64)
    rank = np.zeros(2, np.int64)
    for m in range(len(reverse)):
        strand = np.int64(reverse[m])
        word, bit = rank[strand] >> 6, np.uint64(rank[strand] & 63)
        rank[strand] += 1
        for s in range(len(marks)):
            bits[strand, word, s] |= np.uint64(marks[s, m]) << bit
    return bits


@inner
def _compare_with(compared, differing, a, low, high, common, about):
    """Compare a site with those of ``[low, high)``.

    Parameters
    ----------
    compared, differing : ndarray of uint64, shape (strands, words, sites)
    a, low, high : int
    common : ndarray of int64, shape (strands, 4, _AT_ONCE)
        Out: the rows compared at both sites, and those of them that differ at this one, the other, both.
    about : ndarray of float64, shape (2, _AT_ONCE)
        Out: as `_excess`, in rows, and not rounded.
    """
    size = high - low
    common[:, :, :size] = 0
    about[:, :size] = 0.0
    for strand in range(2):
        for w in range(compared.shape[1]):
            compared_a, differing_a = compared[strand, w, a], differing[strand, w, a]
            if compared_a == 0:
                continue
            for b in range(size):
                compared_b, differing_b = compared[strand, w, low + b], differing[strand, w, low + b]
                common[strand, 0, b] += popcount(compared_a & compared_b)
                common[strand, 1, b] += popcount(differing_a & compared_b)
                common[strand, 2, b] += popcount(compared_a & differing_b)
                common[strand, 3, b] += popcount(differing_a & differing_b)
        for b in range(size):
            n = max(common[strand, 0, b], 2)
            counts = 1.0 if common[strand, 0, b] > 1 else 0.0
            at_a, at_b = float(common[strand, 1, b]), float(common[strand, 2, b])
            about[0, b] += counts * (common[strand, 3, b] - at_a * at_b / n)
            about[1, b] += counts * (at_a * (n - at_a) * at_b * (n - at_b) / (n * n * (n - 1.0)))


@inner
def _may_separate(about, b):
    """Return False only if the excess is too small, however it and the variance are rounded."""
    excess, variance = UNIT * abs(about[0, b]) + _ROUNDED, UNIT * about[1, b] - _ROUNDED
    return excess >= UNIT * MIN_EXCESS and excess * excess >= UNIT * MIN_CHI_SQUARE * variance


@inner
def _copy_counts(common, b, before, counts):
    """Copy the counts of two sites; those of the other one come first if it is ``before`` this one."""
    for strand in range(2):
        counts[strand, 0], counts[strand, 3] = common[strand, 0, b], common[strand, 3, b]
        counts[strand, 1], counts[strand, 2] = common[strand, 1, b], common[strand, 2, b]
        if before:
            counts[strand, 1], counts[strand, 2] = counts[strand, 2], counts[strand, 1]


@inner
def _links_by_chance(counts, pairs):
    """Return how many of all pairs may be like two sites by chance, times `RARE`.

    It is infinite if the sites do not separate the same rows, or opposite ones.
    """
    excess, variance = _excess(counts)
    if abs(excess) < UNIT * MIN_EXCESS or excess * excess < UNIT * MIN_CHI_SQUARE * variance:
        return np.inf
    return RARE * pairs * _chance(counts, excess > 0)


@inner
def _excess(counts):
    """Return how many more rows differ at both sites than by chance, and the variance.

    Of ``n`` rows, ``a`` differ at the first, ``b`` at the other, ``both`` at both; the excess is
    ``both - a b / n``, of variance ``a (n - a) b (n - b) / (n^2 (n - 1))`` (Mantel and Haenszel 1959), in
    `UNIT` parts of a row, rounded down for each strand.
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
    """Return at most how likely so many of the rows that differ at the first site go together at the other.

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
