"""Reads that fold back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.assembly.folds import (
    APART,
    HAD,
    HAD_OF_READS,
    LEAST,
    LOOP,
    MOST,
    SHORT,
    SPREAD,
    WAITS,
    WORDS,
    before_folds,
    folded_ends,
    word_length,
)
from overlapper.simulate import random_genome
from overlapper.tables import Reads
from tests.oracle import folds as oracle
from tests.oracle.adapters import turned
from tests.oracle.minimizers import canonical
from tests.read_sets import mutated
from tests.tries import tries

GENOME = random_genome(20_000, seed=9).sequence(0)


def kept(text, threads=1):
    """Return what is left of a read, half open."""
    found = before_folds(Reads.from_sequences(["r", "whole"], [text, GENOME[:2000]]), threads, 0.01)
    assert (found.start[1], found.end[1]) == (0, 2000)
    return int(found.start[0]), int(found.end[0])


def hash_of(word):
    return canonical(word)[0]


@st.composite
def folded(draw):
    """Draw a read that goes back from somewhere for a while, with a loop and errors."""
    arm, back = draw(st.integers(300, 2500)), draw(st.integers(20, 2500))
    loop = GENOME[10_000 : 10_000 + draw(st.sampled_from([0, 40, 2 * LOOP - 60, 2 * LOOP + 60]))]
    text = list(GENOME[3000 : 3000 + arm] + loop + turned(GENOME[3000 : 3000 + arm])[:back])
    random = np.random.default_rng(draw(st.integers(0, 99)))
    for place in random.integers(len(text), size=int(draw(st.sampled_from([0, 0.03, 0.2])) * len(text))):
        text[place] = random.choice(["", "A", "C", "G", "T", text[place] * 2])
    return "".join(text)


@settings(max_examples=tries(40), deadline=None)
@given(folded(), st.sampled_from([0.15, 0.1, 0.02, 0]), st.sampled_from([0, HAD]))
def test_folds_equal_the_oracle(text, error_rate, had):
    reads = Reads.from_sequences(["r", "whole"], [text, GENOME[:2000]])
    k, equal = word_length(reads), (1 - error_rate) ** 2
    wait = round(WAITS * sum(equal**-bases for bases in range(1, k + 1)))
    rule = LOOP, APART, wait, round(100 * had * equal**k), round(100 * max(had, HAD_OF_READS) * equal**k)
    place = oracle.fold(text, hash_of, k, round(WORDS / equal**k), MOST, SPREAD, LEAST, SHORT, *rule)
    whole = (0, len(text))
    expected = whole if place is None else (0, place) if 2 * place >= len(text) else (place, len(text))
    found = before_folds(reads, 1, error_rate, had)
    assert (found.start[0], found.end[0]) == expected


@pytest.mark.parametrize("threads", [1, 2])
def test_the_longer_side_is_left(threads):
    text = GENOME[:3000] + turned(GENOME[1800:3000])
    assert kept(text, threads) == (0, 3000)
    assert kept(turned(text), threads) == (1200, 4200)
    adapter = "GATTACAGGCTTAACCGTAAGCTTAGGCATCTTCGAACGTAT"
    start, end = kept(GENOME[:3000] + adapter + turned(GENOME[:3000]))
    assert start == 0 and 3000 <= end <= 3000 + len(adapter)


@pytest.mark.parametrize("arm", [80, 250, 450])
def test_short_arms_are_cut_off(arm):
    """Reads that go on beyond a hairpin for less than they need to be told as a whole."""
    text = GENOME[:6000] + turned(GENOME[6000 - arm : 6000])
    assert kept(text) == (0, 6000)
    assert kept(turned(text)) == (arm, 6000 + arm)


@pytest.mark.parametrize("rich", [0.8, 0.95])
def test_words_are_as_rare_in_reads_of_few_bases(rich):
    random = np.random.default_rng(6)
    texts = [
        "".join(random.choice(list("ATCG"), 6000, p=[rich / 2] * 2 + [0.5 - rich / 2] * 2))
        for _ in range(200)
    ]
    texts.append(texts[0] + turned(texts[0][3000:]))
    found = before_folds(Reads.from_sequences(list(map(str, range(len(texts)))), texts), 1, 0.01)
    assert (found.end - found.start == 6000).sum() >= len(texts) - 1
    assert (found.start[-1], found.end[-1]) == (0, 6000)


def test_reads_with_copies_of_a_repeat_on_both_strands_are_whole():
    """Copies of 300 bases and 12 % differences, which pair everywhere; two at an end."""
    random = np.random.default_rng(8)
    texts = []
    for _ in range(60):
        text = ""
        while len(text) < 15_000:
            copy = mutated(random, GENOME[:300], 0.12)
            start = int(random.integers(1000, 17_000))
            text += (copy if random.random() < 0.5 else turned(copy)) + GENOME[start : start + 500]
        texts.append(text)
    found = before_folds(Reads.from_sequences(list(map(str, range(60))), texts), 1, 0.01)
    assert (found.end - found.start == found.length).all()
    contig = GENOME[:8000] + mutated(random, GENOME[9000:9300], 0.12) + turned(GENOME[9000:9300])
    assert not folded_ends(Reads.from_sequences(["c"], [contig]), np.zeros((1, 2), bool), 0.01, 1).any()


def test_contigs_end_where_they_go_back():
    contigs = [turned(GENOME[:900]) + GENOME[:6000] + turned(GENOME[5700:6000]), GENOME[:6000], GENOME[:3000]]
    contigs[2] += turned(contigs[2])
    stays = np.zeros((3, 2), bool)
    stays[2] = True  # linked to others there
    cut = folded_ends(Reads.from_sequences(["both", "none", "linked"], contigs), stays, 0.01, 1)
    assert cut.tolist() == [[900, 300], [0, 0], [0, 0]]


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


@pytest.mark.parametrize("error_rate", [0.12, 0.06])
def test_noisy_reads_are_cut_too(error_rate):
    """Arms of 700 bases and more, without and with a loop; by chance, one in 20 has too few words."""
    random = np.random.default_rng(4)
    folded, whole = [], []
    for _ in range(100):
        start, arm = int(random.integers(10_000)), int(random.integers(700, 3000))
        text = GENOME[start : start + 7000]
        loop = GENOME[19_000 : 19_000 + int(random.choice([0, 40]))]
        folded.append(mutated(random, text + loop + turned(text[-arm:]), error_rate))
        whole.append(mutated(random, text, error_rate))
    found = before_folds(Reads.from_sequences(list(map(str, range(200))), folded + whole), 1, error_rate)
    left = found.end - found.start
    assert (abs(left[:100] - 7000) < 200).sum() >= 95
    assert (left[100:] == found.length[100:]).all()


@pytest.mark.parametrize(
    "text",
    [
        GENOME[:6000],
        GENOME[:3000] + turned(GENOME[2000:3000]) + GENOME[3000:5000],  # goes on behind the repeat
        GENOME[:2000] + GENOME[5000:6000] + turned(GENOME[:2000]),  # with 1,000 bases between
        GENOME[:3000] + turned(GENOME[2950:3000]),  # short
        "AT" * 2000,
        "ACGT",
    ],
    ids=["unique", "inverted repeat", "loop", "short", "low complexity", "tiny"],
)
def test_others_are_whole(text):
    assert kept(text) == (0, len(text))
