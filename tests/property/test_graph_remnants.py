import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper import graph
from overlapper.correct.own_reads import own_reads
from overlapper.graph.model import Contained
from overlapper.graph.remnants import SHARE
from tests.graph_cases import graph_of, graphs, overlap_table
from tests.oracle import cleaning as oracle
from tests.tries import tries


def containing(built, containers, length):
    """Return the graph with reads of that length, numbered from its last read on, contained in others."""
    inner = len(containers)
    contained = Contained(
        read=len(built.reads) + np.arange(inner), container=np.array(containers), start=np.zeros(inner),
        end=np.full(inner, length), reverse=np.zeros(inner), position=np.zeros(inner), row=np.zeros(inner),
    )  # fmt: skip
    return dataclasses.replace(built, contained=contained)


def overlapping(*pairs, bases=10):
    return overlap_table([(a, b, 0, 0, bases, 0, bases) for a, b in pairs])


@st.composite
def graphs_and_overlaps(draw):
    """Draw graphs whose reads contain others, and overlaps of all of them."""
    built = draw(graphs(max_joins=6))
    reads = len(built.reads)
    built = containing(built, draw(st.lists(st.integers(0, reads - 1), max_size=20)), 15)
    anyone = st.integers(0, reads + len(built.contained))  # the last one is laid out nowhere
    ends = st.tuples(st.integers(0, 9), st.integers(10, 20))
    pairs = draw(st.lists(st.tuples(anyone, anyone, ends, ends), max_size=30))
    return built, overlap_table([(a, b, 0, *of_a, *of_b) for a, b, of_a, of_b in pairs])


@settings(max_examples=tries(300), deadline=None)
@given(graphs_and_overlaps())
def test_remnants_equal_the_oracle(drawn):
    built, overlaps = drawn
    laid_out = graph.layout(built)[0]
    own = own_reads(laid_out, np.full(len(built.reads) + len(built.contained), 100))
    bases = np.bincount(own.unitig, own.r_end - own.r_start, len(laid_out)).astype(int)
    paths = [
        laid_out.graph.reads.read[laid_out.nodes(unitig) >> 1].tolist() for unitig in range(len(laid_out))
    ]
    inside = [own.read[own.unitig == unitig].tolist() for unitig in range(len(laid_out))]
    source, target, _ = laid_out.links()
    spans = overlaps.q_end - overlaps.q_start, overlaps.t_end - overlaps.t_start
    doomed = oracle.remnants(
        list(zip(laid_out.lengths.tolist(), bases.tolist(), paths, inside, strict=True)),
        list(zip((source >> 1).tolist(), (target >> 1).tolist(), strict=True)),
        list(zip(*(column.tolist() for column in (overlaps.query, overlaps.target, *spans)), strict=True)),
        SHARE,
    )  # fmt: skip
    left, counts = graph.drop_remnants(built, overlaps)
    left.validate()
    gone = {read for unitig in doomed for read in paths[unitig]}
    assert set(range(len(built.reads))) - set(left.reads.read.tolist()) == gone
    assert counts == {"reads in remnants": len(gone)}


@pytest.mark.parametrize(
    ("others", "stays"),
    [
        ([8, 9, 10], False),  # reads of the row
        ([98, 99], True),  # reads that are laid out nowhere
        ([], True),  # none: a small plasmid
    ],
)
def test_a_circle_goes_whose_reads_are_laid_out_elsewhere(others, stays):
    """Reads 0 to 5 in a row contain 15 others each, 8 to 97; 6 and 7 are a circle, which contains none."""
    joins = {(2 * i, 2 * i + 2): (10, 10, 10) for i in range(5)} | {
        (12, 14): (10, 10, 10),
        (14, 12): (10, 10, 10),
    }
    built = containing(graph_of([20] * 8, joins), np.arange(90) // 15, 20)
    overlaps = overlapping((6, 7), *((6, other) for other in others))
    left, counts = graph.drop_remnants(built, overlaps)
    assert counts["reads in remnants"] == (0 if stays else 2)
    assert graph.layout(left)[0].circular.tolist() == ([False, True] if stays else [False])
