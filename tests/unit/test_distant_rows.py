"""Which rows of a read are left out because they diverge too much."""

import numpy as np
import pytest

from graph.consensus import Rows
from graph.correct import without_distant


def rows(divergence, target=None):
    n = len(divergence)
    zero = np.zeros(n, np.int64)
    target = zero if target is None else target
    return Rows(target, np.arange(n), zero > 0, zero, zero + 100, zero, zero + 100, zero, divergence)


@pytest.mark.parametrize(
    ("divergence", "kept"),
    [
        ([0.005] * 20 + [0.03] * 40, 20),
        ([0.03] * 40 + [0.005] * 10, 10),
        ([0.03] * 40 + [0.005] * 9, 49),
        ([0.26] * 20 + [0.3] * 20, 40),
        ([0.0] * 20 + [0.009] * 20 + [0.011] * 3, 40),
        ([0.004, 0.004, 0.02], 2),
        ([np.nan] * 5 + [0.002] * 30 + [0.05], 35),
        ([np.nan] * 30, 30),
        ([], 0),
    ],
)
def test_rows_that_diverge_as_other_copies_do_are_left_out(divergence, kept):
    assert len(without_distant(rows(divergence))) == kept


def test_each_read_has_a_limit_of_its_own():
    target = np.repeat([3, 5], 30)
    found = without_distant(rows([0.005] * 10 + [0.04] * 20 + [0.04] * 30, target))
    assert np.bincount(found.target).tolist() == [0, 0, 0, 10, 0, 30]
