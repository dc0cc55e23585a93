"""Rubbish in unitigs, which no read confirms, goes."""

import dataclasses

import numpy as np
import pytest

from overlapper.correct.consensus import Consensus
from overlapper.correct.pileups import Pileups, Rows
from overlapper.correct.polish import Unitigs, polish
from overlapper.correct.replaced import replaced
from overlapper.simulate import random_genome, simulate_reads
from overlapper.tables import Reads
from tests.graph_cases import random_genome as random_bases
from tests.graph_cases import reverse_complement

GENOME, RUBBISH = random_bases(4000, 1), random_bases(1500, 2)
CODES = {base: code for code, base in enumerate("ACGTN")}


def pileup_with(reads, rubbish=RUBBISH):
    """Reads from end to end on a target that has rubbish in place of 40 bases, and what a vote left of it."""
    target = GENOME[:2000] + rubbish + GENOME[2040:]
    n, length = len(reads), len(target)
    columns = {name: [0] * n for name in (field.name for field in dataclasses.fields(Rows))}
    columns |= {"read": list(range(n)), "t_end": [length] * n, "score": list(range(n, 0, -1))}
    columns |= {"r_end": [len(read) for read in reads], "reverse": [bool(i & 1) for i in range(n)]}
    stored = [reverse_complement(read) if i & 1 else read for i, read in enumerate(reads)]
    rows = Rows(**{name: np.array(values) for name, values in columns.items()})
    targets, table = Reads.from_sequences(["t"], [target]), Reads.from_sequences(map(str, range(n)), stored)
    quality = np.full(length, 30, np.uint8)
    quality[2000 : 2000 + len(rubbish)] = 0
    made = Consensus(
        np.array([0, length]), np.array([CODES[base] for base in target], np.uint8), quality, quality,
        np.arange(length, dtype=np.int32), np.zeros((1, 11), np.int64),
    )  # fmt: skip
    return Pileups(targets, table, rows, targets_vote=False), made


@pytest.mark.parametrize("rubbish", [RUBBISH, RUBBISH[:60], RUBBISH[:50]])
def test_a_stretch_without_a_vote_becomes_that_of_reads(rubbish):
    found = replaced(*pileup_with([GENOME] * 3, rubbish), 0)
    assert "".join("ACGTN"[code] for code in found.codes) == GENOME
    assert found.offsets.tolist() == [0, len(GENOME)]
    assert np.flatnonzero(found.quality == 0).tolist() == list(range(1800, 2240))
    assert (np.diff(found.origin) >= 0).all()
    assert found.origin[-1] == 3999 + len(rubbish) - 40


def test_the_read_of_the_median_length_is_taken():
    longer = GENOME[:2010] + RUBBISH + GENOME[2010:]
    shorter = GENOME[:2000] + GENOME[2039:]
    found = replaced(*pileup_with([longer, GENOME, shorter]), 0)
    assert "".join("ACGTN"[code] for code in found.codes) == GENOME


@pytest.mark.parametrize(
    ("reads", "rubbish"),
    [([GENOME] * 2, RUBBISH), ([GENOME] * 5, RUBBISH[:49]), ([random_bases(4000, 3)] * 5, RUBBISH)],
    ids=["two reads", "short", "other reads"],
)
def test_what_reads_do_not_tell_stays(reads, rubbish):
    pileups, made = pileup_with(reads, rubbish)
    assert replaced(pileups, made, 0) is made


def test_an_end_stays():
    pileups, made = pileup_with([GENOME] * 3)
    made.quality[3600:] = 0
    made.quality[2000:3500] = 30
    assert replaced(pileups, made, 0) is made


def test_polishing_takes_rubbish_out():
    genome = random_genome(30_000, seed=4)
    reads, _ = simulate_reads(genome, "clr", coverage=25, seed=4)
    bases = genome.sequence(0)
    unitig = bases[:14_000] + random_bases(3_000, 5) + bases[14_000:]
    given = Unitigs(Reads.from_sequences(["u"], [unitig]), np.array([False]))
    made = polish(given, reads)
    assert abs(int(made.unitigs.sequences.lengths[0]) - 30_000) < 60
    assert made.unitigs.sequences.sequence(0)[13_900:14_100] in bases
