"""Chains of reads across what a target lacks or has too much equal those of the oracle."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.kernels.consensus import crossings as kernel
from overlapper.kernels.consensus.layers import Rows, Sequences, Windows
from overlapper.tables import Reads
from tests.graph_cases import reverse_complement
from tests.oracle import crossings as oracle
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


@settings(max_examples=tries(60), deadline=None)
@given(faulty(), st.integers(6, 12), st.booleans())
def test_crossings_equal_oracle(case, k, reverse):
    target, read = case
    targets = Reads.from_sequences(["t"], [target])
    reads = Reads.from_sequences(["r"], [reverse_complement(read) if reverse else read])
    one, whole = np.array([0]), np.array([len(read)])
    few, end = one.astype(np.int32), np.array([len(target)], np.int32)  # as polishing has them: compiled once
    rows = Rows(few, np.array([reverse]), few, end, few, whole, few, few)
    windows = Windows(one, one, np.array([len(target)]), np.array([0, 1]))
    first, anchors = kernel.cross(Sequences.of(targets), Sequences.of(reads), windows, rows, k)
    codes = [[BASES.index(base) for base in target], [BASES.index(base) for base in read]]
    expected = oracle.crossing(codes[0], [code + (code > 3) for code in codes[1]], k)
    assert [tuple(anchor) for anchor in anchors.tolist()] == expected
    assert first.tolist() == [0, len(expected)]
