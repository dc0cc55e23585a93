import dataclasses
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper import graph
from overlapper.graph.clean import (
    cut_forked_ends,
    cut_tips,
    cut_weak,
    find_tips,
    join_forked_ends,
    pop_bubbles,
)
from overlapper.graph.own_sequence import drop_islands
from overlapper.graph.regained import regain_tips
from overlapper.tables import Overlaps
from tests.graph_cases import edge_set, graph_of, graphs, overlaps_of
from tests.oracle import cleaning as oracle
from tests.tries import tries

MOST = st.integers(0, 4)


def with_depths(built, depths):
    reads = dataclasses.replace(built.reads, depth=np.array(depths, np.float32))
    return dataclasses.replace(built, reads=reads)


def with_confirmed(built, confirmed):
    reads = dataclasses.replace(built.reads, confirmed=np.array(confirmed, np.bool_))
    return dataclasses.replace(built, reads=reads)


def lengths_of(found):
    return {edge: length for edge, (length, _) in edge_set(found).items()}


def without_reads(edges, doomed):
    return {(v, w): n for (v, w), n in edges.items() if v >> 1 not in doomed and w >> 1 not in doomed}


def in_rows(*rows):
    """Return edges between reads of 20 bases in rows, each 5 further on than the one before."""
    return {(2 * i, 2 * i + 2): (5, 5, 15) for reads in rows for i in reads[:-1]}


def reads_left(built, cleaned):
    return set(range(len(built.reads))) - set(cleaned.reads.read.tolist())


@settings(max_examples=tries(150), deadline=None)
@given(graphs(), st.lists(st.integers(0, 9)), MOST)
def test_the_first_round_of_tips_equals_the_oracle(built, stay, most):
    reads, cut = find_tips(built, most, np.array(stay, np.int32))
    edges = zip(built.edges.source.tolist(), built.edges.target.tolist(), strict=True)
    assert (
        {i for i, gone in enumerate(reads) if gone},
        {edge for edge, gone in zip(edges, cut | cut[built.mirror], strict=True) if gone},
    ) == oracle.tips(
        overlaps_of(built), lengths_of(built), built.lengths.tolist(),
        set(np.flatnonzero(built.ends_molecule)), set(stay), most,
    )  # fmt: skip


@settings(max_examples=tries(100), deadline=None)
@given(graphs(), MOST)
def test_forked_ends_equal_the_oracle(built, most):
    edges, bases, doomed = overlaps_of(built), built.lengths.tolist(), set()
    while more := oracle.forked_ends(edges, bases, most)[0] - doomed:
        doomed |= more
        edges = without_reads(edges, doomed)
    assert reads_left(built, cut_forked_ends(built, most)[0]) == doomed


@settings(max_examples=tries(100), deadline=None)
@given(graphs(), MOST)
def test_joined_forked_ends_equal_the_oracle(built, most):
    edges, bases = overlaps_of(built), built.lengths.tolist()
    while cut := oracle.forked_ends(edges, bases, most)[1]:
        edges = {edge: overlap for edge, overlap in edges.items() if edge not in cut}
    joined, _ = join_forked_ends(built, most)
    assert overlaps_of(joined) == edges
    assert len(joined.reads) == len(built.reads)


@settings(max_examples=tries(300), deadline=None)
@given(graphs(max_joins=8), st.data())
def test_tips_that_dead_ends_regain_equal_the_oracle(built, data):
    def drawn(size):
        return np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), np.bool_)

    cleaned = built.without(drawn(len(built.reads)), drawn(len(built.edges)))
    confirmed = drawn(len(built.reads))
    built = with_confirmed(built, confirmed)
    found, counts = regain_tips(cleaned, built)
    edges, reads = overlaps_of(cleaned), set(cleaned.reads.read.tolist())
    back, again = oracle.regained_tips(edges, reads, overlaps_of(built), set(np.flatnonzero(confirmed)))
    assert counts == {"reads in tips at dead ends": len(back)}
    assert set(found.reads.read.tolist()) == reads | back
    assert set(overlaps_of(found)) == set(edges) | again


def test_the_end_of_a_haplotype_comes_back_once_the_way_into_the_other_is_cut():
    """Reads 0 to 6 and 7 to 19 in two rows; 6 overlaps 12, too, by less, and 20 ends the first haplotype."""
    rows = [(2 * i, 2 * i + 2) for i in range(19) if i != 6]
    joins = dict.fromkeys(rows, (5, 5, 15)) | {(12, 24): (14, 14, 6), (12, 40): (8, 8, 12)}
    cleaned, counts = graph.clean(graph_of([20] * 21, joins), Overlaps.empty())
    assert counts["reads in tips at dead ends"] == 1
    assert len(cleaned.reads) == 21
    assert len(graph.layout(cleaned)[0]) == 2


def test_a_dead_end_regains_a_way_on_that_is_long_and_forks():
    """As above, but reads 20 to 26 end the first haplotype; 27, with an error, fits 24 better than 25."""
    rows = [(2 * i, 2 * i + 2) for i in range(26) if i not in (6, 19)]
    joins = dict.fromkeys(rows, (5, 5, 15)) | {
        (12, 24): (14, 14, 6),
        (12, 40): (8, 8, 12),
        (48, 54): (3, 3, 17),
    }
    whole = graph_of([20] * 28, joins)
    whole = with_confirmed(whole, np.arange(28) < 27)
    across = (whole.edges.source == 12) & (whole.edges.target == 24)
    cleaned = whole.without(np.arange(28) >= 20, across)
    found, counts = regain_tips(cleaned, whole)
    assert counts == {"reads in tips at dead ends": 7}
    assert found.reads.read.tolist() == list(range(27))


@settings(max_examples=tries(100), deadline=None)
@given(graphs(), st.sampled_from(["0", "0.25", "0.5", "0.8", "1"]), st.data())
def test_weak_edges_equal_the_oracle(built, ratio, data):
    depths = data.draw(
        st.lists(st.sampled_from([17, 18]), min_size=len(built.reads), max_size=len(built.reads))
    )
    built = with_depths(built, depths)
    edges = overlaps_of(built)
    doomed = oracle.weak(edges, Fraction(ratio), lambda v, b, w: depths[v >> 1] == 18)
    expected = {edge: overlap for edge, overlap in edges.items() if edge not in doomed}
    assert overlaps_of(cut_weak(built, float(ratio), 15.0)[0]) == expected


@settings(max_examples=tries(150), deadline=None)
@given(graphs(), st.sampled_from(["0.5", "0.8", "1"]), st.sets(st.integers(0, 9)))
def test_weak_edges_between_confirmed_reads_equal_the_oracle(built, ratio, confirmed):
    edges = overlaps_of(built)
    built = with_confirmed(built, np.isin(np.arange(len(built.reads)), sorted(confirmed)))
    doomed = oracle.weak(edges, Fraction(ratio), lambda v, b, w: False, confirmed)
    expected = {edge: overlap for edge, overlap in edges.items() if edge not in doomed}
    assert overlaps_of(cut_weak(built, float(ratio), 15.0, confirmed=True)[0]) == expected
    assert cut_weak(built, float(ratio), 15.0)[1]["weak edges"] == len(
        oracle.weak(edges, Fraction(ratio), lambda v, b, w: False)
    )


@settings(max_examples=tries(150), deadline=None)
@given(graphs(), st.sampled_from(["0.5", "0.8", "1"]), st.data())
def test_weak_edges_at_repeats_equal_the_oracle(built, ratio, data):
    reads = len(built.reads)
    depths = data.draw(st.lists(st.sampled_from([10, 16, 31]), min_size=reads, max_size=reads))
    edges = overlaps_of(built)
    is_shared = partial(oracle.is_nearer_both, edges, built.lengths.tolist(), depths)
    doomed = oracle.weak(edges, Fraction(ratio), is_shared)
    expected = {edge: overlap for edge, overlap in edges.items() if edge not in doomed}
    assert overlaps_of(cut_weak(with_depths(built, depths), float(ratio))[0]) == expected


def repeat_between_ways(depth):
    """Return reads 10 to 15, of that depth, with two ways in, from 5 and 29, and two on, to 20 and 30.

    Those from 29 and to 20 are the longest overlaps: without the others, 10 to 15 and 20 to 29 are a circle.
    """
    joins = in_rows(range(6), range(10, 16), range(20, 30), range(30, 40))
    joins |= {(10, 20): (14, 14, 6), (58, 20): (5, 5, 15), (30, 40): (5, 5, 15), (30, 60): (12, 12, 8)}
    built = graph_of([20] * 40, joins)
    return with_depths(built, [20] * 10 + [depth] * 6 + [20] * 24).without(
        np.isin(np.arange(40), range(6, 10))
    )


def test_a_repeat_longer_than_reads_makes_no_circle():
    cleaned, _ = graph.clean(repeat_between_ways(40), Overlaps.empty())
    laid_out, _ = graph.layout(cleaned)
    assert not laid_out.circular.any()
    assert sorted(np.diff(laid_out.starts).tolist()) == [6, 6, 10, 10]


def test_a_fork_behind_reads_of_one_place_is_cut():
    """Of these depths the reads before the fork are of one place alone, and the other way on is false."""
    cleaned, counts = graph.clean(repeat_between_ways(29), Overlaps.empty())
    assert counts["weak edges"] == 4
    assert graph.layout(cleaned)[0].circular.any()


@pytest.mark.parametrize(("confirmed", "unitigs"), [([], 2), ([5, 16], 3), ([5], 2), ([16], 2)])
def test_copies_part_behind_a_confirmed_read_whatever_its_depth(confirmed, unitigs):
    """As below, at the depth of one copy: reads of four copies are taken for those of two haplotypes."""
    joins = in_rows(range(6), range(6, 16), range(16, 26)) | {(10, 12): (5, 5, 15), (10, 32): (14, 14, 6)}
    built = with_depths(graph_of([20] * 26, joins), [18] * 26)
    built = with_confirmed(built, np.isin(np.arange(26), confirmed))
    parted, _ = graph.clean(built, Overlaps.empty(), confirmed=True, shared_depth=27.0)
    assert len(graph.layout(parted)[0]) == unitigs


def test_two_haplotypes_part_behind_a_read_that_both_share():
    """Reads 0 to 5 are of both; the longer overlap of one that begins there does not cut off the other."""
    joins = in_rows(range(6), range(6, 16), range(16, 26)) | {(10, 12): (5, 5, 15), (10, 32): (14, 14, 6)}
    built = with_depths(graph_of([20] * 26, joins), [36] * 6 + [18] * 20)
    for shared_depth in (27.0, np.inf):
        parted, _ = graph.clean(built, Overlaps.empty(), shared_depth=shared_depth)
        assert len(graph.layout(parted)[0]) == 3
    haploid, _ = graph.clean(with_depths(built, [18] * 26), Overlaps.empty())
    assert len(graph.layout(haploid)[0]) == 2


@pytest.mark.parametrize("shared_depth", [27.0, np.inf])
def test_two_copies_part_behind_reads_of_each(shared_depth):
    """Reads 5 and 15 overlap 20 and 30 by 6 to 17 bases of what both copies share."""
    joins = in_rows(range(6), range(10, 16), range(20, 30), range(30, 40))
    joins |= {(10, 40): (3, 3, 17), (10, 60): (9, 9, 11), (30, 40): (8, 8, 12), (30, 60): (14, 14, 6)}
    built = with_depths(graph_of([20] * 40, joins), [18] * 40)
    parted, _ = graph.clean(built, Overlaps.empty(), shared_depth=shared_depth)
    assert set(overlaps_of(parted)) >= {(10, 40), (10, 60), (30, 40), (30, 60)}


@settings(max_examples=tries(150), deadline=None)
@given(graphs(max_reads=6, max_joins=12), st.integers(5, 60))
def test_no_bubble_is_left_and_none_is_invented(built, max_bases):
    def bubbles(found):
        renumbered = graph_of(
            found.lengths.tolist(),
            {
                (int(s), int(t)): (int(n), int(found.edges.length[m]), int(o))
                for s, t, n, o, m in zip(
                    found.edges.source, found.edges.target, found.edges.length, found.edges.overlap,
                    found.mirror, strict=True,
                )
                if (s, t) <= (t ^ 1, s ^ 1)
            },
        )  # fmt: skip
        return oracle.superbubbles(
            overlaps_of(renumbered), len(found.reads), lengths_of(renumbered), max_bases
        )

    popped, counts = pop_bubbles(built, max_bases)
    assert bool(bubbles(built)) == bool(counts["bubbles"])
    assert not bubbles(popped)


@st.composite
def single_bubbles(draw):
    """One bubble: reads 0 to n - 1 in topological order, each between the first and the last."""
    reads = draw(st.integers(3, 7))
    size = st.integers(1, 5)
    ends = {(0, i) for i in range(1, reads - 1)} | {(i, reads - 1) for i in range(reads - 1)}
    inner = [(i, j) for j in range(1, reads - 1) for i in range(1, j)]
    chosen = ends | set(draw(st.lists(st.sampled_from(inner), max_size=6)) if inner else [])
    return reads, {(2 * i, 2 * j): (draw(size), draw(size), draw(size)) for i, j in sorted(chosen)}


@settings(max_examples=tries(100), deadline=None)
@given(single_bubbles())
def test_the_best_path_of_a_bubble_stays(bubble):
    reads, joins = bubble
    built = graph_of([20] * reads, joins)
    forward = {edge: overlap for edge, (_, _, overlap) in joins.items()}
    popped, counts = pop_bubbles(built, 1000)
    path = [2 * int(read) for read in popped.reads.read]
    assert path == oracle.best_path(forward, 0, 2 * (reads - 1))
    assert counts["bubbles"] >= 1
    assert len(popped.edges) == 2 * (len(path) - 1)


@pytest.mark.parametrize(("source", "sink", "stays"), [(30, 31, True), (30, 20, False), (20, 31, False)])
def test_a_bubble_of_two_haplotypes_stays(source, sink, stays):
    """Reads 1 and 2 between 0 and 3, whose depths are given."""
    joins = {(0, 2): (5, 5, 15), (0, 4): (5, 5, 15), (2, 6): (5, 5, 15), (4, 6): (5, 5, 15)}
    built = graph_of([20] * 4, joins)
    built = with_depths(built, [source, 15, 15, sink])
    popped, counts = pop_bubbles(built, 1000, 30)
    assert len(popped.reads) == (4 if stays else 3)
    assert counts["bubbles"] == (not stays)
    assert len(pop_bubbles(built, 1000)[0].reads) == 3


def test_one_long_read_stays_where_several_with_short_overlaps_go():
    """Read 1 between 0 and 4; 2 and 3 beside it."""
    joins = {
        (0, 2): (6, 6, 14),
        (2, 8): (6, 6, 14),
        (0, 4): (2, 2, 18),
        (4, 6): (15, 15, 5),
        (6, 8): (2, 2, 18),
    }
    popped, _ = pop_bubbles(graph_of([20] * 5, joins), 1000)
    assert popped.reads.read.tolist() == [0, 1, 4]


def test_a_dead_end_with_the_longest_overlap_does_not_hide_the_way_on():
    """Reads 0 to 7 in a row; 8 follows 2 and 9, 9 follows 1, both with longer overlaps than the row's."""
    row = {(2 * i, 2 * i + 2): (10, 10, 10) for i in range(7)}
    dead_end = {(2, 18): (2, 2, 18), (18, 16): (1, 1, 19), (4, 16): (3, 3, 17)}
    cleaned, _ = graph.clean(graph_of([20] * 10, row | dead_end), Overlaps.empty())
    assert cleaned.reads.read.tolist() == list(range(8))


def test_a_bubble_shows_once_a_shared_end_is_gone():
    """Reads 0 to 5, paths 6 and 7, then 8 to 13; the end 14, 15 leads into the chain and into both paths."""
    joins = dict.fromkeys(
        [(2 * i, 2 * i + 2) for i in (*range(5), *range(8, 13))]
        + [(10, 12), (10, 14), (12, 16), (14, 16), (28, 30), (28, 10), (30, 12), (30, 14)],
        (5, 5, 15),
    )
    joins[28, 10] = (6, 6, 14)
    cleaned, counts = graph.clean(graph_of([20] * 16, joins), Overlaps.empty())
    assert counts["edges of tips"] and counts["reads in tips"] and counts["bubbles"]
    assert len(graph.layout(cleaned)[0]) == 1
    assert len(cleaned.reads) == 13


STEPS = {
    "tips": lambda g: cut_tips(g, Overlaps.empty(), 3),
    "bubbles": lambda g: pop_bubbles(g, 40),
    "weak": lambda g: cut_weak(g, 0.7),
    "forked ends": lambda g: cut_forked_ends(g, 3),
    "joined forked ends": lambda g: join_forked_ends(g, 3),
    "islands": lambda g: drop_islands(g, Overlaps.empty(), 2),
    "all": lambda g: graph.clean(g, Overlaps.empty(), graph.CleanParams(tip_reads=2, bubble_bases=40)),
    "reduce": lambda g: graph.reduce(g, 3),
}


@pytest.mark.parametrize("step", STEPS)
@settings(max_examples=tries(25), deadline=None)
@given(built=graphs())
def test_every_step_keeps_both_strands_and_counts_what_it_took(step, built):
    cleaned, counts = STEPS[step](built)
    cleaned.validate()
    taken = len(built.reads) - len(cleaned.reads) + len(built.edges) - len(cleaned.edges)
    assert (taken > 0) == any(counts.values())
