"""``overlapper evaluate`` from outside: text, JSON, table, errors."""

import csv
import gzip
import json

import pytest

from overlapper.io.truth import header, read_truth
from overlapper.simulate import generate_reads, random_genome
from tests.cli.runner import overlapper
from tests.truth_paf import faulty_overlaps


def evaluate(folder, *options, **more):
    return overlapper("evaluate", *options, cwd=folder, text=True, **more)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("simulated")
    rows = [row for read in generate_reads(random_genome(100_000), coverage=10) for row in read.truth]
    (folder / "truth.tsv").write_text(header() + "".join(row.to_line() for row in rows))
    lines = faulty_overlaps(read_truth(str(folder / "truth.tsv")), min_overlap=500, seed=5)
    (folder / "o.paf").write_text("".join(lines))
    (folder / "o.paf.gz").write_bytes(gzip.compress((folder / "o.paf").read_bytes()))
    return folder


def test_text_json_and_table_say_the_same(simulated):
    options = ("--min-overlap", "1k", "--json", "s.json", "--tsv", "s.tsv", "--quiet")
    result = evaluate(simulated, "truth.tsv", "o.paf", *options, check=True)
    assert result.stderr == ""
    document = json.loads((simulated / "s.json").read_text())
    with open(simulated / "s.tsv", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    text = result.stdout.splitlines()

    assert document["min_overlap"] == 1000
    assert document["true_pairs"] > document["found"] > 0
    assert f"{document['overlaps']} overlaps of {document['reported_pairs']} pairs" in text[0]
    bins = {"length": document["by_length"], "identity": document["by_identity"]}
    assert [row["by"] for row in rows] == ["all"] + [by for by, members in bins.items() for _ in members]
    values = [document, *document["by_length"], *document["by_identity"]]
    printed = [line.split() for line in text[3:] if len(line.split()) > 1]
    for row, value, line in zip(rows, values, printed, strict=True):
        for name in ("true_pairs", "claimed", "correct", "strand_errors", "recall", "end_error"):
            assert row[name] == ("" if value[name] is None else str(value[name]))
        assert line[1] == str(value["true_pairs"])
        assert line[2] == (f"{value['recall']:.5f}" if value["true_pairs"] else "-")
        assert line[4] == (f"{value['precision']:.5f}" if value["claimed"] else "-")


def test_the_text_goes_where_it_is_sent(command, tmp_path):
    (tmp_path / "t.tsv").write_text("read\tref\tstart\tend\tstrand\nr1\tg\t0\t300\t+\nr2\tg\t100\t400\t+\n")
    (tmp_path / "o.paf").write_text("r1\t300\t100\t300\t+\tr2\t300\t0\t200\t200\t200\t255\n")
    words = ("evaluate", "t.tsv", "o.paf", "--min-overlap", "100")
    shown = command(*words)
    kept = command(*words, "-o", "scores.txt")
    assert (shown.code, kept.code, kept.out) == (0, 0, b"")
    assert (tmp_path / "scores.txt").read_bytes() == shown.out != b""
