"""Occurrences packed in bytes, and their numbers by read, equal the oracle."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlapper.kernels.seeds.occurrences import SPARE
from overlapper.kernels.seeds.seed_groups import read_of_words
from overlapper.kernels.seeds.seed_lists import pack_entries
from overlapper.sketch import occurrences as packing
from overlapper.sketch import seed_lists
from overlapper.sketch.occurrences import OccurrenceLayout, Occurrences
from overlapper.sketch.page_chains import EntryLayout
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import words_for
from tests.oracle import occurrences as oracle
from tests.tries import tries

LAYOUT = EntryLayout(bucket_bits=4, base_bits=24, rest_bits=20)
LENGTHS = st.lists(st.sampled_from([1, 2, 31, 32, 33, 255, 256, 257, 5000]), min_size=1, max_size=20)


@st.composite
def read_sets(draw):
    """Lengths of reads, and groups of (read, position, strand), no two at the same base."""
    lengths = draw(LENGTHS)
    places = draw(
        st.lists(
            st.integers(0, len(lengths) - 1).flatmap(
                lambda read: st.tuples(
                    st.just(read), st.integers(0, lengths[read] - 1), st.integers(0, 1), st.integers(0, 9)
                )
            ),
            max_size=60,
            unique_by=lambda place: place[:2],
        )
    )
    groups = [sorted(place[:3] for place in places if place[3] == group) for group in range(10)]
    return lengths, [group for group in groups if group]


def packed(lengths, groups, buckets):
    """Return groups packed in so many buckets and stretches, with room between them."""
    word_offsets = offsets_of(words_for(np.array(lengths)))
    n = sum(map(len, groups))
    found = Occurrences.empty(np.array(lengths), 32 * int(word_offsets[-1]), n + 3 * buckets, buckets)
    first = 0
    for bucket in range(buckets):
        entries = [
            (rest << LAYOUT.rest_low_bit) | (32 * int(word_offsets[read]) + position) << 1 | strand
            for rest, group in enumerate(groups[bucket::buckets])
            for read, position, strand in group
        ]
        pack_entries(
            np.array(entries, np.uint64), LAYOUT.rest_low_bit, read_of_words(word_offsets), word_offsets,
            *found.columns, first, found.block_bits, found.per_block[bucket],
        )  # fmt: skip
        found.stretches.append((first, first + len(entries)))
        first += len(entries) + 3
    return found, word_offsets


@settings(max_examples=tries(150), deadline=None)
@given(read_sets())
def test_occurrences_are_packed_as_the_oracle_says(given_reads):
    lengths, groups = given_reads
    found, _ = packed(lengths, groups, 1)
    expected = oracle.of_groups(groups)
    assert tuple(found.layout) == oracle.layout(lengths)
    assert found.packed[: len(found.packed) - SPARE - 3 * found.layout.width].tobytes() == oracle.packed(
        expected, *found.layout
    )
    on_gpus = oracle.packed(expected, 8, 31)
    words = np.empty(len(expected), np.uint64)
    for first in range(0, len(expected), 7):
        found.widen(first, words[first : first + 7])
    assert words.tobytes() == on_gpus
    assert [found.hits(step) for step in (1, 3)] == [oracle.hits(expected, step) for step in (1, 3)]


@pytest.mark.parametrize(
    ("reads", "longest", "width"),
    [
        (1, 1, 1),
        (2, 1, 1),
        (1 << 6, 1, 1),
        (1 << 6, 2, 2),
        (1 << 17, 1 << 21, 5),
        ((1 << 17) + 1, 1 << 21, 6),
    ],
)
def test_no_byte_more_than_places_need(reads, longest, width):
    lengths = np.ones(reads, np.int64)
    lengths[0] = longest
    assert OccurrenceLayout.choose(lengths).width == width


@settings(max_examples=tries(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    given_reads=read_sets(), buckets=st.integers(1, 4), together=st.integers(1, 70), cut=st.integers(0, 60)
)
def test_numbers_by_read_equal_the_oracle(given_reads, buckets, together, cut):
    lengths, groups = given_reads
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "BLOCK_BITS", 8)
        patch.setattr(seed_lists, "LISTED_TOGETHER", together)
        found, word_offsets = packed(lengths, groups, buckets)
        lists = seed_lists.HostSeedLists(found, word_offsets, 2)
    occurrences = [one for bucket in range(buckets) for one in oracle.of_groups(groups[bucket::buckets])]
    number_of = [number for start, stop in found.stretches for number in range(start, stop)]
    expected = [
        0xFFFFFFFF if number is None else number_of[number]
        for number in oracle.numbers_by_read(occurrences, None)
    ]
    n, cut = len(expected), min(cut, len(expected))
    assert lists.numbers(0, n).tolist() == expected
    assert lists.numbers(cut, n).tolist() == expected[cut:]
    assert lists.numbers(0, cut).tolist() == expected[:cut]
    assert lists.marks.tolist() == marks_of(occurrences, word_offsets)


def marks_of(occurrences, word_offsets):
    marks = [0] * int(word_offsets[-1])
    for _, read, position, _ in occurrences:
        marks[int(word_offsets[read]) + position // 32] |= 1 << position % 32
    return marks
