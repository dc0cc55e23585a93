"""Reads from SAM, BAM and CRAM files."""

import gzip
import os
import tempfile
import threading
from pathlib import Path

import numpy as np
import pysam
import pytest

from overlapper.errors import FormatError, TruncatedError
from overlapper.io.alignments import header_of
from overlapper.io.fastx import FastxParts, read_fastx
from overlapper.tables import Reads
from tests.oracle.strands import reverse_complement

REFERENCE = "GATTACACCGGTTTTACGNA" * 20


def write(path, mode, reference, options=()):
    """Seven records of five reads: one forward, one reverse in three pieces, and three unmapped."""
    header = {"HD": {"VN": "1.6"}, "SQ": [{"SN": "chr", "LN": len(REFERENCE)}]}
    with pysam.AlignmentFile(
        str(path), mode, header=header, reference_filename=reference, format_options=[*options]
    ) as file:

        def add(name, flag, bases, qualities):
            record = pysam.AlignedSegment(file.header)
            record.query_name, record.flag = name, flag
            record.query_sequence = bases
            if bases and not flag & 4:
                record.reference_id, record.reference_start = 0, 0
                record.cigarstring = f"{len(bases)}M"
            record.query_qualities = qualities
            file.write(record)

        add("forward", 0, REFERENCE, [7] * len(REFERENCE))
        add("reverse", 16, REFERENCE[:50], list(range(50)))
        add("reverse", 16 | 0x100, REFERENCE[:50], list(range(50)))
        add("reverse", 0x800, REFERENCE[:20], [1] * 20)
        add("unmapped", 4, "ACGTN", [40, 41, 42, 43, 93])
        add("plain", 4, "TTTT", None)
        add("empty", 4, None, None)


EXPECTED = {
    "forward": (REFERENCE, [7] * len(REFERENCE)),
    "reverse": (reverse_complement(REFERENCE[:50]), list(range(49, -1, -1))),
    "unmapped": ("ACGTN", [40, 41, 42, 43, 93]),
    "plain": ("TTTT", []),
    "empty": ("", []),
}


@pytest.fixture
def reference(tmp_path, monkeypatch):
    monkeypatch.setenv("REF_PATH", "none")
    path = tmp_path / "reference.fa"
    path.write_text(f">chr\n{REFERENCE}\n")
    return str(path)


@pytest.fixture(params=["w", "wb", "wc"], ids=["SAM", "BAM", "CRAM"])
def alignments(request, tmp_path, reference):
    write(tmp_path / "alignments", request.param, reference)
    return tmp_path / "alignments"


def check(reads):
    expected = Reads.from_sequences(EXPECTED, [bases for bases, _ in EXPECTED.values()])
    assert reads.names == expected.names
    assert [reads.sequence(i) for i in range(len(reads))] == [bases for bases, _ in EXPECTED.values()]
    for i, (_, qualities) in enumerate(EXPECTED.values()):
        start, stop = reads.quality_offsets[i], reads.quality_offsets[i + 1]
        np.testing.assert_array_equal(reads.qualities[start:stop], qualities)


def test_primary_records_on_the_strand_that_was_sequenced(alignments, reference):
    check(read_fastx(alignments, keep_qualities=True, reference=reference))


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("pack", [False, True], ids=["FASTA", "bgzip"])
def test_nothing_is_written_beside_the_reference_of_cram(reference, tmp_path, monkeypatch, given, pack):
    if pack:
        with pysam.BGZFile(f"{reference}.gz", "wb") as file:
            file.write(Path(reference).read_bytes())
        reference += ".gz"
    write(tmp_path / "alignments", "wc", reference)
    for index in tmp_path.glob("reference.fa*i"):
        index.unlink()
    monkeypatch.delenv("REF_PATH")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    before = sorted(tmp_path.iterdir())
    check(read_fastx(tmp_path / "alignments", keep_qualities=True, reference=reference if given else None))
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("version", ["2.1", "3.0", "3.1"])
def test_cram_without_the_container_that_ends_it_is_cut_off(tmp_path, reference, version):
    whole = tmp_path / "whole"
    write(whole, "wc", reference, [f"version={version}".encode()])
    check(read_fastx(whole, keep_qualities=True, reference=reference))
    (tmp_path / "cut").write_bytes(whole.read_bytes()[: -(30 if version < "3" else 38)])
    with pytest.raises(TruncatedError, match="cut: cannot be read to its end: it is cut off or damaged"):
        read_fastx(tmp_path / "cut", reference=reference)


def test_from_a_pipe(alignments, reference, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(alignments.read_bytes()))
    writer.start()
    check(read_fastx(pipe, keep_qualities=True, reference=reference))
    writer.join()


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("place", ["4\t*\t0\t0\t*", "0\tchr\t1\t60\t4M"])
def test_sam_without_a_header(tmp_path, pack, place):
    """As ``samtools view`` writes it, and seq.pass2 of the tests of hts-specs."""
    text = f"one\t{place}\t*\t0\t0\tACGT\tIIII\tXA:Z:{'x' * 5000}\ntwo\t4\t*\t0\t0\t*\t*\t0\t0\tAC\t*\n"
    (tmp_path / "a").write_bytes(pack(text.encode()))
    reads = read_fastx(tmp_path / "a")
    assert (reads.names, reads.sequence(0), reads.sequence(1)) == (["one", "two"], "ACGT", "AC")
    assert header_of(str(tmp_path / "a")) == []
    (tmp_path / "a.paf").write_text("one\t4\t0\t4\t+\ttwo\t4\t0\t4\t4\t4\t255\n")
    with pytest.raises(FormatError, match="starts with 'o': neither FASTA"):
        read_fastx(tmp_path / "a.paf")


def test_beside_fastq(alignments, reference, tmp_path):
    (tmp_path / "more.fq").write_text("@more\nAC\n+\nII\n")
    reads = read_fastx(tmp_path / "more.fq", alignments, reference=reference)
    assert reads.names == ["more", *EXPECTED]


@pytest.mark.parametrize("mode", ["wb", "w"])
def test_reverse_records_may_lack_qualities(tmp_path, mode):
    path = tmp_path / "reads.bam"
    with pysam.AlignmentFile(str(path), mode, header={"SQ": [{"SN": "chr", "LN": 100}]}) as file:
        for name, flag, bases in (
            ("secondary", 0x110, None),
            ("reverse", 16, "AACGT"),
            ("forward", 0, "AACGT"),
        ):
            record = pysam.AlignedSegment(file.header)
            record.query_name, record.flag, record.query_sequence = name, flag, bases
            record.reference_id, record.reference_start = 0, 0
            record.cigarstring = "5M"
            file.write(record)
    reads = read_fastx(str(path))
    assert [reads.sequence(i) for i in range(len(reads))] == ["ACGTT", "AACGT"]


@pytest.mark.parametrize("mode", ["wb", "w"])
def test_reads_that_records_do_not_hold_whole_are_counted(tmp_path, mode):
    path = tmp_path / ("reads.bam" if mode == "wb" else "reads.sam")
    header = {"HD": {"VN": "1.6"}, "SQ": [{"SN": "chr", "LN": 1000}]}
    rows = [  # name, flag, CIGAR, bases
        ("whole", 0, "50M", 50), ("whole", 0x800, "30H20M", 20), ("clipped", 16, "20M70H", 20),
        ("soft", 0, "10S20M", 30), ("supplementary", 0x800, "20M30H", 20),
        ("supplementary", 0x800, "5H20M", 20), ("secondary", 0x100, "20M", 20), ("unmapped", 4, None, 20),
    ]  # fmt: skip
    with pysam.AlignmentFile(str(path), mode, header=header) as file:
        for name, flag, cigar, bases in rows:
            record = pysam.AlignedSegment(file.header)
            record.query_name, record.flag, record.query_sequence = name, flag, REFERENCE[:bases]
            if cigar:
                record.reference_id, record.reference_start, record.cigarstring = 0, 0, cigar
            file.write(record)
    parts = FastxParts(path)
    reads = parts.together()
    assert dict(zip(reads.names, reads.lengths.tolist(), strict=True)) == {
        "whole": 50, "clipped": 20, "soft": 30, "unmapped": 20
    }  # fmt: skip
    assert parts.left_out == {
        "left out: secondary or supplementary records alone": 2,
        "shorter than sequenced: their records are hard-clipped": 1,
    }
