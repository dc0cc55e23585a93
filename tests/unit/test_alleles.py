"""Whether reads have differences of two haplotypes within them: the oracle's, and what is fitted."""

import random

import numpy as np
import pytest

from overlapper.assembly import alleles
from overlapper.assembly.alleles import K, counted, differ
from overlapper.kernels.seeds import haplotype_kmers, kmer_table
from overlapper.kernels.seeds.counting import ALL, NONE
from tests.oracle import alleles as oracle
from tests.oracle.strands import reverse_complement
from tests.property.test_haplotypes import mutated
from tests.read_sets import reads_of


def sequence(random_, length):
    return "".join(random_.choices("ACGT", k=length))


def reads_on(random_, genome, depth, length, circular=False):
    """Return reads of either strand that cover a genome evenly."""
    around = genome + genome[:length] * circular
    starts = [random_.randrange(len(around) - length + 1) for _ in range(depth * len(genome) // length)]
    reads = [around[start : start + length] for start in starts]
    return [reverse_complement(read) if random_.random() < 0.5 else read for read in reads]


@pytest.mark.parametrize("seed", range(6))
def test_differences_equal_the_oracle(seed):
    random_, depth = random.Random(seed), 6 + seed
    one = sequence(random_, 1_500)
    # Differences apart from each other, side by side, of inserted bases; a repeat; unknown bases.
    other = mutated(random_, one, 0.01 + 0.01 * seed, 600, 900)
    other = other[:700] + sequence(random_, 40 * (seed % 3)) + other[700:1_300] + one[100:200]
    reads = [read for genome in (one, other) for read in reads_on(random_, genome, depth, 300)]
    reads = [read.replace("ACGTA", "ACNTA") if random_.random() < 0.1 else read for read in reads]
    spans = alleles.spans_of(reads_of(reads))
    table = np.full((2 * sum(map(len, reads)), 2), NONE)
    kmer_table.add_kmers(table, spans, np.zeros(len(reads), np.int64), K, ALL, np.uint64(0), NONE)
    counts = counted(table, [reads_of(reads)], 1_000, threads=2)
    found = haplotype_kmers.differences(table, counts, spans, K, float(depth))
    assert found == oracle.differences(reads, depth)
    assert found[1] > 0


def of_two(genomes, depth, circular=False, seed=1):
    random_ = random.Random(seed)
    reads = [read for genome in genomes for read in reads_on(random_, genome, depth, 8_000, circular)]
    return differ(reads_of(reads), float(depth), threads=1)


def test_two_haplotypes_differ_in_few_places():
    """In one base of 2,000, of a fifth of the genome; the rest is the same."""
    random_ = random.Random(2)
    one = sequence(random_, 100_000)
    assert of_two([one, mutated(random_, one, 1 / 2_000, 20_000, 100_000)], 12)


@pytest.mark.parametrize(("bases", "two"), [(16_000, True), (40_000, False)])
def test_a_single_difference(bases, two):
    """Of a molecule of 40 kb, as of heteroplasmy, it does not make two haplotypes."""
    one = sequence(random.Random(7), bases)
    middle = bases // 2
    other = one[:middle] + "ACGT"["ACGT".index(one[middle]) - 1] + one[middle + 1 :]
    assert of_two([one, other], 15, circular=True) == two


def test_four_haplotypes_differ():
    random_ = random.Random(3)
    one = sequence(random_, 40_000)
    assert of_two([mutated(random_, one, 0.003, 0, 0) for _ in range(4)], 12)


def test_an_inverted_repeat_is_no_difference():
    random_ = random.Random(4)
    repeat = sequence(random_, 13_000)
    plastid = sequence(random_, 42_000) + repeat + sequence(random_, 9_000) + reverse_complement(repeat)
    assert not of_two([plastid], 20, circular=True)


@pytest.mark.parametrize("length", [700, 5_000])
def test_repeats_of_half_a_genome_are_no_differences(length):
    random_ = random.Random(5)
    repeats = [sequence(random_, length) for _ in range(15_000 // length)] * 2
    genome = "".join(repeat + sequence(random_, length) for repeat in repeats)
    assert not of_two([genome], 15)


def test_a_plasmid_of_two_copies_is_no_difference():
    random_ = random.Random(6)
    chromosome, plasmid = sequence(random_, 60_000), sequence(random_, 30_000)
    assert not of_two([chromosome, plasmid, plasmid], 12)


def test_few_reads_of_many_are_looked_at(monkeypatch):
    monkeypatch.setattr(alleles, "LOOKED_AT", 100_000)
    test_two_haplotypes_differ_in_few_places()
    test_a_plasmid_of_two_copies_is_no_difference()
