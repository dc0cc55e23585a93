"""``overlapper assemble --ul``: repeats longer than accurate reads come out whole."""

import json
import random

import pysam
import pytest

from overlapper.simulate import adapted_model, simulate_reads
from tests.cli.runner import overlapper
from tests.cli.test_parents import mutated
from tests.read_sets import fasta_of, reads_of

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def sequence(random_, length):
    return "".join(random_.choices("ACGT", k=length))


def turned(bases):
    return bases[::-1].translate(COMPLEMENT)


def write_reads(path, sequences, preset, coverage, order=None, **changes):
    reads, _ = simulate_reads(
        reads_of(sequences), adapted_model(preset, **changes), coverage=coverage, seed=2
    )
    path.write_text(
        fasta_of(reads if order is None else reads.take(order.sample(range(len(reads)), len(reads))))
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three copies of a repeat of 12 kb, one of them inverted; reads of 5 and of 30 kb."""
    folder, random_ = tmp_path_factory.mktemp("ultra"), random.Random(4)
    repeat, *others = sequence(random_, 12_000), *(sequence(random_, 20_000) for _ in range(4))
    genome = [others[0] + repeat + others[1] + turned(repeat) + others[2] + repeat + others[3]]
    (folder / "genome.txt").write_text(genome[0])
    write_reads(folder / "reads.fa", genome, "hifi", 25, mean_length=5_000, length_sd=800)
    noisy = {"identity": 0.95, "length_sd": 5_000, "mean_length": 30_000}
    write_reads(folder / "ul.fa", genome, "ont", 12, **noisy, chimeras=0.01)
    write_reads(folder / "again.fa", genome, "ont", 12, random.Random(1), **noisy, chimeras=0.01)
    write_reads(folder / "short.fa", genome, "ont", 12, mean_length=9_000, length_sd=800, identity=0.95)
    return folder


def assembled(folder, out, *words, reads="reads.fa"):
    done = overlapper("assemble", reads, "-o", out, "-t", "1", *words, cwd=folder, check=True)
    with pysam.FastxFile(str(out / "contigs.fasta"), persist=False) as records:
        return done.stderr.decode(), [record.sequence for record in records]


@pytest.fixture(scope="module")
def whole(folder):
    return assembled(folder, folder / "whole", "--ul", "ul.fa")


def test_repeats_come_out_whole(folder, whole):
    told, contigs = whole
    genome = (folder / "genome.txt").read_text()
    (contig,) = contigs
    assert contig in (genome, turned(genome))
    assert "3 passages taken; refused at ends of contigs: 0 as too few reads go on, 0 as reads" in told
    header, row = (line.split("\t") for line in (folder / "whole" / "contigs.tsv").read_text().splitlines())
    assert dict(zip(header, row, strict=True))["passages"] == "3"
    facts = json.loads((folder / "whole" / "stats.json").read_text())["stages"]["ultra-long"]
    assert (facts["passages"], facts["without_way"] + facts["several_ways"] < 5) == (3, True)
    _, apart = assembled(folder, folder / "apart")
    assert len(apart) == 5


def test_order_of_reads_budget_and_files_change_nothing(folder, whole, tmp_path):
    (tmp_path / "none.fa").write_text(">a\nACGT\n")
    words = "--ul", "again.fa", "--ul", tmp_path / "none.fa", "--memory", "1G", "-t", "2"
    assembled(folder, tmp_path / "again", *words)
    for name in ("contigs.fasta", "contigs.gfa", "contigs.tsv", "contigs.doubt.bed"):
        assert (folder / "whole" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_reads_that_span_nothing_change_nothing(folder, tmp_path):
    told, _ = assembled(folder, tmp_path / "short", "--ul", "short.fa")
    assert "; 0 passages taken; " in told
    assembled(folder, tmp_path / "apart")
    for name in ("contigs.fasta", "contigs.gfa", "contigs.doubt.bed"):
        assert (tmp_path / "short" / name).read_bytes() == (tmp_path / "apart" / name).read_bytes()


def test_the_phase_is_carried_across_what_haplotypes_share(tmp_path):
    given = sequence(random.Random(6), 75_000)
    both = [mutated(given, 1, range(25_000, 50_000)), given]
    write_reads(tmp_path / "reads.fa", both, "hifi", 20, mean_length=6_000)
    write_reads(tmp_path / "ul.fa", both, "ont", 30, mean_length=45_000, length_sd=5_000, identity=0.95)
    told, contigs = assembled(tmp_path, tmp_path / "out", "--ul", "ul.fa", "--haplotypes", "phase")
    assert "2 passages taken" in told
    assert "in 1 phase block" in told
    assert sorted(min(contig, turned(contig)) for contig in contigs) == sorted(
        min(bases, turned(bases)) for bases in both
    )
    for number in (1, 2):
        with pysam.FastxFile(str(tmp_path / "out" / f"contigs.hap{number}.p_ctg.fasta")) as records:
            assert [len(record.sequence) for record in records] == [75_000]


def test_reads_that_cannot_be_read_are_told(folder, tmp_path):
    missing = overlapper("assemble", "reads.fa", "-o", tmp_path / "none", "--ul", "no.fa", cwd=folder)
    assert missing.returncode == 1
    assert b"file no.fa: there is no such file" in missing.stderr
    assert not (tmp_path / "none").exists()
    (tmp_path / "bad.fq").write_text("@a\nACGT\n+\nII\n")
    bad = overlapper("assemble", "reads.fa", "-o", tmp_path / "bad", "--ul", tmp_path / "bad.fq", cwd=folder)
    assert bad.returncode == 1
    assert b"bad.fq, record" in bad.stderr
    assert not (tmp_path / "bad" / "contigs.fasta").exists()
