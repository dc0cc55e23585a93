"""``--depth``: what is set aside is told everywhere, and all reads are worked on where it is ``all``."""

import json
import re

import pysam
import pytest

from overlapper.io.records import fastq_record
from overlapper.simulate import adapted_model, generate_reads, random_genome
from tests.cli.runner import overlapper
from tests.sam_rules import problems


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Reads of a plasmid of 6 kb at 80x."""
    folder = tmp_path_factory.mktemp("depth")
    model = adapted_model("hifi", mean_length=3_000)
    reads = generate_reads(random_genome(6_000, seed=5), model, coverage=80, seed=5, circular=True)
    (folder / "reads.fq").write_bytes(b"".join(fastq_record(r.name, r.codes, r.qualities) for r in reads))
    return folder


def stages_of(folder, depth):
    stats = json.loads((folder / f"out{depth}" / "stats.json").read_text())
    return stats["stages"], stats["params"]["depth"]


def test_what_is_set_aside_is_told(folder):
    made = overlapper(
        "assemble", "reads.fq", "--depth", "20", "-o", "out20", "--reads-out", "out20/reads.bam",
        cwd=folder, check=True,
    )  # fmt: skip
    stages, depth = stages_of(folder, 20)
    aside = stages["depth"]["reads set aside"]
    assert (stages["depth"]["depth kept"], depth) == (20, 20)
    assert aside > 20
    told = f"{aside:,} reads of {stages['depth']['bases set aside']:,} bases were set aside"
    assert told in made.stderr.decode()
    aligned = int(re.search(r"(\d+) reads set aside, aligned to contigs", made.stderr.decode())[1])
    assert 0.95 * aside < aligned <= aside
    with pysam.AlignmentFile(str(folder / "out20" / "reads.bam")) as file:
        mapped = {record.query_name for record in file.fetch(until_eof=True) if record.is_mapped}
    with pysam.FastxFile(str(folder / "reads.fq")) as file:
        assert len(mapped) > 0.95 * sum(1 for _ in file)
    with pysam.FastxFile(str(folder / "out20" / "contigs.fasta")) as file:
        contigs = {contig.name: contig.sequence for contig in file}
    assert problems(pysam.view("-h", str(folder / "out20" / "reads.bam")), contigs) == []
    overlapper("report", "out20", "reads.fq", "-o", "report.html", cwd=folder, check=True)
    assert told in (folder / "report.html").read_text()


def test_all_reads_are_worked_on_if_asked_for_or_not_deep(folder):
    for depth in ("all", "160"):
        made = overlapper(
            "assemble", "reads.fq", "--depth", depth, "-o", f"out{depth}", cwd=folder, check=True
        )
        assert "set aside" not in made.stderr.decode()
    everything, deep_enough = (stages_of(folder, depth)[0] for depth in ("all", "160"))
    assert "depth" not in everything
    assert deep_enough["depth"]["reads set aside"] == 0
    contigs = [(folder / f"out{depth}" / "contigs.fasta").read_bytes() for depth in ("all", "160")]
    assert contigs[0] == contigs[1]


def test_how_many_overlaps_there_will_be_is_told_if_they_are_many(folder):
    reads = (folder / "reads.fq").read_bytes()
    lines = reads.splitlines(keepends=True)
    (folder / "few.fq").write_bytes(b"".join(lines[: len(lines) // 20 * 4]))
    made = overlapper("overlap", "reads.fq", "-o", "o.paf", cwd=folder, check=True).stderr.decode()
    found = len((folder / "o.paf").read_text().splitlines())
    expected = int(made.split(" overlaps are expected")[0].split()[-1].replace(",", ""))
    assert 0.5 < expected / found < 2
    planned = overlapper("overlap", "reads.fq", "--plan", cwd=folder, check=True).stdout.decode()
    assert f"about {expected:,} overlaps are expected" in planned
    for options in (("reads.fq", "--best", "5"), ("few.fq",)):
        made = overlapper("overlap", *options, "-o", "o.paf", cwd=folder, check=True)
        assert "overlaps are expected" not in made.stderr.decode()
