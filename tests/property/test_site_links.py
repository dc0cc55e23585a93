"""Links of sites: equal to the oracle; copies are told apart, errors that recur are not."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.kernels.consensus.site_links import linked_sites
from tests.oracle import same_place as oracle
from tests.tries import tries


def linked(columns, differing, compared, reverse, alone=None):
    """Which sites are linked, by the kernel and by the oracle."""
    alone = np.zeros(len(columns), bool) if alone is None else alone
    found = linked_sites(columns, compared, differing & compared, reverse, alone).tolist()
    layers = [{"reverse": strand} for strand in reverse.tolist()]
    sites = [
        (0, [int(d) if c else None for d, c in zip(*rows, strict=True)])
        for rows in zip(differing.tolist(), compared.tolist(), strict=True)
    ]
    assert found == oracle.linked_sites(sites, columns.tolist(), alone.tolist(), layers)
    return found


@st.composite
def pileups(draw):
    """Rows of some copies that differ at some sites, with errors, on either strand, of which some end."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sites, rows, copies = draw(st.integers(1, 12)), draw(st.integers(1, 150)), draw(st.integers(1, 5))
    of_copy = rng.random((sites, copies)) < draw(st.sampled_from([0.2, 0.5]))
    differing = of_copy[:, rng.integers(0, copies, rows)]
    differing ^= rng.random((sites, rows)) < draw(st.sampled_from([0.0, 0.05, 0.2]))
    compared = rng.random((sites, rows)) < draw(st.sampled_from([0.6, 1.0]))
    columns = np.cumsum(rng.integers(20, 200, sites))
    return columns, differing, compared, rng.random(rows) < 0.5, rng.random(sites) < 0.1


@settings(max_examples=tries(300), deadline=None)
@given(pileups())
def test_links_equal_the_oracle(pileup):
    linked(*pileup)


@settings(max_examples=tries(100), deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=300), st.booleans())
def test_the_chance_is_that_of_drawing_without_replacement_times_the_choices(differ, together):
    n, a = len(differ), sum(x for x, _ in differ)
    b, x = sum(y == together for _, y in differ), differ.count((True, together))
    exact = Fraction(math.comb(a, x) * math.perm(b, x), math.perm(n, x))
    assert oracle.chance([differ], together) == pytest.approx(float(min(Fraction(1), exact)), rel=1e-12)


def test_a_tie_is_decided_alike():
    """Of 50 rows on a strand 7 and 9 differ at two sites, 6 at both; four of 45 other sites need no link."""
    differing = np.zeros((47, 50), bool)
    differing[0, :7] = differing[1, 1:10] = True
    compared = np.arange(47).reshape(-1, 1) < np.array([2] * 50)
    assert 100 * math.comb(47, 2) * Fraction(math.comb(7, 6) * math.perm(9, 6), math.perm(50, 6)) == 4
    alone = np.arange(47) >= 43
    found = linked(150 * np.arange(47), differing, compared, np.zeros(50, bool), alone)
    assert found == [True, True, *[False] * 41, *[True] * 4]


@pytest.mark.parametrize("first", [20, 98])
def test_the_first_site_decides_by_how_many_rows_differ_there(first):
    """Of 160 rows 20 and 98 differ at two sites, 3 at both: 20 are so many with .14 links by chance, 98 with
    1.6. The first site needs no link.
    """
    differing = np.zeros((11, 160), bool)
    differing[0 if first == 20 else 1, :20] = differing[0 if first == 98 else 1, 17 : 17 + 98] = True
    compared = np.arange(11).reshape(-1, 1) < np.array([2] * 160)
    found = linked(150 * np.arange(11), differing, compared, np.zeros(160, bool), np.arange(11) == 0)
    assert found == [True, first == 20, *[False] * 9]


def test_sites_are_linked_to_each_other_once_enough_others_are():
    """Two sites, at which the same 4 of 24 rows differ, have 1.1 links by chance; 14 behind are linked."""
    differing = np.zeros((16, 24), bool)
    differing[:2, 10:14] = differing[2:, :12] = True
    reverse, compared = np.zeros(24, bool), np.ones((16, 24), bool)
    assert all(linked(150 * np.arange(16), differing, compared, reverse))
    differing[2:] = False
    assert not any(linked(150 * np.arange(16), differing, compared, reverse))


def test_excess_is_rounded_down_on_each_strand():
    """Of 34 and 17 rows 3 and 2 differ at one site, 31 and 2 others at another one: 2.97 rows too few at
    both, which are 3 when those of either strand are rounded."""
    reverse, row = np.arange(51) >= 34, np.arange(51)
    differing = np.array([(row < 3) | (row // 2 == 17), (row >= 3) & (row < 34) | (row // 2 == 18)])
    assert all(linked(np.array([0, 400]), differing, np.ones((2, 51), bool), reverse))


@settings(max_examples=tries(20), deadline=None)
@given(st.integers(0, 2**32 - 1), st.sets(st.integers(0, 149), max_size=12))
def test_sites_of_a_copy_are_linked_however_many_others_lie_between(seed, of_copy):
    """More sites than are compared at a time, of which some are those of a copy, before and behind others."""
    rng = np.random.default_rng(seed)
    differing = rng.random((150, 40)) < 0.1
    differing[sorted(of_copy)] = rng.random(40) < 0.5
    differing[rng.random((150, 40)) < 0.02] ^= True
    linked(
        150 * np.arange(150),
        differing,
        rng.random((150, 40)) < 0.9,
        rng.random(40) < 0.5,
        np.arange(150) == 75,
    )


@pytest.mark.parametrize("turned", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize(("rows", "of_copy"), [(30, 6), (50, 25), (160, 34), (400, 20)])
def test_sites_of_a_copy_are_linked(rows, of_copy, turned):
    """The target is of that copy at one of two sites, at both or at none."""
    rng = np.random.default_rng(rows)
    differing = np.tile(rng.permutation(rows) < of_copy, (2, 1)) ^ np.array(turned).reshape(2, 1)
    differing[rng.random((2, rows)) < 0.005] ^= True
    assert all(linked(np.array([0, 400]), differing, np.ones((2, rows), bool), np.arange(rows) % 2 > 0))


@pytest.mark.parametrize("rows", [40, 160, 400])
def test_errors_that_recur_are_not_linked_however_many_rows_and_sites_there_are(rows):
    """A hundred sites at which a twentieth to a fifth of the rows err, accurate reads less than others."""
    rng = np.random.default_rng(rows)
    rate = rng.uniform(0.05, 0.2, (100, 1)) * rng.uniform(0.3, 1.7, rows)
    differing = rng.random((100, rows)) < rate
    columns = 150 * np.arange(100)
    assert not any(linked(columns, differing, np.ones((100, rows), bool), rng.random(rows) < 0.5))
