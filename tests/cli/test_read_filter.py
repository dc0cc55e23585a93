"""``--min-length`` and ``--min-quality``: a run is the one on a file that was filtered before."""

import json

import pytest

from overlapper.io.records import fastq_record
from overlapper.simulate import generate_reads, random_genome
from tests.cli.conftest import assert_refused
from tests.cli.runner import overlapper
from tests.oracle.read_filter import passing

LEAST = ("--min-length", "2k", "--min-quality", "12.5")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A genome, reads of it, and those of them that are long and good enough."""
    folder = tmp_path_factory.mktemp("filtered")
    genome = random_genome(20_000, seed=3)
    (folder / "genome.fa").write_text(f">genome\n{genome.sequence(0)}\n")
    reads = list(generate_reads(genome, coverage=15, seed=3))
    write(folder / "all.fq", reads)
    left, short, bad = passing([(r, r.codes, r.qualities.tolist()) for r in reads], 2000, 12.5)
    assert short and bad and len(left) > 10
    write(folder / "left.fq", [read for read, _, _ in left])
    (folder / "counts.json").write_text(
        json.dumps({"left out: too short": short, "left out: low quality": bad})
    )
    return folder


def write(path, reads):
    path.write_bytes(b"".join(fastq_record(read.name, read.codes, read.qualities) for read in reads))


RUNS = {
    "overlap": ("overlap", "READS", "-o", "OUT.paf"),
    "overlap in tiles": ("overlap", "READS", "--memory", "2G", "-o", "OUT.paf"),
    "correct": ("correct", "READS", "--rounds", "1", "-o", "OUT.fq"),
    "polish": ("polish", "genome.fa", "READS", "--rounds", "1", "-o", "OUT.fa"),
    "map": ("map", "genome.fa", "READS", "-o", "OUT.paf"),
    "map, as SAM": ("map", "genome.fa", "READS", "-o", "OUT.sam"),
}


@pytest.mark.parametrize("name", RUNS)
def test_the_same_bytes_as_of_a_filtered_file(folder, name):
    made = {}
    for reads, least in (("all.fq", LEAST), ("left.fq", ())):
        words = [word.replace("READS", reads).replace("OUT", reads) for word in RUNS[name]]
        result = overlapper(*words, *least, cwd=folder, check=True)
        lines = (folder / words[-1]).read_bytes().splitlines()
        made[reads] = [line for line in lines if not line.startswith(b"@PG")]
        if least:
            assert b" left out: too short\n" in result.stderr
    assert made["all.fq"] == made["left.fq"]
    assert made["all.fq"]


def test_an_assembly_and_its_report(folder, tmp_path):
    shared = ("--min-overlap", "500", "--correct", "never", "--memory", "3G")
    overlapper("assemble", folder / "all.fq", *LEAST, *shared, "-o", "all", cwd=tmp_path, check=True)
    overlapper("assemble", folder / "left.fq", *shared, "-o", "left", cwd=tmp_path, check=True)
    for name in ("contigs.fasta", "contigs.gfa", "contigs.tsv"):
        assert (tmp_path / "all" / name).read_bytes() == (tmp_path / "left" / name).read_bytes()
    stats = json.loads((tmp_path / "all" / "stats.json").read_text())
    assert stats["left_out"] == json.loads((folder / "counts.json").read_text())
    assert stats["run"]["read_filter"] == {"min_length": 2000, "min_quality": 12.5}
    # The report knows which reads of the file were assembled.
    overlapper("report", "all", folder / "all.fq", "-o", "report.html", cwd=tmp_path, check=True)
    page = (tmp_path / "report.html").read_text()
    assert "left out: too short" in page and "left out: low quality" in page


def test_a_work_folder_is_that_of_the_reads_that_count(folder, command):
    reads = folder / "all.fq"
    work = ("--memory", "2G", "--workdir", "work")
    assert command("overlap", reads, *LEAST, *work, "-o", "a.paf", "--stats", "a.json").code == 0
    again = command("overlap", reads, *LEAST, *work, "-o", "b.paf", "--stats", "b.json")
    assert again.code == 0 and "done already: 1 of 1 tile\n" in again.err
    for name in ("a.json", "b.json"):
        with open(name) as file:
            funnel = json.load(file)["funnel"]
        counts = json.loads((folder / "counts.json").read_text())
        assert counts == {key: funnel[key] for key in counts}
    other = command("overlap", reads, *LEAST[:2], *work, "-o", "c.paf")
    assert other.code == 1
    assert "Give the same reads with --min-length 2000 and --min-quality 12.5, or name another --workdir" in (
        other.err
    )
    everything = command("overlap", reads, *work, "-o", "c.paf")
    assert everything.code == 1 and "with --min-length 2000" in everything.err
    # What was filtered before holds the same reads.
    same = command("overlap", folder / "left.fq", *work, "-o", "c.paf")
    assert same.code == 0 and "done already: 1 of 1 tile\n" in same.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--min-quality", "10"), "genome.fa, record 1: has no qualities"),
        (("--min-length", "1M"), "holds no reads that count (1 too short)"),
        (("--min-quality", "95"), "min_quality is 95.0, expected 0 (all reads) to 93"),
    ],
)
@pytest.mark.parametrize("words", [("overlap",), ("map", "genome.fa"), ("overlap", "--memory", "2G")])
def test_what_leaves_nothing_is_refused(folder, command, tmp_path, words, options, message):
    (tmp_path / "genome.fa").write_bytes((folder / "genome.fa").read_bytes())
    result = command(*words, "genome.fa", *options, "-o", "out.paf")
    assert_refused(result, 1, message, tmp_path, ["genome.fa"])
