"""SpGEMM candidates against their oracle."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.candidates.spgemm import SpgemmFinder, bounds_at_depth
from overlapper.params.stages import Params, SketchParams, SpgemmParams
from tests.oracle import counting as counting_oracle
from tests.oracle import spgemm as oracle
from tests.oracle.strands import reverse_complement
from tests.read_sets import reads_of
from tests.tries import tries

GENOME = "".join(np.random.default_rng(5).choice(list("ACGT"), 700))


@st.composite
def read_sets(draw):
    """Pieces of a genome on both strands, with repeats, changed bases, N and scraps."""
    repeat = GENOME[100:160]
    genome = draw(
        st.sampled_from([GENOME, GENOME[:300] + repeat * 3 + GENOME[300:], "ACGTTGCATC" * 30 + GENOME])
    )
    texts = []
    for _ in range(draw(st.integers(0, 7))):
        start = draw(st.integers(0, len(genome) - 40))
        text = list(genome[start : start + draw(st.integers(10, 400))])
        for at in draw(st.lists(st.integers(0, len(text) - 1), max_size=6)):
            text[at] = draw(st.sampled_from("ACGTN"))
        piece = "".join(text)
        texts.append(reverse_complement(piece) if draw(st.booleans()) else piece)
    return texts + draw(st.lists(st.sampled_from(["", "A", "ACGTACGTAC"]), max_size=2))


def rows_of(found):
    hits = [
        list(zip(q.tolist(), t.tolist(), strict=True))
        for q, t in zip(
            np.split(found.hit_query_pos, found.hit_offsets[1:-1]),
            np.split(found.hit_target_pos, found.hit_offsets[1:-1]),
            strict=True,
        )
    ]
    columns = (
        found.query,
        found.target,
        found.reverse,
        found.query_pos,
        found.target_pos,
        found.seeds,
        found.span,
    )
    return [(*row, h) for row, h in zip(zip(*(c.tolist() for c in columns), strict=True), hits, strict=False)]


@settings(max_examples=tries(250), deadline=None)
@given(
    read_sets(), st.integers(8, 14), st.sampled_from([1, 2, 7, 40, 500]), st.integers(1, 4), st.integers(2, 9)
)
def test_candidates_equal_the_oracle(texts, k, bin_size, min_kmers, upper):
    reads = reads_of(texts)
    spgemm = SpgemmParams(bin_size=bin_size, min_kmers=min_kmers, lower=2, upper=upper, shared_kmers=0)
    finder = SpgemmFinder.prepare(reads, Params(sketch=SketchParams(kmer_length=k), spgemm=spgemm), 1)
    found = finder.find(0, len(reads)).validate()
    table = counting_oracle.occurrences(texts, k)
    columns = [places for places in table.values() if 2 <= len(places) <= upper]
    expected = oracle.candidates(columns, [len(t) for t in texts], k, bin_size, min_kmers)
    assert rows_of(found) == expected
    assert found.seed_length == k
    places = [[] for _ in texts]
    for column in columns:
        for read, position, _ in column:
            places[read].append(position)
    seeding = found.seeding
    assert seeding.positions.tolist() == [position for of_read in places for position in sorted(of_read)]
    assert np.diff(seeding.starts).tolist() == [len(of_read) for of_read in places]
    of_read = [sum(read == r for p in table.values() for r, _, _ in p) for read in range(len(texts))]
    assert seeding.sketched.tolist() == of_read
    counts = finder.counts()
    assert counts["k-mers that occur too rarely"] == sum(len(p) for p in table.values() if len(p) < 2)
    assert counts["k-mers that occur too often"] == sum(len(p) for p in table.values() if len(p) > upper)


@settings(max_examples=tries(200), deadline=None)
@given(st.integers(1, 60), st.integers(0, 16), st.sampled_from([0.7, 0.9, 0.99]))
def test_bounds_equal_the_oracle(depth, sixteenths, probability):
    exact = oracle.bounds_at_depth(depth, sixteenths / 16, 1 - probability)
    assert bounds_at_depth(depth, sixteenths / 16, probability) == exact
