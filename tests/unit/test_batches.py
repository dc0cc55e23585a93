"""Batches of candidates for GPUs: all candidates in order, no batch too large, the last ones small."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlapper.extend import batches
from overlapper.runtime.threads import cut_evenly
from overlapper.tables import Candidates


def blocks_of(sizes):
    """Return blocks of candidates that are numbered through by their queries."""
    bounds = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    for begin, end in itertools.pairwise(bounds):
        number = np.arange(begin, end, dtype=np.int32)
        nothing = np.zeros(len(number), np.int32)
        yield Candidates(number, number + 1, nothing > 0, *[nothing] * 4, seed_length=3)


def sizes_of(sizes, slots, most):
    return [len(b) for b in batches.in_batches(blocks_of(sizes), len(sizes), slots, most)]


@given(
    st.lists(st.integers(0, 90_000), max_size=30),
    st.integers(1, 12),
    st.sampled_from([16_000, 50_000, 128_000]),
)
def test_candidates_keep_their_order(sizes, slots, most):
    found = list(batches.in_batches(blocks_of(sizes), len(sizes), slots, most))
    numbers = np.concatenate([np.empty(0, np.int32), *(batch.query for batch in found)])
    assert np.array_equal(numbers, np.arange(sum(sizes)))
    # A batch is complete with the block that makes it large enough.
    assert all(len(batch) < most + max(sizes) for batch in found)


def test_batches_rise_and_shrink_again():
    found = sizes_of([1000] * 3000, slots=12, most=64_000)
    assert found[:3] == [16_000, 20_000, 25_000]
    largest = found.index(max(found))
    assert max(found) == 64_000
    assert found[:largest] == sorted(found[:largest])
    # With as many slots as share what is left, none has more to do at the end than one small batch.
    assert sorted(found[largest:], reverse=True) == found[largest:]
    assert found[-2] == 16_000


def test_few_slots_get_large_batches_for_longer():
    few, many = (sizes_of([1000] * 3000, slots, 64_000) for slots in (3, 12))
    assert few.count(64_000) > many.count(64_000)
    assert len(few) < len(many)


@given(st.lists(st.integers(0, 30), max_size=60), st.integers(1, 60), st.integers(0, 9))
def test_blocks_rise_to_their_share(weights, share, rising):
    weights = np.array(weights, np.int64)
    bounds = batches.cut_rising(weights, share, rising)
    assert bounds[0] == 0
    assert bounds[-1] == len(weights)
    assert (np.diff(bounds) > 0).all()
    heaviest = weights.max(initial=0)
    assert all(weights[a:b].sum() <= share + heaviest for a, b in itertools.pairwise(bounds))


@pytest.mark.parametrize(("rising", "expected"), [(0, [8, 8, 8]), (4, [2, 4, 6, 8, 4]), (1, [8, 8, 8])])
def test_the_first_blocks_are_smaller(rising, expected):
    bounds = batches.cut_rising(np.ones(24, np.int64), 8, rising)
    assert np.diff(bounds).tolist() == expected


def test_without_rising_blocks_are_even():
    weights = np.arange(50)
    assert np.array_equal(batches.cut_rising(weights, 60, 0), cut_evenly(weights, 60))
