"""The rows of a window from which those that vote are chosen: equal to the oracle, and the nearest ones."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.correction.pileup_source import PileupSource
from overlapper.correction.pileups import Rows, nearest_divergence
from overlapper.correction.voting_rows import rows_of_windows
from overlapper.io.read_store import ReadStore
from overlapper.kernels.consensus.layers import Settings, Windows
from overlapper.tables import Reads
from tests.oracle import rows_looked_at as oracle
from tests.tries import tries

LENGTH = 2000


def rows_on(spans, divergence):
    """Rows of one read each on a target, in the order in which they vote."""
    n = len(spans)
    start, end = (np.array([span[i] for span in spans], np.int32) for i in (0, 1))
    return Rows(
        np.zeros(n, np.int32), np.arange(n, dtype=np.int32), np.zeros(n, bool), start, end, start, end,
        np.arange(n, 0, -1, dtype=np.int32), np.array(divergence, np.float32),
    )  # fmt: skip


def kept(rows, excess, depth):
    """The numbers of the rows that are kept, and whether the window is crowded."""
    how = Settings(
        15,
        100,
        depth,
        np.zeros((2, 2), int),
        10,
        40,
        True,
        False,
        True,
        64,
        16,
        np.zeros((1, 1), int),
        0,
        0,
        np.zeros((2, 0), bool),
    )
    window = Windows(np.array([0]), np.array([0]), np.array([LENGTH]), np.array([0, len(rows)]))
    chosen = rows_of_windows(rows, np.array(excess, np.float32), window, how)
    return chosen.rows.read.tolist(), bool(chosen.crowded[0])


@st.composite
def windows(draw):
    """Intervals of rows, of 100 bases or more, and the excess of each: some equal, some unknown."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 60))
    start = rng.integers(0, LENGTH - 100, n)
    end = np.minimum(start + rng.integers(100, draw(st.sampled_from([300, LENGTH])), n), LENGTH)
    excess = rng.integers(-3, 10, n) / 16
    excess[rng.random(n) < draw(st.sampled_from([0.0, 0.3, 1.0]))] = math.nan
    return list(zip(start.tolist(), end.tolist(), strict=True)), excess.tolist()


@settings(max_examples=tries(200), deadline=None)
@given(windows(), st.integers(1, 6))
def test_kept_rows_equal_the_oracle(window, depth):
    spans, excess = window
    assert kept(rows_on(spans, excess), excess, depth) == oracle.kept(spans, excess, depth)


@settings(max_examples=tries(100), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0.0, 0.25, 0.5, 1.0, math.nan])), max_size=99))
def test_the_nearest_tenth_of_a_read_equals_the_oracle(rows):
    read = np.array([r for r, _ in rows], np.int32)
    divergence = np.array([d for _, d in rows], np.float32)
    expected = [oracle.nearest_divergence([d for r, d in rows if r == number]) for number in range(6)]
    np.testing.assert_array_equal(nearest_divergence(read, divergence, 6), expected)


def test_rows_of_the_copy_of_the_target_are_looked_at_whatever_their_accuracy():
    """Some reads of the target's copy err five times as often as some of others; all of them score lowest."""
    rng = np.random.default_rng(1)
    spans = [(0, LENGTH)] * 200
    near = np.arange(200) >= 160
    errors = rng.uniform(0.01, 0.05, 200)
    divergence = np.where(near, errors, errors + 0.01)
    own = errors + rng.normal(0, 0.001, 200)
    numbers, crowded = kept(rows_on(spans, divergence), divergence - own, 20)
    assert crowded and len(numbers) == 80
    assert near[numbers].sum() == 40
    numbers, _ = kept(rows_on(spans, divergence), divergence, 20)
    assert near[numbers].sum() < 40


@pytest.mark.parametrize("room", [None, 1 << 20])
@pytest.mark.parametrize("part", ["sample", "blocks"])
def test_parts_of_pileups_know_all_rows_of_their_reads(part, room):
    reads = Reads.from_sequences([str(i) for i in range(8)], ["ACGT" * 30] * 8)
    rng = np.random.default_rng(2)
    rows = rows_on([(0, 120)] * 56, rng.random(56))
    target, read = (
        np.array(x) for x in zip(*[(t, r) for t in range(8) for r in range(8) if r != t], strict=True)
    )
    rows = dataclasses.replace(rows, target=target.astype(np.int32), read=read.astype(np.int32))
    store = ReadStore.of(reads)
    whole = PileupSource.of_rows(store, store, rows, room, targets_vote=True)
    some = whole.sample(3) if part == "sample" else next(whole.blocks(np.array([1, 4]))).load()
    assert len(some.rows) < len(rows)
    assert some.nearest_divergence.tolist() == whole.nearest_divergence.tolist()
