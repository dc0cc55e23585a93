"""Chains of reads across what a target lacks or has too much equal those of the oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.kernels.consensus import crossings as kernel
from overlapper.kernels.consensus.layers import Rows, Sequences, Windows
from overlapper.tables import Reads
from tests.graph_cases import reverse_complement
from tests.oracle import crossings as oracle
from tests.read_sets import mutated, random_text
from tests.tries import tries

BASES = "ACGTN"


@st.composite
def faulty(draw):
    """A target, and a read without its fault and with errors; both may repeat, and have unknown bases."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    unit = rng.integers(0, 4, draw(st.sampled_from([3, 40, 600, 2000])))
    true = np.resize(unit, draw(st.sampled_from([300, 1500, 4000])))
    true[rng.random(len(true)) < 0.05] = rng.integers(0, 4)
    at, end = sorted(rng.integers(0, len(true), 2).tolist())
    inside = draw(st.sampled_from([true[at:end], true[at:at], 3 - true[at:end][::-1], true[at:end] * 0 + 4]))
    target = np.concatenate([true[:at], inside, true[end:]])
    kind = rng.random(len(true)) / max(draw(st.sampled_from([0.0, 0.05, 0.2])), 1e-9)
    read = np.repeat(np.where((kind > 0.6) & (kind < 1), 3 - true, true), np.where(kind < 0.3, 2, kind > 0.6))
    return tuple("".join(BASES[code] for code in codes) for codes in (target, read))


def crossed(target, read, k, reverse):
    """Return what the kernel makes of one read on one target."""
    targets = Reads.from_sequences(["t"], [target])
    reads = Reads.from_sequences(["r"], [reverse_complement(read) if reverse else read])
    one, whole = np.array([0]), np.array([len(read)])
    few, end = one.astype(np.int32), np.array([len(target)], np.int32)  # as polishing has them: compiled once
    rows = Rows(few, np.array([reverse]), few, end, few, whole, few, few)
    windows = Windows(one, one, np.array([len(target)]), np.array([0, 1]))
    return kernel.cross(Sequences.of(targets), Sequences.of(reads), windows, rows, k)


@settings(max_examples=tries(60), deadline=None)
@given(faulty(), st.integers(6, 12), st.booleans())
def test_crossings_equal_oracle(case, k, reverse):
    target, read = case
    first, anchors = crossed(target, read, k, reverse)
    codes = [[BASES.index(base) for base in target], [BASES.index(base) for base in read]]
    expected = oracle.crossing(codes[0], [code + (code > 3) for code in codes[1]], k)
    assert [tuple(anchor) for anchor in anchors.tolist()] == expected
    assert first.tolist() == [0, len(expected)]


@pytest.mark.parametrize("motif", ["TTAGGG", "ACGATTC", "GATTACAGATTTACAGACCAGT"])
@pytest.mark.parametrize("is_turned", [False, True])
def test_reads_that_begin_or_end_in_an_array_are_chained_through_it(motif, is_turned):
    """The array is at an end of the target; copies are told from what is beside the array alone."""
    random = np.random.default_rng(2)
    true = (motif * 500)[:2500] + random_text(random, 2500)
    target, read = mutated(random, true, 0.03), mutated(random, true[1000:], 0.05)
    if is_turned:
        target, read = target[::-1], read[::-1]
    _, anchors = crossed(target, read, 12, False)
    t_start, r_start, length, _ = anchors.T.astype(int)
    assert np.abs(np.diff(t_start - r_start)).max() < 200
    t_end, r_end = len(target) - t_start - length, len(read) - r_start - length
    before = (t_end - r_end)[-1] if is_turned else (t_start - r_start)[0]
    assert abs(before - 1000) < 60 and np.sum(length) > len(read) / 3
