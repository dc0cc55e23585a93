"""Base modifications of reads, and how they move to others."""

import random

import numpy as np
import pytest

from overlapper.io.base_modifications import calls_of, with_calls
from overlapper.tables.reads import CODE_OF_BYTE
from tests.oracle.base_modifications import places_on_read

KINDS = [("C+mh?", 2), ("C+76792.", 1), ("A+a", 1), ("G-m", 1), ("N+n?", 1), ("T+T", 1)]


def codes_of(bases):
    return CODE_OF_BYTE[np.frombuffer(bases.encode(), np.uint8)]


def tagged(chance, bases):
    """Return tags with some calls of every kind, and their ML."""
    parts, values = [], []
    for kind, width in KINDS:
        same = [place for place, letter in enumerate(bases) if kind[0] in ("N", letter)]
        chosen = sorted(chance.sample(range(len(same)), chance.randint(0, len(same))))
        skips = [place - before - 1 for before, place in zip([-1, *chosen], chosen, strict=False)]
        parts.append(",".join([kind, *map(str, skips)]) + ";")
        values += [chance.randrange(256) for _ in range(width * len(chosen))]
    return "".join(parts), values


def text_of(mm, values, bases):
    return f"MM:Z:{mm}\tML:B:{','.join(['C', *map(str, values)])}\tMN:i:{len(bases)}".encode()


@pytest.mark.parametrize("seed", range(5))
def test_calls_are_where_the_specification_has_them(seed):
    chance = random.Random(seed)
    bases = "".join(chance.choices("ACGTN", k=120))
    mm, values = tagged(chance, bases)
    text = text_of(mm, values, bases)
    calls = calls_of(text, codes_of(bases))
    flat = [
        (place, own)
        for one in calls
        for place, own in zip(one.places.tolist(), one.values.tolist(), strict=True)
    ]
    assert flat == [(place, own) for place, _, _, own in places_on_read(bases, mm, values)]
    assert with_calls(b"RG:Z:x\t" + text, calls, codes_of(bases)) == b"RG:Z:x\t" + text


@pytest.mark.parametrize("seed", range(5))
def test_calls_move_with_their_bases(seed):
    """Some bases are gone on the other read, and others are between."""
    chance = random.Random(seed)
    bases = "".join(chance.choices("ACGT", k=150))
    mm, values = tagged(chance, bases)
    other, to = [], []
    for letter in bases:
        other += chance.choices("ACGT", k=chance.choice([0, 0, 0, 1, 2]))
        stays = chance.random() < 0.9
        to.append(len(other) if stays else -1)
        other += letter if stays else []
    other = "".join(other)
    calls = [one.moved(np.array(to)) for one in calls_of(text_of(mm, values, bases), codes_of(bases))]
    made = with_calls(text_of(mm, values, bases), calls, codes_of(other)).decode().split("\t")
    found = places_on_read(other, made[0][5:], list(map(int, made[1].split(",")[1:])))
    expected = [(to[place], *rest) for place, *rest in places_on_read(bases, mm, values) if to[place] >= 0]
    assert found == expected
    assert made[2] == f"MN:i:{len(other)}"


@pytest.mark.parametrize(
    "text", ["MM:Z:C+m,3;\tML:B:C,1", "MM:Z:C+m,0,0;\tML:B:C,1", "MM:Z:C*m,0;", "RG:Z:x"]
)
def test_calls_that_do_not_fit_the_read_are_none(text):
    assert calls_of(text.encode(), codes_of("ACCG")) is None


def test_reads_without_probabilities_keep_none():
    (calls,) = calls_of(b"MM:Z:C+m,1;", codes_of("ACCG"))
    assert calls.places.tolist() == [2]
    assert with_calls(b"MM:Z:C+m,1;", [calls], codes_of("ACCG")) == b"MM:Z:C+m,1;\tMN:i:4"
