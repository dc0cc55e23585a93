"""Evaluation: worked examples, and the same totals as an independent judge."""

import numpy as np
import pytest

from overlapper.errors import ParameterError
from overlapper.evaluation.overlaps import evaluate_overlaps
from overlapper.io.reported import ReportedOverlaps
from overlapper.io.truth import Truth, TruthRow
from overlapper.tables import Overlaps, Reads


def placed(read, start, end, strand="+", *, ref="g", kind="normal", identity=0.9):
    return TruthRow(read, ref, start, end, strand, 0, end - start, end - start, kind, identity)


def one_overlap(strand="+", q=(4000, 10000), t=(0, 6000)):
    return ReportedOverlaps(
        names=["b", "a"],
        query=np.array([1]),
        target=np.array([0]),
        reverse=np.array([strand == "-"]),
        q_length=np.array([10_000]),
        q_start=np.array([q[0]]),
        q_end=np.array([q[1]]),
        t_length=np.array([10_000]),
        t_start=np.array([t[0]]),
        t_end=np.array([t[1]]),
    )


DOVETAIL = Truth.from_rows([placed("a", 0, 10_000), placed("b", 4_000, 14_000)])


def test_a_right_overlap():
    total = evaluate_overlaps(DOVETAIL, one_overlap(q=(4010, 9900))).total
    assert (total.recall, total.precision, total.f1, total.strand_errors) == (1, 1, 1, 0)
    assert (total.end_error, total.end_error_p95) == (55, 95.5)


def test_a_wrong_strand_is_found_but_not_right():
    total = evaluate_overlaps(DOVETAIL, one_overlap("-")).total
    assert (total.recall, total.precision, total.strand_errors) == (1, 0, 1)
    assert total.end_error is None


def test_the_strand_that_the_places_imply():
    truth = Truth.from_rows([placed("a", 0, 10_000, "-"), placed("b", 4_000, 14_000)])
    total = evaluate_overlaps(truth, one_overlap("-", q=(0, 6000))).total
    assert (total.correct, total.end_error) == (1, 0)


def test_an_overlap_of_reads_that_share_less_than_half_its_span_is_wrong():
    truth = Truth.from_rows([placed("a", 0, 10_000), placed("b", 7_001, 17_001)])
    assert evaluate_overlaps(truth, one_overlap()).total.correct == 0
    truth = Truth.from_rows([placed("a", 0, 10_000), placed("b", 7_000, 17_000)])
    assert evaluate_overlaps(truth, one_overlap()).total.correct == 1


def test_a_circle_joins_its_ends():
    truth = Truth.from_rows([placed("a", 45_000, 55_000), placed("b", 0, 10_000)])
    assert evaluate_overlaps(truth, one_overlap()).total.true_pairs == 0
    for circular in (50_000, {"g": 50_000}):
        total = evaluate_overlaps(truth, one_overlap(q=(5000, 10000)), circular=circular).total
        assert (total.true_pairs, total.found, total.correct, total.end_error) == (1, 1, 1, 0)


@pytest.mark.parametrize("kind", ["chimera", "split", "junk"])
def test_reads_without_one_place_are_not_judged(kind):
    truth = Truth.from_rows([placed("a", 0, 10_000), placed("b", 4_000, 14_000, kind=kind)])
    result = evaluate_overlaps(truth, one_overlap())
    assert (result.total.true_pairs, result.total.claimed, result.unjudged_pairs) == (0, 0, 1)


def test_bins_hold_the_pairs_of_their_length_and_identity():
    result = evaluate_overlaps(DOVETAIL, one_overlap())
    assert [(b.low, b.high, b.scores.true_pairs) for b in result.by_length] == [(5000, 10000, 1)]
    assert [(b.low, b.high, b.scores.claimed) for b in result.by_identity] == [(0.8, 0.85, 1)]


def test_nothing_reported_scores_zero():
    none = ReportedOverlaps.empty()
    result = evaluate_overlaps(DOVETAIL, none)
    assert (result.total.recall, result.total.precision, result.total.f1) == (0, 0, 0)
    assert result.overlaps == result.reported_pairs == 0


def test_an_overlap_table_is_judged_like_its_paf():
    reads = Reads.from_sequences(["a", "b"], ["A" * 10_000, "A" * 10_000])
    others = {name: [0] for name in ("matches", "block_length", "score", "seeds", "divergence", "kind")}
    ends = {"q_start": [4000], "q_end": [10_000], "t_start": [0], "t_end": [6000]}
    table = Overlaps(query=[0], target=[1], reverse=[False], **ends, **others)
    assert evaluate_overlaps(DOVETAIL, ReportedOverlaps.from_table(table, reads)) == evaluate_overlaps(
        DOVETAIL, one_overlap()
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_overlap": 0}, "min_overlap is 0, expected 1 or more"),
        ({"circular": {"x": 5}}, "circular reference 'x' has no reads in the truth table"),
        ({"circular": {"g": -5}}, "length of the circular reference 'g' is -5, expected 1 or more"),
    ],
)
def test_bad_options_are_told(options, message):
    with pytest.raises(ParameterError, match=message):
        evaluate_overlaps(DOVETAIL, one_overlap(), **options)
