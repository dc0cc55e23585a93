"""The adaptive score threshold."""

import numpy as np
import pytest

from overlapper.extend.threshold import score_threshold
from overlapper.params.stages import GactParams, ThresholdParams, XdropParams

UNIT = XdropParams(match=1, mismatch=-1, gap=-1)


def test_unit_scores_give_the_published_one():
    span = np.array([1000])
    assert score_threshold(span, UNIT, ThresholdParams(delta=0.0, error_rate=0.15)) == pytest.approx(445.0)
    assert score_threshold(span, UNIT, ThresholdParams(delta=0.1, error_rate=0.15)) == pytest.approx(400.5)


def test_never_below_0():
    threshold = ThresholdParams(delta=0.1, error_rate=0.4)
    assert score_threshold(np.array([1000, 0]), UNIT, threshold).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        (XdropParams(match=2, mismatch=-3, gap=-5), 1000 * (2 * 0.81 - 5 * 0.19)),
        (XdropParams(match=2, mismatch=-5, gap=-3), 1000 * (2 * 0.81 - 5 * 0.19)),
        (GactParams(match=2, mismatch=-3, gap_open=-40, gap_extend=-1), 1000 * (2 * 0.81 - 3 * 0.19)),
    ],
)
def test_the_dearer_penalty_counts(scores, expected):
    threshold = ThresholdParams(delta=0.0, error_rate=0.1)
    assert score_threshold(np.array([1000]), scores, threshold) == pytest.approx(expected)
