"""Edit paths equal those of the full matrix."""

from itertools import chain, pairwise

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from overlapper.kernels.common.edit_paths import edit_path, new_matrix, reach
from overlapper.kernels.consensus.gap_lanes import LONGEST as LONGEST_IN_LANES
from overlapper.kernels.consensus.gap_paths import ROOM, Aligned, add_gap, finish_gaps, new_gaps
from tests.oracle import edit_paths as oracle
from tests.tries import tries

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


@settings(max_examples=tries(150), deadline=None)
@given(st.one_of(st.tuples(TARGET, READ), similar()))
@example(([0] * 5, [0] * 3))
@example(([0], [0, 0]))
def test_path_equals_oracle(pair):
    target, read = pair
    assert path(target, read) == oracle.edit_path(target, read)


@settings(max_examples=tries(100), deadline=None)
@given(st.one_of(st.tuples(TARGET, READ), similar()))
def test_reach_equals_oracle(pair):
    pattern, text = pair
    p, x = np.array([*pattern, 1], np.uint8), np.array([*text, 1], np.uint8)
    assert reach(p, 0, len(pattern), x, 0, len(text), MATRIX) == oracle.reach(pattern, text)


def paths_together(pairs):
    """The paths of many pairs at a time; those of the targets and of the reads lie side by side."""
    target, bases = (np.array([*chain(*column)], np.uint8) for column in zip(*pairs, strict=True))
    gaps, starts = new_gaps(max(LONGEST, LONGEST_IN_LANES + 100)), np.full(len(target) + 3, -7, np.int32)
    aligned = Aligned(target, bases, starts)
    t = first = 0
    for m, n in ((len(a), len(b)) for a, b in pairs):
        # The read of a gap starts two bases before it, where it can.
        before = min(first, 2)
        add_gap(gaps, aligned, t, t + m, first - before, before, before + n, 2)
        starts[2 + t : 2 + t + m] -= before
        t, first = t + m, first + n
    waiting = [(int(g[4]), int(g[1]), int(g[5])) for g in gaps.gap[: gaps.size[0]]]
    finish_gaps(gaps, aligned)
    assert gaps.size[0] == 0
    for at, m, before in waiting:
        starts[at : at + m] -= before
    assert starts[0] == starts[1] == starts[-1] == -7
    lengths = np.cumsum([0] + [len(a) for a, _ in pairs])
    return [starts[2 + a : 2 + b].tolist() for a, b in pairwise(lengths)]


@settings(max_examples=tries(60), deadline=None)
@given(st.lists(st.one_of(st.tuples(TARGET, READ), similar()), min_size=1, max_size=20))
def test_paths_of_many_gaps_equal_oracle(pairs):
    assert paths_together(pairs) == [oracle.edit_path(target, read) for target, read in pairs]


def test_gaps_of_all_sizes():
    rng = np.random.default_rng(5)
    pairs = []
    for length in [*range(1, 140), 255, 256, 257, LONGEST_IN_LANES, LONGEST_IN_LANES + 1]:
        target = rng.integers(0, 3, length).tolist()
        read = [base for base in target if rng.random() > 0.2]
        pairs += [(target, read), (read, target)]
    found = paths_together(pairs)
    assert found == [path_of_any_length(*pair) for pair in pairs]


def path_of_any_length(target, read):
    starts = np.zeros(len(target), np.int32)
    t, r = np.array(target, np.uint8), np.array(read, np.uint8)
    edit_path(t, 0, len(t), r, 0, len(r), new_matrix(LONGEST_IN_LANES + 1), starts, 0)
    return starts.tolist()


def test_more_gaps_than_may_wait():
    pairs = [([0, 1, 2, 3], [0, 3])] * (ROOM + 9)  # gaps of one edit do not wait
    gaps = new_gaps(8)
    target, bases = (np.array([*chain(*column)], np.uint8) for column in zip(*pairs, strict=True))
    starts = np.zeros(len(target), np.int32)
    aligned = Aligned(target, bases, starts)
    for g in range(len(pairs)):
        add_gap(gaps, aligned, 4 * g, 4 * g + 4, 2 * g, 0, 2, 0)
    assert gaps.size[0] == 9
    finish_gaps(gaps, aligned)
    assert starts.reshape(-1, 4).tolist() == [[0, 1, 1, 1]] * len(pairs)


def test_gaps_of_a_homopolymer_stand_at_its_right_end():
    assert path([3, 0, 0, 0, 3], [3, 0, 0, 3]) == [0, 1, 2, 3, 3]
    assert path([3, 0, 0, 3], [3, 0, 0, 0, 3]) == [0, 1, 2, 4]
