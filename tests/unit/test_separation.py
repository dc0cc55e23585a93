"""Contigs of two haplotypes, apart and collapsed, in memory and in a budget."""

import dataclasses

import numpy as np
import pytest

from overlapper.errors import ParameterError
from overlapper.params.assembly import AssembleParams, WhatOfCopies, WhenToCorrect
from overlapper.simulate import adapted_model, random_genome, simulate_reads
from overlapper.tables import Reads
from tests.read_sets import reads_of
from tests.steps import assemble_reads

LETTERS = "ACGT"


@pytest.fixture(scope="module")
def haplotypes():
    """Two sequences of 30 kb, a base in two hundred of which differs."""
    one = random_genome(30_000, seed=1).sequence(0)
    rng = np.random.default_rng(2)
    other = list(one)
    for place in rng.choice(len(one), len(one) // 200, replace=False):
        other[place] = LETTERS[(LETTERS.index(other[place]) + 1 + rng.integers(3)) % 4]
    return one, "".join(other)


@pytest.fixture(scope="module")
def reads(haplotypes):
    """HiFi reads of both, 15 times each."""
    parts = []
    model = adapted_model("hifi", mean_length=6_000)
    for number, sequence in enumerate(haplotypes):
        genome = Reads.from_sequences([f"h{number}"], [sequence])
        parts.append(simulate_reads(genome, model, coverage=15, seed=number)[0])
    sequences = [part.sequence(i) for part in parts for i in range(len(part))]
    return reads_of(sequences)


def marker_shares(contigs, haplotypes):
    """Return for each contig which shares of the 31-mers of one haplotype alone it has."""
    complement = str.maketrans("ACGT", "TGCA")

    def kmers(sequence):
        return {sequence[i : i + 31] for i in range(len(sequence) - 30)}

    one, other = (kmers(sequence) for sequence in haplotypes)
    markers = one - other, other - one
    found = []
    for i in range(len(contigs)):
        sequence = contigs.sequences.sequence(i)
        has = kmers(sequence) | kmers(sequence.translate(complement)[::-1])
        found.append([len(has & own) / len(own) for own in markers])
    return np.array(found)


def test_contigs_of_accurate_reads_are_of_one_haplotype_each(reads, haplotypes):
    made = assemble_reads(reads)
    shares = marker_shares(made.contigs, haplotypes)
    assert (shares.min(axis=1) < 0.01).all()
    assert (shares.sum(axis=0) > 0.9).all()
    assert "copies kept apart" in made.decision()
    found = {stage.name: stage.facts.get("overlaps", 0) for stage in made.stages}
    assert 0 < found["exact-overlaps"] < found["overlaps"]
    assert "correct-1" in found


def test_haplotypes_collapse_when_asked(reads, haplotypes):
    made = assemble_reads(reads, AssembleParams(copies=WhatOfCopies.COLLAPSE))
    assert marker_shares(made.contigs, haplotypes).sum() < 1.5
    assert made.contigs.sequences.qualities is not None


def test_separate_needs_corrected_reads():
    with pytest.raises(ParameterError, match="copies are kept apart"):
        dataclasses.replace(AssembleParams(correct=WhenToCorrect.NEVER), copies=WhatOfCopies.SEPARATE)
