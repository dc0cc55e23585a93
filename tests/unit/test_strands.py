"""Copies stay apart whatever strands reads are on; errors of one strand make none; the log says what is."""

import csv
import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from overlapper.correction.strands import SAME_STRAND, warning
from overlapper.correction.vote_settings import _strands
from overlapper.io.fastx import read_fastx
from overlapper.params.correction import CorrectParams
from overlapper.simulate import adapted_model, random_genome, simulate_reads
from overlapper.tables import Reads
from tests.oracle.haplotypes import kmers
from tests.oracle.strands import reverse_complement
from tests.read_sets import reads_of
from tests.steps import assemble_reads, correct

DATA = Path(os.environ.get("OVERLAPPER_DATA", Path(__file__).parents[3] / "shared" / "data")) / "real"
DEPTHS = [10, 10, 10, 30]
ONCE = CorrectParams(rounds=1)


def real_set(name):
    folder = DATA / name
    if not folder.exists():
        pytest.skip(f"{folder} is missing; set OVERLAPPER_DATA to the folder of the data sets")
    return folder


@pytest.fixture(scope="module")
def copies():
    """Four sequences of 16 kb; each has another base, one less or one more in one place of 500."""
    one = random_genome(16_000, seed=1).sequence(0)
    rng = np.random.default_rng(2)

    def copy():
        bases = list(one)
        for place in rng.choice(len(one), len(one) // 500, replace=False):
            other = "ACGT"[("ACGT".index(bases[place]) + 1 + rng.integers(3)) % 4]
            bases[place] = rng.choice([other, other, other, "", bases[place] + other])
        return "".join(bases)

    return [copy() for _ in DEPTHS]


def own_kmers_kept(sequences, before, after):
    """The share of the 31-mers of one sequence alone, in reads (number of sequence, bases), that is kept."""
    where = kmers(sequences)
    own = {kmer: places[0][0] for kmer, places in where.items() if len({copy for copy, _ in places}) == 1}
    had = kept = 0
    for (copy, bases), corrected in zip(before, after, strict=True):
        some = {kmer for kmer in kmers([bases]) if own.get(kmer) == copy}
        had, kept = had + len(some), kept + len(some & kmers([corrected]).keys())
    return kept / had


@pytest.mark.parametrize("one_strand", [False, True])
def test_copies_of_unequal_depth_stay_apart_on_whatever_strands_reads_are(copies, one_strand):
    before, model = [], adapted_model("hifi", mean_length=6_000)
    for number, (copy, depth) in enumerate(zip(copies, DEPTHS, strict=True)):
        reads, truth = simulate_reads(Reads.from_sequences(["copy"], [copy]), model, coverage=depth, seed=7)
        for i in range(len(reads)):
            bases = reads.sequence(i)
            turned = one_strand and truth.strand[i] == "-"
            before.append((number, reverse_complement(bases) if turned else bases))
    made = correct(reads_of([bases for _, bases in before]), params=ONCE)
    after = [made.reads.sequence(i) for i in range(len(before))]
    assert own_kmers_kept(copies, before, after) > 0.99
    assert any("on the same strand" in line for line in made.warnings) == one_strand


def test_strands_tell_more_errors_the_more_reads_err():
    chi_squares = [_strands(rate) / 64 for rate in (0.0, 0.001, 0.003, 0.01, 0.05)]
    assert chi_squares == pytest.approx([20, 15.6, 11.3, 6.4, 6.0], abs=0.1)


def test_sets_are_said_to_be_of_one_strand_from_nine_reads_in_ten_on():
    assert warning([{}, {SAME_STRAND: 0.81}]) == []
    assert warning([{SAME_STRAND: 0.82}, {}])[0].startswith("82 % of the reads that overlap")


def test_real_reads_of_four_copies_on_one_strand_keep_what_is_theirs():
    folder = real_set("hifi_smn_HG01884")
    reads = read_fastx(str(folder / "reads.fastq.gz"), keep_qualities=True)
    made = correct(reads, params=ONCE)
    haplotypes = read_fastx(str(folder / "haplotypes.fasta.gz"))
    names = [name.removeprefix("HP_") for name in haplotypes.names]
    with gzip.open(folder / "haplotags.tsv.gz", "rt") as file:
        label = {read: haplotype.removeprefix("HP_") for read, haplotype in csv.reader(file, delimiter="\t")}
    some = [i for i, name in enumerate(reads.names) if label.get(name) in names]
    before = [(names.index(label[reads.names[i]]), reads.sequence(i)) for i in some]
    after = [made.reads.sequence(i) for i in some]
    sequences = [haplotypes.sequence(i) for i in range(len(haplotypes))]
    assert own_kmers_kept(sequences, before, after) > 0.99
    assert any("on the same strand" in line for line in made.warnings)


def test_real_reads_of_native_dna_are_not_told_apart_by_errors_of_one_strand():
    """R10 reads of E. coli, which errs at methylated motifs: one contig, as there is one copy."""
    folder = real_set("ont_r10_ecoli_74k")
    made = assemble_reads(read_fastx(str(folder / "reads.fastq.gz"), keep_qualities=True))
    assert len(made.contigs) == 1
    # Three reads or more cover some 95 kb of 117; 139 kb had been in two contigs.
    assert made.contigs.sequences.total_bases == pytest.approx(95_000, rel=0.03)
