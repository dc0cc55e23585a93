"""Reads lie on the unitigs that the layout has them in, base by base."""

import numpy as np
import pytest

from overlapper import find_overlaps, random_genome
from overlapper.correction.own_reads import OwnReads, Windows, own_reads, rows_of_own
from overlapper.correction.polish import Unitigs
from overlapper.correction.unitig_windows import UnitigWindows
from overlapper.graph import assemble
from overlapper.overlap.presets import ErrorRate
from overlapper.tables import Reads
from tests.oracle.strands import reverse_complement
from tests.read_sets import reads_of
from tests.steps import polish


def laid_out(circular):
    """Error-free reads of either strand, and their layout."""
    genome = random_genome(90_000, seed=11).sequence(0)
    around = genome + genome[:9_000] if circular else genome
    rng = np.random.default_rng(12)
    starts = np.sort(np.concatenate([np.arange(0, len(around) - 8_000, 700), [len(around) - 8_000]]))
    parts = [around[a : a + int(rng.integers(5_000, 8_001))] for a in starts]
    parts = [part if rng.random() < 0.5 else reverse_complement(part) for part in parts]
    reads = reads_of(parts)
    return reads, assemble(reads, find_overlaps(reads, preset="hifi")).layout


def unitigs_of(layout, reads):
    sequences = [layout.sequence(unitig, reads) for unitig in range(len(layout))]
    return Unitigs(Reads.from_sequences(layout.names, sequences), layout.circular)


@pytest.mark.parametrize("circular", [False, True])
def test_reads_equal_the_windows_of_unitigs_that_they_lie_on(circular):
    reads, layout = laid_out(circular)
    assert layout.circular.any() == circular
    windows = UnitigWindows(unitigs_of(layout, reads).sequences, layout.circular)
    rows = rows_of_own(own_reads(layout, reads.lengths), windows.intervals, reads.lengths, 0.0)
    assert len(np.unique(rows.read)) == len(reads)
    for i in range(len(rows)):
        bases = reads.sequence(int(rows.read[i]))[rows.r_start[i] : rows.r_end[i]]
        window = windows.reads.sequence(int(rows.target[i]))[rows.t_start[i] : rows.t_end[i]]
        assert (reverse_complement(bases) if rows.reverse[i] else bases) == window
    covered = np.zeros(len(windows.reads.sequence(0)), int)
    for start, end in zip(rows.t_start[rows.target == 0], rows.t_end[rows.target == 0], strict=True):
        covered[start:end] += 1
    assert covered.min() >= 1


def test_intervals_stretch_with_reads_and_unitigs():
    own = OwnReads(
        np.array([0], np.int32), np.array([0], np.int32), np.array([1_000]), np.array([False]),
        np.array([100], np.int32), np.array([5_100], np.int32), np.array([20_000]), np.array([6_000]),
    )  # fmt: skip
    windows = Windows(*np.array([[0, 0, 30_000, 30_000]]).T)
    rows = rows_of_own(own, windows, np.array([12_000]), 0.02)
    assert (rows.t_start[0], rows.t_end[0], rows.r_start[0], rows.r_end[0]) == (1_500, 6_500, 200, 10_200)
    assert rows.divergence[0] == np.float32(0.02)


def test_reads_of_another_copy_do_not_polish():
    genome = random_genome(30_000, seed=5).sequence(0)
    copy = genome[:15_000] + "ACGT"["ACGT".index(genome[15_000]) - 1] + genome[15_001:]
    reads = Reads.from_sequences([f"r{i}" for i in range(14)], [genome] * 10 + [copy] * 4)
    unitigs = Unitigs(Reads.from_sequences(["one", "other"], [genome, copy]), np.zeros(2, bool))
    n = len(reads)
    own = OwnReads(
        np.repeat([0, 1], [10, 4]).astype(np.int32), np.arange(n, dtype=np.int32), np.zeros(n, np.int64),
        np.zeros(n, bool), np.zeros(n, np.int32), np.full(n, 30_000, np.int32), np.full(n, 30_000),
        np.full(n, 30_000),
    )  # fmt: skip
    rate = ErrorRate(0.001, "given")
    alone = polish(unitigs, reads, own=own, preset=rate).unitigs.sequences
    assert [alone.sequence(i) for i in range(2)] == [genome, copy]
    assert alone.qualities is not None and (alone.qualities > 0).all()
