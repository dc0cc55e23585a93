"""What reads contradict in unitigs is mended, and votes do not make unitigs worse."""

import dataclasses

import edlib
import numpy as np
import pytest

from overlapper.correction.consensus import Consensus
from overlapper.correction.contradictions import CONTRADICTED, Mended, warning
from overlapper.correction.doubt import Doubt, Reason
from overlapper.correction.pileups import Pileups, Rows
from overlapper.correction.polish import Unitigs
from overlapper.simulate import PRESETS, random_genome, simulate_reads
from overlapper.tables import Reads
from tests.graph_cases import random_genome as random_bases
from tests.graph_cases import reverse_complement
from tests.steps import polish

GENOME = random_genome(24_000, seed=4)
BASES = GENOME.sequence(0)
FAULTS = {
    "too much": lambda stretch: stretch + random_bases(len(stretch), 5),
    "lacking": lambda stretch: "",
    "twice": lambda stretch: 2 * stretch,
    "turned": reverse_complement,
    "of elsewhere": lambda stretch: random_bases(len(stretch), 6),
    "unknown": lambda stretch: "N" * len(stretch),
    "an unknown number": lambda stretch: 100 * "N",
}


LONG = dataclasses.replace(PRESETS["ont-r9"], mean_length=30_000.0, length_sd=0.5)
SHORT = dataclasses.replace(PRESETS["hifi"], mean_length=3_000.0, length_sd=500.0)


def polished(draft, reads, preset="auto", rounds=None):
    made = polish(Unitigs(Reads.from_sequences(["u"], [draft]), np.array([False])), reads, preset=preset)
    return made, made.unitigs.sequences.sequence(0)


def differences(one, other=BASES, mode="NW"):
    return edlib.align(one, other, mode=mode)["editDistance"]


@pytest.mark.parametrize(("reads", "left"), [("hifi", 0), ("clr", 30)])
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_mended(fault, reads, left):
    """Of 30, 400 and 2,500 bases."""
    known, _ = simulate_reads(GENOME, reads, coverage=25, seed=4)
    parts, done = [], 0
    for start, bases in ((6_000, 30), (11_000, 400), (16_000, 2_500)):
        parts += [BASES[done:start], FAULTS[fault](BASES[start : start + bases])]
        done = start + bases
    made, sequence = polished("".join([*parts, BASES[done:]]), known)
    assert differences(sequence) <= left
    assert made.funnel[f"round 2: {CONTRADICTED}"] == 0


@pytest.mark.parametrize(
    ("voted", "kept"), [("turned", False), ("of elsewhere", False), ("lacking", False), ("", True)]
)
def test_votes_that_make_a_unitig_less_like_its_reads_are_undone(voted, kept):
    """Of three stretches of 1,000 bases, the vote made the second one worse, or mended an error in it."""
    error = "C" if BASES[1_500] != "C" else "G"
    given = BASES[:1_500] + error + BASES[1_501:3_000]
    made = BASES[:3_000] if kept else given[:1_000] + FAULTS[voted](given[1_000:2_000]) + given[2_000:]
    reads = Reads.from_sequences(
        "abcde", [BASES[:3_000], reverse_complement(BASES[:3_000])] * 2 + [BASES[:2_990]]
    )
    ends, none = reads.lengths.astype(np.int32), np.zeros(5, np.int32)
    rows = Rows(
        none,
        np.arange(5, dtype=np.int32),
        np.arange(5) % 2 == 1,
        none,
        ends,
        none,
        ends,
        ends,
        none.astype(np.float32),
    )
    targets, after = Reads.from_sequences(["t"], [given]), Reads.from_sequences(["m"], [made])
    quality = np.full(len(made), 30, np.uint8)
    gone = np.flatnonzero(np.ones(3_000)) if len(made) == 3_000 else np.r_[:1_000, 2_000:3_000]
    consensus = Consensus(
        np.array([0, len(made)]),
        after.codes(0),
        quality,
        quality,
        gone.astype(np.int32),
        np.zeros((1, 11), np.int64),
    )
    mended = Mended(Pileups(targets, reads, rows, targets_vote=False), 1)
    better = mended.as_given(mended.better(consensus, 0), 0)
    assert "".join("ACGT"[code] for code in better.codes) == (made if kept else given)
    assert np.flatnonzero(better.quality == 0).tolist() == ([] if kept else list(range(1_000, 2_000)))
    assert better.origin.tolist() == list(range(3_000))


def test_reads_of_two_kinds_leave_what_half_of_them_have():
    other = Reads.from_sequences(["other"], [BASES[:12_000] + BASES[12_400:]])
    reads = Reads.concat(
        [simulate_reads(g, "hifi", coverage=15, seed=s)[0] for s, g in enumerate((GENOME, other))]
    )
    names = [str(number) for number in range(len(reads))]
    reads = Reads.from_sequences(names, [reads.sequence(number) for number in range(len(reads))])
    for draft in (BASES, other.sequence(0)):
        assert min(differences(polished(draft, reads)[1], g) for g in (BASES, other.sequence(0))) == 0


def test_what_no_reads_cross_stays_unknown():
    """Reads of 3,000 bases on 500 that stand for 9,000: what is known stays, and so does what is not."""
    reads, _ = simulate_reads(GENOME, SHORT, coverage=25, seed=4)
    draft = BASES[:7_000] + 500 * "N" + BASES[16_000:]
    assert polished(draft, reads)[1] == draft


@pytest.mark.parametrize("between", ["", random_bases(6_000, 7)])
def test_what_no_reads_cross_is_said(between):
    """Two places of a genome joined, directly or by rubbish, under reads of 3,000 bases."""
    reads, _ = simulate_reads(GENOME, SHORT, coverage=25, seed=4)
    made, _ = polished(BASES[:8_000] + between + BASES[14_000:], reads)
    (place,) = made.doubt.contradicted()
    assert (place.contig, place.reason) == (0, Reason.UNCROSSED)
    left, right = (
        made.unitigs.sequences.sequence(0)[part] for part in (slice(place.start), slice(place.end, None))
    )
    assert min(len(left), len(right) + 2_000) > 7_000
    assert left in BASES and right in BASES
    assert warning(["u"], made.doubt)[0].startswith("warning: most reads disagree with u near ")
    assert not len(polished(BASES, reads)[0].doubt)


def test_seeds_are_as_long_as_the_composition_of_reads_asks_for():
    """Of reads that are nine tenths A and T, many chains of short seeds are of chance."""
    rng = np.random.default_rng(690)
    genome = "".join(rng.choice(list("ACGT"), 30_000, p=[0.45, 0.05, 0.05, 0.45]))
    genomes = Reads.from_sequences(["g"], [genome])
    reads, _ = simulate_reads(genomes, "ont-r9", coverage=25, seed=1)
    draft = simulate_reads(genomes, LONG, coverage=1, seed=3)[0].sequence(0)
    draft = min(draft, reverse_complement(draft), key=lambda strand: differences(strand, genome, "HW"))
    worse = differences(polished(draft, reads, "ont")[1], genome, "HW")
    assert 10 * worse < differences(draft, genome, "HW")


def test_places_left_are_named():
    assert warning(["a"], Doubt.empty()) == []
    left = Doubt(
        np.zeros(7), np.full(7, 1_234), np.full(7, 1_300), np.full(7, Reason.CONTRADICTED), np.ones(7)
    )
    assert warning(["a"], left[:1]) == ["warning: most reads disagree with a near 1,234"]
    assert warning(["a"], left) == [
        "warning: most reads disagree with " + ", ".join(["a near 1,234"] * 5) + " and 2 more"
    ]
