"""``overlapper assemble --parent1 --parent2``: each haplotype is of one parent from end to end."""

import random

import pysam
import pytest

from overlapper.simulate import adapted_model, random_genome, simulate_reads
from tests.cli.runner import overlapper
from tests.read_sets import fasta_of, reads_of

K = 31


def mutated(bases, seed, unlike):
    """Return bases with a difference every 200, outside of ``unlike``."""
    random_ = random.Random(seed)
    return "".join(
        random_.choice("ACGT".replace(base, "")) if not i % 200 and i not in unlike else base
        for i, base in enumerate(bases)
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Reads of a child whose haplotypes are the same from 25 to 50 of 75 kb, and of its parents."""
    folder = tmp_path_factory.mktemp("trio")
    given = random_genome(75_000, seed=5).sequence(0)
    of_father = mutated(given, 1, range(25_000, 50_000))
    other = [mutated(given, seed, range(0)) for seed in (2, 3)]
    for name, haplotypes, mean, seed in (
        ("child", [of_father, given], 6_000, 2), ("father", [of_father, other[0]], 2_000, 3),
        ("mother", [given, other[1]], 2_000, 4),
    ):  # fmt: skip
        model = adapted_model("hifi", mean_length=mean)
        reads, _ = simulate_reads(reads_of(haplotypes), model, coverage=20, seed=seed)
        (folder / f"{name}.fa").write_text(fasta_of(reads))
    (folder / "haplotypes.fa").write_text(f">father\n{of_father}\n>mother\n{given}\n")
    return folder


FATHER, MOTHER = ("--parent1", "father.fa"), ("--parent2", "mother.fa")


@pytest.mark.parametrize("words", [FATHER + MOTHER, FATHER, MOTHER])
def test_haplotypes_are_of_one_parent_each(folder, words, tmp_path):
    overlapper("assemble", "child.fa", "-o", tmp_path / "out", *words, "-t", "1", cwd=folder, check=True)
    blocks = (tmp_path / "out" / "contigs.phase_blocks.tsv").read_text().splitlines()[1:]
    assert {line.split("\t")[0] for line in blocks} - {"0"} == {"1"}
    own = own_kmers(folder)
    for number, parent in ((1, "father"), (2, "mother")):
        found = kmers(pysam.FastxFile(str(tmp_path / "out" / f"contigs.hap{number}.p_ctg.fasta")))
        shares = {name: len(found & of_one) / len(of_one) for name, of_one in own.items()}
        assert shares.pop(parent) > 0.95
        assert max(shares.values()) < 0.05


def kmers(sequences):
    found = set()
    for record in sequences:
        for bases in (record.sequence, record.sequence[::-1].translate(str.maketrans("ACGT", "TGCA"))):
            found |= {bases[i : i + K] for i in range(len(bases) - K + 1)}
    return found


def own_kmers(folder):
    """Return the k-mers that one of the haplotypes has alone."""
    one, other = ([record] for record in pysam.FastxFile(str(folder / "haplotypes.fa"), persist=True))
    return {"father": kmers(one) - kmers(other), "mother": kmers(other) - kmers(one)}


def test_a_parent_that_is_missing_is_told_before_anything_is_done(folder):
    refused = overlapper("assemble", "child.fa", "-o", "none", *FATHER, "--parent2", "no.fa", cwd=folder)
    assert refused.returncode == 1
    assert b"file no.fa: there is no such file" in refused.stderr
    assert not (folder / "none").exists()


def test_collapsed_haplotypes_have_no_parents(folder):
    words = ("--parent1", "father.fa", "--haplotypes", "collapse")
    refused = overlapper("assemble", "child.fa", "-o", "none", *words, cwd=folder)
    assert refused.returncode == 2
    assert b"leave out --haplotypes collapse" in refused.stderr
    assert not (folder / "none").exists()
