"""What is planned for extensions on GPUs, beside plain Python."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.kernels.xdrop import walk_plan

pairs_of_steps = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=60)


def columns(pairs):
    return np.array(pairs, np.int64).reshape(-1, 2).T.copy()


def test_an_extension_has_all_bases_before_it_that_its_reads_have():
    lengths = np.array([100, 60])
    query, target = np.array([0, 0], np.int32), np.array([1, 1], np.int32)
    reverse = np.array([False, True])
    q_steps, t_steps = walk_plan.walk_lengths(
        lengths, query, target, reverse, np.array([30, 30]), np.array([10, 10]), 5
    )
    assert q_steps.tolist() == [30, 65, 30, 65]
    assert t_steps.tolist() == [10, 45, 45, 10]


@settings(deadline=None)
@given(pairs_of_steps, st.integers(1, 4), st.randoms(use_true_random=False))
def test_the_longest_of_each_class_come_first(pairs, count, random):
    q_steps, t_steps = columns(pairs)
    classes = np.array([random.randrange(count) for _ in pairs], np.int64)
    order, bounds = walk_plan.longest_first(q_steps, t_steps, classes, count)
    assert sorted(order.tolist()) == list(range(len(pairs)))
    assert bounds.tolist() == [int((classes < c).sum()) for c in range(count + 1)]
    for c in range(count):
        items = order[bounds[c] : bounds[c + 1]]
        assert (classes[items] == c).all()
        lengths = np.minimum(q_steps, t_steps)[items]
        assert (np.diff(lengths) <= 0).all(), "so few lengths are all told apart"
