import dataclasses

import numpy as np
import pytest

from overlapper import graph
from overlapper.errors import ParameterError
from tests.graph_cases import edge_set, graph_of

JOINS = {(0, 2): (10, 12, 50), (2, 5): (20, 22, 40), (2, 6): (15, 14, 45)}


def test_mirrors_are_found_and_swap_places():
    built = graph_of([60, 60, 60, 60], JOINS)
    e, mirror = built.edges, built.mirror
    assert np.array_equal(e.source[mirror], e.target ^ 1)
    assert np.array_equal(e.target[mirror], e.source ^ 1)


def test_edges_of_a_node_are_the_nearest_first():
    built = graph_of([60, 60, 60, 60], JOINS)
    first = built.first_edge
    assert built.edges.target[first[2] : first[3]].tolist() == [6, 5]


def test_without_takes_edges_of_reads_and_mirrors_of_edges():
    built = graph_of([60, 60, 60, 60], JOINS)
    fewer = built.without(np.array([True, False, False, False]), built.edges.target == 6).validate()
    assert edge_set(fewer).keys() == {(2, 5), (4, 3)}
    assert fewer.reads.read.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": lambda e: e.target[::-1].copy()}, "lacks its mirror|not in canonical order|itself"),
        ({"overlap": lambda e: np.arange(len(e))}, "disagree on overlap"),
        ({"length": lambda e: np.where(e.source == 0, 0, e.length)}, "length of 0 or less"),
        ({"target": lambda e: e.target + 100}, "outside 0 to 7"),
        ({"target": lambda e: e.source ^ 1}, "joins a read to itself"),
    ],
)
def test_validate_says_what_is_wrong(change, message):
    built = graph_of([60, 60, 60, 60], JOINS)
    edges = dataclasses.replace(built.edges, **{name: value(built.edges) for name, value in change.items()})
    with pytest.raises(ParameterError, match=message):
        dataclasses.replace(built, edges=edges).validate()


@pytest.mark.parametrize(
    ("params", "value", "message"),
    [
        (graph.GraphParams, {"min_overlap": 0}, "min_overlap is 0, expected 1 or more"),
        (graph.GraphParams, {"min_depth": -1}, "min_depth is -1, expected 0 or more"),
        (graph.GraphParams, {"max_hang": -1}, "max_hang is -1, expected 0 or more"),
        (graph.GraphParams, {"min_ratio": 1.5}, "min_ratio is 1.5, expected 0 to 1"),
        (graph.GraphParams, {"fuzz": -1}, "fuzz is -1, expected 0 or more"),
        (graph.CleanParams, {"tip_reads": -1}, "tip_reads is -1, expected 0 or more"),
        (graph.CleanParams, {"bubble_bases": -1}, "bubble_bases is -1, expected 0 or more"),
        (graph.CleanParams, {"weak_ratio": 2.0}, "weak_ratio is 2.0, expected 0 to 1"),
        (graph.CleanParams, {"weak_rounds": -1}, "weak_rounds is -1, expected 0 to 1000"),
        (graph.CleanParams, {"weak_start": 0.9}, "weak_start is 0.9, expected 0 to weak_ratio"),
    ],
)
def test_parameters_say_what_they_expect(params, value, message):
    with pytest.raises(ParameterError, match=message):
        params(**value)
