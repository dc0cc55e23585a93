"""Bases that many reads lie on and none votes on, and rows laid on unitigs."""

import dataclasses

import numpy as np
import pytest

from overlapper.correction.consensus import Consensus
from overlapper.correction.pileups import Pileups, Rows
from overlapper.correction.read_placement import bettered
from overlapper.correction.thresholds import stripping
from overlapper.correction.unvoted import UNVOTED, unvoted, warning
from overlapper.tables import Reads


def rows(**columns):
    """Rows of the columns given, others 0."""
    n = len(next(iter(columns.values())))
    names = [field.name for field in dataclasses.fields(Rows)]
    return Rows(**{name: np.array(columns.get(name, [0] * n)) for name in names})


def test_only_bases_under_many_reads_should_have_been_confirmed():
    """Of two targets of 8 bases, ten rows lie on 2 to 6 of the second one and nine on all of the first."""
    targets = Reads.from_sequences(["a", "b"], ["ACGTACGT"] * 2)
    on = rows(target=[0] * 9 + [1] * 10, t_start=[0] * 9 + [2] * 10, t_end=[8] * 9 + [6] * 10)
    quality = np.array([0] * 8 + [0, 0, 0, 0, 30, 0, 0, 0], np.uint8)
    made = Consensus(
        np.array([0, 8, 16]), np.tile(np.arange(4, dtype=np.uint8), 4), quality, quality,
        np.tile(np.arange(8, dtype=np.int32), 2), np.zeros((2, 11), np.int64),
    )  # fmt: skip
    assert unvoted(Pileups(targets, targets, on, targets_vote=False), made).tolist() == [10, 11, 13]


def test_a_run_says_which_share_had_no_vote():
    assert warning({UNVOTED: 0, "bases": 5_000}) == []
    (line,) = warning({UNVOTED: 1_200, "bases": 5_000})
    assert line.startswith(
        "warning: 1,200 of 5,000 bases are covered by 10 or more reads but are not confirmed"
    )
    for bases, begins in (
        (1_199_999, "warning: 1,200 of "),
        (1_200_001, "1,200 of 1,200,001 bases"),
    ):
        (line,) = warning({UNVOTED: 1_200, "bases": bases})
        assert line.startswith(begins)


@pytest.mark.parametrize(
    ("internal", "score", "expected"),
    [
        ([True, False], [50, 90], [True, False]),  # the read lies better elsewhere
        ([True, False], [90, 50], [False, False]),  # nowhere better: a bad end
        ([False, False], [50, 90], [False, False]),  # goes to the end: kept as before
    ],
)
def test_internal_matches_count_where_a_read_lies_best(internal, score, expected):
    on = rows(read=[3, 3], target=[0, 1], r_start=[100, 0], r_end=[300, 220], score=score)
    assert bettered(on, np.array(internal)).tolist() == expected


def test_internal_matches_of_other_parts_of_a_read_count():
    on = rows(
        read=[3, 3, 4], target=[0, 1, 1], r_start=[0, 250, 0], r_end=[300, 600, 300], score=[50, 90, 99]
    )
    assert not bettered(on, np.array([True, True, False])).any()


@pytest.mark.parametrize(
    ("excess", "layers", "expected"),
    [
        (0.0, 20, (56, 56)),
        (0.06, 20, (65, 48)),
        (0.4, 14, (70, 44)),
        (0.4, 40, (70, 40)),
        (0.4, 1e9, (70, 38)),
        (0.4, 2, (70, 56)),
    ],
)
def test_drafts_are_stripped_and_refilled_the_more_reads_insert(excess, layers, expected):
    assert stripping(excess, layers) == expected
