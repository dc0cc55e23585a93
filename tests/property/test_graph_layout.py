import dataclasses
import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper import graph
from overlapper.graph.export import to_networkx
from tests.graph_cases import edge_set, graph_of, graphs, random_genome, read_set, reverse_complement, tiled
from tests.tries import tries

PARAMS = graph.GraphParams(min_overlap=60, min_depth=1, max_hang=10, fuzz=0)


def unitigs_by_networkx(built):
    """Join nodes along edges that are the only way on and the only way in; return components as sets."""
    whole = to_networkx(built)
    joined = nx.Graph()
    joined.add_nodes_from(whole)
    joined.add_edges_from((v, w) for v, w in whole.edges if whole.out_degree(v) == 1 == whole.in_degree(w))
    return {frozenset(component) for component in nx.connected_components(joined)}


@settings(max_examples=tries(150), deadline=None)
@given(graphs(max_joins=10))
def test_unitigs_equal_those_of_networkx(built):
    found, counts = graph.layout(built)
    strands = {frozenset(found.nodes(u)) for u in range(len(found))}
    both = strands | {frozenset(v ^ 1 for v in path) for path in strands}
    assert both == unitigs_by_networkx(built)
    assert sorted(found.path >> 1) == list(range(len(built.reads)))
    assert counts["unitigs"] == len(strands)


@settings(max_examples=tries(150), deadline=None)
@given(graphs(max_joins=10))
def test_paths_follow_edges_and_start_where_the_definition_says(built):
    found, _ = graph.layout(built)
    edges = edge_set(built)
    for unitig in range(len(found)):
        path = found.nodes(unitig).tolist()
        assert all(step in edges for step in itertools.pairwise(path))
        assert bool(found.circular[unitig]) == (
            (path[-1], path[0]) in edges and len(path) > 1 and is_only(built, path)
        )
        assert path[0] == min(path) & ~1 if found.circular[unitig] else path[0] < path[-1] ^ 1
    assert (np.diff(found.lengths) <= 0).all()


def is_only(built, path):
    whole = to_networkx(built)
    return whole.out_degree(path[-1]) == 1 == whole.in_degree(path[0])


@settings(max_examples=tries(100), deadline=None)
@given(graphs(max_joins=10, max_length=30, even=True))
def test_the_lengths_of_a_unitig_add_up(built):
    """With lengths that agree on both strands, any way to spell a path gives the same number of bases."""
    found, _ = graph.layout(built)
    edges = edge_set(built)
    bases = built.lengths
    for unitig in range(len(found)):
        path = found.nodes(unitig).tolist()
        steps = [*itertools.pairwise(path), *([(path[-1], path[0])] if found.circular[unitig] else [])]
        same_size = len({int(bases[v >> 1]) for v in path}) == 1
        if same_size:
            first = 0 if found.circular[unitig] else int(bases[path[0] >> 1])
            assert found.lengths[unitig] == first + sum(edges[step][0] for step in steps)


@settings(max_examples=tries(25), deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_error_free_reads_spell_the_genome(seed, circular):
    size = 3000
    genome = random_genome(size, seed)
    reads, overlaps = read_set(genome, tiled(size, 600, 90, seed, circular=circular), circular=circular)
    assembly = graph.assemble(reads, overlaps, PARAMS)
    assert len(assembly.layout) == 1
    assert assembly.layout.circular[0] == circular
    found = assembly.layout.sequence(0, reads)
    assert len(found) == size == assembly.layout.lengths[0]
    either_strand = (genome, reverse_complement(genome))
    assert any(found in strand * (1 + circular) for strand in either_strand)
    assert assembly.layout.read_counts[0] == len(reads)


def test_a_link_joins_the_right_ends():
    joins = {(0, 2): (10, 10, 50), (0, 4): (12, 12, 48), (6, 1): (9, 9, 51), (8, 1): (8, 8, 52)}
    found, counts = graph.layout(graph_of([60] * 5, joins))
    source, target, edge = found.links()
    as_nodes = {
        (int(found.path[s >> 1] ^ (s & 1)), int(found.path[t >> 1] ^ (t & 1)))
        for s, t in zip(source, target, strict=True)
    }
    assert counts["links"] == len(edge) == 4
    assert as_nodes | {(w ^ 1, v ^ 1) for v, w in as_nodes} == set(edge_set(found.graph))


@pytest.mark.parametrize(
    ("bases", "joins", "stretches"),
    [
        # Two reads: the second from the end of the first.
        ([60, 60], {(0, 2): (10, 10, 50)}, [(0, 60), (50, 60)]),
        # The second of three reaches from the end of the first to the start of the third: all ends are whole.
        ([60, 60, 60], {(0, 2): (40, 40, 20), (2, 4): (40, 40, 20)}, [(0, 60), (20, 40), (0, 60)]),
        # It does not: the third too is spelled from the end of the second.
        ([60, 60, 60], {(0, 2): (20, 20, 40), (2, 4): (20, 20, 40)}, [(0, 60), (40, 60), (40, 60)]),
    ],
)
def test_stretches(bases, joins, stretches):
    found, _ = graph.layout(graph_of(bases, joins))
    assert list(zip(found.stretch_start.tolist(), found.stretch_end.tolist(), strict=True)) == stretches


def test_depth_and_copies_are_weighted_by_bases():
    built = graph_of([100, 300, 1000], {(0, 2): (280, 80, 20)})
    depths = np.array([10, 30, 10], np.float32)
    found, _ = graph.layout(dataclasses.replace(built, reads=dataclasses.replace(built.reads, depth=depths)))
    assert found.depth.tolist() == [10.0, 25.0]
    assert found.copies.tolist() == [1.0, 2.5]
