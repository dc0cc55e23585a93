"""Reads whose long runs are cut, and the way back, equal the oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.sketch import long_runs
from overlapper.tables import Overlaps, Reads
from tests.oracle import long_runs as oracle
from tests.read_sets import reads_of
from tests.tries import tries

PIECES = st.lists(st.tuples(st.sampled_from("ACGT"), st.integers(1, 9)), max_size=30)
READ = st.tuples(PIECES, st.sampled_from(["", "", "", "N"])).map(
    lambda drawn: "".join(letter * count for letter, count in drawn[0]) + drawn[1]
)


@settings(max_examples=tries(300), deadline=None)
@given(st.lists(READ, min_size=1, max_size=6), st.integers(1, 6), st.sampled_from([20, 1 << 24]))
def test_cut_reads_and_their_places_equal_the_oracle(sequences, longest, at_a_time):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_runs, "_BLOCK_BASES", at_a_time)
        reads = reads_of(sequences)
        runs = long_runs.LongRuns.of(reads, longest, 2)
        half = len(reads) // 2
        halves = runs.cut(reads.rows(0, half), 0, 1), runs.cut(reads.rows(half, len(reads)), half, 2)
        cut = Reads.concat([*halves])
    cut.validate()
    for read, sequence in enumerate(sequences):
        text, places = oracle.cut(sequence, longest)
        assert cut.sequence(read) == text
        on = np.full(len(places), read, np.int32)
        column = np.arange(len(places), dtype=np.int32)
        overlaps = between(on, column)
        restored = runs.restore(overlaps, 2)
        for found in (restored.q_start, restored.q_end, restored.t_start, restored.t_end):
            assert found.tolist() == places


def between(reads, places):
    """Overlaps of reads with themselves whose intervals all begin and end at the same places."""
    none = np.zeros(len(reads), np.int32)
    return Overlaps(
        reads, reads, none > 0, places, places, places, places, matches=none, block_length=none, score=none,
        seeds=none, divergence=np.zeros(len(reads)), kind=none,
    )  # fmt: skip
