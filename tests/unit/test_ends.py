"""Error-prone ends of contigs."""

import dataclasses

import numpy as np
import pytest

from overlapper.assemble import contigs
from overlapper.assemble.contigs import assemble_reads
from overlapper.assemble.ends import without_error_prone_ends
from overlapper.assemble.laid_out import Contigs
from overlapper.correct.uncovered import intervals_of
from overlapper.simulate import random_genome
from overlapper.tables import Reads

BASES = "ACGTACGTAC"


def contigs_with(*qualities):
    sequences = Reads.from_sequences([f"utg{i}" for i in range(len(qualities))], [BASES] * len(qualities))
    offsets = np.arange(len(qualities) + 1) * len(BASES)
    return dataclasses.replace(
        sequences, qualities=np.concatenate(qualities).astype(np.uint8), quality_offsets=offsets
    )


@pytest.mark.parametrize(
    ("quality", "whole", "expected"),
    [
        ([0, 0, 30, 30, 30, 30, 30, 30, 30, 0], (False, False), BASES[2:9]),
        ([0, 0, 30, 30, 30, 30, 30, 30, 30, 0], (True, False), BASES[:9]),
        ([0, 0, 30, 30, 30, 30, 30, 30, 30, 0], (False, True), BASES[2:]),
        ([0, 30, 0, 30, 30, 30, 30, 30, 30, 30], (False, False), BASES[3:]),
        ([0, 30, 30, 30, 0, 30, 30, 30, 30, 30], (False, False), BASES[1:]),
        ([30, 30, 30, 30, 30, 30, 30, 30, 15, 30], (False, False), BASES),
        ([9, 9, 9, 9, 9, 9, 9, 9, 9, 9], (False, False), BASES),
        ([0] * 10, (False, False), BASES),
        ([0, 0, 0, 0, 30, 0, 0, 0, 0, 0], (False, False), BASES),
        ([0, 0, 0, 30, 30, 30, 30, 30, 0, 0], (False, False), BASES[3:8]),
    ],
)
def test_ends_that_are_often_wrong_go(quality, whole, expected):
    given = contigs_with(np.full(10, 30), np.array(quality))
    found = without_error_prone_ends(given, np.array([(False, False), whole]), 0.12, 0.04)
    assert [found.sequence(0), found.sequence(1)] == [BASES, expected]
    assert found.names == given.names
    assert len(found.qualities_of(1)) == len(expected)


@pytest.mark.parametrize(("error_rate", "most_errors"), [(0.002, 0.04), (0.039, 0.04), (0.15, 1.0)])
def test_what_few_reads_have_stays_where_they_are_accurate_or_all_is_asked_for(error_rate, most_errors):
    given = contigs_with(np.array([0, 0, 0, 30, 30, 30, 30, 30, 3, 0]))
    cut = without_error_prone_ends(given, np.array([(False, False)]), error_rate, most_errors)
    assert cut.sequence(0) == (BASES if most_errors == 1 else BASES[:8])


def test_linked_ends_and_circles_stay():
    """From the end of contig 0 to that of contig 1; contig 2 is a circle, contig 3 alone."""
    contigs = Contigs(
        Reads.from_sequences(list("abcd"), [BASES] * 4), np.array([False, False, True, False]),
        np.ones(4), np.ones(4, np.int64), np.array([0]), np.array([3]),
        np.array([100], np.int32),
    )  # fmt: skip
    stays = [[False, True], [False, True], [True, True], [False, False]]
    assert contigs.ends_that_stay().tolist() == stays


def test_copies_are_told_by_the_bases_that_are_left(monkeypatch):
    """The longer of two contigs, the deeper one, loses most of its bases, and the median base with them."""
    genomes = random_genome(30_000, seed=1).sequence(0), random_genome(20_000, seed=2).sequence(0)
    reads = [
        genome[start : start + 6_000]
        for genome, step in ((genomes[0], 200), (genomes[1], 600))
        for start in range(0, len(genome) - 2_000, step)
    ]
    monkeypatch.setattr(
        contigs,
        "without_adapters",
        lambda sequences, *_: intervals_of(
            sequences, np.array([20_000, 0]), sequences.lengths, sequences.names
        ),
    )
    made = assemble_reads(Reads.from_sequences([f"r{i}" for i in range(len(reads))], reads)).contigs
    assert (made.sequences.lengths < 11_000).tolist() == [True, False]
    assert made.depth[0] > 2 * made.depth[1]
    assert made.copies[1] == 1 and made.copies[0] > 2
