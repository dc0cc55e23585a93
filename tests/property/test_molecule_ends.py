import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper import graph
from overlapper.graph.molecule_ends import FEWEST, RAGGED
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
    expected = oracle.ends([(start, end) for start, end, _ in placements], FEWEST, RAGGED)
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
    alone = graph.assemble(reads, overlaps, GraphParams().of_exact_overlaps()).counts["build"]
    assert alone["overlaps beyond ends of molecules"] == 0


def circle_of(text, starts, length):
    """Cut reads of a circle, and find all that two of them have in common, in one piece or in two."""
    placed = [(start, start + length) for start in starts]
    rows, n = [], len(text)
    for (q, (a, b)), (t, (c, d)) in itertools.combinations(enumerate(placed), 2):
        for turn in (-n, 0, n):
            start, end = max(a, c + turn), min(b, d + turn)
            if start < end:
                rows.append((q, t, 0, start - a, end - a, start - c - turn, end - c - turn))
    sequences = [(text + text)[start:end] for start, end in placed]
    return Reads.from_sequences([f"r{i}" for i in range(len(placed))], sequences), overlap_table(rows)


def topology(reads, overlaps):
    found = graph.assemble(reads, overlaps, GraphParams().of_exact_overlaps())
    return (
        found.layout.circular.tolist(),
        found.layout.lengths.tolist(),
        found.counts["open"]["circles opened"],
    )


def test_a_molecule_with_terminal_repeats_is_linear():
    """Its reads are those of a circle none of which goes on from a repeat of 3,000 bases on both sides."""
    text = random_genome(12_000, 4)
    circle = circle_of(text, range(0, 12_000, 300), 5000)
    assert topology(*circle) == ([True], [12_000], 0)
    line = text + text[:3000]
    placed = [(max(start, 0), min(start + 5000, 15_000)) for start in range(-3000, 13_000, 200)]
    rows = []
    for (q, (a, b)), (t, (c, d)) in itertools.combinations(enumerate(placed), 2):
        for turn in (-12_000, 0, 12_000):
            low, high = (0, 15_000) if turn == 0 else (max(0, turn), min(15_000, 15_000 + turn))
            start, end = max(a, c + turn, low), min(b, d + turn, high)
            if start < end:
                rows.append((q, t, 0, start - a, end - a, start - c - turn, end - c - turn))
    reads = Reads.from_sequences([f"r{i}" for i in range(len(placed))], [line[a:b] for a, b in placed])
    assert topology(reads, overlap_table(rows)) == ([False], [15_000], 1)


def test_a_circle_of_amplicons_stays():
    """Reads of four places that overlap by 2,500 bases end together, at each of them."""
    starts = [place for place in range(0, 12_000, 3000) for _ in range(6)]
    text = random_genome(12_000, 5)
    assert topology(*circle_of(text, starts, 5500))[2] == 0
