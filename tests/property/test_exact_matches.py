"""Every query of the index equals brute force, on random and on repetitive texts."""

from collections import Counter
from functools import partial
from random import Random

import pydivsufsort
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlapper.index import Index, bwt
from overlapper.tables import Reads
from tests.oracle import exact_matches as oracle
from tests.oracle.strands import reverse_complement
from tests.read_sets import reads_of
from tests.tries import tries

FEW = settings(max_examples=tries(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def sequences(max_size=40):
    """Sequences of random bases, of repeats, and with unknown bases."""
    random = st.text("ACGT", max_size=max_size)
    repeat = st.builds(
        lambda unit, n: (unit * n)[:max_size], st.text("ACGT", min_size=1, max_size=4), st.integers(1, 12)
    )
    return st.lists(random | repeat | st.just("N") | st.just("NN"), max_size=3).map(
        lambda p: "".join(p)[:max_size]
    )


@st.composite
def cases(draw):
    """A text, its index with random settings, and a read that has something in common with it."""
    texts = draw(
        st.lists(sequences(), min_size=1, max_size=4).filter(lambda t: set("".join(t)) & set("ACGT"))
    )
    source = draw(st.sampled_from([t for t in texts if t]))
    start = draw(st.integers(0, len(source) - 1))
    piece = source[start : start + draw(st.integers(1, 25))]
    if draw(st.booleans()):
        piece = reverse_complement(piece)
    read = draw(sequences(12)) + piece + draw(sequences(12))
    text = reads_of(texts)
    index = Index.build(
        text,
        sample_rate=draw(st.sampled_from([1, 2, 8])),
        kmer_length=draw(st.sampled_from([None, 1, 3])),
        threads=1,
    )
    return texts, index, read


def one(read):
    return Reads.from_sequences(["read"], [read])


def rows(matches):
    found = list(
        zip(
            matches.q_start.tolist(), matches.length.tolist(),
            matches.reverse.tolist(), matches.t_start.tolist(),
            strict=True,
        )
    )  # fmt: skip
    assert len(found) == len(set(found)), "a match is reported twice"
    assert found == sorted(found), "matches are not in canonical order"
    return found


@FEW
@given(cases(), st.integers(1, 12))
def test_mems(case, min_length):
    texts, index, read = case
    assert rows(index.mems(one(read), min_length, threads=1)) == sorted(oracle.mems(texts, read, min_length))


@FEW
@given(cases(), st.integers(1, 12))
def test_smems(case, min_length):
    texts, index, read = case
    assert rows(index.smems(one(read), min_length, threads=1)) == sorted(
        oracle.smems(texts, read, min_length)
    )


@FEW
@given(cases(), st.integers(1, 12))
def test_nov_smems(case, min_length):
    texts, index, read = case
    expected = sorted(oracle.nov_smems(texts, read, min_length))
    assert rows(index.nov_smems(one(read), min_length, threads=1)) == expected


@FEW
@given(cases(), st.integers(1, 6), st.integers(1, 5), st.sampled_from(["smems", "nov_smems"]))
def test_no_more_places_than_asked_for(case, min_length, most_places, kind):
    _, index, read = case
    search = getattr(index, kind)
    whole = rows(search(one(read), min_length, threads=1))
    found = rows(search(one(read), min_length, most_places=most_places, threads=1))
    assert set(found) <= set(whole)
    of_each = Counter(row[:2] for row in whole)
    assert Counter(row[:2] for row in found) == {piece: min(n, most_places) for piece, n in of_each.items()}


@pytest.fixture
def wide(monkeypatch):
    """Rows of 64 bits and a superblock every two bins, as if the text were over 2^32 bases."""
    monkeypatch.setattr(bwt, "NARROW_ROWS", 0)
    monkeypatch.setattr(bwt, "SUPERBLOCK_SHIFT", 1)
    monkeypatch.setattr(pydivsufsort, "divsufsort", partial(pydivsufsort.divsufsort, force64=True))


@settings(
    FEW,
    max_examples=tries(30),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.data())
def test_a_wide_index_finds_the_same(wide, data):
    texts, index, read = data.draw(cases())
    assert index.fm.table.itemsize == index.fm.samples.itemsize == 8
    long = ["".join(texts) * 3, "".join(texts).replace("N", "A")[::-1] * 3]
    larger = Index.build(Reads.from_sequences(["a", "b"], long), threads=1)
    assert rows(index.mems(one(read), 3, threads=1)) == sorted(oracle.mems(texts, read, 3))
    assert rows(larger.mems(one(read), 6, threads=1)) == sorted(oracle.mems(long, read, 6))
    assert rows(index.smems(one(read), 3, threads=1)) == sorted(oracle.smems(texts, read, 3))


@settings(FEW, max_examples=tries(10))
@given(st.integers(0, 2**32), st.integers(14, 40))
def test_smems_are_the_mems_that_lie_in_no_other(seed, min_length):
    """Matches of thousands of bases, and repeats of them."""
    random = Random(seed)
    text = "".join(random.choices("ACGT", k=5000))
    copy = with_substitutions(text[1000:4000], 4, random)
    reads = [
        with_substitutions(text, 3, random),
        reverse_complement(with_substitutions(text, 2, random)),
    ]
    index = Index.build(Reads.from_sequences("ab", [text, copy]), threads=1)
    for read in reads:
        mems = rows(index.mems(one(read), min_length, threads=1))
        assert max(length for _, length, _, _ in mems) > 1024
        expected = [
            (start, length, *place)
            for start, length, *place in mems
            if not any(s <= start and start + length <= s + n and n > length for s, n, _, _ in mems)
        ]
        assert rows(index.smems(one(read), min_length, threads=1)) == expected


def with_substitutions(sequence, count, random):
    letters = list(sequence)
    for place in random.sample(range(len(letters)), count):
        letters[place] = random.choice([base for base in "ACGT" if base != letters[place]])
    return "".join(letters)
