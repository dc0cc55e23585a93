"""The adaptive score threshold."""

import numpy as np
import pytest

from overlapper.extend.threshold import has_seeds, score_threshold
from overlapper.params.stages import GactParams, Params, ThresholdParams, XdropParams
from overlapper.tables import Candidates

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


@pytest.mark.parametrize(
    ("changes", "span", "expected"),
    [
        # Reads without errors that seed at every base share all, of which a tenth is needed.
        ({"window": 1}, 1000, [False, True]),
        # 2 * 10 / 40 of the bases are in minimizers.
        ({"window": 39}, 2000, [False, True]),
        # Of these, .95**20 are without errors.
        ({"window": 39, "error_rate": 0.05}, int(2000 / 0.95**20), [False, True]),
        ({"window": 1, "finder": "spgemm"}, 10**9, [True, True]),
    ],
)
def test_seeds_that_a_candidate_needs(changes, span, expected):
    params = Params().changed(
        {
            "finder": changes.get("finder", "dsoft"),
            "sketch": {"kmer_length": 10, "window": changes["window"]},
            "threshold": {"error_rate": changes.get("error_rate", 0.0)},
        }
    )
    columns = np.zeros((6, 2), np.int32)
    candidates = Candidates(
        *columns[:2], columns[2] > 0, *columns[3:5], np.array([99, 100], np.int32), columns[5] + span
    )
    assert has_seeds(candidates, params).tolist() == expected
