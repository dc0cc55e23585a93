"""Subsets of reads that fit a device."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.kernels.common.read_subsets import cut_by_reads, take_reads
from overlapper.kernels.common.walks import PackedReads
from tests.read_sets import reads_of, texts_of


@settings(deadline=None)
@given(
    pairs=st.lists(st.sampled_from(list(itertools.combinations(range(10), 2))), max_size=60),
    sizes=st.lists(st.integers(1, 20), min_size=10, max_size=10),
    limit=st.integers(1, 120),
)
def test_runs_are_as_long_as_their_reads_allow(pairs, sizes, limit):
    query, target = np.array(pairs, np.int32).reshape(-1, 2).T
    bounds = cut_by_reads(query, target, np.array(sizes, np.int64), limit).tolist()

    def taken(begin, end):
        return sum(sizes[read] for read in {read for pair in pairs[begin:end] for read in pair})

    assert bounds[0] == 0
    assert bounds[-1] == len(pairs)
    for begin, end in itertools.pairwise(bounds):
        assert begin < end
        assert end - begin == 1 or taken(begin, end) <= limit
        assert end == len(pairs) or taken(begin, end + 1) > limit


def test_chosen_reads_are_those_of_a_table():
    reads = reads_of(texts_of(3, unknown=0.8))
    packed = PackedReads.of(reads)
    for chosen in ([], [2], [5, 1, 1, 0], range(len(reads))):
        rows = np.array(chosen, np.int64)
        wanted = reads.take(rows)
        for name, column in take_reads(packed, rows)._asdict().items():
            expected = getattr(wanted, name)
            assert (column.dtype, column.tolist()) == (expected.dtype, expected.tolist()), name
