"""Edit paths equal those of the full matrix."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from overlapper.kernels.cpu.edit_paths import edit_path, new_matrix, reach
from tests.oracle import edit_paths as oracle

LONGEST = 300
MATRIX = new_matrix(LONGEST)
BASE = st.integers(0, 3)
TARGET = st.lists(st.one_of(BASE, BASE, BASE, st.just(4)), max_size=LONGEST)
READ = st.lists(st.one_of(BASE, BASE, BASE, st.just(5)), max_size=LONGEST)


@st.composite
def similar(draw):
    """A target of any length, and a read with errors in it."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    target = rng.integers(0, draw(st.integers(1, 4)), draw(st.integers(0, LONGEST - 60)))
    rate = draw(st.sampled_from([0.0, 0.1, 0.3]))
    read = []
    for base in target:
        kind = rng.random() / max(rate, 1e-9)
        read += (
            [base] if kind > 1 else [rng.integers(0, 4)] if kind > 0.6 else [base] * 2 if kind > 0.3 else []
        )
    return target.tolist(), [int(b) for b in read[:LONGEST]]


def path(target, read):
    before, behind = [3, 1], [2, 0, 0]
    t = np.array(before + target + behind, np.uint8)
    r = np.array(behind + read + before, np.uint8)
    starts = np.full(len(t) + 4, -7, np.int32)
    t0, r0 = len(before), len(behind)
    edit_path(t, t0, t0 + len(target), r, r0, r0 + len(read), MATRIX, starts, 2)
    outside = np.delete(starts, np.arange(2 + t0, 2 + t0 + len(target)))
    assert (outside == -7).all()
    return (starts[2 + t0 : 2 + t0 + len(target)] - r0).tolist()


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.tuples(TARGET, READ), similar()))
@example(([0] * 5, [0] * 3))
@example(([0], [0, 0]))
def test_path_equals_oracle(pair):
    target, read = pair
    assert path(target, read) == oracle.edit_path(target, read)


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.tuples(TARGET, READ), similar()))
def test_reach_equals_oracle(pair):
    pattern, text = pair
    p, x = np.array([*pattern, 1], np.uint8), np.array([*text, 1], np.uint8)
    assert reach(p, 0, len(pattern), x, 0, len(text), MATRIX) == oracle.reach(pattern, text)


def test_gaps_of_a_homopolymer_stand_at_its_right_end():
    assert path([3, 0, 0, 0, 3], [3, 0, 0, 3]) == [0, 1, 2, 3, 3]
    assert path([3, 0, 0, 3], [3, 0, 0, 0, 3]) == [0, 1, 2, 4]
