import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper import graph
from tests.graph_cases import edge_set, graph_of, graphs, overlap_table, random_genome, read_set, tiled
from tests.oracle import transitive as oracle
from tests.tries import tries


def lengths(found):
    return {edge: length for edge, (length, _) in edge_set(found).items()}


@settings(max_examples=tries(200), deadline=None)
@given(graphs(max_reads=6, max_joins=20), st.integers(0, 8))
def test_equals_brute_force(built, fuzz):
    reduced, counts = graph.reduce(built, fuzz)
    assert lengths(reduced.validate()) == oracle.reduce(lengths(built), fuzz)
    assert sum(counts.values()) == len(built.edges) - len(reduced.edges)


@settings(max_examples=tries(100), deadline=None)
@given(graphs(), st.integers(0, 8))
def test_is_a_fixed_point(built, fuzz):
    once, _ = graph.reduce(built, fuzz)
    assert edge_set(graph.reduce(once, fuzz)[0]) == edge_set(once)


@settings(max_examples=tries(100), deadline=None)
@given(graphs(max_reads=8, max_joins=40, even=True))
def test_without_fuzz_every_node_reaches_what_it_reached(built):
    reduced, _ = graph.reduce(built, 0)
    before, after = (nx.DiGraph(list(lengths(g))) for g in (built, reduced))
    after.add_nodes_from(before)
    for node in before:
        assert nx.descendants(before, node) == nx.descendants(after, node)


def test_a_linear_genome_becomes_a_chain():
    size = 3000
    reads, overlaps = read_set(random_genome(size, 1), tiled(size, 500, 60, 2))
    built, _ = graph.build_graph(reads, overlaps, graph.GraphParams(min_overlap=50, min_depth=1, max_hang=10))
    reduced, counts = graph.reduce(built, 0)
    out_degree = np.bincount(reduced.edges.source, minlength=reduced.nodes)
    assert out_degree.max() == 1
    assert len(reduced.edges) == reduced.nodes - 2
    assert counts["transitive edges"] == len(built.edges) - len(reduced.edges)


@pytest.mark.parametrize(("fuzz", "kept"), [(4, True), (5, False)])
def test_fuzz_is_the_longest_excess(fuzz, kept):
    joins = {(0, 2): (10, 10, 50), (2, 4): (15, 15, 50), (0, 4): (20, 20, 40)}
    reduced, _ = graph.reduce(graph_of([60] * 3, joins), fuzz)
    assert ((0, 4) in edge_set(reduced)) is kept


def test_threads_change_nothing():
    size = 20_000
    reads, overlaps = read_set(random_genome(size, 3), tiled(size, 800, 100, 4))
    built, _ = graph.build_graph(reads, overlaps, graph.GraphParams(min_overlap=50, min_depth=1))
    one, four = (graph.reduce(built, 5, threads=threads)[0] for threads in (1, 4))
    for name in ("source", "target", "length", "overlap", "row"):
        assert np.array_equal(getattr(one.edges, name), getattr(four.edges, name))


def test_an_empty_graph_stays_empty():
    reduced, counts = graph.reduce(graph_of([], {}), 0)
    assert (len(reduced.reads), len(reduced.edges), sum(counts.values())) == (0, 0, 0)


def test_no_overlaps_give_no_graph():
    reads, _ = read_set(random_genome(100, 5), [(0, 50, False), (60, 90, True)])
    built, counts = graph.build_graph(reads, overlap_table([]))
    assert (len(built.reads), counts["reads without enough overlaps"]) == (0, 2)
