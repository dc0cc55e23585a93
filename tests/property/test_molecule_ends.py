import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper import graph
from overlapper.graph.molecule_ends import RAGGED
from overlapper.params.graph import GraphParams
from overlapper.tables import Reads
from tests.graph_cases import overlap_table, random_genome, read_set
from tests.oracle import molecule_ends as oracle
from tests.oracle.strands import reverse_complement
from tests.tries import tries

EXACT = GraphParams(min_overlap=1, min_end_overlap=1).of_exact_overlaps()
GENOME = random_genome(2000, 7)


@st.composite
def placements(draw):
    """Draw reads of which many begin, or end, near the same two places."""
    begins = st.one_of(st.integers(0, 900), st.integers(580, 700))
    ends = st.one_of(st.integers(1000, 2000), st.integers(1280, 1400))
    return draw(
        st.lists(st.tuples(begins, ends, st.booleans()), min_size=2, max_size=9, unique_by=lambda p: p[:2])
    )


@settings(max_examples=tries(300), deadline=None)
@given(placements())
def test_ends_of_molecules_equal_the_oracle(placements):
    reads, overlaps = read_set(GENOME, placements)
    built, _ = graph.build_graph(reads, overlaps, EXACT, two_haplotypes=True)
    expected = oracle.ends([(start, end) for start, end, _ in placements], EXACT.confirm_depth, RAGGED)
    for row, begins, ends in zip(
        built.reads.read, built.reads.begins_molecule, built.reads.ends_molecule, strict=True
    ):
        on_genome = (ends, begins) if placements[row][2] else (begins, ends)
        assert on_genome == expected[row]


def two_haplotypes(texts, differ):
    """Cut reads of 4,000 bases, one every 200, from two texts that differ in their first bases alone.

    Reads that would reach over an end stop there.
    """
    placed = [
        (haplotype, start, min(start + 4000, len(text)))
        for haplotype, text in enumerate(texts)
        for start in range(0, len(text) - 600, 200)
    ]
    rows = []
    for (q, (of, q_start, q_end)), (t, (other, t_start, t_end)) in itertools.combinations(
        enumerate(placed), 2
    ):
        start, end = max(q_start, t_start, 0 if of == other else differ), min(q_end, t_end)
        if start < end:
            rows.append((q, t, 0, start - q_start, end - q_start, start - t_start, end - t_start))
    sequences = [texts[haplotype][start:end] for haplotype, start, end in placed]
    return Reads.from_sequences([f"r{i}" for i in range(len(placed))], sequences), overlap_table(rows)


def test_a_haplotype_ends_where_its_molecule_does():
    """It is the same as the other one for 3,000 bases before, which goes on for 3,000 more."""
    shared = random_genome(6000, 3)
    texts = [random_genome(6000, 1) + shared, random_genome(6000, 2) + shared[:3000]]
    reads, overlaps = two_haplotypes(texts, 6000)
    layout = graph.assemble(reads, overlaps, GraphParams().of_exact_overlaps(), shared_depth=30.0).layout
    found = [layout.sequence(unitig, reads) for unitig in range(len(layout))]
    assert sorted(min(text, reverse_complement(text)) for text in found) == sorted(
        min(text, reverse_complement(text)) for text in texts
    )
    alone = graph.assemble(reads, overlaps, GraphParams().of_exact_overlaps()).graph
    assert not alone.ends_molecule.any()
