"""``overlapper map`` end to end."""

import gzip

import numpy as np
import pysam
import pytest

from tests.read_sets import mutated, random_text, reverse_complement

RNG = np.random.default_rng(7)
REFERENCE = random_text(RNG, 6000)
READS = {f"r{i}": mutated(RNG, REFERENCE[400 * i : 400 * i + 1800], 0.06) for i in range(10)}
READS["r3"] = reverse_complement(READS["r3"])
READS["alien"] = random_text(RNG, 500)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "ref.fa").write_text(f">chr description\n{REFERENCE}\n")
    fastq = "".join(f"@{name}\n{text}\n+\n{'5' * len(text)}\n" for name, text in READS.items())
    (tmp_path / "reads.fq.gz").write_bytes(gzip.compress(fastq.encode()))
    return tmp_path


def test_formats_agree(command, files):
    for name in ("o.paf", "o.sam", "o.bam"):
        result = command("map", "ref.fa", "reads.fq.gz", "-o", name, "-t", "2")
        assert result.code == 0, result.err
    assert "1 unmapped reads" in result.err
    paf = [line.split("\t") for line in (files / "o.paf").read_text().splitlines()]
    assert {fields[0] for fields in paf} == set(READS) - {"alien"}
    for fields in paf:
        start = 400 * int(fields[0][1:])
        assert abs(int(fields[7]) - start) < 50 and abs(int(fields[8]) - start - 1800) < 50
        assert (fields[4] == "-") == (fields[0] == "r3")
    from_paf = [(fields[0], int(fields[7]), int(fields[11])) for fields in paf]
    for name in ("o.sam", "o.bam"):
        with pysam.AlignmentFile(str(files / name)) as file:
            records = [record for record in file if not record.is_unmapped]
        assert [(r.query_name, r.reference_start, r.mapping_quality) for r in records] == from_paf
        assert all(set(r.get_forward_qualities()) == {20} for r in records)


def test_reads_named_twice_far_apart_are_refused(command, files, monkeypatch):
    """Names are compared when all reads have been mapped; what was written until then is not left."""
    monkeypatch.setattr("overlapper.cli.map.PART_BASES", 2000)
    (files / "twice.fa").write_text("".join(f">{n}\n{text}\n" for n, text in [*READS.items(), ("r1", "AC")]))
    result = command("map", "ref.fa", "twice.fa", "-o", "o.bam")
    assert result.code == 1
    assert "record 12 (r1): has the name of record 2" in result.err
    assert not (files / "o.bam").exists()


def test_sorted_and_indexed(command, files):
    options = ("--sort", "--index", "--read-group", r"ID:x\tSM:y", "--eqx")
    assert command("map", "ref.fa", "reads.fq.gz", "-o", "o.bam", *options).code == 0
    with pysam.AlignmentFile(str(files / "o.bam")) as file:
        assert file.count("chr", 0, 1000) >= 2
        assert all(record.get_tag("RG") == "x" for record in file.fetch())


def test_a_run_without_mappings_says_so(command, files):
    (files / "other.fa").write_text(f">x\n{random_text(RNG, 3000)}\n")
    result = command("map", "other.fa", "reads.fq.gz", "-o", "o.sam")
    assert result.code == 0
    assert "no read is mapped" in result.err
    assert (files / "o.sam").read_text().count("\t4\t*\t0\t0\t*") == len(READS)


@pytest.mark.parametrize(("length", "window"), [("28", "255"), ("28", "10"), ("27", "255")])
def test_references_with_few_seeds_are_mapped_to(command, files, length, window):
    (files / "one.fa").write_text(f">r\n{REFERENCE[1000:4000]}\n")
    result = command("map", "ref.fa", "one.fa", "-k", length, "-w", window, "-o", "o.paf")
    assert result.code == 0, result.err
    fields = (files / "o.paf").read_text().split("\t")
    assert [int(fields[7]), int(fields[8])] == [1000, 4000]


def test_letters_of_unknown_bases_stay_as_they_were_on_either_strand(command, files):
    """Of FASTA in either case, and of BAM, whose records are on the strand of an earlier mapping."""
    letters = dict(zip(range(100, 1300, 100), "RYSWKMBDHVNr", strict=True))
    given = "".join(letters.get(i, base) for i, base in enumerate(REFERENCE[1000:2800]))
    turned = given.translate(str.maketrans("ACGTRYKMBDHVr", "TGCAYRMKVHDBy"))[::-1]
    (files / "odd.fa").write_text(f">+\n{given}\n>-\n{turned}\n>none\n{'RYACGTNK' * 20}\n")
    for reads, sam in ("odd.fa", "o.bam"), ("o.bam", "again.sam"):
        assert command("map", "ref.fa", reads, "-o", sam, "--tags", "none", "-t", "1").code == 0
        with pysam.AlignmentFile(str(files / sam)) as file:
            found = {record.query_name: (record.query_sequence, record.is_reverse) for record in file}
        assert found == {
            "+": (given.upper(), False), "-": (given.upper(), True), "none": ("RYACGTNK" * 20, False)
        }  # fmt: skip
