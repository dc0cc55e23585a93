"""SAM and BAM files of mappings keep the rules that Picard checks, each of which can be broken."""

import pysam
import pytest

from overlapper.io.mappings import MappingOptions, open_mappings
from overlapper.mapping.mapper import map_reads
from overlapper.params.mapping import PRESETS
from tests.sam_rules import problems
from tests.unit.test_mapping_files import ONE, OTHER, REFERENCE, mapped  # noqa: F401 (a fixture)

REFERENCES = {"one": ONE, "other": OTHER + ONE[:1500]}


def text_of(path):
    with pysam.AlignmentFile(str(path)) as file:
        return str(file.header) + "".join(record.to_string() + "\n" for record in file)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", ["o.sam", "o.bam"])
def test_files_keep_the_rules(tmp_path, mapped, preset, name):  # noqa: F811
    reads = mapped[0]
    mappings = map_reads(REFERENCE, reads, preset)
    assert len(mappings) >= 4
    options = MappingOptions(
        distinguish=preset == "clr", read_group="ID:a\tSM:b", sort=name == "o.bam", index=name == "o.bam"
    )
    with open_mappings(tmp_path / name, REFERENCE, options) as writer:
        writer.write(reads, mappings)
    assert problems(text_of(tmp_path / name), REFERENCES) == []


@pytest.fixture(scope="module")
def lines(tmp_path_factory, mapped):  # noqa: F811
    path = tmp_path_factory.mktemp("rules") / "o.sam"
    with open_mappings(path, REFERENCE, MappingOptions(read_group="ID:a")) as writer:
        writer.write(*mapped)
    return path.read_text().splitlines()


def changed(column, change, *, flag=0):
    """A change of one column of the first record with a flag."""

    def apply(lines):
        lines = list(lines)
        for number, line in enumerate(lines):
            fields = line.split("\t")
            if not line.startswith("@") and int(fields[1]) & ~16 == flag:
                fields[column] = change(fields[column])
                lines[number] = "\t".join(fields)
                return lines
        raise AssertionError

    return apply


BREAKS = {
    "the header has no first line @HD": lambda lines: lines[1:],
    "the sequences of the header are not the reference": lambda lines: [lines[0], *lines[2:]],
    "programs of the header": lambda lines: [line for line in lines if not line.startswith("@PG")],
    "flags of pairs": changed(1, lambda flag: str(int(flag) | 1)),
    "mate fields": changed(6, lambda _: "="),
    "bad tag": changed(11, lambda tag: tag.replace(":i:", ":Q:")),
    "read group missing": changed(-1, lambda _: "RG:Z:b"),
    "bad bases": changed(9, lambda bases: "U" + bases[1:]),
    "qualities do not fit": changed(10, lambda scores: scores[1:]),
    "an unmapped read has a place": changed(3, lambda _: "7", flag=4),
    "reference is not in the header": changed(2, lambda _: "x"),
    "a secondary mapping has a quality": changed(4, lambda _: "3", flag=256),
    "bad CIGAR": changed(5, lambda cigar: cigar + "3I"),
    "the CIGAR does not fit": changed(5, lambda cigar: "1S" + cigar),
    "the alignment leaves": changed(3, lambda at: str(int(at) + 4000)),
    "NM is not": changed(11, lambda tag: tag + "1"),
    "not exactly one primary": lambda lines: [*lines[:6], *lines[5:]],
    "SA does not name": changed(4, lambda _: "1", flag=2048),
    "records of a read are apart": lambda lines: [*lines, lines[5].replace("\t0\t", "\t2048\t", 1)],
}


@pytest.mark.parametrize("message", BREAKS)
def test_a_broken_rule_is_found(lines, message):
    assert problems("\n".join(lines), REFERENCES) == []
    found = problems("\n".join(BREAKS[message](lines)), REFERENCES)
    assert any(message in problem for problem in found), found
