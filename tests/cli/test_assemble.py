"""``overlapper assemble`` as a user runs it, and as it goes on after it was killed."""

import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import pysam
import pytest

from overlapper.simulate import adapted_model, random_genome, simulate_reads
from tests.cli.conftest import assert_refused
from tests.cli.runner import ROOT, overlapper
from tests.read_sets import fasta_of

RESULTS = (
    "contigs.fasta",
    "contigs.gfa",
    "contigs.noseq.gfa",
    "contigs.tsv",
    "contigs.doubt.bed",
    "contigs.doubt.vcf",
)
OPTIONS = ("--correct", "always", "--copies", "collapse", "--min-overlap", "500", "-q")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with reads of a circular genome, the genome, and their assembly by all stages."""
    folder = tmp_path_factory.mktemp("assemble")
    genome = random_genome(12_000, seed=4)
    model = adapted_model("ont-r10", mean_length=3_000)
    reads, _ = simulate_reads(genome, model, coverage=15, circular=True, seed=4)
    (folder / "reads.fa").write_text(fasta_of(reads))
    (folder / "genome.fa").write_text(fasta_of(genome))
    overlapper("assemble", "reads.fa", "-o", "whole", *OPTIONS, "-t", "1", cwd=folder, check=True)
    return folder


@pytest.fixture
def begun(folder, reads_file, tmp_path):
    """The finished assembly, for another run to begin with."""
    shutil.copytree(folder / "whole", tmp_path / "out", copy_function=shutil.copy2)
    return tmp_path / "out"


def results(folder):
    return {name: (folder / name).read_bytes() for name in RESULTS}


def stages(folder):
    return {path.parent.name: path.stat().st_mtime_ns for path in folder.glob("stages/*-*/done.json")}


def test_one_circle_that_is_the_genome(folder):
    (contig,) = pysam.FastxFile(str(folder / "whole" / "contigs.fasta"))
    genome = next(iter(pysam.FastxFile(str(folder / "genome.fa")))).sequence
    assert contig.name == "utg000001c"
    assert abs(len(contig.sequence) - len(genome)) < 20
    around = contig.sequence + contig.sequence[:30]
    complement = around.translate(str.maketrans("ACGT", "TGCA"))[::-1]
    known = {strand[i : i + 31] for strand in (around, complement) for i in range(len(strand) - 30)}
    wanted = genome + genome[:30]
    found = sum(wanted[i : i + 31] in known for i in range(len(genome)))
    assert found > 0.97 * len(genome)


def test_files_tell_the_same(folder):
    whole = folder / "whole"
    (contig,) = pysam.FastxFile(str(whole / "contigs.fasta"))
    lines = [line.split("\t") for line in (whole / "contigs.gfa").read_text().splitlines()]
    head, segment, *placed, link = lines
    assert head == ["H", "VN:Z:1.0"]
    assert segment[:3] == ["S", contig.name, contig.sequence]
    length, depth, reads = (tag.split(":")[2] for tag in segment[3:])
    assert contig.comment == f"length={length} circular=true depth={depth}x"
    names = {read.name: len(read.sequence) for read in pysam.FastxFile(str(folder / "reads.fa"))}
    assert len({line[4] for line in placed}) == len(placed) == int(reads)
    for kind, name, start, strand, read, first, last in placed:
        assert (kind, name, strand in "+-") == ("A", contig.name, True)
        assert 0 <= int(start) < int(length) and 0 <= int(first) < int(last) <= names[read]
    without = [line.split("\t") for line in (whole / "contigs.noseq.gfa").read_text().splitlines()]
    assert without == [[*line[:2], "*", *line[3:]] if line[0] == "S" else line for line in lines]
    assert link == ["L", contig.name, "+", contig.name, "+", "0M"]
    header, row = (line.split("\t") for line in (whole / "contigs.tsv").read_text().splitlines())
    table = dict(zip(header, row, strict=True))
    assert (table["name"], table["length"], table["circular"]) == (
        contig.name,
        str(len(contig.sequence)),
        "yes",
    )
    assert float(table["quality"]) > 20
    assert table["alt_group"] == "*"
    stats = json.loads((whole / "stats.json").read_text())
    assert stats["contigs"]["bases"] == len(contig.sequence)
    assert list(stats["stages"]) == [
        "depth", "overlaps", "correct-1-overlaps", "leaders-1", "correct-1", "correct-2-overlaps",
        "correct-2", "corrected-reads", "corrected-overlaps", "layout", "polish-1", "polish-2",
    ]  # fmt: skip


def test_a_second_run_does_only_what_is_missing(command, folder, begun):
    before = stages(begun)
    lost = next(name for name in before if name.startswith("layout"))
    shutil.rmtree(begun / "stages" / lost)
    (begun / "contigs.fasta").unlink()
    again = command("assemble", "reads.fa", "-o", "out", *OPTIONS[:-1])
    assert again.code == 0
    assert "correct-2 is done already" in again.err
    assert "layout is done already" not in again.err
    assert results(begun) == results(folder / "whole")
    after = stages(begun)
    assert {name for name in after if after[name] != before[name]} == {lost}


def test_changed_reads_are_refused(command, begun, reads_file, tmp_path):
    text = reads_file.read_text()
    reads_file.write_text(text[:-2] + ("A" if text[-2] != "A" else "C") + "\n")
    refused = command("assemble", "reads.fa", "-o", "out", *OPTIONS)
    message = "file reads.fa: is not what the work in out/stages was begun on"
    assert_refused(refused, 1, message, tmp_path, ["out", "reads.fa"])
    assert "or name another --output" in refused.err


def test_reads_that_do_not_overlap_give_no_contigs_and_a_reason(command, tmp_path):
    genome = random_genome(4_000, seed=9).sequence(0)
    (tmp_path / "reads.fa").write_text(f">a\n{genome[:2_000]}\n>b\n{genome[2_000:]}\n")
    done = command("assemble", "reads.fa", "-o", "out")
    assert done.code == 1
    assert done.err.splitlines()[-1] == "overlapper: error: no unitigs: there are no overlaps"
    assert "contigs hold 0 of 2 reads, 0.0 % of their bases" in done.err
    assert "warning: reads cover most places 1.0 times, which is too few" in done.err
    assert json.loads((tmp_path / "out" / "stats.json").read_text())["held"]["share of bases"] == 0
    assert (tmp_path / "out" / "contigs.fasta").read_bytes() == b""
    assert (tmp_path / "out" / "contigs.tsv").read_text().count("\n") == 1
    assert command("report", "out", "reads.fa", "-o", "r.html").code == 0
    assert "There are no contigs." in (tmp_path / "r.html").read_text()


def test_a_log_may_be_in_the_folder_that_is_made(command, tmp_path):
    (tmp_path / "reads.fa").write_text(">one\n" + "ACGTTGCA" * 100 + "\n>two\n" + "AGGTCCAT" * 100 + "\n")
    result = command("assemble", "reads.fa", "-o", "deep/out", "--log", "deep/out/run.log", "-q")
    assert (result.code, result.err) == (1, "overlapper: error: no unitigs: there are no overlaps\n")
    assert "of CPU time" in (tmp_path / "deep" / "out" / "run.log").read_text().splitlines()[-1]
    assert (tmp_path / "deep" / "out" / "contigs.fasta").exists()


@pytest.mark.parametrize("place", ["absent/reads.bam", "folder.bam", "reads.fa/reads.bam"])
def test_reads_that_cannot_be_written_are_told_before_anything_is_done(command, reads_file, tmp_path, place):
    (tmp_path / "folder.bam").mkdir()
    refused = command("assemble", "reads.fa", "-o", "out", "--reads-out", place)
    assert_refused(refused, 1, f"file {place} cannot be written", tmp_path, ["folder.bam", "reads.fa"])
    assert "reading" not in refused.err


def test_the_reason_for_no_contigs_names_what_can_be_changed(command, tmp_path):
    genome = random_genome(4_000, seed=9).sequence(0)
    (tmp_path / "reads.fa").write_text(f">a\n{genome}\n>b\n{genome}\n")
    done = command("assemble", "reads.fa", "-o", "out")
    assert "try a smaller --min-overlap or min_depth in [graph] of --config" in done.err
    (tmp_path / "less.toml").write_text("[graph]\nmin_depth = 1\n")
    assert command("assemble", "reads.fa", "-o", "out", "--config", "less.toml").code == 0
    assert (tmp_path / "out" / "contigs.tsv").read_text().count("\n") == 2


def test_copies_are_kept_apart_and_a_report_says_so(begun, folder, command, tmp_path):
    overlapper(
        "assemble", folder / "reads.fa", "-o", "out", "--min-overlap", "500", "-q", cwd=tmp_path, check=True
    )
    assert "exact-overlaps" in json.loads((begun / "stats.json").read_text())["stages"]
    header, *rows = (line.split("\t") for line in (begun / "contigs.tsv").read_text().splitlines())
    assert rows and all(float(dict(zip(header, row, strict=True))["quality"]) > 30 for row in rows)
    told = command("report", "out", "-o", "r.html", "-q")
    assert (told.code, told.err) == (0, "")
    assert "copies kept apart" in (tmp_path / "r.html").read_text()


def test_a_report_shows_the_assembly(command, folder, tmp_path):
    stats = json.loads((folder / "whole" / "stats.json").read_text())
    for files in ([], ["reads.fa"]):
        done = command("report", folder / "whole", *(folder / name for name in files), "-o", "r.html", "-q")
        assert (done.code, done.err) == (0, "")
        page = (tmp_path / "r.html").read_text()
        cells = re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", page)
        assert {"utg000001c", f"{stats['contigs']['bases']:,}", *stats["stages"]} <= set(cells)
        assert "<h1>Assembly report</h1>" in page and "corrected before they were laid out" in page
        for count in stats["stages"]["layout"]["counts"]["build"].values():
            assert f"{count:,}" in cells
        found = f"<dt>Overlaps</dt><dd>{stats['stages']['overlaps']['overlaps']:,}</dd>"
        assert (found in page) == bool(files)
        assert page.count("<h3>Map of utg000001c</h3>") == 1
    assert "Left out" not in page


def test_what_is_no_assembly_of_these_reads_is_not_reported(command, begun, reads_file, tmp_path):
    (tmp_path / "other.fa").write_text(">a\nACGT\n")
    (tmp_path / "empty").mkdir()
    before = sorted(path.name for path in tmp_path.iterdir())

    def refused(words, message):
        assert_refused(command("report", *words, "-o", "r.html"), 1, message, tmp_path, before)

    refused(["empty"], "file empty: is a folder without stats.json, so not one of a finished assembly")
    refused(["out", "other.fa"], "but those given are 1 of 4. Give the reads that were assembled")
    refused(["out", "out"], "out and out are both folders of assemblies: give one")
    for kept in begun.glob("stages/overlaps-*"):
        shutil.rmtree(kept)
    refused(["out", "reads.fa"], "no longer has its overlaps in stages/overlaps-")
    (begun / "stats.json").write_text('{"stages": {"overlaps": {}}}')
    refused(["out"], "stats.json: is not what this version of overlapper assemble writes")


def kill_and_go_on(folder, words, kept, moments):
    """Start a command, kill it at each of some moments, and let it end at last.

    A moment is how many stages are kept in a folder, and seconds from then on.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    for moment in itertools.chain(moments, [None]):
        process = subprocess.Popen(
            [sys.executable, "-m", "overlapper", *words], cwd=folder, env=environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        if moment is not None:
            wanted, delay = moment
            while process.poll() is None and len([*(folder / kept).glob("*-*/done.json")]) < wanted:
                time.sleep(0.01)
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
        error = process.communicate()[1]
    assert process.returncode == 0, error


def test_a_circle_begins_with_a_gene(command, folder, begun):
    genome = next(iter(pysam.FastxFile(str(folder / "genome.fa")))).sequence
    gene = genome[7_000:8_500].translate(str.maketrans("ACGT", "TGCA"))[::-1]
    (begun.parent / "gene.fa").write_text(f">gene\n{gene}\n")
    words = ("assemble", folder / "reads.fa", "-o", begun, *OPTIONS)
    assert command(*words, "--rotate-to", "gene.fa").code == 0
    (contig,) = pysam.FastxFile(str(begun / "contigs.fasta"))
    assert contig.sequence[:400] == gene[:400]
    before = results(begun)
    refused = command(*words, "--rotate-to", "no.fa")
    assert refused.code == 1 and "no.fa: there is no such file" in refused.err
    assert results(begun) == before


def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(folder, reads_file, tmp_path):
    draw = random.Random(7)
    moments = [(stages_done, draw.uniform(0, 0.3)) for stages_done in (0, 1, 3, 4, 6, 8)]
    kill_and_go_on(tmp_path, ("assemble", "reads.fa", "-o", "out", *OPTIONS), "out/stages", moments)
    assert results(tmp_path / "out") == results(folder / "whole")


def test_killed_correction_and_polishing_go_on_by_rounds(command, folder, reads_file, tmp_path):
    shutil.copy(folder / "genome.fa", tmp_path / "draft.fa")
    for words in (("correct", "reads.fa"), ("polish", "draft.fa", "reads.fa")):
        assert command(*words, "-o", "alone.fq", "-q").code == 0
        kill_and_go_on(tmp_path, (*words, "-o", "out.fq", "-q", "--workdir", words[0]), words[0], [(1, 0.1)])
        assert (tmp_path / "out.fq").read_bytes() == (tmp_path / "alone.fq").read_bytes()
        again = command(*words, "-o", "out.fq", "--workdir", words[0])
        assert f"{words[0]}-2 is done already" in again.err
        assert (tmp_path / "out.fq").read_bytes() == (tmp_path / "alone.fq").read_bytes()
        one = command(*words, "-o", "one.fq", "--workdir", words[0], "--rounds", 1)
        assert "rounds was 2, now 1" in one.err
        assert f"{words[0]}-1 is done already" in one.err
