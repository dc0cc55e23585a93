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


@settings(deadline=None)
@given(pairs_of_steps, st.integers(0, 60), st.integers(0, 120))
def test_the_smallest_room_that_fits_is_chosen(pairs, rows, longest):
    q_steps, t_steps = columns(pairs)
    usable = np.array([3, 9, 27])
    expected = []
    for q, t in pairs:
        needed = min(rows, q + 1, t + 1)
        fitting = [room for room, held in enumerate(usable) if held >= needed and q + t < longest]
        expected.append(fitting[0] if fitting else 3)
    assert walk_plan.smallest_fitting(q_steps, t_steps, rows, usable, longest).tolist() == expected


def test_results_go_to_their_rows_and_what_outgrew_its_room_is_returned():
    extensions, state_of = np.zeros((5, 3), np.int32), np.full(5, -1, np.int32)
    found = np.array([[7, 1, 2], [-1, 6, 0], [9, 3, 4]], np.int32)
    items = np.array([4, 1, 0])
    assert walk_plan.collect(found, items, -1, extensions, state_of).tolist() == [1]
    assert extensions.tolist() == [[9, 3, 4], [-1, 6, 0], [0, 0, 0], [0, 0, 0], [7, 1, 2]]
    assert state_of.tolist() == [-1, 6, -1, -1, -1]
