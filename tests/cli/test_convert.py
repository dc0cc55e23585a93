"""``overlapper convert``: each format to each other, and back."""

import gfapy
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
@pytest.mark.parametrize("way", ["parquet", "gfa", "gfa.gz", "paf.gz"])
@pytest.mark.parametrize("with_reads", [False, True])
def test_there_and_back_is_the_same_file(command, paf, tmp_path, case, way, with_reads):
    options = ("--reads", "reads.fa") if with_reads else ()
    there = command("convert", f"{case}.paf", f"x.{way}", *options)
    assert (there.code, there.out) == (0, b"")
    assert command("convert", f"x.{way}", "back.paf", "-q").err == ""
    assert (tmp_path / "back.paf").read_bytes() == (tmp_path / f"{case}.paf").read_bytes()


def test_gfa_holds_every_overlap_with_a_cigar_that_fits(command, paf, reads_and_overlaps, tmp_path):
    reads, overlaps = reads_and_overlaps
    result = command("convert", "aligned.paf", "x.gfa", "--reads", "reads.fa")
    gfa = gfapy.Gfa.from_file(str(tmp_path / "x.gfa"), vlevel=3)
    gfa.validate()
    assert len(gfa.segments) == len(reads)
    assert len(gfa.dovetails) + len(gfa.containments) == len(overlaps)
    assert {s.name: s.sequence for s in gfa.segments} == dict(
        zip(reads.names, map(reads.sequence, range(len(reads))), strict=True)
    )
    assert gfa.containments
    assert f"{len(gfa.dovetails):,} links" in result.err
    for line in gfa.containments:
        outer, inner = gfa.segment(line.from_segment), gfa.segment(line.to_segment)
        assert line.from_orient == "+"
        assert line.pos + line.overlap.length_on_reference() <= outer.LN
        assert abs(line.overlap.length_on_query() - inner.LN) <= 8


def test_links_of_another_program_become_overlaps(command, tmp_path):
    (tmp_path / "o.gfa").write_text(
        "S\ta\t*\tLN:i:100\nS\tb\t*\tLN:i:80\nS\tc\t*\tLN:i:20\n"
        "L\ta\t+\tb\t-\t20M3I7M\nL\ta\t-\tb\t+\t10M\nL\ta\t+\ta\t+\t5M\nL\tb\t+\tc\t+\t*\nC\ta\t+\tc\t-\t30\t20M\n"
    )
    result = command("convert", "o.gfa", "o.paf")
    rows = [line.split("\t") for line in (tmp_path / "o.paf").read_text().splitlines()]
    assert [row[:11] for row in rows] == [
        ["a", "100", "73", "100", "-", "b", "80", "50", "80", "27", "30"],
        ["a", "100", "0", "10", "-", "b", "80", "0", "10", "10", "10"],
        ["a", "100", "30", "50", "-", "c", "20", "0", "20", "20", "20"],
    ]
    assert [row[-1] for row in rows] == ["cg:Z:7M3D20M", "cg:Z:10M", "cg:Z:20M"]
    assert "1 lines without positions left out" in result.err
    assert "1 links of a segment to itself left out" in result.err


def test_links_without_an_overlap_are_counted_and_left_out(command, tmp_path):
    (tmp_path / "o.gfa").write_text(
        "S\ta\t*\tLN:i:100\nS\tb\t*\tLN:i:80\nL\ta\t+\tb\t-\t0M\nL\ta\t+\tb\t+\t0M0I\n"
        "L\tb\t+\ta\t+\t*\nL\ta\t-\tb\t+\t10M0I5M\n"
    )
    result = command("convert", "o.gfa", "o.paf")
    assert result.code == 0, result.err
    (row,) = [line.split("\t") for line in (tmp_path / "o.paf").read_text().splitlines()]
    assert (row[:4], row[-1]) == (["a", "100", "0", "15"], "cg:Z:10M5M")
    assert "2 links of segments that do not overlap left out" in result.err
    assert "1 lines without positions left out" in result.err


def test_internal_matches_are_counted_and_left_out(command, tmp_path):
    (tmp_path / "i.paf").write_text("a\t9000\t4000\t5000\t+\tb\t9000\t4000\t5000\t900\t1000\t255\n")
    result = command("convert", "i.paf", "i.gfa")
    assert (tmp_path / "i.gfa").read_text() == "H\tVN:Z:1.0\nS\ta\t*\tLN:i:9000\nS\tb\t*\tLN:i:9000\n"
    assert "1 internal matches left out" in result.err


def test_an_overlap_with_a_class_is_no_internal_match_however_long_its_hangs(command, tmp_path):
    """`overlap` tells internal matches by where overlaps of others end, not by the hangs of one."""
    paf = (
        "a\t900\t800\t900\t+\tb\t700\t50\t150\t90\t100\t255\ttp:A:P\tcm:i:9\ts1:i:80\tcl:A:d\n"
        "a\t900\t800\t900\t-\tc\t700\t550\t650\t90\t100\t255\ttp:A:P\tcm:i:9\ts1:i:80\tcl:A:d\n"
        "a\t900\t700\t800\t+\td\t700\t550\t650\t90\t100\t255\ttp:A:P\tcm:i:9\ts1:i:80\tcl:A:t\n"
    )
    (tmp_path / "o.paf").write_text(paf)
    result = command("convert", "o.paf", "o.gfa")
    lines = (tmp_path / "o.gfa").read_text().splitlines()
    assert [line[0] for line in lines] == ["H", *"SSSS", *"LLC"]
    assert "internal" not in result.err
    assert command("convert", "o.gfa", "back.paf").code == 0
    assert (tmp_path / "back.paf").read_text() == paf


@pytest.mark.parametrize("way", ["paf", "parquet", "gfa"])
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
    for way, sides in (("gfa", ()), ("paf", ()), ("parquet", ()), ("again.paf", ("--both-sides",))):
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
