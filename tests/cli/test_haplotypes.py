"""``overlapper assemble`` of a diploid: both haplotypes beside the contigs; nothing more of a haploid."""

import json
import random

import numpy as np
import pysam
import pytest

from overlapper.assembly import layouts
from overlapper.io.fastx import read_fastx
from overlapper.report import read_inputs
from overlapper.simulate import adapted_model, random_genome, simulate_reads
from overlapper.sketch.estimates import kmer_spectrum
from overlapper.sketch.ploidy import ploidy
from tests.cli.runner import overlapper
from tests.oracle.strands import reverse_complement
from tests.read_sets import fasta_of, reads_of
from tests.steps import assemble_reads

CONTIGS = {
    "assemble.log", "contigs.doubt.bed", "contigs.doubt.vcf", "contigs.fasta", "contigs.gfa",
    "contigs.noseq.gfa", "contigs.tsv", "stages", "stats.json",
}  # fmt: skip
OF_HAPLOTYPES = {
    f"contigs.{which}.{kind}" for which in ("hap1.p_ctg", "hap2.p_ctg", "p_ctg") for kind in ("fasta", "gfa")
}
COMPLEMENT = str.maketrans("ACGT", "TGCA")


def kmers(sequences, k=31):
    found = {bases[i : i + k] for bases in sequences for i in range(len(bases) - k + 1)}
    return found | {kmer[::-1].translate(COMPLEMENT) for kmer in found}


def sequences(path):
    return {read.name: read.sequence for read in pysam.FastxFile(str(path))}


def write_reads(path, references):
    table = reads_of(references)
    model = adapted_model("hifi", mean_length=6_000, adapters=1.0)  # contigs are cut before they are phased
    reads, _ = simulate_reads(table, model, coverage=20, seed=2)
    path.write_text(fasta_of(reads))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with reads of two haplotypes that are the same from 25 to 50 of 75 kb, and of one of them."""
    folder = tmp_path_factory.mktemp("diploid")
    random_ = random.Random(1)
    one = random_genome(75_000, seed=5).sequence(0)
    two = "".join(
        random_.choice("ACGT".replace(base, "")) if not i % 200 and not 25_000 <= i < 50_000 else base
        for i, base in enumerate(one)
    )
    (folder / "one.fa").write_text(f">one\n{one}\n")
    (folder / "two.fa").write_text(f">two\n{two}\n")
    write_reads(folder / "both.reads.fa", [one, two])
    write_reads(folder / "one.reads.fa", [one])
    done = overlapper("assemble", "both.reads.fa", "-o", "both", "-t", "1", cwd=folder, check=True)
    assert b"two haplotypes" in done.stderr and b"bases of adapters" in done.stderr
    return folder


def test_files_of_a_diploid(folder):
    assert {path.name for path in (folder / "both").iterdir()} == CONTIGS | OF_HAPLOTYPES | {
        "contigs.phase_blocks.tsv"
    }
    figures = json.loads((folder / "both" / "stats.json").read_text())["haplotypes"]
    assert figures["phase blocks"] == 2
    assert 18 < figures["depth of a haplotype"] < 21


def test_a_report_has_the_reads_as_they_were_overlapped(folder):
    inputs = read_inputs([str(folder / "both"), str(folder / "both.reads.fa")])
    given, cut, overlaps = inputs.reads, inputs.named, inputs.overlaps
    figures = json.loads((folder / "both" / "stats.json").read_text())
    assert given.total_bases - cut.total_bases == figures["stages"]["adapters"]["bases cut"] > 1000
    assert cut.names == given.names
    assert all(cut.sequence(read) in given.sequence(read) for read in range(len(given)))
    assert len(overlaps) == figures["stages"]["overlaps"]["overlaps"]
    begins = [
        [cut.sequence(read)[start : start + 20] for read, start in zip(*of_one, strict=True)]
        for of_one in ((overlaps.query, overlaps.q_start), (overlaps.target, overlaps.t_start))
    ]
    alike = [one == other for one, other in zip(*begins, strict=True)]
    assert np.mean(np.array(alike)[~overlaps.reverse]) > 0.3, "by chance, one in 4^20"


def test_each_contig_is_of_one_haplotype_and_both_are_there(folder):
    references = [kmers(sequences(folder / name).values()) for name in ("one.fa", "two.fa")]
    of_hap = [sequences(folder / "both" / f"contigs.hap{i}.p_ctg.fasta") for i in (1, 2)]
    for contigs in of_hap:
        for bases in contigs.values():
            there = kmers([bases])
            of_one = len(there & references[0] - references[1])
            of_other = len(there & references[1] - references[0])
            assert min(of_one, of_other) == 0
        # The same share of the genome in each: all of it, but for ends.
        assert 73_000 < sum(map(len, contigs.values())) < 100_000
    both = kmers([bases for contigs in of_hap for bases in contigs.values()])
    for reference in references:
        assert len(reference & both) > 0.98 * len(reference)
    shared = references[0] & references[1]
    for contigs in of_hap:
        assert len(shared & kmers(contigs.values())) > 0.98 * len(shared)


def test_primary_contigs_go_across(folder):
    (primary,) = sequences(folder / "both" / "contigs.p_ctg.fasta").values()
    assert 73_000 < len(primary) < 76_000
    known = kmers([*sequences(folder / "one.fa").values(), *sequences(folder / "two.fa").values()])
    assert len(kmers([primary]) - known) <= 62


def test_the_table_and_the_graphs_tell_the_same(folder):
    both = folder / "both"
    head, *rows = (line.split("\t") for line in (both / "contigs.phase_blocks.tsv").read_text().splitlines())
    assert head == ["block", "haplotype", "contig", "start", "end", "sites"]
    assert sorted({row[0] for row in rows}) == ["0", "1", "2"]
    pieces = {f"{row[2]}:{row[3]}-{row[4]}+": row for row in rows}
    utg = sequences(both / "contigs.fasta")
    assert sum(int(row[4]) - int(row[3]) for row in rows) == sum(map(len, utg.values()))
    for number in (1, 2):
        lines = [
            line.split("\t") for line in (both / f"contigs.hap{number}.p_ctg.gfa").read_text().splitlines()
        ]
        named = sequences(both / f"contigs.hap{number}.p_ctg.fasta")
        segments = {line[1]: line for line in lines if line[0] == "S"}
        assert {name: line[2] for name, line in segments.items()} == named
        for name, line in segments.items():
            assert name.startswith(f"h{number}tg")
            tags = dict(tag.split(":", 1) for tag in line[3:])
            contig, interval = tags["ut"].removeprefix("Z:").rstrip("+").split(":")
            start, end = map(int, interval.split("-"))
            assert utg[contig][start:end] == line[2]
            if tags["ut"][2:] in pieces:
                block, haplotype = pieces[tags["ut"][2:]][:2]
                assert tags["pb"] == f"i:{block}" and haplotype in ("0", str(number))
        for line in lines:
            assert line[0] != "L" or {line[1], line[3]} <= set(segments)
        assert any(line[0] == "L" for line in lines) or len(segments) == 2


def test_the_report_shows_haplotypes(folder):
    overlapper("report", "both", "-o", "both.html", cwd=folder, check=True)
    page = (folder / "both.html").read_text()
    assert "bases in 2 phase blocks" in page and "hap2" in page


def test_threads_and_a_memory_budget_change_nothing(folder):
    words = "assemble both.reads.fa -o again -t 2 --memory 600M -q"
    overlapper(*words.split(), cwd=folder, check=True)
    for name in (CONTIGS | OF_HAPLOTYPES) - {"assemble.log", "stages", "stats.json"}:
        assert (folder / "again" / name).read_bytes() == (folder / "both" / name).read_bytes(), name


def test_nothing_is_written_of_a_haploid(folder):
    for what in ("auto", "collapse"):
        done = overlapper(
            "assemble", "one.reads.fa", "-o", what, "--haplotypes", what, "-t", "1", cwd=folder, check=True
        )
        assert b"haplotypes," not in done.stderr
        assert {path.name for path in (folder / what).iterdir()} == CONTIGS
        assert "haplotypes" not in json.loads((folder / what / "stats.json").read_text())
    for name in CONTIGS - {"assemble.log", "stages", "stats.json"}:
        assert (folder / "auto" / name).read_bytes() == (folder / "collapse" / name).read_bytes()


def test_too_few_reads_to_tell_their_depth(tmp_path):
    reads, _ = simulate_reads(random_genome(40_000, seed=3), "hifi", coverage=1)
    (tmp_path / "few.fa").write_text(fasta_of(reads))
    done = overlapper("assemble", "few.fa", "-o", "few", "--haplotypes", "phase", cwd=tmp_path)
    assert done.returncode == 1 and b"haplotypes cannot be told apart" in done.stderr
    assert b"Traceback" not in done.stderr


def test_reads_that_have_adapters_alone_in_common(folder, tmp_path):
    lines = (folder / "one.reads.fa").read_text().splitlines()[:8]
    (tmp_path / "few.fa").write_text("\n".join(lines) + "\n")
    done = overlapper("assemble", "few.fa", "-o", "few", "--haplotypes", "phase", cwd=tmp_path)
    assert done.returncode == 1 and b"no unitigs: there are no overlaps" in done.stderr
    assert (tmp_path / "few" / "contigs.hap1.p_ctg.fasta").read_bytes() == b""


def test_what_was_laid_out_to_look_for_two_haplotypes_is_a_stage_of_its_own(monkeypatch):
    """It is listed, with its time, beside the layout that became the contigs of a haploid."""
    monkeypatch.setattr("overlapper.assembly.contigs.depth_of_haplotype", lambda *_: 10.0)
    reads, _ = simulate_reads(random_genome(40_000, seed=1), "hifi", coverage=20)
    made = assemble_reads(reads)
    assert made.haplotypes is None
    assert [stage.name for stage in made.stages][-3:-1] == ["layout-of-two", "layout"]
    assert list(json.loads(made.to_json({}))["stages"]) == [stage.name for stage in made.stages]


def test_an_inverted_repeat_is_not_taken_for_two_haplotypes():
    """Of a plastid: its k-mers occur twice as often as others, but reads have no differences within them."""
    bases = random_genome(60_000, seed=8).sequence(0)
    plastid = (
        bases[:32_000] + bases[32_000:50_000] + bases[50_000:] + reverse_complement(bases[32_000:50_000])
    )
    reads, _ = simulate_reads(
        reads_of([plastid]), adapted_model("hifi", mean_length=9_000), coverage=25, seed=2
    )
    found = ploidy(kmer_spectrum(reads))
    assert found is not None and found.has_both_peaks
    made = assemble_reads(reads)
    assert made.haplotypes is None
    assert "layout-of-two" not in [stage.name for stage in made.stages]


def layouts_lose(monkeypatch, kmers_lost):
    """Have all overlaps laid out without the reads that have many of some k-mers; return the layouts made."""
    made, assemble = [], layouts.assemble

    def losing(reads, overlaps, *options, **more):
        has = np.array([len(kmers([reads.sequence(read)]) & kmers_lost) > 500 for read in range(len(reads))])
        if len(overlaps) > sum(len(kept) for _, kept in made):
            overlaps = overlaps.take(~(has[overlaps.query] | has[overlaps.target]))
        made.append((assemble(reads, overlaps, *options, **more), overlaps))
        return made[-1][0]

    monkeypatch.setattr(layouts, "assemble", losing)
    return made


def spelled(made):
    table = made.contigs.sequences
    assert table.names == [f"utg{number:06d}l" for number in range(1, len(table) + 1)]
    return [table.sequence(contig) for contig in range(len(table))]


@pytest.mark.parametrize(("low", "high", "added"), [(2_000, 18_000, 30_000), (0, 75_000, 75_000)])
def test_what_cleaning_lost_of_a_haplotype_is_there(folder, monkeypatch, low, high, added):
    """The first layout is made without the reads that have most of a part of one haplotype, or of all."""
    one, two = (sequences(folder / name) for name in ("one.fa", "two.fa"))
    lost = kmers([bases[low:high] for bases in two.values()]) - kmers(one.values())
    laid_out = layouts_lose(monkeypatch, lost)
    made = assemble_reads(read_fastx(folder / "both.reads.fa"), threads=1)
    assert [stage.name for stage in made.stages][-3:-1] == ["layout", "lost"]
    contigs = spelled(made)
    assert len(lost - kmers(contigs)) < 0.01 * len(lost)
    # What was not lost is not there again, but for what reads of the lost part have on either side.
    assert sum(map(len, contigs)) < laid_out[0][0].layout.lengths.sum() + added
    # The ends of contigs are as single reads have them.
    assert len(kmers(contigs) - kmers([*one.values(), *two.values()])) <= 62
    assert made.haplotypes is not None


def test_what_cleaning_lost_is_there_where_there_are_not_two_haplotypes(monkeypatch):
    genome = random_genome(60_000, seed=4)
    reads, _ = simulate_reads(genome, adapted_model("hifi", mean_length=5_000), coverage=20, seed=6)
    lost = kmers([genome.sequence(0)[24_000:40_000]])
    monkeypatch.setattr("overlapper.assembly.contigs.depth_of_haplotype", lambda *_: 20.0)
    layouts_lose(monkeypatch, lost)
    made = assemble_reads(reads, threads=1)
    names = [stage.name for stage in made.stages]
    assert names[-5:-1] == ["layout-of-two", "lost-of-two", "layout", "lost"]
    assert made.haplotypes is None
    assert not lost - kmers(spelled(made))
