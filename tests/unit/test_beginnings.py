"""Circular contigs begin where their sequence says, not where their reads do."""

import dataclasses

import numpy as np
import pytest

from overlapper.assembly.beginnings import Beginnings
from overlapper.correction.doubt import OnContigs
from overlapper.simulate import random_genome
from overlapper.tables import Reads
from tests.oracle.strands import reverse_complement

GENOME = random_genome(5_000, seed=4).sequence(0)


def of(texts):
    return Reads.from_sequences([f"c{i}" for i in range(len(texts))], texts)


def turned(contigs, circular, first=None):
    return Beginnings.of(contigs, np.array(circular), first, 1).turned(contigs)


def sequence_of(text, first=None):
    return turned(of([text]), [True], None if first is None else of([first])).sequence(0)


@pytest.mark.parametrize("start", [1, 31, 2_500, 4_990])
@pytest.mark.parametrize("strand", [str, reverse_complement])
def test_equal_circles_are_equal_contigs(start, strand):
    other = strand(GENOME[start:] + GENOME[:start])
    assert sequence_of(other) == sequence_of(GENOME)
    assert sequence_of(GENOME) in f"{2 * GENOME} {reverse_complement(2 * GENOME)}"


def test_a_circle_of_several_blocks_of_words_begins_where_it_did():
    """Also where the word lies across two blocks, and where most words are there twice."""
    genome = random_genome(150_000, seed=6).sequence(0)
    for text in (genome * 2 + GENOME, GENOME + genome * 2):
        begun = sequence_of(text)
        for start in (1, 17, 262_140, 299_990):
            assert sequence_of(text[start:] + text[:start]) == begun


def test_the_word_of_the_beginning_is_there_once():
    """Of a circle of which half is there twice, the beginning is in the other half."""
    text = GENOME[:2_000] * 2 + GENOME[2_000:4_000]
    begun = sequence_of(text)
    both = begun + begun[:30]
    word = begun[:31]
    assert both.count(word) + both.count(reverse_complement(word)) == 1


@pytest.mark.parametrize("text", ["ACG" * 400, "ACGT" * 8, "ACGTTGCA"])
def test_circles_without_such_a_word_stay(text):
    assert sequence_of(text) == text


def test_no_word_of_the_beginning_has_an_unknown_base():
    """Where others have 25 known ones in a row, it is the one word of 31."""
    text = "".join(f"{GENOME[i : i + 25]}N" for i in range(0, 2_000, 25))
    assert sequence_of(text) == text
    only = GENOME[3_000:3_031]
    assert sequence_of(f"{text}{only}N")[:31] in (only, reverse_complement(only))


@pytest.mark.parametrize("strand", [str, reverse_complement])
@pytest.mark.parametrize("start", [0, 700, 1_500])
def test_circles_begin_with_a_gene(start, strand):
    """Also where the circle was cut within it, and its first bases differ."""
    gene = GENOME[1_000:2_200]
    given = strand(GENOME[start:] + GENOME[:start])
    assert sequence_of(given, gene) == GENOME[1_000:] + GENOME[:1_000]
    differing = ("A" if gene[0] != "A" else "C") + gene[1:]
    assert sequence_of(given, differing) == GENOME[1_000:] + GENOME[:1_000]
    assert sequence_of(given, random_genome(900, seed=9).sequence(0)) == sequence_of(given)


def test_lines_stay_and_qualities_go_along():
    texts = [GENOME, GENOME[:3_000] + "N" + GENOME[3_001:]]
    qualities = [np.arange(5_000) % 90, np.arange(5_000) % 80]
    together = np.concatenate(qualities).astype(np.uint8)
    contigs = dataclasses.replace(of(texts), qualities=together, quality_offsets=np.array([0, 5_000, 10_000]))
    made = turned(contigs, [False, True])
    assert made.names == ["c0", "c1"]
    assert made.sequence(0) == GENOME
    np.testing.assert_array_equal(made.qualities_of(0), qualities[0])
    own = made.sequence(1), made.qualities_of(1)
    if own[0] not in 2 * texts[1]:
        own = reverse_complement(own[0]), own[1][::-1]
    start = (2 * texts[1]).index(own[0])
    np.testing.assert_array_equal(own[1], np.roll(qualities[1], -start))


def test_places_go_along():
    """An interval of a turned circle has the bases that it had before."""
    beginnings = Beginnings(np.array([0, 4_000, 1_200]), np.array([False, False, True]))
    contigs = of([GENOME] * 3)
    start, end = np.array([10, 3_900, 1_100]), np.array([60, 4_100, 1_300])
    moved = OnContigs(np.arange(3), start, end).turned(*beginnings, contigs.lengths)
    made = beginnings.turned(contigs)
    for contig, strand in enumerate((str, str, reverse_complement)):
        a, b = int(moved.start[contig]), int(moved.end[contig])
        assert (2 * made.sequence(contig))[a:b] == strand(GENOME[start[contig] : end[contig]])
