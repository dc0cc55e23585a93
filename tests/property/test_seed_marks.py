"""Seeds between two bases, counted by marks and ranks, against a list of them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.kernels.seeds.seed_marks import count_marks, marked_between
from overlapper.sketch.seeding_at import seeding_at
from overlapper.tables import Seeding
from overlapper.tables.reads import BASES_PER_WORD, words_for
from tests.tries import tries


@st.composite
def seeded_reads(draw):
    lengths = draw(st.lists(st.integers(0, 400), max_size=6))
    positions = [sorted(draw(st.sets(st.integers(0, n - 1), max_size=40))) if n else [] for n in lengths]
    return lengths, positions


def table_of(lengths, positions):
    word_offsets = np.concatenate([[0], np.cumsum(words_for(np.array(lengths, np.int64)))])
    joined = np.array([p for of_read in positions for p in of_read], np.int32)
    starts = np.cumsum([0] + [len(p) for p in positions])
    return seeding_at(np.zeros(len(lengths), np.int32), joined, starts, word_offsets)


@settings(max_examples=tries(200), deadline=None)
@given(seeded_reads())
def test_positions_are_those_that_were_marked(case):
    lengths, positions = case
    seeding = table_of(lengths, positions).validate()
    assert seeding.positions.tolist() == [p for of_read in positions for p in of_read]
    assert np.diff(seeding.starts).tolist() == [len(p) for p in positions]


@settings(max_examples=tries(200), deadline=None)
@given(seeded_reads(), st.data())
def test_seeds_between_two_bases_are_counted(case, data):
    lengths, positions = case
    seeding = table_of(lengths, positions)
    for read, length in enumerate(lengths):
        if length:
            start, stop = sorted(data.draw(st.tuples(*[st.integers(0, length - 1)] * 2)))
            first = int(seeding.word_offsets[read]) * BASES_PER_WORD
            counted = marked_between(seeding.marks, seeding.ranks, first + start, first + stop)
            assert counted == sum(start <= p < stop for p in positions[read])


@settings(max_examples=tries(200), deadline=None)
@given(seeded_reads())
def test_kernel_counts_as_the_table_does(case):
    seeding = table_of(*case)
    ranks, starts = np.empty_like(seeding.ranks), np.empty_like(seeding.starts)
    count_marks(seeding.marks, seeding.word_offsets, ranks, starts)
    assert (ranks.tolist(), starts.tolist()) == (seeding.ranks.tolist(), seeding.starts.tolist())


def test_what_was_counted_already_is_not_counted_again():
    known = np.arange(3, dtype=np.uint32), np.arange(2)
    seeding = Seeding.counted(np.zeros(1, np.int32), np.zeros(9, np.uint32), np.array([0, 9]), *known)
    assert seeding.validate().ranks is known[0] and seeding.starts is known[1]


def test_ranks_may_overflow():
    seeding = table_of([300], [[0, 5, 130, 131, 299]])
    ranks = seeding.ranks + np.uint32(2**32 - 3)
    assert marked_between(seeding.marks, ranks, 1, 299) == 3
