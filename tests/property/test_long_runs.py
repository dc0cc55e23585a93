"""Reads whose long runs are cut, and the way back, equal the oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.sketch import long_runs
from overlapper.tables import Overlaps, Reads
from tests.oracle import long_runs as oracle
from tests.read_sets import reads_of, reverse_complement
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


@settings(max_examples=tries(300), deadline=None)
@given(PIECES, st.data(), st.integers(1, 6), st.booleans(), st.booleans())
def test_a_part_of_a_read_is_found_where_it_was_cut_from_to_the_base(pieces, data, longest, reverse, swap):
    """Also where it begins or ends within a run, unless the read does so, too."""
    whole = "".join(letter * count for letter, count in pieces)
    start, end = sorted(data.draw(st.integers(0, len(whole))) for _ in range(2))
    cut = oracle.part(whole, start, end, longest)
    last = len(oracle.cut(whole, longest)[0])
    if not cut or start == end or (start and not cut[0]) or (end < len(whole) and cut[1] == last):
        return
    piece = whole[start:end]
    reads = reads_of([whole, reverse_complement(piece) if reverse else piece])
    on = {0: cut, 1: (0, len(oracle.cut(piece, longest)[0]))}
    query, target = (1, 0) if swap else (0, 1)
    none = np.zeros(1, np.int32)
    columns = [np.array([place], np.int32) for read in (query, target) for place in on[read]]
    overlaps = Overlaps(
        none + query, none + target, np.array([reverse]), *columns, matches=none, block_length=none,
        score=none, seeds=none, divergence=np.zeros(1), kind=none,
    )  # fmt: skip
    found = long_runs.LongRuns.of(reads, longest, 1).restore(overlaps, 1)
    places = {query: (found.q_start, found.q_end), target: (found.t_start, found.t_end)}
    assert {read: tuple(int(place[0]) for place in both) for read, both in places.items()} == {
        0: (start, end), 1: (0, len(piece))
    }  # fmt: skip


def between(reads, places):
    """Overlaps of reads with themselves whose intervals all begin and end at the same places."""
    none = np.zeros(len(reads), np.int32)
    return Overlaps(
        reads, reads, none > 0, places, places, places, places, matches=none, block_length=none, score=none,
        seeds=none, divergence=np.zeros(len(reads)), kind=none,
    )  # fmt: skip
