"""``overlapper correct`` as a user runs it."""

import json

import pysam
import pytest

from tests.cli.runner import overlapper, python


@pytest.fixture(scope="module")
def reads(tmp_path_factory):
    folder = tmp_path_factory.mktemp("correct")
    overlapper(
        "simulate", "--genome-size", "12k", "--mean-length", "4000", "-p", "ont-r9", "-c", "15",
        "-o", "reads.fasta", "--truth", "truth.tsv", cwd=folder, check=True,
    )  # fmt: skip
    return folder / "reads.fasta"


def test_result_depends_on_reads_alone(reads, tmp_path):
    names, records = [], list(pysam.FastxFile(str(reads)))
    shuffled = records[::-1]
    with open(tmp_path / "shuffled.fasta", "w") as file:
        file.writelines(f">other{i}\n{record.sequence}\n" for i, record in enumerate(shuffled))
    one = overlapper("correct", str(reads), "-o", "one.fastq.gz", "--threads", "1", cwd=tmp_path)
    two = overlapper("correct", "shuffled.fasta", "-o", "two.fastq", "--threads", "3", cwd=tmp_path)
    assert (one.returncode, two.returncode) == (0, 0), one.stderr + two.stderr
    a = list(pysam.FastxFile(str(tmp_path / "one.fastq.gz")))
    b = list(pysam.FastxFile(str(tmp_path / "two.fastq")))[::-1]
    names = [record.name for record in a]
    assert names == [record.name for record in records]
    assert [(r.sequence, r.quality) for r in a] == [(r.sequence, r.quality) for r in b]


def test_overlaps_that_are_given_from_both_reads_or_twice_vote_once(reads, tmp_path):
    for name, more in (("once.paf", ()), ("both.paf", ("--both-sides", "--group-by", "target"))):
        overlapper("overlap", str(reads), "-o", name, *more, cwd=tmp_path, check=True)
    (tmp_path / "twice.paf").write_bytes(2 * (tmp_path / "once.paf").read_bytes())
    corrected = set()
    for name in ("once", "both", "twice"):
        made = overlapper(
            "correct", str(reads), "--overlaps", f"{name}.paf", "--rounds", "1", cwd=tmp_path, check=True
        )
        corrected.add(made.stdout)
    assert len(corrected) == 1


def test_table_and_stats_tell_what_changed(reads, tmp_path):
    done = overlapper(
        "correct", str(reads), "-o", "out.fasta", "--table", "t.tsv", "--stats", "s.json", "--rounds", "1",
        "--uncovered", "trim", "--device", "cpu", "-t", "1", cwd=tmp_path, check=True,
    )  # fmt: skip
    header, *rows = [line.split("\t") for line in (tmp_path / "t.tsv").read_text().splitlines()]
    assert header == ["name", "bases_in", "bases_out", "coverage", "identity", "left_out", "fate"]
    written = {r.name: len(r.sequence) for r in pysam.FastxFile(str(tmp_path / "out.fasta"))}
    given = {r.name: len(r.sequence) for r in pysam.FastxFile(str(reads))}
    assert {row[0]: int(row[1]) for row in rows} == given
    assert {row[0]: int(row[2]) for row in rows if row[6] != "dropped"} == written
    stats = json.loads((tmp_path / "s.json").read_text())
    assert stats["funnel"]["reads"] == len(given)
    assert stats["funnel"]["bases out"] == sum(written.values())
    assert b"round 1: overlaps" in done.stderr and b"overlaps on cpu (1 thread)" in done.stderr
    assert stats["devices"] == ["cpu"]


def test_compiled_kernels_run_without_the_rest_of_numba(tmp_path):
    (tmp_path / "reads.fa").write_text(">a\nACGT\n>b\nACGT\n")
    script = """
import sys
from overlapper import cli
try:
    cli.main()
except SystemExit:
    print([m for m in ("numba", "scipy.linalg", "numba.np.npyimpl") if m in sys.modules])
"""
    arguments = ("correct", tmp_path / "reads.fa", "-o", tmp_path / "a.fastq", "-q")
    python("-c", script, *arguments)  # compiles what is not in the cache yet
    result = python("-c", script, *arguments, text=True)
    assert (result.stdout, result.stderr) == ("['numba']\n", "")
