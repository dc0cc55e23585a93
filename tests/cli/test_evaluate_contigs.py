"""``overlapper evaluate`` of contigs and of corrected reads from outside."""

import csv
import json
import random

import pytest

from tests.cli.conftest import assert_refused
from tests.oracle.strands import reverse_complement as turned

RANDOM = random.Random(5)
GENOME = "".join(RANDOM.choices("ACGT", k=9000))
STEP = 300


def other_haplotype():
    bases = list(GENOME)
    for place in range(STEP, len(bases) - STEP, STEP):
        bases[place] = {"A": "C", "C": "G", "G": "T", "T": "A"}[bases[place]]
    return "".join(bases)


OTHER = other_haplotype()
SWITCHED = GENOME[:4500] + OTHER[4500:]
TRUTH = "read\tref\tstart\tend\tstrand\n"


@pytest.fixture
def given(tmp_path):
    """Two haplotypes, contigs of them, and reads with their places."""
    files = {
        "one.fa": {"one": GENOME}, "two.fa": {"two": OTHER}, "switched.fa": {"s1": SWITCHED},
        "broken.fa": {"b1": GENOME[:3000] + turned(GENOME[6000:])},
        "raw.fa": {"r1": GENOME[1000:3000], "r2": turned(OTHER[2000:4000]), "r3": "ACGT" * 100},
        "corrected.fa": {"r1": OTHER[1000:3000], "r2": turned(OTHER[2000:4000]), "r3": "ACGT" * 100},
        "twice.fa": {"one": OTHER}, "foreign.fa": {"f": "".join(RANDOM.choices("ACGT", k=500))},
        "short.fa": {"x": "ACGT"}, "N.fa": {"n": "N" * 100},
    }  # fmt: skip
    for name, records in files.items():
        (tmp_path / name).write_text("".join(f">{n}\n{bases}\n" for n, bases in records.items()))
    (tmp_path / "t.tsv").write_text(TRUTH + "r1\tone\t1000\t3000\t+\nr2\ttwo\t2000\t4000\t-\n")
    (tmp_path / "lost.tsv").write_text(TRUTH + "r1\tthree\t1000\t3000\t+\n")
    (tmp_path / "others.tsv").write_text(TRUTH + "x\tone\t1000\t3000\t+\n")
    (tmp_path / "behind.tsv").write_text(TRUTH + "r1\tone\t9000\t9500\t+\n")
    rotated = GENOME[4000:] + GENOME[:4000]
    (tmp_path / "c.gfa").write_text(f"S\tu1\t{rotated}\nL\tu1\t+\tu1\t+\t0M\nS\tu2\t{GENOME[:500]}\n")
    (tmp_path / "empty.gfa").write_text("H\tVN:Z:1.0\n")
    (tmp_path / "stars.gfa").write_text("S\tu1\t*\tLN:i:500\n")
    (tmp_path / "text.fa").write_text("no sequences\n")
    (tmp_path / "nothing.fa").write_text("")
    return tmp_path


def scored(command, folder, *words):
    result = command("evaluate", *words, "--json", "s.json", "--tsv", "s.tsv", "-q", "-t", "1")
    assert (result.code, result.err) == (0, "")
    document = json.loads((folder / "s.json").read_text())
    with open(folder / "s.tsv", newline="") as file:
        return result.out.decode(), document, list(csv.DictReader(file, delimiter="\t"))


def test_contigs_of_one_genome(command, given):
    text, document, rows = scored(command, given, "broken.fa", "--reference", "one.fa")
    assert document["judged"] == "contigs"
    assert (document["contigs"], document["breaks"], document["nga50"]) == (1, 1, 3000)
    assert document["missing"] == 30
    assert document["breaks_at"] == [
        {"contig": "b1", "end": 3000, "start": 3000, "from": "one:2969+", "to": "one:8969-"}
    ]
    assert document["haplotypes"]["one.fa"]["found"] == 2970 * 2
    assert text.splitlines()[-1].split() == ["b1", "3,000", "3,000", "one:2969+", "one:8969-"]
    assert [(row["name"], row["length"], row["breaks"]) for row in rows] == [("b1", "6000", "1")]


def test_contigs_of_two_haplotypes(command, given):
    words = ("switched.fa", "--reference", "one.fa", "--reference", "two.fa")
    text, document, rows = scored(command, given, *words)
    assert document["switches"] == 1 and document["qv"] == 90
    assert document["breaks"] is None and document["nga50"] is None
    assert document["minority"] * 2 == pytest.approx(document["markers"], rel=0.1)
    assert [document["haplotypes"][name]["own"] for name in ("one.fa", "two.fa")] == pytest.approx(
        [0.5] * 2, abs=0.04
    )
    assert "switches" in text and "NGA50" not in text
    assert int(rows[0]["markers_1"]) + int(rows[0]["markers_2"]) == document["markers"]
    # Both in one file are one genome, in which a switch is a break.
    both = (given / "one.fa").read_text() + (given / "two.fa").read_text()
    (given / "both.fa").write_text(both)
    assert scored(command, given, "switched.fa", "--reference", "both.fa")[1]["breaks"] == 1


@pytest.mark.parametrize("circular", ["all", "one"])
def test_circles(command, given, circular):
    _, document, rows = scored(command, given, "c.gfa", "--reference", "one.fa", "--circular", circular)
    names = ("contigs", "circles", "closed", "breaks", "missing")
    assert [document[name] for name in names] == [2, 1, 1, 0, 0]
    assert [row["circular"] for row in rows] == ["yes", "no"]
    linear = scored(command, given, "c.gfa", "--reference", "one.fa")[1]
    assert [linear[name] for name in names] == [2, 1, 1, 0, 30]


def test_corrected_reads(command, given):
    words = ("corrected.fa", "--placements", "t.tsv", "--reference", "one.fa", "--reference", "two.fa")
    text, document, rows = scored(command, given, *words, "--reads", "raw.fa")
    assert document["judged"] == "reads"
    assert (document["reads_judged"], document["unplaced"], document["sites"]) == (2, 1, 56)
    # The first read was given the other haplotype's bases at all of its sites.
    assert (document["corrected"]["own"], document["corrected"]["other"]) == (7, 6)
    assert document["raw"]["own_kept"] == 1
    assert document["changes"] == {
        "mended": 0, "left": 0, "introduced": 6, "sites_mended": 0, "sites_left": 0, "sites_lost": 6,
    }  # fmt: skip
    assert "2 of 2 reads judged" in text
    assert [row["name"] for row in rows] == ["r1", "r2"]
    without = scored(command, given, *words)[1]
    assert without["raw"] is None and without["corrected"] == document["corrected"]


ONE = ("--reference", "one.fa")
READS = ("corrected.fa", *ONE, "--reference", "two.fa", "--placements")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("broken.fa",), 2, "give placements and overlaps (TRUTH PAF), or the reference of contigs"),
        (("t.tsv", "o.paf", *ONE), 2, "--reference is not for overlaps"),
        (("broken.fa", *ONE, *ONE), 2, "--reference names a file twice"),
        (("broken.fa", *ONE, "--reads", "raw.fa"), 2, "--reads is for corrected reads, which need"),
        ((*READS, "t.tsv", "--circular", "all"), 2, "--circular is not for reads"),
        (("text.fa", *ONE), 1, "file text.fa: starts with 'n': neither FASTA"),
        (("nothing.fa", *ONE), 1, "file nothing.fa"),
        (("broken.fa", "--reference", "nothing.fa"), 1, "file nothing.fa"),
        (("empty.gfa", *ONE), 1, "file empty.gfa: holds no contigs"),
        (("stars.gfa", *ONE), 1, "file stars.gfa, record u1: has no sequence"),
        (("short.fa", *ONE), 1, "no contig has 31-mers. Give contigs that are longer"),
        (("N.fa", *ONE), 1, "no contig has 31-mers"),
        (("broken.fa", *ONE, "--reference", "N.fa"), 1, "haplotype 2 of the reference has no 31-mers"),
        (("foreign.fa", *ONE), 1, "none of the 470 k-mers of the contigs is in the reference"),
        (("broken.fa", *ONE, "--circular", "chrM"), 1, "circular sequence 'chrM' is not in the reference"),
        (("broken.fa", *ONE, "--memory", "1M"), 1, "memory is 1,000,000 bytes, expected "),
        (("broken.fa", "--reference", "none.fa"), 1, "file none.fa: there is no such file"),
        (("broken.fa", *ONE, "--json", "one.fa"), 2, "one.fa is an input: name another output"),
        ((*READS, "lost.tsv"), 1, "reads are placed on 'three', which is no sequence of the reference"),
        ((*READS, "others.tsv"), 1, "none of the 3 reads has one place in the table of placements"),
        ((*READS, "behind.tsv"), 1, "read 'r1' is placed behind the end of 'one'"),
        ((*READS, "t.tsv", "--reads", "one.fa"), 1, "read 'r1' is corrected, but not among the raw reads"),
        ((*READS, "t.tsv", "--reference", "twice.fa"), 1, "two sequences of the reference have the name"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_told(command, given, words, code, message):
    before = sorted(path.name for path in given.iterdir())
    options = () if "--json" in words else ("--json", "s.json")
    assert_refused(command("evaluate", *words, *options, "-q"), code, message, given, before)
