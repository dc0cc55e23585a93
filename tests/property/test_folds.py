"""Reads that fold back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.assemble.folds import APART, LEAST, LOOP, MOST, SPREAD, WORDS, K, before_folds
from overlapper.simulate import random_genome
from overlapper.tables import Reads
from tests.oracle import folds as oracle
from tests.oracle.adapters import turned
from tests.oracle.minimizers import canonical
from tests.tries import tries

GENOME = random_genome(20_000, seed=9).sequence(0)


def kept(text, threads=1):
    """Return what is left of a read, half open."""
    found = before_folds(Reads.from_sequences(["r", "whole"], [text, GENOME[:2000]]), threads)
    assert (found.start[1], found.end[1]) == (0, 2000)
    return int(found.start[0]), int(found.end[0])


def hash_of(word):
    return canonical(word)[0]


@st.composite
def folded(draw):
    """Draw a read that goes back from somewhere for a while, with a loop and errors."""
    arm, back = draw(st.integers(300, 2500)), draw(st.integers(200, 2500))
    loop = GENOME[10_000 : 10_000 + draw(st.sampled_from([0, 40, 2 * LOOP - 60, 2 * LOOP + 60]))]
    text = list(GENOME[3000 : 3000 + arm] + loop + turned(GENOME[3000 : 3000 + arm])[:back])
    random = np.random.default_rng(draw(st.integers(0, 99)))
    for place in random.integers(len(text), size=int(draw(st.sampled_from([0, 0.03, 0.2])) * len(text))):
        text[place] = random.choice(["", "A", "C", "G", "T", text[place] * 2])
    return "".join(text)


@settings(max_examples=tries(40), deadline=None)
@given(folded())
def test_folds_equal_the_oracle(text):
    place = oracle.fold(text, hash_of, K, WORDS, MOST, SPREAD, LEAST, LOOP, APART)
    whole = (0, len(text))
    expected = whole if place is None else (0, place) if 2 * place >= len(text) else (place, len(text))
    assert kept(text) == expected


@pytest.mark.parametrize("threads", [1, 2])
def test_the_longer_side_is_left(threads):
    text = GENOME[:3000] + turned(GENOME[1800:3000])
    assert kept(text, threads) == (0, 3000)
    assert kept(turned(text), threads) == (1200, 4200)
    adapter = "GATTACAGGCTTAACCGTAAGCTTAGGCATCTTCGAACGTAT"
    start, end = kept(GENOME[:3000] + adapter + turned(GENOME[:3000]))
    assert start == 0 and 3000 <= end <= 3000 + len(adapter)


def test_of_noisy_reads_no_pair_may_be_near_the_fold():
    """Two in five bases next to it are wrong, as few are elsewhere; no pair is as near as in a good read."""
    random = np.random.default_rng(3)
    text = list(GENOME[:9000] + turned(GENOME[1500:9000]))
    for place in range(9000 - 300, 9000 + 300):
        if random.random() < 0.4:
            text[place] = random.choice(list("ACGT".replace(text[place], "")))
    for place in random.integers(len(text), size=len(text) // 10):
        text[place] = random.choice(list("ACGT"))
    start, end = kept("".join(text))
    assert start == 0 and abs(end - 9000) < 50


@pytest.mark.parametrize(
    "text",
    [
        GENOME[:6000],
        GENOME[:3000] + turned(GENOME[2000:3000]) + GENOME[3000:5000],  # goes on behind the repeat
        GENOME[:2000] + GENOME[5000:6000] + turned(GENOME[:2000]),  # with 1,000 bases between
        GENOME[:3000] + turned(GENOME[2600:3000]),  # short
        "AT" * 2000,
        "ACGT",
    ],
    ids=["unique", "inverted repeat", "loop", "short", "low complexity", "tiny"],
)
def test_others_are_whole(text):
    assert kept(text) == (0, len(text))
