"""Mappings as PAF, SAM and BAM, read back by pysam."""

import re
import subprocess

import numpy as np
import pysam
import pytest

from overlapper.errors import FormatError, OutputError, ParameterError
from overlapper.io.mappings import MappingOptions, open_mappings
from overlapper.io.sam_header import parse_read_group
from overlapper.mapping.mapper import map_reads
from overlapper.params.mapping import MapParams
from overlapper.tables import MappingKind, Reads
from tests.read_sets import mutated, random_text, reverse_complement

RNG = np.random.default_rng(3)
ONE, OTHER = random_text(RNG, 4000), random_text(RNG, 3000)
REFERENCE = Reads.from_sequences(["one", "other"], [ONE, OTHER + ONE[:1500]])
TEXTS = {
    "plain": mutated(RNG, ONE[1600:3900], 0.08),
    "turned": reverse_complement(mutated(RNG, OTHER[200:2500], 0.08)),
    "split": ONE[2000:3600] + reverse_complement(OTHER[300:1800]),
    "repeated": mutated(RNG, ONE[100:1400], 0.02),
    "strange": random_text(RNG, 900),
    "unknown": ONE[1700:2500] + "N" * 7 + ONE[2507:3300],
    "empty": "",
}
KINDS = {0: MappingKind.PRIMARY, 2048: MappingKind.SUPPLEMENTARY, 256: MappingKind.SECONDARY}


@pytest.fixture(scope="module")
def mapped():
    reads = Reads.from_sequences(TEXTS, TEXTS.values())
    qualities = np.arange(reads.total_bases) % 40
    offsets = np.concatenate([[0], np.cumsum(reads.lengths)])
    reads = Reads(**(vars(reads) | {"qualities": qualities, "quality_offsets": offsets}))
    return reads, map_reads(REFERENCE, reads, MapParams.preset("ont"))


def written(path, mapped, **options):
    reads, mappings = mapped
    with open_mappings(path, REFERENCE, MappingOptions(**options), threads=2) as writer:
        half = 3
        few = mappings.query < half
        writer.write(reads.take(np.arange(half)), mappings.take(few))
        rest = mappings.take(~few)
        shifted = {"query": rest.query - half}
        writer.write(reads.take(np.arange(half, len(reads))), type(rest)(**(vars(rest) | shifted)))
    return path


@pytest.mark.parametrize("ending", ["sam", "sam.gz", "bam"])
@pytest.mark.parametrize("distinguish", [False, True])
def test_records_say_what_the_table_says(tmp_path, mapped, ending, distinguish):
    reads, mappings = mapped
    path = written(
        tmp_path / f"o.{ending}",
        mapped,
        distinguish=distinguish,
        read_group=r"@RG\tID:a\tSM:b",
        command="x  y",
    )
    with pysam.AlignmentFile(str(path)) as file:
        header, records = file.header.to_dict(), list(file)
    assert header["SQ"] == [{"SN": "one", "LN": 4000}, {"SN": "other", "LN": 4500}]
    assert header["RG"] == [{"ID": "a", "SM": "b"}]
    assert header["PG"][0]["CL"] == "x y"
    unmapped = [record for record in records if record.is_unmapped]
    assert [record.query_name for record in unmapped] == ["strange", "empty"]
    assert all(record.get_tag("RG") == "a" for record in records)
    aligned = [record for record in records if not record.is_unmapped]
    assert len(aligned) == len(mappings) >= 7
    for row, record in enumerate(aligned):
        read = int(mappings.query[row])
        assert record.query_name == reads.name(read)
        assert KINDS[record.flag & ~16] == mappings.kind[row]
        assert record.is_reverse == mappings.reverse[row]
        assert (record.reference_id, record.reference_start) == (mappings.target[row], mappings.t_start[row])
        assert record.reference_end == mappings.t_end[row]
        assert record.mapping_quality == mappings.quality[row]
        clips = reads.lengths[read] - mappings.q_end[row] if record.is_reverse else mappings.q_start[row]
        assert (record.cigartuples[0][1] if record.cigartuples[0][0] == 4 else 0) == clips
        assert record.infer_read_length() == reads.lengths[read]
        tags = {"NM": "edits", "AS": "score", "cm": "seeds", "s1": "chain_score", "s2": "second_score"}
        assert {t: record.get_tag(t) for t in tags} == {t: getattr(mappings, n)[row] for t, n in tags.items()}
        assert record.get_tag("de") == pytest.approx(mappings.divergence[row], abs=6e-5)
        assert record.get_tag("tp") == ("S" if record.is_secondary else "P")
        assert any(op in (7, 8) for op, _ in record.cigartuples) == distinguish
        if record.is_secondary:
            assert record.query_sequence is None
            continue
        assert record.get_forward_sequence() == reads.sequence(read)
        kept = reads.qualities[reads.quality_offsets[read] : reads.quality_offsets[read + 1]]
        assert record.get_forward_qualities().tolist() == kept.tolist()


def test_pieces_of_a_read_name_each_other(tmp_path, mapped):
    path = written(tmp_path / "o.bam", mapped)
    with pysam.AlignmentFile(str(path)) as file:
        first, second = (r for r in file if r.query_name == "split" and not r.is_secondary)
    assert not first.is_supplementary and second.is_supplementary
    name, position, strand, cigar, quality, edits = first.get_tag("SA").rstrip(";").split(",")
    assert (name, int(position), strand) == (
        second.reference_name, second.reference_start + 1, "-" if second.is_reverse else "+"
    )  # fmt: skip
    assert sum(int(n) for n, op in re.findall(r"(\d+)([MIS])", cigar)) == second.infer_read_length()
    assert sum(int(n) for n, op in re.findall(r"(\d+)([MD])", cigar)) == second.reference_length
    assert (int(quality), int(edits)) == (second.mapping_quality, second.get_tag("NM"))


def test_paf_has_the_same(tmp_path, mapped):
    reads, mappings = mapped
    lines = [line.split("\t") for line in written(tmp_path / "o.paf", mapped).read_text().splitlines()]
    assert len(lines) == len(mappings)
    for row, fields in enumerate(lines):
        read, target = int(mappings.query[row]), int(mappings.target[row])
        assert fields[:12] == [
            reads.name(read), str(reads.lengths[read]), str(mappings.q_start[row]), str(mappings.q_end[row]),
            "-" if mappings.reverse[row] else "+", REFERENCE.name(target), str(REFERENCE.lengths[target]),
            str(mappings.t_start[row]), str(mappings.t_end[row]), str(mappings.matches[row]),
            str(mappings.block_length[row]), str(mappings.quality[row]),
        ]  # fmt: skip
        tags = {field[:2] for field in fields[12:]}
        assert tags == {"NM", "AS", "tp", "cm", "s1", "s2", "de", "cg"}


def test_sorted_bam_has_an_index(tmp_path, mapped):
    path = written(tmp_path / "o.bam", mapped, sort=True, index=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["o.bam", "o.bam.bai"]
    with pysam.AlignmentFile(str(path)) as file:
        assert file.header["HD"]["SO"] == "coordinate"
        positions = [(record.reference_id, record.reference_start) for record in file.fetch("one")]
    assert positions == sorted(positions)
    assert len(positions) == int((mapped[1].target == 0).sum())


def test_a_failed_run_leaves_no_file(tmp_path, mapped):
    for ending in ("sam", "bam"):
        with pytest.raises(ZeroDivisionError), open_mappings(tmp_path / f"o.{ending}", REFERENCE) as writer:
            writer.write(*mapped)
            raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("o.txt", {}, "does not end in one of"),
        ("o.sam", {"sort": True}, "only BAM is sorted"),
        ("o.bam", {"index": True}, "sort them as well"),
        ("o.paf", {"read_group": "ID:a"}, "PAF has no read groups"),
        ("o.sam", {"read_group": "SM:a"}, "expected a field ID:name"),
        ("o.sam", {"read_group": "ID:a\\tnonsense"}, "expected TAG:value"),
        ("o.sam", {"read_group": "ID:a\\tID:b"}, "has a field twice"),
        ("o.sam", {"read_group": "ID:a SM:b"}, "looks like several with blanks between them"),
    ],
)
def test_wrong_options_are_refused(tmp_path, name, options, message):
    with pytest.raises(ParameterError, match=message):
        open_mappings(tmp_path / name, REFERENCE, MappingOptions(**options))


def test_names_and_folders_that_do_not_work_are_told(tmp_path):
    odd = Reads.from_sequences(["a,b"], ["ACGT"])
    with pytest.raises(FormatError, match="'a,b' has a name that SAM does not allow"):
        open_mappings(tmp_path / "o.bam", odd)
    with (
        pytest.raises(OutputError, match="cannot be written"),
        open_mappings(tmp_path / "missing" / "o.bam", REFERENCE),
    ):
        pass


def test_a_read_group_keeps_its_fields():
    assert parse_read_group("ID:a\tSM:b:c") == {"ID": "a", "SM": "b:c"}
    assert parse_read_group("ID:a\tDS:run 3, 12:30") == {"ID": "a", "DS": "run 3, 12:30"}


@pytest.mark.skipif(
    subprocess.run(["which", "samtools"], capture_output=True).returncode, reason="no samtools"
)
def test_quickcheck_of_samtools(tmp_path, mapped):
    subprocess.run(["samtools", "quickcheck", "-v", written(tmp_path / "o.bam", mapped)], check=True)
