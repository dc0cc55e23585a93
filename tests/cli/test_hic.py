"""``overlapper assemble --hic``: phase blocks become one, and each haplotype one from end to end."""

import random

import pysam
import pytest

from overlapper.simulate import adapted_model, random_genome, simulate_reads
from tests.cli.runner import overlapper
from tests.cli.test_parents import kmers, mutated
from tests.hic_pairs import hic_pairs
from tests.read_sets import fasta_of, reads_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Reads of two haplotypes that are the same from 25 to 50 of 75 kb, and Hi-C pairs, in two orders."""
    folder = tmp_path_factory.mktemp("hic")
    given = random_genome(75_000, seed=5).sequence(0)
    haplotypes = [mutated(given, 1, range(25_000, 50_000)), given]
    model = adapted_model("hifi", mean_length=6_000)
    reads, _ = simulate_reads(reads_of(haplotypes), model, coverage=20, seed=2)
    (folder / "reads.fa").write_text(fasta_of(reads))
    pairs = list(zip(*hic_pairs(haplotypes, 4_000), strict=True))
    for name, of in (("", pairs), ("again", random.Random(1).sample(pairs, 4_000)), ("few", pairs[:20])):
        for end in (0, 1):
            lines = (f">pair{number}/{end + 1}\n{pair[end]}\n" for number, pair in enumerate(of))
            (folder / f"{name}{end + 1}.fa").write_text("".join(lines))
    (folder / "haplotypes.fa").write_text("".join(f">{i}\n{of}\n" for i, of in enumerate(haplotypes)))
    return folder


def assembled(folder, out, *words):
    done = overlapper("assemble", "reads.fa", "-o", out, *words, "-t", "1", cwd=folder, check=True)
    blocks = [line.split("\t") for line in (out / "contigs.phase_blocks.tsv").read_text().splitlines()[1:]]
    return done.stderr.decode(), {block for block, *_, sites in blocks if sites != "0"}


def test_haplotypes_are_one_from_end_to_end_whatever_the_order_and_the_budget(folder, tmp_path):
    told, blocks = assembled(folder, tmp_path / "out", "--hic", "1.fa", "2.fa")
    assert blocks == {"1"}
    assert "of 4,000 Hi-C pairs link 2 phase blocks and join 1;" in told
    haplotypes = pysam.FastxFile(str(folder / "haplotypes.fa"), persist=True)
    one, other = (kmers([record]) for record in haplotypes)
    shares = []
    for number in (1, 2):
        found = kmers(pysam.FastxFile(str(tmp_path / "out" / f"contigs.hap{number}.p_ctg.fasta")))
        shares.append([len(found & own) / len(own) for own in (one - other, other - one)])
    assert max(shares) == pytest.approx([1, 0], abs=0.05)
    assert min(shares) == pytest.approx([0, 1], abs=0.05)
    assembled(folder, tmp_path / "again", "--hic", "again2.fa", "again1.fa", "--memory", "1G")
    for name in ("contigs.hap1.p_ctg.fasta", "contigs.hap2.p_ctg.gfa", "contigs.phase_blocks.tsv"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_too_few_pairs_are_told(folder, tmp_path):
    told, blocks = assembled(folder, tmp_path / "out", "--hic", "few1.fa", "few2.fa")
    assert blocks == {"1", "2"}
    assert "of 20 Hi-C pairs link 2 phase blocks and join 0" in told
    assert ": are these Hi-C reads of the same sample, and are there enough?" in told


def test_reads_that_are_no_pairs_are_told(folder, tmp_path):
    words = "--hic", "1.fa", "few2.fa"
    refused = overlapper("assemble", "reads.fa", "-o", tmp_path / "out", *words, cwd=folder)
    assert refused.returncode == 1
    assert b"file 1.fa, record 21: has no mate: few2.fa has fewer reads. Give first" in refused.stderr
    assert not (tmp_path / "out" / "contigs.fasta").exists()
    missing = overlapper("assemble", "reads.fa", "-o", "none", "--hic", "1.fa", "no.fa", cwd=folder)
    assert missing.returncode == 1
    assert b"file no.fa: there is no such file" in missing.stderr
    assert not (folder / "none").exists()
