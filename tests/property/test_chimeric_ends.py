import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper import graph
from overlapper.graph.chimeric_ends import CLIP, RAGGED, without_chimeric_ends
from overlapper.graph.pairs import pairs_of
from overlapper.params.graph import GraphParams
from overlapper.tables import Reads
from tests.graph_cases import intervals_near, overlap_table, random_genome
from tests.oracle import chimeric_ends as oracle
from tests.tries import tries

EXACT = GraphParams().of_exact_overlaps()
LENGTH = 1200


def on_one_read(intervals):
    """Return overlaps of read 0 with reads that each have one interval of it, whole."""
    rows = [(0, 1 + i, 0, start, end, 0, end - start) for i, (start, end) in enumerate(intervals)]
    return overlap_table(rows), np.array([LENGTH, *(end - start for start, end in intervals)])


def kept(intervals):
    overlaps, lengths = on_one_read(intervals)
    pairs = pairs_of(overlaps, np.arange(len(lengths)))
    start, end = without_chimeric_ends(pairs, lengths, EXACT, 1)
    assert (start[1:] == 0).all()
    assert (end[1:] == lengths[1:]).all()
    return int(start[0]), int(end[0])


@st.composite
def intervals_about_a_junction(draw):
    """Draw intervals of a read of which many end, or begin, near one place."""
    place = draw(st.integers(300, 900))
    return draw(st.lists(intervals_near(place, 30, LENGTH), max_size=14))


@settings(max_examples=tries(500), deadline=None)
@given(intervals_about_a_junction())
def test_kept_intervals_equal_the_oracle(intervals):
    assert kept(intervals) == oracle.kept(intervals, LENGTH, EXACT.confirm_depth, CLIP, RAGGED)


def test_a_chimera_at_the_end_of_a_molecule_is_cut_there():
    ends_with_it, beyond = [(0, 700), (100, 700), (300, 695)], [(720, 1200), (800, 1200)]
    assert kept(ends_with_it + beyond) == (0, 700)
    assert kept([(LENGTH - end, LENGTH - start) for start, end in ends_with_it + beyond]) == (500, 1200)


def test_a_read_with_an_error_stays_whole():
    """Overlaps end anywhere before an error, and no three of them at one place."""
    assert kept([(0, 700), (0, 660), (0, 600), (100, 500), (750, 1200), (800, 1200)]) == (0, LENGTH)


def test_a_read_that_another_crosses_stays_whole():
    ends_with_it = [(0, 700), (100, 700), (300, 695)]
    assert kept([*ends_with_it, (720, 1200), (500, 1100)]) == (0, LENGTH)


def test_the_graph_ends_with_the_molecule():
    """Reads 1 to 3 end with it; read 0 goes on into the place of reads 4 and 5."""
    lengths = [5000, 6000, 5500, 4000, 7000, 6500]
    rows = [
        (0, 1, 0, 0, 3000, 3000, 6000), (0, 2, 0, 0, 3000, 2500, 5500), (0, 3, 0, 0, 3000, 1000, 4000),
        (0, 4, 0, 3010, 5000, 0, 1990), (0, 5, 0, 3050, 5000, 0, 1950),
        (1, 2, 0, 500, 6000, 0, 5500), (4, 5, 0, 40, 6540, 0, 6500),
    ]  # fmt: skip
    reads = Reads.from_sequences(
        [f"r{i}" for i in range(len(lengths))], (random_genome(n, n) for n in lengths)
    )
    _, counts = graph.build_graph(reads, overlap_table(rows), EXACT)
    assert counts["chimeric reads cut"] == 1
