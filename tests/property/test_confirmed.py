import dataclasses

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper import graph
from overlapper.extend.classify import classify
from overlapper.graph.confirmed import confirmed_reads, containments_that_count, edges_that_count
from overlapper.graph.pairs import pairs_of
from overlapper.kernels.graph import graph_edges
from overlapper.tables import Intervals, OverlapClass
from tests.graph_cases import random_genome, read_set
from tests.oracle import confirmed as oracle
from tests.tries import tries

GENOME = random_genome(120, 3)
PLACEMENTS = st.tuples(st.integers(0, 100), st.integers(8, 60), st.booleans()).map(
    lambda p: (p[0], min(p[0] + p[1], len(GENOME)), p[2])
)
PARAMS = graph.GraphParams(min_overlap=6, min_depth=0, max_hang=0, fuzz=0, min_end_overlap=3, min_ratio=0)


@st.composite
def sets_of_overlaps(draw):
    """Draw reads of a genome, and some of their overlaps: errors hide the others."""
    reads, overlaps = read_set(GENOME, draw(st.lists(PLACEMENTS, min_size=2, max_size=9)))
    hidden = draw(st.lists(st.integers(0, max(0, len(overlaps) - 1)), max_size=12))
    return reads, overlaps.take(np.setdiff1d(np.arange(len(overlaps)), hidden))


def rows_of(table):
    columns = [field.name for field in dataclasses.fields(Intervals)]
    return list(zip(*(getattr(table, name).tolist() for name in columns), strict=True))


@settings(max_examples=tries(300), deadline=None)
@given(sets_of_overlaps(), st.integers(0, 3), st.lists(st.integers(2, 8), min_size=9, max_size=9))
def test_what_counts_equals_the_oracle(drawn, depth, drawn_least):
    reads, overlaps = drawn
    params = dataclasses.replace(PARAMS, confirm_depth=depth)
    lengths = reads.lengths.astype(np.int64)
    pairs = pairs_of(overlaps, np.arange(len(reads)))
    rows = rows_of(pairs)

    confirmed = confirmed_reads(pairs, lengths, params, 1)
    assert confirmed.tolist() == oracle.confirmed(rows, lengths.tolist(), depth, 3)

    kinds = classify(pairs, lengths, params.max_hang, params.min_ratio)
    extents = graph_edges.extents(*pairs.intervals, lengths)
    least = np.array(drawn_least[: len(reads)])
    counting = containments_that_count(pairs, kinds, extents, confirmed, least)
    assert counting.tolist() == oracle.containments_that_count(rows, lengths.tolist(), confirmed, drawn_least)


@settings(max_examples=tries(300), deadline=None)
@given(sets_of_overlaps(), st.lists(st.booleans(), min_size=9, max_size=9))
def test_dovetails_that_count_equal_the_oracle(drawn, confirmed):
    reads, overlaps = drawn
    lengths = reads.lengths.astype(np.int64)
    kinds = classify(overlaps, lengths, 0, 0)
    dovetails = overlaps.take(kinds == OverlapClass.DOVETAIL)
    built, _ = graph.build_graph(reads, dovetails, dataclasses.replace(PARAMS, min_overlap=1))
    read = built.reads.read
    of_graph = np.array(confirmed)[read]
    counting = edges_that_count(built.edges, of_graph, built.lengths, PARAMS.min_overlap)
    assert (counting == counting[built.mirror]).all()
    rows = [rows_of(dovetails)[row] for row in built.edges.row]
    assert counting.tolist() == oracle.dovetails_that_count(rows, lengths.tolist(), confirmed, 6)


def test_the_end_of_a_molecule_stays_where_a_read_with_an_error_contains_its_reads():
    """Its last read has an error near its other end, and so no overlap with the reads that go on there."""
    genome = random_genome(260, 4)
    last, onward = (0, 130, False), [(30, 125, False), (35, 200, True), (60, 220, False), (100, 260, False)]
    placed = [last, (0, 118, False), (0, 60, True), (0, 80, False), (0, 100, True), *onward]
    reads, overlaps = read_set(genome, placed)
    of_last, goes_on = ((overlaps.query == 0) | (overlaps.target == 0)), np.arange(len(placed)) >= 5
    seen = overlaps.take(~(of_last & (goes_on[overlaps.query] | goes_on[overlaps.target])))
    params = dataclasses.replace(PARAMS, min_overlap=20, confirm_depth=3)
    unitigs = graph.assemble(reads, seen, params).layout
    assert unitigs.lengths.max() == len(genome)
