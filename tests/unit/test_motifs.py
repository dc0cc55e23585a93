"""Motifs at which reads of a strand err: how they are found, and that they make no errors and no copies."""

import itertools
import random

import numpy as np
import pytest

from overlapper.correction.motifs import erring_words, motifs
from overlapper.kernels.consensus.erring_words import WORD
from tests.graph_cases import random_genome, reverse_complement
from tests.oracle import erring_words as oracle
from tests.oracle.haplotypes import kmers
from tests.read_sets import reads_of
from tests.steps import assemble_reads, correct

WORDS = ["".join(letters) for letters in itertools.product("ACGT", repeat=WORD)]
READ_AS = str.maketrans("ACGT", "GTAC")


def counts_of(contradicted, seen=10):
    """How often each word is seen and contradicted, of motifs, of which "" is in all."""
    wrong = [max((m for motif, m in contradicted if not motif or oracle.is_erring(word, [motif])), default=0)
             for word in WORDS]  # fmt: skip
    return np.full(4**WORD, seen), np.array(wrong)


@pytest.mark.parametrize(
    ("contradicted", "found"),
    [
        ([], ()),
        ([("GgTC", 1)], ("GgTC",)),
        ([("CtAGG", 3), ("GgTC", 2)], ("GgTC", "CtAGG")),  # as 64 words are less by chance than 16
        ([("GgTC", 0), ("CtAGG", 1)], ("CtAGG",)),
        ([("ACtAGG", 10)], ()),  # four words, perhaps of four places
        ([("", 4)], ()),  # all words alike
    ],
)
def test_motifs_are_words_that_are_contradicted_more_often_than_others(contradicted, found):
    assert motifs(*counts_of(contradicted)) == found


def test_words_of_motifs_are_those_of_either_strand():
    found = ("GgTC", "ACCtAGG", "TTTa")
    forward = [oracle.is_erring(word, found) for word in WORDS]
    reverse = [oracle.is_erring(reverse_complement(word), found) for word in WORDS]
    assert erring_words(found).tolist() == [forward, reverse]
    assert erring_words(()).shape == (2, 0)


def reads_with_modified(genomes, share, coverage):
    """Reads of genomes with 1 % of errors; A of GATC and the second C of CCWGG are others by chance."""
    rng, reads = random.Random(6), []
    modified = [("GATC", 1), ("CCAGG", 1), ("CCTGG", 1)]
    for genome in genomes:
        bases = 0
        while bases < coverage * len(genome):
            start = rng.randint(-5_000, len(genome) - 2_000)
            read = genome[max(start, 0) : start + 8_000]
            read = list(read if rng.random() < 0.5 else reverse_complement(read))
            bases += len(read)
            as_it_is = "".join(read)
            for motif, base in modified:
                at = as_it_is.find(motif)
                while at >= 0:
                    if rng.random() < share:
                        read[at + base] = read[at + base].translate(READ_AS)
                    at = as_it_is.find(motif, at + 1)
            reads.append(
                "".join(c if rng.random() > 0.01 else rng.choice(["", "A", "C", c + c]) for c in read)
            )
    return reads


@pytest.mark.parametrize("share", [0.5, 0.85, 0.95])
def test_errors_of_one_strand_at_motifs_are_corrected(share):
    genome = random_genome(30_000, 5)
    reads = reads_with_modified([genome], share, 30)
    made = correct(reads_of(reads))
    right = kmers([genome]).keys() | kmers([reverse_complement(genome)]).keys()
    wrong = [len(kmers([made.reads.sequence(i)]).keys() - right) for i in range(len(reads))]
    assert sum(wrong) < 0.0001 * sum(map(len, reads))


def test_errors_of_one_strand_at_motifs_make_no_copies_and_hide_none():
    genome, rng = random_genome(30_000, 5), random.Random(3)
    other = list(genome)
    for at in rng.sample(range(len(genome)), 60):
        other[at] = other[at].translate(READ_AS)
    both = [genome, "".join(other)]
    made = assemble_reads(reads_of(reads_with_modified(both, 0.85, 20)))
    contigs = [made.contigs.sequences.sequence(i) for i in range(len(made.contigs))]
    have = kmers(contigs + [reverse_complement(c) for c in contigs]).keys()
    want = kmers(both).keys()
    assert len(contigs) == 2 and len(want - have) < 0.01 * len(want)
