"""The sampling kernels against their oracle."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.kernels.common.walks import PackedReads
from overlapper.kernels.seeds import kmer_sample, prefix_edits
from overlapper.sketch import aligned_pairs, samples
from overlapper.tables import Reads
from tests.oracle import kmer_sample as oracle
from tests.oracle import prefix_edits as edit_oracle
from tests.read_sets import reads_of
from tests.tries import tries

repetitive = st.lists(st.sampled_from(["ACGGTCATTGCAAGTC", "A", "CG", "TTTTGACC", "N"]), max_size=24).map(
    "".join
)
sequences = st.one_of(st.text("ACGT", max_size=150), st.text("ACGTACGTACGTN", max_size=150), repetitive)
long_sequences = st.builds(
    lambda seed, bases: "".join(random.Random(seed).choices("ACGTN", [24, 24, 24, 24, 1], k=bases)),
    st.integers(0, 3), st.integers(64, 200),
)  # fmt: skip
"""Some begin alike."""
thresholds = st.sampled_from([2**32 - 1, 2**31, 2**28])


def kernel_sample(reads, threshold, first=0, last=None):
    last = len(reads) if last is None else last
    return kmer_sample.sample(PackedReads.of(reads), first, last, np.uint32(threshold))


def text_of(key):
    return "".join("ACGT"[int(key) >> shift & 3] for shift in range(62, -1, -2))


@settings(max_examples=tries(150), deadline=None)
@given(st.lists(sequences, max_size=5), thresholds)
def test_samples_equal_the_oracle(texts, threshold):
    reads = reads_of(texts)
    expected = []
    for start, text in zip(reads.word_offsets * 32, texts, strict=False):
        for stretch, at, reverse in oracle.sample(text, threshold):
            expected.append((stretch, ~(start + at) if reverse else start + at))
    keys, places = kernel_sample(reads, threshold)
    assert sorted(zip(map(text_of, keys), places, strict=True)) == sorted(expected)


def sorted_in_parts(reads, keys, places, bounds):
    """Return samples, places, reads and rooms, sorted by one call for all keys up to each bound."""
    columns = np.empty_like(keys), *(np.empty_like(places) for _ in range(3))
    bounds = sorted({*bounds, 2**64 - 1})
    for below, last in zip([-1, *bounds], bounds, strict=False):
        kmer_sample.sort_samples(
            keys, places, reads.word_offsets, reads.lengths, np.uint64(below + 1), np.uint64(last), *columns
        )
    return columns


@settings(max_examples=tries(100), deadline=None)
@given(
    st.lists(sequences | long_sequences, max_size=6),
    st.lists(st.integers(0, 2**64 - 1), max_size=3),
    st.data(),
)
def test_sorted_samples_know_their_reads(texts, bounds, data):
    reads = reads_of(texts)
    keys, places = kernel_sample(reads, 2**32 - 1)
    if len(keys):
        bounds += data.draw(st.lists(st.sampled_from(keys.tolist()), max_size=3))
    expected = []
    for key, place in sorted(zip(keys.tolist(), places.tolist(), strict=True), key=lambda row: row[0]):
        base = ~place if place < 0 else place
        read = max(i for i in range(len(texts)) if 32 * reads.word_offsets[i] <= base)
        at = base - 32 * reads.word_offsets[read]
        expected.append((key, place, read, at + 1 if place < 0 else len(texts[read]) - at))
    found = sorted_in_parts(reads, keys, places, bounds)
    assert list(zip(*(column.tolist() for column in found), strict=True)) == expected


@settings(max_examples=tries(100), deadline=None)
@given(st.lists(st.integers(0, 2**64 - 1) | st.sampled_from([0, 5, 2**64 - 1])), st.integers(1, 9))
def test_spans_hold_every_sample_once(keys, threads):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(samples, "_LEAST_SORTED", 1)
        found = samples._spans(np.array(keys, np.uint64), threads)
    spans = [(int(least), int(most)) for least, most in found]
    assert len(spans) <= threads
    assert (spans[0][0], spans[-1][1]) == (0, 2**64 - 1)
    assert all(before[1] + 1 == behind[0] for before, behind in itertools.pairwise(spans))
    assert all(least <= most for least, most in spans)


@settings(max_examples=tries(60), deadline=None)
@given(st.lists(st.integers(0, 2**64 - 1), max_size=20, unique=True), st.data())
def test_first_ones_are_those_of_the_whole_order(keys, data):
    reads = data.draw(st.lists(st.integers(0, 4), min_size=len(keys), max_size=len(keys)))
    most = data.draw(st.integers(1, 25))
    order = sorted(range(len(keys)), key=lambda row: keys[row])
    of_each = [next(row for row in order if reads[row] == read) for read in sorted(set(reads))]
    keys, reads = np.array(keys, np.uint64), np.array(reads, np.int64)
    assert aligned_pairs._first_of_all(keys, most).tolist() == order[:most]
    assert aligned_pairs._first_of_each(reads, keys, 6).tolist() == of_each


@settings(max_examples=tries(60), deadline=None)
@given(st.lists(repetitive, min_size=1, max_size=6), st.integers(16, 32), st.integers(2, 6))
def test_spectrum_and_pairs_equal_the_oracle(texts, k, most):
    keys, _ = kernel_sample(reads_of(texts), 2**32 - 1)
    ordered, stretches = np.sort(keys), [text_of(key) for key in keys]
    counted = kmer_sample.prefix_spectrum(ordered, k, 500)
    assert {m: n for m, n in enumerate(counted) if n} == oracle.spectrum(stretches, k)
    assert kmer_sample.prefix_pairs(ordered, k, most).tolist() == oracle.pairs(stretches, k, most)


@settings(max_examples=tries(100), deadline=None)
@given(st.lists(st.integers(0, 2), max_size=30), st.integers(2, 8))
def test_partners_share_k_bases_and_lie_on_other_reads(places, most):
    keys = np.sort(np.array(places, np.uint64))
    reads = np.arange(len(keys)) % 3
    rooms = np.arange(len(keys)) % 5
    partners = kmer_sample.pick_partners(keys, reads, rooms, 32, most, 1)
    for i, j in enumerate(partners):
        group = (keys == keys[i]).sum()
        if j >= 0:
            assert keys[i] == keys[j] and reads[i] != reads[j]
            assert rooms[i] >= 1 and rooms[j] >= 1 and 2 <= group <= most
    everywhere = kmer_sample.pick_partners(keys, np.arange(len(keys)), rooms, 32, most, 0)
    sizes = np.array([(keys == key).sum() for key in keys], np.int64)
    assert ((everywhere >= 0) == ((sizes >= 2) & (sizes <= most))).all()


@settings(max_examples=tries(100), deadline=None)
@given(st.data())
def test_edits_equal_the_full_matrix(data):
    one = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=150))
    change = st.one_of(st.just([]), st.lists(st.integers(0, 9), max_size=2))
    other = [
        new for base in one for new in (data.draw(change) if data.draw(st.integers(0, 5)) == 0 else [base])
    ]
    row = data.draw(st.integers(1, len(one)))
    expected = edit_oracle.row_minima([b if b < 4 else -1 for b in one], other, row)
    assert prefix_edits.row_minima(np.array(one, np.uint8), np.array(other, np.uint8), row) == expected


@settings(max_examples=tries(60), deadline=None)
@given(
    st.text("ACGT", min_size=60, max_size=60),
    st.data(),
    st.lists(st.integers(2, 30), min_size=1, max_size=4, unique=True),
    st.booleans(),
)
def test_shared_kmers_equal_the_oracle(text, data, ks, reverse):
    skip, length, slack = 10, 30, 20
    other = list(text)
    for i in data.draw(st.lists(st.integers(0, 59), max_size=8)):
        other[i] = "ACGT"["TGCA".index(other[i])]
    stored = "".join("TGCA"["ACGT".index(base)] for base in reversed(other)) if reverse else "".join(other)
    reads = Reads.from_sequences(["a", "b"], [text, stored])
    second = 32 * reads.word_offsets[1]
    shared = np.empty((1, len(ks)), np.int32)
    prefix_edits.pair_kmers(
        reads.words, np.array([0]), np.array([~(second + 59) if reverse else second]), slack, skip, length,
        np.array(sorted(ks)), shared,
    )  # fmt: skip
    expected = [edit_oracle.shared_kmers(text, "".join(other), skip, length, k) for k in sorted(ks)]
    assert shared[0].tolist() == expected


def test_places_unpack_on_either_strand():
    reads = Reads.from_sequences(["a", "b"], ["ACGTT", "GGCATTA" * 10])
    forward, backward = np.empty(20, np.uint8), np.empty(20, np.uint8)
    prefix_edits.unpack_from(reads.words, 32 + 10, forward)
    prefix_edits.unpack_from(reads.words, ~(32 + 29), backward)
    assert forward.tolist() == reads.codes(1)[10:30].tolist()
    assert backward.tolist() == (3 - reads.codes(1)[10:30][::-1]).tolist()


@pytest.mark.parametrize("k", [16, 32])
def test_nothing_gives_nothing(k):
    none = np.empty(0, np.uint64)
    assert kmer_sample.prefix_spectrum(none, k, 5).sum() == 0
    assert kmer_sample.prefix_pairs(none, k, 5).sum() == 0
