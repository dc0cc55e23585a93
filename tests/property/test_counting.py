"""k-mer counting against its oracle."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.errors import ParameterError
from overlapper.kernels.seeds import counting
from overlapper.sketch.counting import count_kmers
from tests.oracle import counting as oracle
from tests.read_sets import reads_of
from tests.tries import tries

blocks = st.lists(st.sampled_from(["ACGGTCATTG", "A", "CG", "TTTTGACC", "CAATGACCGT", "N"]), max_size=20)
sequences = st.one_of(st.text("ACGTACGTN", max_size=80), blocks.map("".join))


def unpacked(occurrences):
    return [(int(o) >> 32, (int(o) >> 1) & 0x7FFFFFFF, bool(o & 1)) for o in occurrences]


@settings(max_examples=tries(200), deadline=None)
@given(
    st.lists(sequences, max_size=6), st.integers(1, 31), st.integers(1, 4), st.integers(0, 6),
    st.sampled_from([7, 50, 1 << 20]),
)  # fmt: skip
def test_counts_equal_the_oracle_however_reads_are_cut(texts, k, lower, width, block_bases):
    with mock.patch.multiple("overlapper.sketch.counting", _BLOCK_BASES=block_bases, _MOST_BLOCKS=1 << 20):
        counts = count_kmers(reads_of(texts), k, lower=lower, upper=lower + width, most=20)
    table = oracle.occurrences(texts, k)
    of_read = [
        sum(place[0] == read for places in table.values() for place in places) for read in range(len(texts))
    ]
    assert counts.of_read.tolist() == of_read
    expected = np.zeros(21, np.int64)
    for places in table.values():
        expected[min(len(places), 20)] += 1
    assert counts.spectrum.tolist() == expected.tolist()
    kept = [table[key] for key in sorted(table) if lower <= len(table[key]) <= lower + width]
    columns = np.split(counts.occurrences, counts.column_offsets[1:-1]) if kept else []
    assert [unpacked(column) for column in columns] == kept


@settings(max_examples=tries(200), deadline=None)
@given(st.integers(1, 31), st.data())
def test_mix_equals_the_oracle_and_is_invertible(k, data):
    kmers = data.draw(st.lists(st.integers(0, 4**k - 1), unique=True, max_size=20))
    mixed = [int(counting.mix(np.uint64(x), np.uint64(k), np.uint64(4**k - 1))) for x in kmers]
    assert mixed == [oracle.mix(x, k) for x in kmers]
    assert len(set(mixed)) == len(kmers)


def random_reads(count=60, length=40_000, seed=4):
    rng = np.random.default_rng(seed)
    genome = rng.choice(np.frombuffer(b"ACGT", np.uint8), 150_000)
    starts = rng.integers(0, len(genome) - length, count)
    return reads_of([genome[s : s + length].tobytes().decode() for s in starts])


@pytest.fixture(scope="module")
def reads():
    return random_reads()


def test_memory_and_threads_do_not_change_the_counts(reads):
    plain = count_kmers(reads, 15, lower=2, upper=12)
    for threads, memory in [(2, 512 << 20), (1, 4 << 20), (2, 1 << 20)]:
        other = count_kmers(reads, 15, lower=2, upper=12, threads=threads, memory=memory)
        assert np.array_equal(plain.spectrum, other.spectrum)
        assert np.array_equal(plain.column_offsets, other.column_offsets)
        assert np.array_equal(plain.occurrences, other.occurrences)


def test_both_strands_count_alike(reads):
    flip = str.maketrans("ACGT", "TGCA")
    flipped = reads_of([reads.sequence(i).translate(flip)[::-1] for i in range(len(reads))])
    one = count_kmers(reads, 17, lower=2, upper=30)
    other = count_kmers(flipped, 17, lower=2, upper=30)
    assert np.array_equal(one.spectrum, other.spectrum)
    assert np.array_equal(one.column_offsets, other.column_offsets)


def test_a_sample_of_kmers_keeps_whole_columns(reads):
    every = count_kmers(reads, 15, lower=2, upper=12)
    some = count_kmers(reads, 15, lower=2, upper=12, sampled=0.25)
    assert 0.2 < some.spectrum.sum() / every.spectrum.sum() < 0.3
    assert np.array_equal(some.occurrences, every.occurrences[: len(some.occurrences)])


@pytest.mark.parametrize(("k", "sampled"), [(0, 1.0), (32, 1.0), (15, 0.0), (15, 1.1)])
def test_bad_arguments(k, sampled):
    with pytest.raises(ParameterError, match="expected"):
        count_kmers(reads_of(["ACGT"]), k, lower=2, upper=3, sampled=sampled)
