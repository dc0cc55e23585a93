"""What columns of counted k-mers tell equals the oracle."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.assembly.haplotypes import columns_of
from overlapper.assembly.pieces import BIN, Pieces
from overlapper.kernels.seeds import kmer_columns
from overlapper.sketch.counting import KmerCounts
from tests.oracle import kmer_columns as oracle
from tests.tries import tries

LENGTHS = [9 * BIN, 4 * BIN + 1, 3 * BIN // 2]
place = st.integers(0, len(LENGTHS) - 1).flatmap(
    lambda sequence: st.tuples(st.just(sequence), st.integers(0, LENGTHS[sequence] - 1))
)
drawn_columns = st.lists(st.lists(place, min_size=1, max_size=4, unique=True).map(sorted), max_size=40)
on_one_thread_or_more = st.integers(1, 4)


def counts_of(columns):
    """Return columns as `KmerCounts`; every second occurrence is on the reverse strand."""
    places = list(itertools.chain(*columns))
    occurrences = [sequence << 32 | base << 1 | i % 2 for i, (sequence, base) in enumerate(places)]
    offsets = np.cumsum([0, *map(len, columns)])
    return KmerCounts(np.zeros(1, np.int64), offsets, np.array(occurrences, np.int64), np.zeros(3, np.int32))


@settings(max_examples=tries(200), deadline=None)
@given(drawn_columns, on_one_thread_or_more)
def test_kmers_that_are_not_in_two_equal_the_oracle(columns, threads):
    found = counts_of(columns).by_range(kmer_columns.not_in_two, threads=threads)
    places = [(one >> 32, (one & 0xFFFFFFFF) >> 1, one & 1) for one in np.concatenate(found).tolist()]
    assert places == oracle.not_in_two(columns)


@settings(max_examples=tries(200), deadline=None)
@given(drawn_columns, st.integers(1, 3), st.integers(0, 3), on_one_thread_or_more)
def test_frequent_kmers_equal_the_oracle(columns, least, behind, threads):
    counted = counts_of(columns)
    found = counted.by_range(kmer_columns.occurrences_of_frequent, least, behind, threads=threads)
    places = [(int(one) >> 32, (int(one) & 0xFFFFFFFF) >> 1) for one in np.concatenate(found)]
    assert places == list(itertools.chain(*oracle.frequent(columns, least, behind)))


@st.composite
def cut(draw):
    """Draw pieces of the sequences: (sequence, start, end, first site, behind the last one)."""
    rows = []
    for sequence, length in enumerate(LENGTHS):
        cuts = draw(st.lists(st.integers(1, length - 1), max_size=4, unique=True).map(sorted))
        for start, end in itertools.pairwise([0, *cuts, length]):
            sites = draw(st.tuples(st.integers(start, end), st.integers(start, end)).map(sorted))
            rows.append((sequence, start, end, *(sites if draw(st.booleans()) else [start] * 2)))
    return rows


def shared(columns, rows, k, threads):
    """Return what `oracle.shared` does, by the kernel."""
    sequence, start, end, first, behind = np.array(rows, np.int64).T
    pieces = Pieces(sequence.astype(np.int32), start, end, start, behind - first, first, behind)
    bins = 10
    found = counts_of(columns).by_range(
        kmer_columns.count_shared, columns_of(pieces, np.array(LENGTHS)), BIN, k, bins, threads=threads
    )
    keys, counts = kmer_columns.add_up(*map(np.concatenate, zip(*found, strict=True)))
    names = [(*divmod(key // 2 // bins, len(rows)), key // 2 % bins, bool(key % 2)) for key in keys.tolist()]
    assert len(set(names)) == len(names)
    return dict(zip(names, counts.tolist(), strict=True))


@settings(max_examples=tries(300), deadline=None)
@given(drawn_columns, cut(), st.sampled_from([1, 31, 700]), on_one_thread_or_more)
def test_shared_kmers_equal_the_oracle(columns, rows, k, threads):
    assert shared(columns, rows, k, threads) == oracle.shared(columns, rows, BIN, k)


def test_more_pairs_than_the_first_room():
    """Every pair of 61 pieces shares one k-mer: 1,830 pairs."""
    rows = [(0, 100 * i, 100 * i + 100, 100 * i, 100 * i + 100) for i in range(60)]
    rows += [(0, 6_000, 9_000, 6_000, 9_000)]
    rows += [(sequence, 0, length, 0, length) for sequence, length in enumerate(LENGTHS) if sequence]
    columns = [
        [(0, 100 * i + 7), (0, 100 * j + 9)]
        for i, j in itertools.combinations(range(61), 2)
        for _ in range(2)
    ]
    found = shared(columns, rows, 31, threads=3)
    assert found == oracle.shared(columns, rows, BIN, 31)
    assert len(found) == 2 * 1_830
