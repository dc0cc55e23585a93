"""Overlaps of reads as given, told apart by copies."""

import numpy as np
import pytest

from overlapper.assembly.copy_differences import are_trans, count_copy_differences
from overlapper.overlap.pipeline import find_overlaps
from overlapper.simulate import random_genome, simulate_reads
from overlapper.sketch.canonical import canonical_order, in_order
from overlapper.tables import Reads

EVERY = 400
"""Bases from one difference of the two copies to the next."""


@pytest.fixture(scope="module")
def reads():
    """Noisy reads of two copies, those of the first one named first."""
    one = random_genome(15_000, seed=3)
    codes = one.codes(0).copy()
    codes[EVERY // 2 :: EVERY] ^= 1
    other = Reads.from_sequences(["other"], ["".join("ACGT"[code] for code in codes)])
    parts = [
        simulate_reads(copy, "ont-r10", coverage=15, seed=seed)[0] for seed, copy in enumerate((one, other))
    ]
    first = len(parts[0])
    named = [f"{number}" for number in range(sum(map(len, parts)))]
    sequences = [part.sequence(i) for part in parts for i in range(len(part))]
    return Reads.from_sequences(named, sequences), first


@pytest.fixture(scope="module")
def told(reads):
    return count_copy_differences(reads[0], find_overlaps(reads[0]))


def test_overlaps_of_two_copies_have_differences_and_those_of_one_have_none(reads, told):
    _, first = reads
    across = (told.query < first) != (told.target < first)
    long = told.block_length >= 8 * EVERY
    assert (across & long).sum() > 50 < (~across).sum()
    assert are_trans(told)[across & long].mean() > 0.98
    assert (told.copy_differences[~across] == 0).mean() > 0.98
    assert not are_trans(told)[~across].any()


def test_nothing_but_the_differences_is_added(reads, told):
    overlaps = find_overlaps(reads[0])
    for field in overlaps.fields_of("column"):
        if field.name != "copy_differences":
            np.testing.assert_array_equal(getattr(told, field.name), getattr(overlaps, field.name))


def test_the_order_of_the_reads_and_threads_change_nothing(reads, told):
    table = reads[0]
    order = canonical_order(table)
    again = count_copy_differences(in_order(table, order, 1), find_overlaps(table), order=order, threads=2)
    np.testing.assert_array_equal(again.copy_differences, told.copy_differences)


def test_reads_that_no_longer_overlap_join_different_copies(reads):
    overlaps = find_overlaps(reads[0])
    elsewhere = overlaps.take(np.arange(1))
    elsewhere.reverse[:] ^= True
    told = count_copy_differences(reads[0], elsewhere)
    assert told.copy_differences.tolist() == [-1]
    assert are_trans(told).tolist() == [True]
