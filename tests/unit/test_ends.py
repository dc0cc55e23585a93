"""Error-prone ends of contigs."""

import dataclasses

import numpy as np
import pytest

from overlapper.assemble.agreement import AGREED
from overlapper.assemble.ends import without_error_prone_ends, without_shallow_ends
from overlapper.assemble.laid_out import Contigs
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
        ([30, 30, 30, 30, 30, 30, 30, 30, 20, 30], (False, False), BASES),
        ([9, 9, 9, 9, 9, 9, 9, 9, 9, 9], (False, False), BASES),
        ([0] * 10, (False, False), BASES),
        ([0, 0, 0, 0, 30, 0, 0, 0, 0, 0], (False, False), BASES),
        ([0, 0, 0, 30, 30, 30, 30, 30, 0, 0], (False, False), BASES[3:8]),
    ],
)
def test_ends_that_are_often_wrong_go(quality, whole, expected):
    given = contigs_with(np.full(10, 30), np.array(quality))
    found = without_error_prone_ends(given, np.array([(False, False), whole]))
    assert [found.sequence(0), found.sequence(1)] == [BASES, expected]
    assert found.names == given.names
    assert len(found.qualities_of(1)) == len(expected)


@pytest.mark.parametrize(
    ("quality", "whole", "expected"),
    [
        ([0, 0, AGREED, 0, AGREED, AGREED, AGREED, AGREED, AGREED, 0], (False, False), BASES[2:9]),
        ([0, 0, AGREED, 0, AGREED, AGREED, AGREED, AGREED, AGREED, 0], (True, True), BASES),
        ([0, 0, 0, 0, 0, 0, AGREED, AGREED, AGREED, 0], (False, False), BASES),
        ([0] * 10, (False, False), BASES),
    ],
)
def test_ends_of_which_less_than_three_reads_have_the_bases_go(quality, whole, expected):
    given = contigs_with(np.full(10, AGREED), np.array(quality))
    found = without_shallow_ends(given, np.array([(False, False), whole]))
    assert [found.sequence(0), found.sequence(1)] == [BASES, expected]


def test_linked_ends_and_circles_stay():
    """From the end of contig 0 to that of contig 1; contig 2 is a circle, contig 3 alone."""
    contigs = Contigs(
        Reads.from_sequences(list("abcd"), [BASES] * 4), np.array([False, False, True, False]),
        np.ones(4), np.ones(4), np.ones(4, np.int64), np.array([0]), np.array([3]),
        np.array([100], np.int32),
    )  # fmt: skip
    stays = [[False, True], [False, True], [True, True], [False, False]]
    assert contigs.ends_that_stay().tolist() == stays
