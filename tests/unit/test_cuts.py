"""Contigs are cut where no read goes across, and what is known of them goes along."""

import numpy as np
import pytest

from overlapper.assembly.cuts import Cut, cut_where_contradicted
from overlapper.assembly.laid_out import Contigs, LaidOut
from overlapper.assembly.rubbish import LeftOut
from overlapper.correction.doubt import Doubt, Reason, bed
from overlapper.correction.own_reads import OwnReads
from overlapper.graph.layout import unitig_names
from overlapper.tables import Reads
from tests.graph_cases import random_genome, reverse_complement

LENGTHS = 9_000, 6_000
BASES = [random_genome(length, seed) for seed, length in enumerate(LENGTHS)]
READ, STEP = 1_500, 500
LINKS = ([0, 3], [2, 1], [40, 50])
"""The last base of contig 0 goes on with the first one of 1, and 1, turned, with 0, turned."""


def case(places, circular=(False, False)):
    """Two contigs under reads, every third one reversed; places are contig, start, end, and reason."""
    circular = np.array(circular)
    around = [bases + (bases[:READ] if circle else "") for bases, circle in zip(BASES, circular, strict=True)]
    rows = [
        (contig, start)
        for contig, bases in enumerate(around)
        for start in range(0, len(bases) - READ + 1, STEP)
    ]
    unitig, start = np.array(rows).T
    reverse = np.arange(len(rows)) % 3 == 0
    reads = [around[contig][at : at + READ] for contig, at in rows]
    reads = [
        reverse_complement(read) if turned else read for read, turned in zip(reads, reverse, strict=True)
    ]
    size = np.full(len(rows), READ)
    own = OwnReads(
        unitig, np.arange(len(rows)), start, reverse, 0 * size, size, np.array(LENGTHS)[unitig], size
    )
    sequences = Reads.from_sequences(unitig_names(circular), BASES)
    links = ([], [], []) if circular.any() else LINKS
    contigs = Contigs(
        sequences,
        circular,
        np.array([3.0, 3.0]),
        np.bincount(unitig),
        *(np.array(ends, np.int64) for ends in links),
    )
    contig, first, end, reason = np.array(places).T
    doubt = Doubt(contig, first, end, reason, np.full(len(places), 5.0))
    left_out = LeftOut(np.array([0, -1]), np.array([5_000, 0]), np.array([5_100, 0]), np.zeros(2), np.ones(2))
    return reads, cut_where_contradicted(Cut(LaidOut(contigs, own), sequences, doubt, left_out))


def spelled(made):
    return [made.sequences.sequence(contig) for contig in range(len(made.sequences))]


def check_reads(reads, made):
    """Reads have the bases of the contigs where they lie."""
    sequences, own = spelled(made), made.laid_out.reads
    assert len(own) >= len(reads)
    for row in own:
        bases = reads[row.read][row.r_start : row.r_end]
        there = sequences[row.unitig][row.start : row.start + len(bases)]
        assert (reverse_complement(bases) if row.reverse else bases) == there


def test_linear_contigs_are_cut():
    places = [
        (0, 4_000, 4_120, Reason.UNCROSSED),
        (0, 4_100, 4_600, Reason.CONTRADICTED),
        (0, 300, 320, Reason.UNCROSSED),
        (0, 2_000, 2_030, Reason.CONTRADICTED),
        (1, 2_900, 2_901, Reason.BROKEN),
        (0, 7_000, 7_050, Reason.MENDED),
    ]
    reads, made = case(places)
    assert spelled(made) == [BASES[1], BASES[0][4_600:], BASES[0][:4_000]]
    assert made.sequences.names == unitig_names(np.zeros(3, bool))
    check_reads(reads, made)
    contigs = made.laid_out.contigs
    assert (contigs.link_source.tolist(), contigs.link_target.tolist()) == ([2, 1], [0, 3])
    assert made.left_out.contig.tolist() == [1, -1]
    assert (made.left_out.start[0], made.left_out.end[0]) == (400, 500)
    lines = [line.split("\t") for line in bed(made.doubt, made.sequences)]
    names = made.sequences.names
    assert [(names.index(name), int(start), int(end), reason) for name, start, end, reason, _ in lines] == [
        (0, 2_900, 2_901, "broken"),
        (1, 0, 1, "cut"),
        (1, 2_400, 2_450, "mended"),
        (2, 300, 320, "uncrossed"),
        (2, 2_000, 2_030, "contradicted"),
        (2, 3_999, 4_000, "cut"),
    ]


@pytest.mark.parametrize("start", [0, 2_000, 8_900])
def test_circles_that_are_cut_are_linear(start):
    end = start + 150
    reads, made = case([(0, start, end, Reason.UNCROSSED)], (True, False))
    twice = 2 * BASES[0]
    assert spelled(made) == [twice[end : start + LENGTHS[0]], BASES[1]]
    assert not made.laid_out.contigs.circular.any()
    check_reads(reads, made)
    lines = [line.split("\t")[1:4] for line in bed(made.doubt, made.sequences)]
    assert lines == [["0", "1", "cut"], ["8849", "8850", "cut"]]


def test_a_circle_cut_twice_is_two():
    reads, made = case(
        [(0, 1_000, 1_010, Reason.UNCROSSED), (0, 6_000, 6_010, Reason.UNCROSSED)], (True, False)
    )
    assert spelled(made) == [BASES[1], BASES[0][1_010:6_000], BASES[0][6_010:] + BASES[0][:1_000]]
    check_reads(reads, made)


def test_long_stretches_between_two_ends_stay():
    reads, made = case([(0, 2_500, 5_000, Reason.UNCROSSED)])
    assert spelled(made) == [BASES[1], BASES[0][5_000:], BASES[0][:2_500], BASES[0][2_500:5_000]]
    check_reads(reads, made)


@pytest.mark.parametrize("start", [0, 2_500, 6_500])
def test_long_stretches_of_circles_stay(start):
    end = start + 2_500
    reads, made = case([(0, start, end, Reason.UNCROSSED)], (True, False))
    twice = 2 * BASES[0]
    assert spelled(made) == [twice[end : start + LENGTHS[0]], BASES[1], twice[start:end]]
    check_reads(reads, made)
    names = made.sequences.names
    lines = [line.split("\t") for line in bed(made.doubt, made.sequences)]
    assert [(names.index(name), int(first), reason) for name, first, _, reason, _ in lines] == [
        (0, 0, "cut"), (0, 6_499, "cut"), (2, 0, "cut"), (2, 2_499, "cut"),
    ]  # fmt: skip


def test_others_stay_as_they_are():
    _, made = case([(0, 4_000, 4_020, Reason.CONTRADICTED), (1, 5_700, 6_000, Reason.UNCROSSED)])
    assert spelled(made) == BASES
    assert made.doubt.reason.tolist() == [Reason.CONTRADICTED, Reason.UNCROSSED]
