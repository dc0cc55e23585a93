"""Contigs that are not polished are mended where reads contradict them that no contig has."""

import dataclasses

import edlib
import numpy as np
import pytest

from overlapper.correction.doubt import Reason
from overlapper.correction.mending import _mended, _Place, mend
from overlapper.correction.own_reads import OwnReads
from overlapper.correction.polish import Unitigs
from overlapper.correction.resources import Resources
from overlapper.correction.rounds import Round
from overlapper.overlap.presets import ErrorRate
from overlapper.simulate import PRESETS, random_genome, simulate_reads
from overlapper.sketch.canonical import packed
from overlapper.tables import Reads
from tests.graph_cases import random_genome as random_bases

GENOME = random_genome(30_000, seed=4)
BASES = GENOME.sequence(0)
LONG = dataclasses.replace(PRESETS["hifi"], mean_length=9_000.0)
SHORT = dataclasses.replace(PRESETS["hifi"], mean_length=3_000.0, length_sd=500.0)


def mended(draft, model=LONG, weak=(8_000, 20_000), other=()):
    """Mend a draft, of which one read has what is weak, by reads of the genome; others are sure."""
    reads, _ = simulate_reads(GENOME, model, coverage=12, seed=5)
    one = Reads.from_sequences(["one"], [draft[weak[0] : weak[1]]])
    store = packed(Reads.concat([reads, one]), 1)
    drafts = [draft, *other]
    ends = np.cumsum([0, *map(len, drafts)])
    quality = np.full(ends[-1], 50, np.uint8)
    quality[weak[0] : weak[1]] = 0
    contigs = dataclasses.replace(
        Reads.from_sequences("uv"[: len(drafts)], drafts), qualities=quality, quality_offsets=ends
    )
    row = np.flatnonzero(store.order == len(reads))
    zero, bases = np.zeros(1, np.int64), store.lengths[row]
    own = OwnReads(zero, row, zero + weak[0], zero > 0, zero, bases, zero + len(draft), bases)
    round_ = Round(1, Resources.of(None, 1), lambda *_: None)
    unitigs = Unitigs(contigs, np.zeros(len(drafts), bool))
    made = mend(unitigs, store, own, ErrorRate(0.002, "known"), round_)
    return made.unitigs.sequences, made.doubt


def differences(one):
    return edlib.align(one, BASES, mode="NW")["editDistance"]


@pytest.mark.parametrize("fault", ["", random_bases(700, 3), random_bases(200, 3)])
def test_what_one_read_has_and_others_contradict_is_mended(fault):
    draft = BASES[:13_000] + fault + BASES[13_400:]
    sequences, doubt = mended(draft)
    assert differences(sequences.sequence(0)) <= 3 < 200 <= differences(draft)
    (place,) = doubt
    assert place.reason == Reason.MENDED and abs(place.start - 13_000) < 50 and place.figure >= 3
    codes = sequences.qualities_of(0)
    assert len(codes) == sequences.lengths[0] and not codes[place.start : place.end].any()


def test_what_enough_reads_agree_on_stays():
    draft = BASES[:13_000] + BASES[13_400:]
    sequences, doubt = mended(draft, weak=(20_000, 24_000))
    assert sequences.sequence(0) == draft and not len(doubt)


def test_a_right_contig_stays():
    sequences, doubt = mended(BASES)
    assert sequences.sequence(0) == BASES and not len(doubt)


def test_reads_that_fit_another_contig_do_not_contradict():
    draft = BASES[:13_000] + BASES[13_400:]
    sequences, doubt = mended(draft, other=[BASES])
    assert [sequences.sequence(0), sequences.sequence(1)] == [draft, BASES] and not len(doubt)


def test_a_join_that_no_reads_cross_is_said():
    draft = BASES[:10_000] + BASES[16_000:]
    sequences, doubt = mended(draft, SHORT, (9_900, 10_100))
    (place,) = doubt
    assert place.reason == Reason.UNCROSSED and place.start < 10_000 < place.end
    assert sequences.sequence(0) == draft


def test_places_of_two_windows_are_mended_once():
    """The same place twice, a break there, a place across the first base of a circle, another break."""
    bases = random_bases(100, 8)
    given = dataclasses.replace(
        Reads.from_sequences(["c"], [bases]),
        qualities=np.full(100, 50, np.uint8),
        quality_offsets=np.array([0, 100]),
    )
    codes = Reads.from_sequences(["i"], ["ACGTA"]).codes(0)
    places = [
        (10, 12, codes, Reason.MENDED),
        (10, 12, codes, Reason.MENDED),
        (11, 15, None, Reason.UNCROSSED),
        (97, 103, codes, Reason.MENDED),
        (50, 60, None, Reason.UNCROSSED),
    ]
    found = [_Place(0, *place, 4) for place in places]
    made = _mended(Unitigs(given, np.array([True])), found)
    assert made.unitigs.sequences.sequence(0) == bases[:10] + "ACGTA" + bases[12:]
    assert made.unitigs.sequences.qualities_of(0).tolist() == [50] * 10 + [0] * 5 + [50] * 88
    assert [(row.start, row.end, row.reason) for row in made.doubt] == [
        (10, 15, Reason.MENDED),
        (53, 63, Reason.UNCROSSED),
    ]
