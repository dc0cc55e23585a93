"""Rows by small numbers; places in a consensus."""

import bisect
import random

import numpy as np
import pytest

from overlapper.kernels.common.sorting import order_by_number, taken_from_both
from overlapper.kernels.consensus.consensus_places import places_of_bases
from overlapper.tables.ragged import offsets_of


@pytest.mark.parametrize("n", [0, 1, 2, 500])
def test_rows_of_equal_numbers_keep_their_order(n):
    numbers = [random.Random(n).randrange(1 + n // 5) for _ in range(n)]
    order, starts = order_by_number(np.array(numbers, np.int32), 1 + n // 5)
    assert order.tolist() == sorted(range(n), key=numbers.__getitem__)
    assert starts.tolist() == [sum(other < number for other in numbers) for number in range(2 + n // 5)]


def test_rows_are_taken_from_two_arrays_as_from_one():
    first, second, rows = (
        np.arange(5, dtype=np.int32),
        np.arange(10, 13, dtype=np.int32),
        np.array([7, 0, 4, 5]),
    )
    assert taken_from_both(rows, first, second).tolist() == [12, 0, 4, 10]
    assert taken_from_both(rows[:0], first[:0], second[:0]).dtype == np.int32


def test_a_base_is_where_as_many_bases_come_before_it():
    rng = random.Random(7)
    origins = [sorted(rng.randrange(30) for _ in range(rng.randrange(40))) for _ in range(20)]
    asked = [(target, rng.randrange(33)) for target in range(20) for _ in range(10)]
    target, base = np.array(asked, np.int32).T
    origin, offsets = (
        np.concatenate(origins).astype(np.int32),
        offsets_of(np.array([len(o) for o in origins])),
    )
    places = places_of_bases(origin, offsets, target, base)
    assert places.tolist() == [bisect.bisect_left(origins[t], b) for t, b in asked]
