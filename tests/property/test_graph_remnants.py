import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper import graph
from overlapper.correction.own_reads import own_reads
from overlapper.graph.remnants import SHARE
from overlapper.graph.stats import joined
from tests.graph_cases import containing, graph_of, graphs_and_overlaps, overlap_table, overlapping
from tests.oracle import cleaning as oracle
from tests.tries import tries


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
    intervals = (
        list(zip(start.tolist(), end.tolist(), strict=True))
        for start, end in ((overlaps.q_start, overlaps.q_end), (overlaps.t_start, overlaps.t_end))
    )
    doomed = oracle.remnants(
        list(zip(laid_out.lengths.tolist(), bases.tolist(), paths, inside, strict=True)),
        list(zip((source >> 1).tolist(), (target >> 1).tolist(), strict=True)),
        list(zip(overlaps.query.tolist(), overlaps.target.tolist(), *intervals, strict=True)),
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
    overlaps = overlapping((6, 7), *((read, other) for read in (6, 7) for other in others))
    left, counts = graph.drop_remnants(built, overlaps)
    assert counts["reads in remnants"] == (0 if stays else 2)
    assert graph.layout(left)[0].circular.tolist() == ([False, True] if stays else [False])


@settings(max_examples=tries(200), deadline=None)
@given(st.integers(0, 12), st.data())
def test_joined_items_equal_the_oracle(size, data):
    item = st.integers(0, max(0, size - 1))
    pairs = data.draw(st.lists(st.tuples(item, item), max_size=2 * size if size else 0))
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    assert joined(first, second, size).tolist() == oracle.joined(pairs, size)


def test_a_molecule_stays_that_shares_a_stretch_with_a_deep_one():
    """Read 6, with two others of its own, shares 3 of its 20 bases with 60 of those of a row."""
    built = graph_of([20] * 7, {(2 * i, 2 * i + 2): (10, 10, 10) for i in range(5)})
    built = containing(built, np.append(np.arange(90) // 15, [6, 6]), 20)
    own = [(6, 97, 0, 0, 20, 0, 20), (6, 98, 0, 0, 20, 0, 20)]
    for bases, stays in ((3, True), (17, False)):
        shared = [(6, other, 0, 0, bases, 0, bases) for other in range(7, 67)]
        left, _ = graph.drop_remnants(built, overlap_table([*shared, *own]))
        assert len(left.reads) == 6 + stays
