"""Minimizers equal their oracle, chunk by chunk."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.kernels.seeds.minimizers import CHUNK, LANES_32_MAX_K, scratch_size, select
from tests.oracle.minimizers import minimizers
from tests.read_sets import random_text, reads_of, reverse_complement
from tests.tries import tries

TEXTS = 20
"""Reads in one example, so that an example is worth its overhead."""


def sketch(text, k, w):
    """Return (hash, position, strand) of the minimizers of a read, as `select` finds them chunk by chunk."""
    reads = reads_of([text])
    lanes = np.uint32 if k <= LANES_32_MAX_K else np.uint64
    # What an earlier chunk or read left in the buffers must not matter.
    scratch = np.full((3, scratch_size(w)), np.iinfo(lanes).max // 3, lanes)
    strands = np.full(scratch_size(w), 7, lanes)
    found, found_pos = np.empty(CHUNK + 1, np.uint64), np.empty(CHUNK + 1, np.uint64)
    rows = []
    for begin in range(0, len(text) - k + 1, CHUNK):
        n = select(
            reads.words, len(text), reads.unknown_start, reads.unknown_end, k, w, begin, scratch, strands,
            found, found_pos,
        )  # fmt: skip
        rows += [
            (value, place >> 1, bool(place & 1))
            for value, place in zip(found[:n].tolist(), found_pos[:n].tolist(), strict=True)
        ]
    return rows


def any_text(rng, length):
    """Return random bases, a tandem repeat, a homopolymer, a palindrome, or a mixture; perhaps with N."""
    kind = rng.integers(6)
    text = random_text(rng, length)
    if kind == 0:
        text = (random_text(rng, int(rng.integers(1, 9))) * length)[:length]
    elif kind == 1:
        text = random_text(rng, length, "AAAAAAAC")
    elif kind == 2:
        text = (text + reverse_complement(text))[length // 2 : length // 2 + length]
    elif kind == 3:
        middle = length // 2
        text = (text[:middle] + random_text(rng, 2) * 40 + text[middle:])[:length]
    for _ in range(int(rng.integers(4)) if rng.random() < 0.5 else 0):
        at, run = int(rng.integers(length + 1)), int(rng.integers(1, 30))
        text = (text[:at] + "N" * run + text[at + run :])[:length]
    return text


@settings(max_examples=tries(120), deadline=None)
@given(
    seed=st.integers(0, 2**32),
    k=st.integers(8, 28),
    w=st.integers(1, 30) | st.integers(1, 255),
)
def test_short_reads(seed, k, w):
    rng = np.random.default_rng(seed)
    for _ in range(TEXTS):
        text = any_text(rng, int(rng.integers(0, 150)))
        assert sketch(text, k, w) == minimizers(text, k, w), text


@settings(max_examples=tries(12), deadline=None)
@given(
    seed=st.integers(0, 2**32),
    k=st.sampled_from([8, 15, 16, 28]),
    w=st.sampled_from([1, 2, 10, 50, 255]),
    around=st.integers(-40, 40),
    chunks=st.integers(1, 3),
)
def test_reads_of_several_chunks(seed, k, w, around, chunks):
    rng = np.random.default_rng(seed)
    text = any_text(rng, chunks * CHUNK + k + around)
    assert sketch(text, k, w) == minimizers(text, k, w)


@pytest.mark.parametrize("k", [8, 15, 16, 28])
def test_both_strands_give_the_same(k):
    text = any_text(np.random.default_rng(9), 3000)
    mirrored = [
        (value, len(text) - k - position, not strand) for value, position, strand in sketch(text, k, 10)
    ]
    assert sketch(reverse_complement(text), k, 10) == mirrored[::-1]


@pytest.mark.parametrize("k", [8, 15, 16, 28])
@pytest.mark.parametrize("text", ["", "ACGT", "N" * 300, "AT" * 200, "A" * 300])
def test_reads_with_nothing_to_choose_from(text, k):
    assert sketch(text, k, 5) == minimizers(text, k, 5)
