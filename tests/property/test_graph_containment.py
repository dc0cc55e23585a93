"""Contained reads whose containers left the graph, against the rule read by read."""

import dataclasses

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overlapper.graph.containment import contain_again
from overlapper.graph.model import Contained
from tests.graph_cases import containments_of_reads, graph_of


@st.composite
def graphs_without_reads(draw):
    """Draw reads of a graph, what contains what, containers, and which reads leave the graph."""
    reads, inner = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    every = range(reads + inner)
    arrows = draw(st.lists(st.tuples(st.sampled_from(every[reads:]), st.sampled_from(every)), max_size=25))
    arrows = [(a, b) for a, b in arrows if a != b]
    # Each contained read has one of its containers that lead to a read of the graph by ever smaller numbers.
    arrows += [(i, draw(st.integers(0, i - 1))) for i in every[reads:]]
    arrows = draw(st.permutations(arrows))
    containers = [max(b for a, b in arrows if a == i and b < i) for i in every[reads:]]
    return reads, arrows, containers, draw(st.lists(st.booleans(), min_size=reads, max_size=reads))


def steps_left(arrows, there):
    """Return how many arrows lead from each read to one that is there."""
    steps = dict.fromkeys(there, 0)
    while fresh := {a for a, b in arrows if a not in steps and b in steps}:
        steps |= {a: 1 + min(steps[b] for i, b in arrows if i == a and b in steps) for a in fresh}
    return steps


@given(graphs_without_reads())
def test_reads_get_the_nearest_container_that_is_left(drawn):
    reads, arrows, containers, gone = drawn
    size = reads + len(containers)
    inner = np.arange(reads, size)
    zeros = np.zeros(len(inner))
    built = dataclasses.replace(
        graph_of([50] * reads, {}),
        contained=Contained(
            read=inner, container=np.array(containers), start=zeros, end=zeros + 9, reverse=zeros,
            position=zeros - 1, row=zeros,
        ),
        containments=dataclasses.replace(
            containments_of_reads(size, *zip(*arrows, strict=True)), position=np.arange(len(arrows)),
        ),
    )  # fmt: skip
    cleaned = built.without(np.array(gone))
    found, counts = contain_again(cleaned)

    there = {i for i in range(reads) if not gone[i]}
    steps = steps_left(arrows, there)
    expected, changed = [], 0
    for i, container in zip(range(reads, size), containers, strict=True):
        end = container
        while end >= reads:
            end = containers[end - reads]
        left = [(steps[b], b, n) for n, (a, b) in enumerate(arrows) if a == i and b in steps]
        if end in there or not left:
            expected.append((container, -1))
        else:
            _, container, number = min(left)
            expected.append((container, number))
            changed += 1
    assert list(zip(found.contained.container, found.contained.position, strict=True)) == expected
    assert counts == {"reads contained again": changed}
