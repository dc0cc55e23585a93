"""Minimizers that queries and targets of a tile share, and marked places, against plain Python."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.io.artifacts import finished, writing
from overlapper.kernels.seeds.counting import select_marked
from overlapper.kernels.seeds.seed_index import share_bucket
from overlapper.sketch.chosen_seeds import ChosenSeeds, write_seeds
from overlapper.tables.ragged import offsets_of
from tests.oracle.minimizers import minimizers
from tests.read_sets import random_text, reads_of
from tests.tries import tries

LOW_BIT, REST_BITS = 13, 8
ENTRIES = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 999), st.integers(0, 1)),
    max_size=60,
    unique_by=lambda entry: entry[1],
)


@settings(max_examples=tries(200), deadline=None)
@given(entries=ENTRIES, first_target=st.sampled_from([0, 1, 300, 999]))
def test_what_queries_and_targets_share_is_kept(entries, first_target):
    by_base = sorted(entries, key=lambda entry: entry[1])
    packed = np.array([rest << LOW_BIT | base << 1 | strand for rest, base, strand in by_base], np.uint64)
    n = share_bucket(packed, np.empty_like(packed), LOW_BIT, REST_BITS, first_target, packed)
    expected = []
    for rest in range(13):
        group = sorted(entry for entry in entries if entry[0] == rest)
        of_queries = [entry for entry in group if entry[1] < first_target]
        if len(of_queries) < len(group) and (of_queries or (not first_target and len(group) > 1)):
            expected += group
    mask = (1 << LOW_BIT - 1) - 1
    assert [(v >> LOW_BIT, v >> 1 & mask, v & 1) for v in packed[:n].tolist()] == expected


@settings(max_examples=tries(100), deadline=None)
@given(seed=st.integers(0, 2**32), cut=st.tuples(st.integers(0, 300), st.integers(0, 300)))
def test_marked_k_mers_are_hashed_as_minimizers_are(seed, cut):
    text = random_text(np.random.default_rng(seed), 300)
    expected, (begin, end) = minimizers(text, 11, 4), sorted(cut)
    marks = np.zeros(10, np.uint32)
    for _, position, _ in expected:
        marks[position // 32] |= np.uint32(1 << position % 32)
    hashes, places = np.empty((2, 300), np.uint64)
    n = select_marked(reads_of([text]).words, marks, 11, begin, end, hashes, places)
    found = list(zip(hashes[:n].tolist(), (places[:n] >> np.uint64(1)).tolist(), strict=True))
    assert found == [(value, position) for value, position, _ in expected if begin <= position < end]


@settings(max_examples=tries(50), deadline=None)
@given(
    words=st.lists(st.integers(0, 4), min_size=1, max_size=8),
    data=st.data(),
    memory=st.sampled_from([1, 24, 999]),
)
def test_places_are_marked_whatever_memory_there_is(words, data, memory, tmp_path_factory):
    word_offsets = offsets_of(np.array(words))
    bases = data.draw(st.sets(st.integers(0, max(0, 32 * sum(words) - 1)), max_size=40 if sum(words) else 0))
    path = tmp_path_factory.mktemp("seeds") / "seeds"
    some = np.array(sorted(bases), np.int64)
    with writing(path) as artifact:
        write_seeds(
            artifact, word_offsets, np.zeros(len(words), np.int32), lambda: [some[::2], some[1::2]], memory
        )
        artifact.save("bounds", np.array([0, len(words)]))
        artifact.facts["counts"] = {}
    chosen = ChosenSeeds(finished(path))
    for read in range(len(words)):
        first, last = (32 * word_offsets[read : read + 2]).tolist()
        expected = [base - first for base in sorted(bases) if first <= base < last]
        assert chosen.seeding(read, read + 1).positions.tolist() == expected
    assert chosen.of_blocks([0]).starts[-1] == len(bases)
