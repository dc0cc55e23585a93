"""Short unitigs with a dead end: those with sequence of their own stay, those of errors go."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper import graph
from overlapper.graph.own_sequence import drop_islands, reads_in_tips_of_their_own
from overlapper.tables import Overlaps
from tests.graph_cases import (
    containing,
    graph_of,
    graphs_and_overlaps,
    overlap_spans,
    overlapping,
    overlaps_of,
)
from tests.oracle import cleaning as oracle
from tests.tries import tries


def own_reads(built, overlaps, small, most):
    """Return the reads on paths of short unitigs with sequence of their own; their reads are ``small``."""
    laid_out = graph.layout(built)[0]
    containers = built.contained.container.tolist()
    inner = built.contained.read.tolist()
    unitigs = []
    for unitig in range(len(laid_out)):
        path = (laid_out.nodes(unitig) >> 1).tolist()
        inside = [read for read, outer in zip(inner, containers, strict=True) if outer in path]
        unitigs.append((int(laid_out.lengths[unitig]), path, inside))
    short = [unitig for unitig in unitigs if set(unitig[1]) <= small]
    others = [unitig for unitig in unitigs if unitig not in short]
    bases = [*built.lengths.tolist(), *[15] * len(inner), 0]
    stay = oracle.with_their_own(short, others, bases, overlap_spans(overlaps), most)
    return {read for _, path, _ in stay for read in path}


@settings(max_examples=tries(300), deadline=None)
@given(graphs_and_overlaps(), st.integers(1, 4))
def test_tips_of_their_own_equal_the_oracle(drawn, most):
    built, overlaps = drawn
    chains = oracle.dead_end_chains(overlaps_of(built), built.lengths.tolist(), most)
    expected = own_reads(built, overlaps, {v >> 1 for chain in chains for v in chain}, most)
    assert set(reads_in_tips_of_their_own(built, overlaps, most).tolist()) == expected


@settings(max_examples=tries(300), deadline=None)
@given(graphs_and_overlaps(), st.integers(1, 4), st.sets(st.integers(0, 12)))
def test_an_island_with_a_confirmed_read_stays_where_that_is_asked(drawn, most, chosen):
    built, overlaps = drawn
    confirmed = np.isin(np.arange(len(built.reads)), sorted(chosen))
    built = dataclasses.replace(built, reads=dataclasses.replace(built.reads, confirmed=confirmed))
    small = oracle.islands(overlaps_of(built), built.lengths.tolist(), most)
    doomed = small - own_reads(built, overlaps, small, most)
    laid_out = graph.layout(built)[0]
    for unitig in range(len(laid_out)):
        path = set((laid_out.nodes(unitig) >> 1).tolist())
        doomed -= path if path & chosen else set()
    if len(doomed) == len(built.reads):
        doomed = set()
    left, _ = drop_islands(built, overlaps, most, keep_confirmed=True)
    assert set(range(len(built.reads))) - set(left.reads.read.tolist()) == doomed


@settings(max_examples=tries(300), deadline=None)
@given(graphs_and_overlaps(), st.integers(1, 4))
def test_islands_equal_the_oracle(drawn, most):
    built, overlaps = drawn
    small = oracle.islands(overlaps_of(built), built.lengths.tolist(), most)
    doomed = small - own_reads(built, overlaps, small, most)
    if len(doomed) == len(built.reads):
        doomed = set()
    left, counts = drop_islands(built, overlaps, most)
    left.validate()
    assert set(range(len(built.reads))) - set(left.reads.read.tolist()) == doomed
    assert counts == {"reads in islands": len(doomed)}


@pytest.mark.parametrize(
    ("own", "elsewhere", "stays"),
    [
        (8, 0, True),  # a small molecule: all its reads are its own
        (8, 4, True),  # it has a repeat
        (8, 5, False),  # 4 of 9 fit nowhere else
        (4, 0, True),
        (3, 0, False),  # no more reads than errors have that are alike
    ],
)
def test_a_molecule_stays_whose_reads_fit_nowhere_else(own, elsewhere, stays):
    """Reads 0 to 9 in a row; 10, which nothing joins, contains ``own`` others, some of which overlap 5."""
    joins = {(2 * i, 2 * i + 2): (10, 10, 10) for i in range(9)}
    built = containing(graph_of([20] * 11, joins), [10] * own, 20)
    overlaps = overlapping(*((11 + i, 5) for i in range(elsewhere)))
    left, counts = drop_islands(built, overlaps, 4)
    assert counts == {"reads in islands": 0 if stays else 1}
    assert len(graph.layout(left)[0]) == 1 + stays


@pytest.mark.parametrize(("own", "stays"), [(8, True), (3, False)])
def test_the_end_of_a_genome_in_few_reads_is_no_tip(own, stays):
    """Reads 0 to 9 in a row; 10, which contains ``own`` others, and 11 to 16 both follow read 9."""
    row = {(2 * i, 2 * i + 2): (10, 10, 10) for i in range(9)}
    error = {(18, 22): (4, 4, 16)} | {(2 * i, 2 * i + 2): (10, 10, 10) for i in range(11, 16)}
    built = containing(graph_of([20] * 17, row | error | {(18, 20): (5, 5, 15)}), [10] * own, 20)
    cleaned, _ = graph.clean(built, Overlaps.empty())
    assert (10 in cleaned.reads.read) == stays


@pytest.mark.parametrize(("own", "stays"), [(8, True), (2, False)])
def test_the_end_of_a_haplotype_that_forks_is_no_tip(own, stays):
    """Reads 0 to 9 in a row; 10, with ``own`` others in it, and 11 to 16 follow 9; 17 and 18 follow 10."""
    row = {(2 * i, 2 * i + 2): (10, 10, 10) for i in range(9)}
    other = {(18, 22): (4, 4, 16)} | {(2 * i, 2 * i + 2): (10, 10, 10) for i in range(11, 16)}
    fork = {(18, 20): (5, 5, 15), (20, 34): (8, 8, 12), (20, 36): (9, 9, 11)}
    built = containing(graph_of([20] * 19, row | other | fork), [10] * own, 20)
    cleaned, _ = graph.clean(built, Overlaps.empty())
    assert (10 in cleaned.reads.read) == stays
    assert {17, 18} - set(cleaned.reads.read.tolist()) == ({17} if stays else {17, 18})


def test_of_two_islands_of_one_molecule_that_of_more_reads_stays():
    """Reads 0 and 1 contain six and ten others; each of the first six fits 1 as well, and the ten fit 0."""
    built = containing(graph_of([20, 20], {}), [0] * 6 + [1] * 10, 20)
    overlaps = overlapping((0, 1), *((2 + i, 1) for i in range(6)), *((8 + i, 0) for i in range(10)))
    left, _ = drop_islands(built, overlaps, 4)
    assert left.reads.read.tolist() == [1]


def test_shorter_overlaps_than_half_of_a_read_tell_nothing():
    joins = {(2 * i, 2 * i + 2): (10, 10, 10) for i in range(9)}
    built = containing(graph_of([20] * 11, joins), [10] * 8, 20)
    repeat = overlapping(*((11 + i, 5) for i in range(8)), bases=9)
    assert len(drop_islands(built, repeat, 4)[0].reads) == 11


def test_nothing_goes_where_nothing_else_is():
    built = graph_of([20, 20], {})
    left, counts = drop_islands(built, overlapping((0, 1)), 4)
    assert np.array_equal(left.reads.read, [0, 1])
    assert counts == {"reads in islands": 0}
