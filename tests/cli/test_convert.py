"""``overlapper convert``: each format to each other, and back."""

import numpy as np
import pytest

from overlapper.io.writers import write_overlaps
from overlapper.tables import Overlaps
from tests.graph_cases import random_genome, read_set, tiled
from tests.read_sets import fasta_of

CASES = ["aligned", "plain"]


@pytest.fixture(scope="module")
def reads_and_overlaps():
    """Reads of a linear genome with hangs at some ends, and their overlaps."""
    reads, overlaps = read_set(random_genome(9_000, 3), tiled(9_000, 1_500, 200, 3))
    overlaps = overlaps.take(overlaps.matches >= 100)
    shorter = np.where(np.arange(len(overlaps)) % 3 == 0, 4, 0)
    changed = {
        "q_start": overlaps.q_start + shorter, "q_end": overlaps.q_end - shorter,
        "t_start": overlaps.t_start + shorter, "t_end": overlaps.t_end - shorter,
        "matches": overlaps.matches - 2 * shorter, "cigar": overlaps.cigar - (2 * shorter.astype("u4") << 4),
        "edits": np.zeros(len(overlaps), np.int32), "kind": np.ones(len(overlaps), np.uint8),
    }  # fmt: skip
    return reads, Overlaps(**(vars(overlaps) | changed)).sort_canonical()


@pytest.fixture
def paf(reads_and_overlaps, tmp_path):
    reads, overlaps = reads_and_overlaps
    plain = Overlaps(**(vars(overlaps) | {"cigar": None, "cigar_offsets": None, "edits": None}))
    write_overlaps(overlaps, reads, tmp_path / "aligned.paf")
    write_overlaps(plain, reads, tmp_path / "plain.paf")
    (tmp_path / "reads.fa").write_text(fasta_of(reads))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("way", ["parquet", "paf.gz"])
@pytest.mark.parametrize("with_reads", [False, True])
def test_there_and_back_is_the_same_file(command, paf, tmp_path, case, way, with_reads):
    options = ("--reads", "reads.fa") if with_reads else ()
    there = command("convert", f"{case}.paf", f"x.{way}", *options)
    assert (there.code, there.out) == (0, b"")
    assert command("convert", f"x.{way}", "back.paf", "-q").err == ""
    assert (tmp_path / "back.paf").read_bytes() == (tmp_path / f"{case}.paf").read_bytes()


@pytest.mark.parametrize("way", ["paf", "parquet"])
def test_marks_of_the_best_overlaps_are_kept(command, tmp_path, way):
    """Marks that scores do not give, and lines of one pair that are not next to each other."""
    lines = [
        f"a\t900\t{start}\t900\t+\t{target}\t700\t0\t{900 - start}\t90\t100\t255\t"
        f"tp:A:{mark}\tcm:i:9\ts1:i:{score}\tcl:A:d\n"
        for start, target, mark, score in (
            (700, "b", "S", 90), (600, "b", "P", 80), (700, "c", "S", 70), (700, "d", "P", 60),
            (500, "c", "P", 50),
        )
    ]  # fmt: skip
    (tmp_path / "o.paf").write_text("".join(lines))
    assert command("convert", "o.paf", f"x.{way}").code == 0
    assert command("convert", f"x.{way}", "back.paf").code == 0
    assert sorted((tmp_path / "back.paf").read_text().splitlines(True)) == sorted(lines)


@pytest.mark.parametrize("case", CASES)
def test_both_sides_of_an_overlap_are_one_overlap(command, paf, tmp_path, case):
    command("convert", f"{case}.paf", "both.paf", "--both-sides", "--reads", "reads.fa")
    lines = (tmp_path / f"{case}.paf").read_text().count("\n")
    assert (tmp_path / "both.paf").read_text().count("\n") == 2 * lines
    for way, sides in (("paf", ()), ("parquet", ()), ("again.paf", ("--both-sides",))):
        result = command("convert", "both.paf", f"x.{way}", "--reads", "reads.fa", *sides)
        command("convert", f"{case}.paf", f"y.{way}", "--reads", "reads.fa", *sides)
        assert (tmp_path / f"x.{way}").read_bytes() == (tmp_path / f"y.{way}").read_bytes()
        assert f"{lines:,} lines that repeat another one left out" in result.err


def test_both_sides_by_target_are_the_same_from_everywhere(command, run_folder, tmp_path):
    sides = ("--both-sides", "--group-by", "target")
    assert command("convert", run_folder / "o.paf", "convert.paf", *sides, "-q").code == 0
    assert command("overlap", run_folder / "reads.fastq", "-o", "overlap.paf", *sides, "-q").code == 0
    words = ("--memory", "1G", "-o", "tiles.paf", *sides, "-q")
    assert command("overlap", run_folder / "reads.fastq", *words).code == 0
    content = (tmp_path / "convert.paf").read_bytes()
    assert content == (tmp_path / "overlap.paf").read_bytes() == (tmp_path / "tiles.paf").read_bytes()
    names = [(fields[5], fields[0]) for fields in (line.split(b"\t") for line in content.splitlines())]
    assert names == sorted(names)
    assert {(a, b) for a, b in names} == {(b, a) for a, b in names}
    assert len(names) == 2 * len((run_folder / "o.paf").read_bytes().splitlines())
