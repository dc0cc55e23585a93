import numpy as np
import pytest

from overlapper.errors import ParameterError
from overlapper.extend.classify import classify, reported_classes
from overlapper.tables import OverlapClass, Overlaps


def overlap(reverse, q_start, q_end, t_start, t_end):
    row = {name: [0] for name in ("matches", "block_length", "score", "seeds", "divergence", "kind")}
    return Overlaps(
        query=[0], target=[1], reverse=[reverse], q_start=[q_start], q_end=[q_end], t_start=[t_start],
        t_end=[t_end], **row,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("lengths", "row", "kind"),
    [
        # lengths, (reverse, q_start, q_end, t_start, t_end)
        ((10_000, 9_000), (False, 4_000, 10_000, 0, 6_100), OverlapClass.DOVETAIL),
        ((10_000, 9_000), (True, 4_000, 10_000, 2_900, 9_000), OverlapClass.DOVETAIL),
        ((10_000, 9_000), (True, 4_000, 10_000, 0, 6_100), OverlapClass.INTERNAL),
        ((10_000, 9_000), (False, 500, 9_400, 0, 9_000), OverlapClass.TARGET_CONTAINED),
        ((10_000, 29_000), (True, 0, 10_000, 5_000, 15_000), OverlapClass.QUERY_CONTAINED),
        ((10_000, 29_000), (False, 4_000, 6_000, 5_000, 7_000), OverlapClass.INTERNAL),
        ((70_000, 90_000), (False, 60_000, 70_000, 0, 10_000), OverlapClass.DOVETAIL),
    ],
)
def test_overlaps_drawn_by_hand(lengths, row, kind):
    assert classify(overlap(*row), np.array(lengths))[0] == kind


@pytest.mark.parametrize(
    ("lengths", "row", "kind"),
    [
        ((9_000, 30_000), (False, 0, 9_000, 5_000, 14_000), OverlapClass.QUERY_CONTAINED),
        ((9_000, 30_000), (True, 1_000, 9_000, 5_000, 13_000), OverlapClass.QUERY_CONTAINED),
        ((9_000, 30_000), (True, 1_001, 9_000, 5_000, 12_999), OverlapClass.DOVETAIL),
        ((900, 30_000), (False, 180, 900, 5_000, 5_720), OverlapClass.QUERY_CONTAINED),
        ((900, 30_000), (False, 181, 900, 5_000, 5_719), OverlapClass.DOVETAIL),
        ((30_000, 900), (False, 5_000, 5_700, 100, 800), OverlapClass.DOVETAIL),
        ((900, 30_000), (False, 180, 899, 5_000, 5_800), OverlapClass.DOVETAIL),
        ((30_000, 900), (False, 5_000, 5_740, 80, 820), OverlapClass.TARGET_CONTAINED),
        ((30_000, 30_000), (False, 20_000, 24_000, 3_000, 7_000), OverlapClass.DOVETAIL),
    ],
)
def test_reported_containments_are_of_reads_that_match_over_all_of_them(lengths, row, kind):
    assert reported_classes(overlap(*row), np.array(lengths))[0] == kind


@pytest.mark.parametrize(("hang", "kind"), [(1000, OverlapClass.DOVETAIL), (1001, OverlapClass.INTERNAL)])
def test_max_hang_is_the_longest_hang_allowed(hang, kind):
    row = overlap(False, 15_000, 20_000 - hang, hang - 400, 5_000 - 400)
    assert classify(row, np.array([20_000, 30_000]), min_ratio=0.0)[0] == kind


@pytest.mark.parametrize(("match", "kind"), [(800, OverlapClass.DOVETAIL), (799, OverlapClass.INTERNAL)])
def test_min_ratio_is_exact(match, kind):
    row = overlap(False, 5_000, 5_000 + match, 100, 100 + match)
    assert classify(row, np.array([5_100 + match, 30_000]), min_ratio=0.8)[0] == kind


def test_of_reads_of_the_same_extent_the_shorter_is_contained():
    shorter_query = classify(overlap(False, 0, 90, 0, 100), np.array([90, 100]))
    same_length = classify(overlap(True, 0, 100, 0, 100), np.array([100, 100]))
    assert (shorter_query[0], same_length[0]) == (OverlapClass.QUERY_CONTAINED, OverlapClass.TARGET_CONTAINED)


def test_an_interval_outside_its_read_is_named():
    with pytest.raises(ParameterError, match=r"row 0 lies outside its reads: query 0 \[0, 90\) of 80 bases"):
        classify(overlap(False, 0, 90, 0, 100), np.array([80, 100]))
