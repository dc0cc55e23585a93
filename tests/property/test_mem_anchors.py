"""Anchors and chains equal those of the oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.kernels.consensus import kmer_places
from overlapper.kernels.consensus import mem_anchors as kernel
from tests.oracle import mem_anchors as oracle
from tests.tries import tries


@st.composite
def overlaps(draw):
    """A target and a read with errors, repeats and unknown bases; intervals of both."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    unit = rng.integers(0, 4, draw(st.sampled_from([1, 2, 7, 30, 100, 500])))
    target = np.resize(unit, draw(st.integers(20, 400)))
    target[rng.random(len(target)) < 0.05] = 4
    rate = draw(st.sampled_from([0.0, 0.1, 0.25]))
    read = []
    for base in target:
        kind = rng.random() / max(rate, 1e-9)
        base = 5 if base > 3 else base
        read += (
            [base] if kind > 1 else [rng.integers(0, 4)] if kind > 0.6 else [base] * 2 if kind > 0.3 else []
        )
    read = [int(base) for base in read] + [0] * 20
    t = sorted(rng.integers(0, len(target) + 1, 2)) if draw(st.booleans()) else [0, len(target)]
    r = sorted(rng.integers(0, len(read) + 1, 2)) if draw(st.booleans()) else [0, len(read)]
    return target.tolist(), read, (int(t[0]), int(t[1]), int(r[0]), int(r[1]))


@settings(max_examples=tries(150), deadline=None)
@given(
    overlaps(),
    st.integers(4, 12),
    st.sampled_from([10, 60, 1000]),
    st.sampled_from([0, 30, 1000]),
    st.sampled_from([0, 40, 1000]),
)
def test_anchors_and_chain_equal_oracle(overlap, k, band, max_gap, more):
    target, read, window = overlap
    t, r = np.array(target, np.uint8), np.array(read, np.uint8)
    index = kmer_places.new_index(len(t))
    kmer_places.index_kmers(t, len(t), k, kernel.reach_of(band) + more, index)
    rows, heads = np.empty((300, 3), np.int32), index.heads.copy()
    n, _ = kernel.find_anchors(t, r, window, k, band, index, rows)
    assert (index.heads == heads).all()
    found = oracle.anchors(
        target, read, window, k, band, kernel.MOST_PLACES, kernel.AWAY, kernel.TURN, len(rows)
    )
    assert [tuple(row) for row in rows[:n].tolist()] == found
    if n:
        memory = kernel.new_columns(n), np.empty(kernel.DIAGONALS, np.int32)
        size = kernel.best_chain(rows, n, max_gap, *memory)
        limits = kernel.LOOK_BACK, kernel.MAX_SHIFT, kernel.NEAR
        chain = oracle.best_chain(found, max_gap, *limits)
        assert [tuple(row) for row in rows[:size].tolist()] == chain


@pytest.mark.parametrize(("unit", "copies", "band"), [(24, 40, 400), (128, 14, 800)])
def test_long_matches_follow_each_other_across_the_short_ones_of_tandem_copies(unit, copies, band):
    """Copies of 128 bases match on the diagonals 512, 640 and so on, too; these hide none on others."""
    rng = np.random.default_rng(1)
    of_unit = rng.integers(0, 4, unit)
    array = np.concatenate(
        [np.where(rng.random(unit) < 0.06, rng.integers(0, 4, unit), of_unit) for _ in range(copies)]
    )
    target = np.concatenate([rng.integers(0, 4, 300), array, rng.integers(0, 4, 300)]).tolist()
    read = target.copy()
    for place in range(150, len(read), 350):
        read[place] = (read[place] + 1) % 4
    window = (0, len(target), 0, len(read))
    found = oracle.anchors(target, read, window, 9, band, kernel.MOST_PLACES, kernel.AWAY, kernel.TURN, 10**6)
    rows, n = np.array(found, np.int32), len(found)
    memory = kernel.new_columns(n), np.empty(kernel.DIAGONALS, np.int32)
    size = kernel.best_chain(rows, n, 1000, *memory)
    chain = [tuple(row) for row in rows[:size].tolist()]
    assert len({j - i for i, j, _ in chain}) == 1
    limits = kernel.LOOK_BACK, kernel.MAX_SHIFT
    assert chain == oracle.best_chain(found, 1000, *limits, kernel.NEAR)
    nearest_alone = oracle.best_chain(found, 1000, *limits, -1)
    assert len({j - i for i, j, _ in nearest_alone}) > 1
