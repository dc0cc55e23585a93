"""Tags and headers of reads, from files of every kind to mapped records."""

import gzip
import os
import threading

import numpy as np
import pysam
import pytest

from overlapper.errors import FormatError, ParameterError
from overlapper.io.fastx import read_fastx
from overlapper.io.sam_header import field, sam_header
from overlapper.io.tags import TagChoice
from overlapper.tables import Reads
from tests.read_sets import mutated, random_text, reverse_complement

RNG = np.random.default_rng(5)
REFERENCE = random_text(RNG, 4000)
BASES = {f"r{i}": mutated(RNG, REFERENCE[300 * i : 300 * i + 1500], 0.03) for i in range(6)}
BASES["r2"] = reverse_complement(BASES["r2"])
BASES["far"] = random_text(RNG, 300)
ALL_KINDS = [
    "RG:Z:g1", "XA:A:%", "XI:i:-70000", "XJ:i:4294967295", "xf:f:0.1", "xg:f:1.2345679", "xh:f:-3e-05",
    "XZ:Z:a b;c", "XE:Z:", "XH:H:1AE301", "Xf:B:f,0.1,-3e-05,1.2345679", "Xc:B:c,-128,127", "XC:B:C,0,255",
    "Xs:B:s,-32768", "XS:B:S,65535", "Xi:B:i,-2147483648", "XU:B:I,4294967295", "mv:B:c,5,1,0,1",
]  # fmt: skip
HEADER = ["@RG\tID:g1\tSM:s", "@PG\tID:caller\tPN:dorado", "@PG\tID:tool\tPP:caller", "@CO\tspoken"]


def calls(bases):
    """Return tags of base modifications of the first and the last C of a read."""
    return [f"MM:Z:C+m?,0,{bases.count('C') - 2};", "ML:B:C,255,7", f"MN:i:{len(bases)}"]


def sam_line(name, bases, tags, flag=4, place="*\t0\t0\t*"):
    return "\t".join([name, str(flag), place, "*\t0\t0", bases, "5" * len(bases), *tags]) + "\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "ref.fa").write_text(f">chr\n{REFERENCE}\n")
    tags = {name: [*ALL_KINDS, *calls(bases)] for name, bases in BASES.items()}
    lines = [sam_line(name, bases, tags[name]) for name, bases in BASES.items()]
    (tmp_path / "reads.sam").write_text("".join(f"{line}\n" for line in HEADER) + "".join(lines))
    pysam.view("--no-PG", "-b", "-o", f"{tmp_path}/reads.bam", f"{tmp_path}/reads.sam", catch_stdout=False)
    comments = ("\t".join([name, *tags[name]]) for name in BASES)
    records = zip(comments, BASES.values(), strict=True)
    (tmp_path / "reads.fq").write_text("".join(f"@{c}\n{b}\n+\n{'5' * len(b)}\n" for c, b in records))
    return tmp_path


def tags_in(path):
    """Return the tags of every primary record that reads came with, as the file has them."""
    with pysam.AlignmentFile(str(path)) as file:
        for record in file:
            ours = {"NM", "AS", "tp", "cm", "s1", "s2", "de", "SA"}
            yield record, {tag[0]: tag for tag in record.get_tags(True) if tag[0] not in ours}


@pytest.mark.parametrize("source", ["reads.sam", "reads.bam", "reads.fq"])
def test_tags_of_every_kind_are_mapped_with_their_reads(command, folder, source):
    assert command("map", "ref.fa", source, "-o", "o.bam", "-t", "1").code == 0
    with pysam.AlignmentFile(str(folder / "reads.bam"), check_sq=False) as given:
        expected = {record.query_name: {tag[0]: tag for tag in record.get_tags(True)} for record in given}
    found = {record.query_name: (record, tags) for record, tags in tags_in(folder / "o.bam")}
    assert found.keys() == expected.keys()
    for name, (record, tags) in found.items():
        assert tags == expected[name]
        assert record.is_reverse == (name == "r2") and record.is_unmapped == (name == "far")
        called = [place for places in record.modified_bases_forward.values() for place, _ in places]
        assert sorted(called) == [BASES[name].find("C"), BASES[name].rfind("C")]


def test_text_of_tags_is_that_of_the_file(command, folder):
    for source in ("reads.sam", "reads.bam", "reads.fq"):
        command("map", "ref.fa", source, "-o", "o.sam", "-t", "1")
        lines = [line for line in (folder / "o.sam").read_text().splitlines() if not line.startswith("@")]
        for line in lines:
            tags = [*ALL_KINDS, *calls(BASES[line.split("\t")[0]])]
            assert line.endswith("\t".join(["", *tags]))


def test_which_tags_are_kept(command, folder):
    for wanted, names in (("RG,ML", {"RG", "ML"}), ("none", set())):
        command("map", "ref.fa", "reads.bam", "-o", "o.bam", "--tags", wanted, "-t", "1")
        assert all(tags.keys() == names for _, tags in tags_in(folder / "o.bam"))
    command("map", "ref.fa", "reads.bam", "-o", "o.bam", "--read-group", r"ID:x\tSM:y", "-t", "1")
    assert {tags["RG"] for _, tags in tags_in(folder / "o.bam")} == {("RG", "x", "Z")}
    with pytest.raises(ParameterError, match="no tag is called 'M1M'"):
        TagChoice.of("MM,M1M")


def test_tags_of_earlier_alignments_go(tmp_path):
    line = sam_line("r", "ACGT", ["NM:i:0", "MD:Z:4", "HP:i:1"])
    (tmp_path / "a.sam").write_text(f"@CO\ttext\n{line}")
    assert read_fastx(tmp_path / "a.sam", tags="all").tags_of(0) == b"HP:i:1"
    assert read_fastx(tmp_path / "a.sam", tags="NM").tags_of(0) == b"NM:i:0"
    assert read_fastx(tmp_path / "a.sam").tag_bytes is None


def test_comments_that_are_no_tags_do_not_count(tmp_path):
    text = "@a runid=5 ch=7\nA\n+\n5\n@b RG:Z:x\ty\tRG:Z:z\tXI:i:1.5\tXB:B:c\nA\n+\n5\n>c\nA\n"
    (tmp_path / "a.fq").write_text(text)
    reads = read_fastx(tmp_path / "a.fq", tags="all")
    assert [reads.tags_of(read) for read in range(3)] == [b"", b"RG:Z:x\tXB:B:c", b""]


@pytest.mark.parametrize(
    ("kind", "least", "most"),
    [
        ("i", -(1 << 31), (1 << 32) - 1), ("B:c", -128, 127), ("B:C", 0, 255), ("B:s", -32768, 32767),
        ("B:S", 0, 65535), ("B:i", -(1 << 31), (1 << 31) - 1), ("B:I", 0, (1 << 32) - 1),
    ],
)  # fmt: skip
def test_numbers_that_a_tag_has_no_room_for_do_not_count(command, folder, kind, least, most):
    """As in aux.fail-i1, aux.fail-i2, aux.fail-B2 and aux.fail-B3 of the tests of hts-specs."""
    comma = ":" if kind == "i" else ","
    kept = [f"XA:{kind}{comma}{least}", f"XB:{kind}{comma}{most}"]
    lost = [f"XC:{kind}{comma}{least - 1}", f"XD:{kind}{comma}{most + 1}"]
    (folder / "a.sam").write_text("@CO\ttext\n" + sam_line("r", REFERENCE[:500], [*kept, *lost]))
    assert command("map", "ref.fa", "a.sam", "-o", "o.bam", "-t", "1").code == 0
    written = pysam.view(str(folder / "o.bam")).strip().split("\t")
    assert [field for field in written if field.startswith("X")] == kept


@pytest.mark.parametrize(
    ("cigar", "length", "stays"),
    [("4M", 4, True), ("2H4M", 6, False), ("2H4M", 4, True), ("2H4M", None, False)],
)
def test_base_modifications_of_clipped_records(tmp_path, cigar, length, stays):
    tags = ["MM:Z:C+m,0;", "ML:B:C,9", *([] if length is None else [f"MN:i:{length}"]), "XA:A:x"]
    line = sam_line("r", "ACGT", tags, 0, f"chr\t1\t60\t{cigar}")
    (tmp_path / "a.sam").write_text(f"@SQ\tSN:chr\tLN:9\n{line}")
    assert read_fastx(tmp_path / "a.sam", tags="all").tags_of(0).startswith(b"MM") == stays


def test_parents_of_duplex_reads_are_left_out(command, folder):
    records = [
        f"@{name}\tdx:i:{dx}\n{BASES[f'r{name}']}\n+\n{'5' * len(BASES[f'r{name}'])}\n"
        for name, dx in enumerate((0, -1, 1, -12))
    ]
    (folder / "d.fq").write_text("".join(records))
    assert read_fastx(folder / "d.fq", no_duplex_parents=True).names == ["0", "2", "3"]
    for arguments in (("map", "ref.fa", "d.fq", "-o", "o.paf"), ("correct", "d.fq", "-o", "o.fq")):
        result = command(*arguments, "--no-duplex-parents", "-t", "1")
        assert result.code == 0
        assert "1 left out: parents" in result.err or "1 read left out: parents" in result.err


def test_runs_and_reports_know_that_parents_were_left_out(command, folder):
    texts = (f"@{n}\tdx:i:{n - 1}\n{BASES['r1']}\n+\n{'5' * len(BASES['r1'])}\n" for n in range(3))
    (folder / "d.fq").write_text("".join(texts))
    words = ("overlap", "d.fq", "-o", "o.paf", "--workdir", "w")
    assert command(*words, "--no-duplex-parents", "-t", "1").code == 0
    assert command("report", "d.fq", "o.paf", "-o", "r.html").code == 0
    assert "Give the same reads with --no-duplex-parents, or name" in command(*words, "-t", "1").err


def test_secondary_records_have_no_base_modifications(command, folder):
    (folder / "ref.fa").write_text(f">chr\n{REFERENCE}\n>copy\n{REFERENCE}\n")
    command("map", "ref.fa", "reads.bam", "-o", "o.bam", "-t", "1")
    for record, tags in tags_in(folder / "o.bam"):
        assert ("MM" in tags) != record.is_secondary and "RG" in tags


def test_damaged_tags_are_told(command, folder):
    content = gzip.decompress((folder / "reads.bam").read_bytes())
    (folder / "raw").write_bytes(content.replace(b"XZZa b;c", b"XZQa b;c"))
    pysam.tabix_compress(f"{folder}/raw", f"{folder}/damaged.bam", force=True)
    result = command("map", "ref.fa", "damaged.bam", "-o", "out.bam", "-t", "1")
    assert result.code == 1
    assert "damaged.bam, record 1: has tags that are damaged. Repair the record" in result.err
    assert not (folder / "out.bam").exists()


def test_header_lines_of_the_reads_are_kept(command, folder):
    command("map", "ref.fa", "reads.bam", "-o", "o.sam", "-t", "1")
    lines = (folder / "o.sam").read_text().splitlines()
    programs = [line for line in lines if line.startswith("@PG")]
    assert programs[:2] == HEADER[1:3] and field("PP", programs[2]) == "tool"
    assert HEADER[0] in lines and HEADER[3] in lines
    os.mkfifo(folder / "pipe")
    writer = threading.Thread(
        target=(folder / "pipe").write_bytes, args=[(folder / "reads.bam").read_bytes()]
    )
    writer.start()
    assert command("map", "ref.fa", "pipe", "-o", "p.sam", "-t", "1").code == 0
    writer.join()
    assert [line for line in (folder / "p.sam").read_text().splitlines() if line[:3] == "@RG"] == [HEADER[0]]


def test_groups_and_programs_without_a_name_are_left_out():
    """As in hdr.RG0 and hdr.PG2 of the tests of hts-specs, which samtools refuses."""
    given = ["@RG\tDS:no ID", "@RG\tID:run", "@PG\tVN:1", "@PG\tID:tool"]
    lines = sam_header(Reads.from_sequences(["chr"], ["ACGT"]), None, "call", [given]).splitlines()
    assert [line for line in lines if line[:3] in ("@RG", "@PG")][:2] == ["@RG\tID:run", "@PG\tID:tool"]
    assert not {"@RG\tDS:no ID", "@PG\tVN:1"} & {*lines}


def test_headers_of_several_files():
    reference = Reads.from_sequences(["chr"], ["ACGT"])
    one = ["@RG\tID:a\tSM:s", "@PG\tID:p\tVN:1", "@PG\tID:q\tPP:p"]
    other = ["@RG\tID:a\tSM:s", "@PG\tID:p\tVN:2"]
    lines = sam_header(reference, None, "x", [one, other]).splitlines()
    assert [line for line in lines if line.startswith("@RG")] == ["@RG\tID:a\tSM:s"]
    programs = {field("ID", line): field("PP", line) for line in lines if line.startswith("@PG")}
    assert programs == {"p": "", "q": "p", "p.1": "", "overlapper": "q", "overlapper.1": "p.1"}
    with pytest.raises(FormatError, match="read groups 'a' that differ"):
        sam_header(reference, None, "x", [one, ["@RG\tID:a\tSM:other"]])
