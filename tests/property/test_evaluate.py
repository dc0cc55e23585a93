"""The vectorised evaluation equals its oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.evaluation.overlaps import evaluate_overlaps
from overlapper.io.reported import ReportedOverlaps
from overlapper.io.truth import Truth, TruthRow
from tests.oracle.evaluate import evaluate as oracle
from tests.tries import tries

CIRCLE = 60
READ_LENGTH = 45
READS = [f"r{i}" for i in range(8)]
KINDS = ["normal"] * 8 + ["chimera", "junk"]


@st.composite
def truths(draw, circular):
    rows = []
    once = st.lists(st.sampled_from(READS), unique=True)
    for read in draw(once) + draw(st.lists(st.sampled_from(READS), max_size=3)):
        kind = draw(st.sampled_from(KINDS))
        start = draw(st.integers(0, CIRCLE - 1))
        end = start + draw(st.integers(1, 80))
        if not circular:
            end = min(end, CIRCLE)
        strand = draw(st.sampled_from("+-"))
        if kind == "junk":
            rows.append((read, "*", 0, 0, ".", kind))
        else:
            rows.append((read, draw(st.sampled_from(["a", "a", "a", "b"])), start, end, strand, kind))
    return rows


@st.composite
def overlap_lists(draw):
    overlaps = []
    pairs = st.tuples(st.sampled_from(READS), st.sampled_from([*READS, "unknown"]))
    for query, target in draw(st.lists(pairs, max_size=25)):
        q_start, t_start = draw(st.integers(0, 30)), draw(st.integers(0, 30))
        q_end, t_end = q_start + draw(st.integers(0, 15)), t_start + draw(st.integers(0, 15))
        strand = draw(st.sampled_from("+-"))
        overlaps.append((query, READ_LENGTH, q_start, q_end, strand, target, t_start, t_end))
    return overlaps


def as_reported(overlaps):
    names = list(dict.fromkeys(name for o in overlaps for name in (o[0], o[5])))
    column = [np.array([o[i] for o in overlaps], np.int64) for i in (1, 2, 3, 6, 7)]
    return ReportedOverlaps(
        names=names,
        query=np.array([names.index(o[0]) for o in overlaps], np.int64),
        target=np.array([names.index(o[5]) for o in overlaps], np.int64),
        reverse=np.array([o[4] == "-" for o in overlaps], bool),
        q_length=column[0],
        q_start=column[1],
        q_end=column[2],
        t_length=np.full(len(overlaps), READ_LENGTH),
        t_start=column[3],
        t_end=column[4],
    )


def as_truth(rows):
    return Truth.from_rows(
        TruthRow(read, ref, start, end, strand, 0, end - start, end - start, kind, 0.9)
        for read, ref, start, end, strand, kind in rows
    )


COUNTS = ("true_pairs", "found", "claimed", "correct", "strand_errors")


def counts_of(scores):
    return {name: getattr(scores, name) for name in COUNTS}


@pytest.mark.parametrize("circles", [{}, {"a": CIRCLE}, {"a": CIRCLE, "b": 200}], ids=str)
@given(data=st.data(), minimum=st.integers(1, 12))
@settings(deadline=None, max_examples=tries(200))
def test_scores_equal_the_oracle(circles, data, minimum):
    rows = data.draw(truths(circular=bool(circles)))
    overlaps = data.draw(overlap_lists())
    known = {name: length for name, length in circles.items() if any(row[1] == name for row in rows)}
    result = evaluate_overlaps(as_truth(rows), as_reported(overlaps), min_overlap=minimum, circular=known)
    expected = oracle(rows, overlaps, minimum, known)
    errors = {name: expected.pop(name) for name in ("end_error", "end_error_p95")}
    found = {
        "overlaps": result.overlaps,
        "reported_pairs": result.reported_pairs,
        "unjudged_pairs": result.unjudged_pairs,
        **counts_of(result.total),
    }
    assert found == expected
    for name, value in errors.items():
        assert getattr(result.total, name) == (value if value is None else pytest.approx(value, abs=1e-9))


@given(data=st.data(), minimum=st.integers(1, 12))
@settings(deadline=None, max_examples=tries(100))
def test_bins_add_up_to_the_total(data, minimum):
    rows = data.draw(truths(circular=False))
    result = evaluate_overlaps(as_truth(rows), as_reported(data.draw(overlap_lists())), min_overlap=minimum)
    for bins in (result.by_length, result.by_identity):
        added = [sum(counts_of(b.scores)[name] for b in bins) for name in counts_of(result.total)]
        assert added == list(counts_of(result.total).values())
