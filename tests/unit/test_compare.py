"""Comparisons: consensus, files, the page, and methods that fail."""

import json

import numpy as np
import pytest

from overlapper.compare.comparison import Comparison, Costs, Method
from overlapper.compare.overlaps import compare_overlaps, consensus_scores, ends_of
from overlapper.compare.processes import run_measured
from overlapper.errors import ParameterError
from overlapper.io.reported import ReportedOverlaps
from overlapper.report.comparison import build_comparison
from tests.read_sets import reads_of

READS = reads_of(["A" * 1000] * 3)


def overlaps(*rows):
    """Rows of query, target, reverse, q_start, q_end, t_start, t_end."""
    columns = np.array(rows, np.int64).reshape(-1, 7).T
    length = np.full(columns.shape[1], 1000)
    return ReportedOverlaps(
        *columns[:2], columns[2].astype(bool), *columns[3:], length, length, ["b", "a", "c"]
    )


def test_the_consensus_of_overlaps_is_what_most_report():
    one = ends_of(overlaps((0, 1, 0, 0, 500, 400, 900), (0, 2, 0, 0, 300, 700, 1000)), 300)
    # the same pair the other way round, a shorter overlap of it, and one that is too short
    other = ends_of(
        overlaps((1, 0, 0, 410, 900, 10, 500), (0, 1, 0, 0, 350, 0, 350), (1, 2, 0, 0, 200, 0, 200)), 300
    )
    third = ends_of(overlaps((0, 1, 1, 0, 500, 400, 900)), 300)
    assert one == {("a", "b", False): (400, 900), ("b", "c", False): (0, 300)}
    assert other == {("a", "b", False): (410, 900)}
    scores = consensus_scores([one, other, third])
    assert [(s["recall"], s["precision"]) for s in scores] == [(1, 0.5), (1, 1), (0, 0)]
    assert [s["end_error"] for s in scores] == [2.5, 2.5, None]
    assert consensus_scores([{}, {}]) == [{"recall": None, "precision": None, "end_error": None}] * 2


def scores(recall, error):
    return {"recall": recall, "end_error": error}


COMPARISON = Comparison(
    "consensus", ["reads.fa"], {"threads": 2, "options": ""},
    {"recall": "share that is found", "end_error": "distance"},
    [
        Method("dsoft", "chain", Costs(1.5, 2.0, 100.0, {"seeds": 0.5}), scores(1.0, 0.0)),
        Method("spgemm", "xdrop", Costs(3.0, 4.0, 90.0, {"chains": 0.25}), scores(0.0, None)),
    ],
)  # fmt: skip


def test_tables_hold_every_method():
    lines = [line.split("\t") for line in COMPARISON.to_tsv().splitlines()]
    assert lines[0][:6] == ["finder", "extender", "recall", "end_error", "wall_s", "cpu_s"]
    assert lines[1] == ["dsoft", "chain", "1", "0", "1.5", "2", "100", "0.5", ""]
    assert lines[2] == ["spgemm", "xdrop", "0", "", "3", "4", "90", "", "0.25"]
    document = json.loads(COMPARISON.to_json())
    assert document["methods"][1]["scores"] == {"recall": 0.0, "end_error": None}


def test_the_page_loads_nothing():
    html = build_comparison(COMPARISON)
    assert "Comparison of methods" in html and "more than half of the methods agree" in html
    assert html.count("<circle ") == 3  # a dot a method and measure, but for what is undefined
    assert "src=" not in html and "http" not in html and "<script" not in html
    assert "dsoft + chain" in html and "spgemm + xdrop, 90 MB" in html


def test_methods_that_do_not_exist_or_fail_are_told(tmp_path):
    with pytest.raises(ParameterError, match="finder is 'x'"):
        compare_overlaps(READS, ["r"], ["x"], ["chain"])
    with pytest.raises(ParameterError, match=r"failed: file missing\.fa: there is no such file"):
        run_measured(["map", "missing.fa", "missing.fa", "-o", str(tmp_path / "o.paf")], tmp_path / "s.json")
