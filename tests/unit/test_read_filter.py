"""Reads that are too short or too bad are left out as they are read, as if they had not been there."""

import random

import numpy as np
import pysam
import pytest

from overlapper.errors import DuplicateNameError, EmptyInputError, FormatError, ParameterError
from overlapper.io import chunks, fastx
from overlapper.io.fastx import FastxParts, read_fastx
from overlapper.io.read_filter import ReadFilter
from overlapper.report.reads import mean_qualities
from tests.oracle.read_filter import mean_quality, passing
from tests.read_sets import assert_same


def records(n=200, seed=1):
    """Reads of some bases, or none, whose qualities are nowhere near the limits asked for below."""
    draw = random.Random(seed)
    made = []
    for number in range(n):
        size = draw.choice([0, 1, 30, 200, 999, 1000, 1500])
        level = draw.choice([4, 9, 14, 30])
        qualities = [max(0, min(93, round(draw.gauss(level, 4)))) for _ in range(size)]
        made.append((f"r{number}", "".join(draw.choice("ACGTN") for _ in range(size)), qualities))
    return made


def fastq(reads):
    return "".join(
        f"@{name}\n{bases}\n+\n{''.join(chr(33 + q) for q in qualities)}\n"
        for name, bases, qualities in reads
    )


def write(path, text):
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("keep_qualities", [False, True])
@pytest.mark.parametrize(("min_length", "min_quality"), [(0, 0), (1000, 0), (0, 8.5), (30, 11.25), (1, 93)])
def test_reads_are_those_of_a_file_filtered_before(tmp_path, min_length, min_quality, keep_qualities):
    reads = [*records(), ("perfect", "ACGT" * 300, [93] * 1200)]
    left, short, bad = passing(reads, min_length, min_quality)
    asked = {"keep_qualities": keep_qualities}
    found = FastxParts(
        write(tmp_path / "all.fq", fastq(reads)), read_filter=ReadFilter(min_length, min_quality), **asked
    )
    assert_same(found.together(), read_fastx(write(tmp_path / "left.fq", fastq(left)), **asked))
    expected = {"left out: too short": short} if min_length else {}
    assert found.left_out == expected | ({"left out: low quality": bad} if min_quality else {})


def test_parts_threads_and_files_change_nothing(tmp_path, monkeypatch):
    reads = records(400)
    one = write(tmp_path / "one.fq", fastq(reads))
    two = [write(tmp_path / "a.fq", fastq(reads[:150])), write(tmp_path / "b.fq", fastq(reads[150:]))]
    asked = {"min_length": 500, "min_quality": 9.5}
    whole = read_fastx(one, **asked)
    monkeypatch.setattr(fastx, "PART_BASES", 1000)
    assert_same(read_fastx(one, **asked), whole)
    assert_same(read_fastx(*two, **asked), whole)
    monkeypatch.setattr(chunks, "CHUNK_BYTES", 1 << 14)
    assert_same(read_fastx(*two, threads=2, **asked), whole)


def test_a_read_whose_bases_are_all_of_the_least_quality_counts(tmp_path):
    for quality in (1, 7, 10, 13, 20, 41):
        path = write(tmp_path / "reads.fq", fastq([("a", "ACGTA" * 777, [quality] * 3885)]))
        assert len(read_fastx(path, min_quality=quality)) == 1
        with pytest.raises(EmptyInputError, match=r"no reads that count \(1 low quality\)"):
            read_fastx(path, min_quality=quality + 0.001)


def test_the_report_has_the_same_mean(tmp_path):
    reads = [record for record in records() if record[1]]
    found = mean_qualities(read_fastx(write(tmp_path / "reads.fq", fastq(reads)), keep_qualities=True))
    np.testing.assert_allclose(found, [mean_quality(qualities) for _, _, qualities in reads], atol=1e-4)


def test_bam_is_filtered_alike(tmp_path):
    reads = [record for record in records() if record[1]]
    path = str(tmp_path / "reads.bam")
    with pysam.AlignmentFile(path, "wb", header={"HD": {"VN": "1.6"}}) as file:
        for name, bases, qualities in reads:
            record = pysam.AlignedSegment()
            record.query_name, record.flag, record.query_sequence = name, 4, bases
            record.query_qualities = pysam.qualitystring_to_array("".join(chr(33 + q) for q in qualities))
            file.write(record)
    left, _, _ = passing(reads, 500, 9.5)
    assert read_fastx(path, min_length=500, min_quality=9.5).names == [name for name, _, _ in left]


def test_reads_without_qualities_have_none_to_judge(tmp_path):
    fasta = write(tmp_path / "reads.fa", ">a\nACGT\n>b\nAC\n")
    assert read_fastx(fasta, min_length=3).names == ["a"]
    fastq_file = write(tmp_path / "reads.fq", fastq([("c", "ACG", [9, 9, 9])]))
    with pytest.raises(FormatError, match=r"reads\.fa, record 1: has no qualities.* length alone"):
        read_fastx(fastq_file, fasta, min_quality=5)


def test_numbers_of_records_are_those_of_the_file(tmp_path):
    reads = [("a", "AC", [9, 9]), ("b", "ACGT", [9] * 4), ("c", "A", [9]), ("b", "ACGTA", [9] * 5)]
    path = write(tmp_path / "reads.fq", fastq(reads))
    with pytest.raises(DuplicateNameError, match=r"record 4 \(b\): has the name of record 2 in"):
        read_fastx(path, min_length=3)
    assert read_fastx(path, min_length=5).names == ["b"]


@pytest.mark.parametrize("limits", [{"min_length": -1}, {"min_quality": -0.5}, {"min_quality": 94.0}])
def test_limits_that_no_read_can_have(limits):
    with pytest.raises(ParameterError, match=next(iter(limits))):
        ReadFilter(**limits)
    with pytest.raises(ParameterError):
        ReadFilter(min_quality=float("nan"))
