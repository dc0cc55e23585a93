"""Real sets of reads against pysam's own parser and minimap2's overlaps of them; how good ours are."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pysam
import pytest

from overlapper import find_overlaps
from overlapper.evaluation.overlaps import evaluate_overlaps
from overlapper.io.fastx import read_fastx
from overlapper.io.paf import read_paf
from overlapper.io.reported import ReportedOverlaps
from overlapper.io.truth import read_truth
from tests.oracle.paf import row_of

DATA = Path(os.environ.get("OVERLAPPER_DATA", Path(__file__).parents[3] / "shared" / "data"))
SETS = {
    "ont_r7_lambda": "fastq", "clr_sequel_lambda": "fasta", "hifi_ecoli_piece": "fasta",
    "ont_r10_listeria": "fastq", "sim_clr_k12_rrn4": "fasta",
}  # fmt: skip


def reads_file(name):
    path = DATA / name / f"reads.{SETS[name]}.gz"
    if not path.exists() and not os.environ.get("CI"):
        pytest.skip(f"{path} is missing; set OVERLAPPER_DATA to the folder of the data sets")
    return str(path)


@pytest.mark.parametrize("name", SETS)
def test_reads_are_those_that_pysam_finds(name):
    path = reads_file(name)
    reads = read_fastx(path, keep_qualities=True)
    with pysam.FastxFile(path) as file:
        records = list(file)
    assert reads.names == [record.name for record in records]
    assert all(reads.sequence(i) == record.sequence.upper() for i, record in enumerate(records))
    if SETS[name] == "fastq":
        assert bytes(reads.qualities + 33).decode() == "".join(record.quality for record in records)


@pytest.fixture(scope="module")
def mapped(tmp_path_factory):
    """Some reads, and minimap2's overlaps of them with CIGARs."""
    if not shutil.which("minimap2"):
        pytest.skip("minimap2, a Debian package that continuous integration does without, is not installed")
    folder = tmp_path_factory.mktemp("mapped")
    reads = read_fastx(reads_file("ont_r7_lambda")).take(np.arange(30))
    fasta = "".join(f">{name}\n{reads.sequence(i)}\n" for i, name in enumerate(reads.names))
    (folder / "reads.fa").write_text(fasta)
    command = ["minimap2", "-x", "ava-ont", "-c", "-t1", folder / "reads.fa", folder / "reads.fa"]
    (folder / "out.paf").write_bytes(subprocess.run(command, check=True, capture_output=True).stdout)
    return reads, folder / "out.paf"


@pytest.mark.parametrize("order", [1, -1], ids=["as in the file", "backwards"])
def test_overlaps_are_those_of_minimap2(mapped, order):
    reads, path = mapped
    reads = reads.take(np.arange(len(reads))[::order])
    overlaps = read_paf(path, reads)
    lines = path.read_text().splitlines()
    expected = [row_of(line, reads.names) for line in lines]
    assert len(overlaps) == len(expected) > 50
    for column in ("query", "target", "reverse", "q_start", "q_end", "t_start", "t_end", "matches",
                   "block_length", "score", "seeds", "edits"):  # fmt: skip
        assert getattr(overlaps, column).tolist() == [row[column] for row in expected], column
    np.testing.assert_allclose(overlaps.divergence, [row["divergence"] for row in expected], rtol=1e-6)
    for i in range(len(overlaps)):
        assert matches_along(overlaps, reads, i) == overlaps.matches[i]


def matches_along(overlaps, reads, i):
    """Walk the CIGAR of a row along both reads and count the equal bases."""
    query = reads.codes(overlaps.query[i])[overlaps.q_start[i] : overlaps.q_end[i]]
    target = reads.codes(overlaps.target[i])[overlaps.t_start[i] : overlaps.t_end[i]]
    if overlaps.reverse[i]:
        target = 3 - target[::-1]
    equal = q = t = 0
    for packed in overlaps.cigar[overlaps.cigar_offsets[i] : overlaps.cigar_offsets[i + 1]].tolist():
        length, operation = packed >> 4, "MIDNSHP=X"[packed & 15]
        if operation in "M=X":
            equal += int((query[q : q + length] == target[t : t + length]).sum())
        q += length * (operation != "D")
        t += length * (operation != "I")
    assert (q, t) == (len(query), len(target))
    return equal


@pytest.mark.parametrize(
    ("name", "recall", "precision"),
    [
        ("ont_r7_lambda", 0.989, 0.9956),
        ("clr_sequel_lambda", 0.9938, 1),
        ("hifi_ecoli_piece", 1, 1),
    ],
)
def test_overlaps_are_as_good_as_they_were(name, recall, precision):
    reads = read_fastx(reads_file(name))
    found = ReportedOverlaps.from_table(find_overlaps(reads, threads=1), reads)
    total = evaluate_overlaps(read_truth(str(DATA / name / "truth.tsv.gz")), found, min_overlap=1000).total
    assert total.recall > recall - 0.003
    assert total.precision > precision - 0.003
