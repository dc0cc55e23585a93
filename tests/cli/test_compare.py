"""``overlapper compare`` end to end."""

import json

import pytest

from overlapper.candidates.registry import FINDERS
from overlapper.cli.compare import DEFAULT_FINDERS
from overlapper.simulate import random_genome, simulate_reads
from tests.read_sets import fasta_of


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    from overlapper.io.truth import header

    folder = tmp_path_factory.mktemp("compare")
    genome = random_genome(15_000, seed=8)
    reads, truth = simulate_reads(genome, "ont-r10", coverage=6, seed=8)
    (folder / "reads.fa").write_text(fasta_of(reads))
    (folder / "truth.tsv").write_text(header() + "".join(row.to_line() for row in truth.rows()))
    return folder


def test_all_finders_are_compared_by_default():
    assert ",".join(FINDERS) == DEFAULT_FINDERS


def test_overlaps_by_placements(command, files):
    words = (files / "reads.fa", "--truth", files / "truth.tsv", "--preset", "ont", "--min-overlap", "1500")
    result = command(
        "compare", *map(str, words), "--finders", "dsoft", "--extenders", "chain,gact",
        "-o", "page.html", "--json", "c.json", "--tsv", "-", "-q",
    )  # fmt: skip
    assert result.code == 0, result.err
    lines = [line.split("\t") for line in result.out.decode().splitlines()]
    assert [line[:2] for line in lines[1:]] == [["dsoft", "chain"], ["dsoft", "gact"]]
    with open("c.json") as file:
        document = json.load(file)
    assert document["judged_by"] == "placements"
    for method in document["methods"]:
        assert method["scores"]["recall"] > 0.9 and method["scores"]["precision"] > 0.9
        assert method["costs"]["wall_s"] > 0 and method["costs"]["peak_mb"] > 10
    with open("page.html") as file:
        assert "dsoft + gact" in file.read()
