"""Doubtful ends of contigs."""

import dataclasses

import numpy as np
import pytest

from overlapper.assemble.contigs import Contigs, _ends_that_stay
from overlapper.assemble.ends import without_doubtful_ends, without_shallow_ends
from overlapper.correct.own_reads import OwnReads
from overlapper.tables import Overlaps, Reads
from tests.graph_cases import overlap_table

BASES = "ACGTACGTAC"


def contigs_with(*qualities):
    bases = [(BASES * 2)[: len(quality)] for quality in qualities]
    sequences = Reads.from_sequences([f"utg{i}" for i in range(len(qualities))], bases)
    offsets = np.cumsum([0, *map(len, qualities)])
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
        ([30, 30, 30, 30, 30, 30, 30, 30, 20, 30], (False, False), BASES),
        ([9, 9, 9, 9, 9, 9, 9, 9, 9, 9], (False, False), BASES),
        ([0] * 10, (False, False), BASES),
        ([0, 0, 0, 0, 30, 0, 0, 0, 0, 0], (False, False), BASES),
        ([0, 0, 0, 30, 30, 30, 30, 30, 0, 0], (False, False), BASES[3:8]),
    ],
)
def test_ends_that_are_often_wrong_go(quality, whole, expected):
    given = contigs_with(np.full(10, 30), np.array(quality))
    found = without_doubtful_ends(given, np.array([(False, False), whole]))
    assert [found.sequence(0), found.sequence(1)] == [BASES, expected]
    assert found.names == given.names
    assert len(found.qualities_of(1)) == len(expected)


def test_ends_of_which_less_than_three_reads_have_the_bases_go():
    """Of read 0, bases 2 to 10 begin the contig; read 1 ends it, on the other strand; 0 contains 2."""
    sequences = contigs_with(np.full(16, 50))
    own = OwnReads(
        unitig=np.zeros(3, np.int32), read=np.arange(3, dtype=np.int32), start=np.array([0, 6, 0]),
        reverse=np.array([False, True, False]), r_start=np.array([2, 0, 0]), r_end=np.array([10, 10, 4]),
        unitig_length=np.full(3, 16), read_length=np.array([10, 10, 4]),
    )  # fmt: skip
    overlaps = overlap_table([
        (0, 3, False, 4, 10, 0, 6), (0, 4, True, 5, 10, 0, 5), (0, 2, False, 2, 6, 0, 4),
        (5, 1, True, 0, 7, 3, 10), (1, 6, False, 4, 9, 0, 5),
    ])  # fmt: skip
    found = without_shallow_ends(sequences, np.array([[False, False]]), own, overlaps)
    # Three reads agree from base 4 of read 0 on, base 2 of the contig, and from base 4 of read 1 on.
    assert found.sequence(0) == ("ACGTACGTAC" * 2)[2:12]
    assert without_shallow_ends(sequences, np.array([[True, True]]), own, overlaps) is sequences
    nobody = without_shallow_ends(sequences, np.array([[False, False]]), own, Overlaps.empty())
    assert nobody.sequence(0) == sequences.sequence(0)


def test_linked_ends_and_circles_stay():
    """From the end of contig 0 to that of contig 1; contig 2 is a circle, contig 3 alone."""
    contigs = Contigs(
        Reads.from_sequences(list("abcd"), [BASES] * 4), np.array([False, False, True, False]),
        np.ones(4), np.ones(4), np.ones(4, np.int64), np.array([0]), np.array([3]),
        np.array([100], np.int32),
    )  # fmt: skip
    stays = [[False, True], [False, True], [True, True], [False, False]]
    assert _ends_that_stay(contigs).tolist() == stays
