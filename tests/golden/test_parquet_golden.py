"""Parquet files written once must stay readable, and mean the rows of the PAF files beside them."""

from pathlib import Path

import numpy as np
import pytest

from overlapper.io.paf import read_paf
from overlapper.io.parquet import read_parquet

HERE = Path(__file__).parent
NAMES = {"chains": ["read/1", "read/2", "red"], "alignments": ["a", "b", "c"]}


def assert_equal(overlaps, expected):
    for column in overlaps.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(overlaps, column), getattr(expected, column), err_msg=column)


@pytest.mark.parametrize("name", NAMES)
def test_parquet_is_the_paf_beside_it(name):
    overlaps = read_parquet(HERE / f"{name}.parquet", NAMES[name])
    assert_equal(overlaps, read_paf(HERE / f"{name}.paf", NAMES[name]))
