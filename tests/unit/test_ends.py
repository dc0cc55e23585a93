"""Error-prone ends of contigs."""

import dataclasses

import numpy as np
import pytest

from overlapper.assembly import consensus
from overlapper.assembly.chimeras import Sound
from overlapper.assembly.covered import Covered
from overlapper.assembly.ends import unconfirmed_ends, without_ends
from overlapper.assembly.laid_out import Contigs, LaidOut
from overlapper.correction.own_reads import OwnReads
from overlapper.correction.uncovered import intervals_of
from overlapper.simulate import random_genome
from overlapper.tables import Intervals, Reads
from tests.steps import assemble_reads

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
        ([0, 0, 3, 0, 0, 30, 30, 30, 30, 30], (False, False), BASES[5:]),
        ([0, 30, 30, 0, 0, 30, 30, 30, 30, 30], (False, False), BASES[1:]),
        ([30, 30, 30, 30, 0, 0, 0, 30, 3, 30], (False, False), BASES),
        ([0] * 10, (False, False), BASES),
        ([0, 0, 0, 0, 30, 0, 0, 0, 0, 0], (False, False), BASES),
        ([0, 0, 0, 30, 30, 30, 30, 30, 0, 0], (False, False), BASES[3:8]),
    ],
)
def test_ends_that_are_not_confirmed_go(quality, whole, expected):
    given = contigs_with(np.full(10, 30), np.array(quality))
    stays = np.array([(False, False), whole])
    cut = unconfirmed_ends(given.lengths, given.qualities > 0, stays)
    found = without_ends(given, cut)
    assert [found.sequence(0), found.sequence(1)] == [BASES, expected]
    assert found.names == given.names
    assert len(found.qualities_of(1)) == len(expected)


READS = [
    # read, start on the contig, reverse, interval of the read
    (0, 0, False, 0, 4_000),
    (1, 2_000, True, 0, 4_000),
    (2, 3_000, False, 1_000, 4_000),
]
"""On a contig of 6,000 bases; the first 1,000 of the last read are not sound, and were cut off."""


def laid_out(rows):
    unitig, lengths = np.zeros(len(rows), np.int32), np.full(len(rows), 4_000)
    read, start, reverse, r_start, r_end = map(np.array, zip(*rows, strict=True))
    lengths[read == 2] = 3_000
    own = OwnReads(
        unitig, read.astype(np.int32), start, reverse, (r_start - 1_000 * (read == 2)).astype(np.int32),
        (r_end - 1_000 * (read == 2)).astype(np.int32), np.full(len(rows), 6_000), lengths,
    )  # fmt: skip
    none = np.empty(0, np.int64)
    contigs = Contigs(
        random_genome(6_000, seed=1), np.array([False]), np.ones(1), np.ones(1, np.int64), none, none, none
    )
    return LaidOut(contigs, own)


@pytest.mark.parametrize(
    ("covered", "cut"),
    [
        ([(1_500, 4_000), (0, 4_000), (1_000, 4_000)], (1_500, 0)),
        ([(1_500, 4_000), (800, 4_000), (1_000, 2_900)], (1_500, 800)),
        ([(0, 4_000), (800, 4_000), (1_000, 3_800)], (0, 200)),
        ([(0, 0), (3_000, 4_000), (0, 0)], (0, 0)),  # most would go
    ],
)
def test_ends_of_contigs_go_where_too_few_reads_cover_theirs(covered, cut):
    layout = laid_out(READS)
    start, end = np.array(covered).T
    # Two others lie on all that is covered of each read.
    query, place = np.repeat(np.arange(3, dtype=np.int32), 2), np.zeros(6, np.int32)
    overlaps = Intervals(
        query, np.arange(3, 9, dtype=np.int32), np.zeros(6, bool), np.repeat(start, 2), np.repeat(end, 2),
        place, place + 100,
    )  # fmt: skip
    sound = Sound.whole(np.full(9, 4_000))
    sound.start[2] = 1_000
    on = Covered.of(overlaps, sound, threads=1).on(layout, np.arange(9))
    found = unconfirmed_ends(np.array([6_000]), on, np.zeros((1, 2), bool))
    assert found.tolist() == [list(cut)]
    shorter = layout.without_ends(found)
    text = layout.contigs.sequences.sequence(0)
    assert shorter.contigs.sequences.sequence(0) == text[cut[0] : 6_000 - cut[1]]
    own = shorter.reads
    assert (own.start >= 0).all() and (own.start + own.r_end - own.r_start <= 6_000 - sum(cut)).all()


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
        consensus,
        "with_votes",
        lambda sequences, *_: intervals_of(
            sequences, np.array([20_000, 0]), sequences.lengths, sequences.names
        ),
    )
    made = assemble_reads(Reads.from_sequences([f"r{i}" for i in range(len(reads))], reads)).contigs
    assert (made.sequences.lengths < 11_000).tolist() == [True, False]
    assert made.depth[0] > 2 * made.depth[1]
    assert made.copies[1] == 1 and made.copies[0] > 2
