"""Anchors and chains equal those of the oracle."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.kernels.cpu import mem_anchors as kernel
from tests.oracle import mem_anchors as oracle


@st.composite
def overlaps(draw):
    """A target and a read with errors, repeats and unknown bases; intervals of both."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    unit = rng.integers(0, 4, draw(st.sampled_from([1, 2, 7, 500])))
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


@settings(max_examples=150, deadline=None)
@given(overlaps(), st.integers(4, 12), st.sampled_from([10, 60, 1000]), st.sampled_from([0, 30, 1000]))
def test_anchors_and_chain_equal_oracle(overlap, k, band, max_gap):
    target, read, window = overlap
    t, r = np.array(target, np.uint8), np.array(read, np.uint8)
    index = kernel.new_index(len(t))
    kernel.index_kmers(t, len(t), k, index)
    rows, heads = np.empty((300, 3), np.int32), index.heads.copy()
    n = kernel.find_anchors(t, r, window, k, band, index, rows)
    assert (index.heads == heads).all()
    found = oracle.anchors(target, read, window, k, band, kernel.MOST_PLACES, len(rows))
    assert [tuple(row) for row in rows[:n].tolist()] == found
    if n:
        size = kernel.best_chain(rows, n, max_gap, *np.empty((3, n), np.int32))
        chain = oracle.best_chain(found, max_gap, kernel.LOOK_BACK, kernel.MAX_SHIFT)
        assert [tuple(row) for row in rows[:size].tolist()] == chain
