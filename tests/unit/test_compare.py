"""Comparisons: consensus, files, the page, and methods that fail."""

import json

import numpy as np
import pytest

from overlapper.compare.comparison import Comparison, Costs, Method
from overlapper.compare.mappings import compare_mappings, consensus
from overlapper.compare.overlaps import compare_overlaps, consensus_scores, ends_of
from overlapper.compare.processes import run_measured
from overlapper.compare.reported_mappings import read_reported_mappings
from overlapper.errors import FormatError, ParameterError
from overlapper.io.reported import ReportedOverlaps
from overlapper.mapping.evaluate import ReportedMappings, evaluate_mappings
from overlapper.report.comparison import build_comparison
from tests.read_sets import reads_of

READS = reads_of(["A" * 1000] * 3)


def reported(*rows):
    columns = list(zip(*rows, strict=True)) or [()] * 8
    kinds = (str, str, bool, *["i8"] * 5)
    return ReportedMappings(*(np.array(c, kind) for c, kind in zip(columns, kinds, strict=True)))


def test_the_consensus_of_mappings_is_what_most_agree_on():
    right = ("read0", "c", False, 0, 1000, 5000, 6000, 60)
    clipped = ("read0", "c", False, 100, 900, 5104, 5904, 60)
    elsewhere = ("read0", "c", False, 0, 1000, 9000, 10_000, 60)
    turned = ("read1", "c", True, 100, 1000, 300, 1200, 7)
    methods = [reported(right, turned), reported(clipped, turned), reported(elsewhere), reported(right)]
    truth = consensus(methods, READS)
    assert [(row.read, row.ref, row.start, row.end, row.strand) for row in truth.rows()] == [
        ("read0", "c", 5000, 6000, "+")
    ]
    assert [evaluate_mappings(m, truth, {"c": 10**6}).wrong for m in methods] == [0, 0, 1, 0]
    three = consensus(methods[:3], READS)
    assert [(row.read, row.start, row.end, row.strand) for row in three.rows()] == [
        ("read0", 5002, 6002, "+"), ("read1", 300, 1300, "-"),
    ]  # fmt: skip
    assert len(consensus([reported(), reported()], READS)) == 0


def overlaps(*rows):
    """Rows of query, target, reverse, q_start, q_end, t_start, t_end."""
    columns = np.array(rows, np.int64).reshape(-1, 7).T
    length = np.full(columns.shape[1], 1000)
    return ReportedOverlaps(
        ["b", "a", "c"], columns[0], columns[1], columns[2].astype(bool),
        length, columns[3], columns[4], length, columns[5], columns[6],
    )  # fmt: skip


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


def scores(mapped, error):
    return {"mapped": mapped, "mapping_error": error}


COMPARISON = Comparison(
    "map", "consensus", ["ref.fa", "reads.fa"], {"threads": 2, "options": ""},
    {"mapped": "share that is mapped", "mapping_error": "distance"},
    [
        Method("smem", "edits", Costs(1.5, 2.0, 100.0, {"seeds": 0.5}), scores(1.0, 0.0)),
        Method("fixed", "xdrop", Costs(3.0, 4.0, 90.0, {"chains": 0.25}), scores(0.0, None)),
    ],
)  # fmt: skip


def test_tables_hold_every_method():
    lines = [line.split("\t") for line in COMPARISON.to_tsv().splitlines()]
    assert lines[0][:6] == ["seeder", "extender", "mapped", "mapping_error", "wall_s", "cpu_s"]
    assert lines[1] == ["smem", "edits", "1", "0", "1.5", "2", "100", "0.5", ""]
    assert lines[2] == ["fixed", "xdrop", "0", "", "3", "4", "90", "", "0.25"]
    document = json.loads(COMPARISON.to_json())
    assert document["methods"][1]["scores"] == {"mapped": 0.0, "mapping_error": None}


def test_the_page_loads_nothing():
    html = build_comparison(COMPARISON, title="Methods & more")
    assert "Methods &amp; more" in html and "more than half of the methods agree" in html
    assert html.count("<circle ") == 3  # a dot a method and measure, but for what is undefined
    assert "src=" not in html and "http" not in html and "<script" not in html
    assert "smem + edits" in html and "fixed + xdrop, 90 MB" in html


def test_the_first_line_of_a_read_is_its_claim(tmp_path):
    line = "{}\t100\t0\t90\t-\tc\t500\t10\t100\t80\t90\t{}\ttp:A:{}\n"
    path = tmp_path / "m.paf"
    path.write_text(line.format("a", 1, "S") + line.format("a", 60, "P") + line.format("a", 5, "P"))
    found = read_reported_mappings(str(path))
    assert (found.read.tolist(), found.quality.tolist(), found.reverse.tolist()) == (["a"], [60], [True])
    path.write_text("")
    assert len(read_reported_mappings(str(path)).read) == 0
    path.write_text("a\t100\tx\n")
    with pytest.raises(FormatError, match="line 1: is no line of PAF"):
        read_reported_mappings(str(path))


def test_methods_that_do_not_exist_or_fail_are_told(tmp_path):
    with pytest.raises(ParameterError, match="seeder is 'x'"):
        compare_mappings(READS, READS, ("r", ["r"]), ["x"], ["edits"])
    with pytest.raises(ParameterError, match="finder is 'x'"):
        compare_overlaps(READS, ["r"], ["x"], ["chain"])
    with pytest.raises(ParameterError, match=r"failed: file missing\.fa: there is no such file"):
        run_measured(["map", "missing.fa", "missing.fa", "-o", str(tmp_path / "o.paf")], tmp_path / "s.json")
