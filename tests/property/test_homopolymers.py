import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.errors import ParameterError
from overlapper.overlap.pipeline import find_overlaps, run
from overlapper.simulate import random_genome, simulate_reads
from overlapper.sketch.homopolymers import compress_homopolymers
from overlapper.tables import Reads
from tests.oracle import homopolymers as oracle
from tests.read_sets import reads_of
from tests.tries import tries

PIECES = st.lists(st.tuples(st.sampled_from("ACGTN"), st.integers(1, 40)), max_size=60)


@settings(max_examples=tries(300), deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=4))
def test_equals_the_oracle(reads):
    sequences = ["".join(letter * count for letter, count in pieces) for pieces in reads]
    table = reads_of(sequences)
    compressed, run_map = compress_homopolymers(table)
    compressed.validate()
    for i, sequence in enumerate(sequences):
        text, starts = oracle.compress(sequence)
        assert compressed.sequence(i) == text
        assert run_map.run_starts[run_map.offsets[i] : run_map.offsets[i + 1]].tolist() == starts


@pytest.mark.parametrize("finder", ["dsoft", "spgemm"])
def test_overlaps_are_those_of_the_reads_themselves(finder):
    reads, _ = simulate_reads(random_genome(30_000), "hifi", coverage=8)
    changes = {"finder": finder, "sketch": {"homopolymer_compressed": True}}
    compressed, plain = find_overlaps(reads, "hifi", changes=changes), find_overlaps(reads, "hifi")
    found = dict(zip(zip(compressed.query, compressed.target, strict=True), compressed.q_end, strict=True))
    known = dict(zip(zip(plain.query, plain.target, strict=True), plain.q_end, strict=True))
    shared = found.keys() & known.keys()
    assert len(shared) >= 0.95 * len(known)
    assert np.median([abs(int(found[pair]) - int(known[pair])) for pair in shared]) <= 5
    assert (compressed.q_end <= reads.lengths[compressed.query]).all()
    assert (compressed.t_end <= reads.lengths[compressed.target]).all()


@pytest.mark.parametrize("extender", ["xdrop", "gact"])
def test_aligning_compressed_reads_is_refused(extender):
    reads = Reads.from_sequences(["a", "b"], ["ACGT" * 50] * 2)
    changes = {"extender": extender, "sketch": {"homopolymer_compressed": True}}
    with pytest.raises(ParameterError, match="homopolymer"):
        run(reads, "hifi", changes=changes)
