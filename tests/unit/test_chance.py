"""What chance gives, by the composition of the reads; overlaps of reads that are rich in two bases."""

import dataclasses

import numpy as np
import pytest

from overlapper import find_overlaps
from overlapper.candidates.registry import finder
from overlapper.evaluation.overlaps import evaluate_overlaps
from overlapper.extend import chain
from overlapper.io.reported import ReportedOverlaps
from overlapper.kernels.chain import chain as kernel
from overlapper.overlap.presets import ErrorRate, preset_params
from overlapper.params.stages import Params
from overlapper.simulate import simulate_reads
from overlapper.sketch import chance
from overlapper.sketch.chance import Background, sure_score, walked_edits
from overlapper.tables import Reads
from tests.oracle import chain as oracle

ONE = np.array([1])


def text(rng, length, at):
    return "".join(rng.choice(list("ACGT"), length, p=[at / 2, (1 - at) / 2, (1 - at) / 2, at / 2]))


def unrelated(at, reads=60, length=5000):
    rng = np.random.default_rng(1)
    return Reads.from_sequences([str(i) for i in range(reads)], [text(rng, length, at) for _ in range(reads)])


@pytest.mark.parametrize("at", [0.25, 0.5, 0.84])
def test_equal_bases(at):
    expected = (at**2 + (1 - at) ** 2) / 2
    found = Background.of(unrelated(at))
    assert found.base == pytest.approx(expected, rel=0.02)
    assert found.kmer == pytest.approx(expected, rel=0.02)


def test_kmers_are_told_from_bases():
    rng = np.random.default_rng(1)
    units = [text(rng, 6, 0.5) for _ in range(50)]
    reads = Reads.from_sequences(["a"], ["".join(units[i] for i in rng.integers(50, size=30_000))])
    found = Background.of(reads)
    assert found.base < 0.27
    assert found.kmer > 0.35


def test_few_reads_tell_nothing():
    assert Background.of(Reads.empty()) == pytest.approx(Background())
    assert Background.of(Reads.from_sequences(["a"], ["A" * 400])).kmer == pytest.approx(0.25, abs=0.01)


def score(at_rich, k, w, bases=10**6):
    return float(sure_score(at_rich, k, np.array([w]), bases, 7000.0)[0])


def test_sure_scores():
    assert score(0.25, 13, 1) == pytest.approx(14.8, abs=0.1)
    assert score(0.366, 15, 1) == pytest.approx(29.9, abs=0.1)
    assert score(0.366, 13, 1) == pytest.approx(320, abs=1)  # chains by chance go on and on
    assert score(0.25, 19, 50) == 19
    by_composition = [score(c, 15, 3) for c in np.linspace(0.25, 0.36, 12)]
    assert (np.diff(by_composition) >= 0).all()
    assert score(0.3, 15, 1, 10**8) > score(0.3, 15, 1) > score(0.3, 15, 6)


@pytest.mark.parametrize(("at", "k", "w"), [(0.84, 15, 1), (0.84, 13, 6), (0.92, 17, 3), (0.5, 11, 1)])
def test_a_read_has_few_chains_of_the_sure_score_by_chance(at, k, w):
    reads = unrelated(at)
    params = Params().changed({"sketch": {"kmer_length": k, "window": w, "repeat_limit": 10**6}})
    candidates = finder("dsoft").prepare(reads, params, 1).find(0, len(reads))
    changes = {"min_agreement": 0, "typical_agreement": 1, "sure_seeds": 0, "min_seeds": 1, "give_up": 10**6}
    _, (rows, _, _) = chain._chains(reads, candidates, dataclasses.replace(params.chain, **changes))
    c = Background.of(reads).kmer
    (sure,) = sure_score(c, k, np.array([w]), reads.total_bases, float(reads.lengths.mean()))
    assert np.count_nonzero(rows[:, kernel.SCORE] >= sure) <= 3 * len(reads)


def test_edits_of_walks():
    edits = [walked_edits(c) for c in (0.25, 0.2633, 0.28, 0.3656, 0.41)]
    assert edits == [45, 45, 43, 37, 34]


@pytest.mark.parametrize("at", [0.5, 0.75, 0.84, 0.92])
def test_walks_between_unrelated_reads_end(at):
    rng, base = np.random.default_rng(2), (at**2 + (1 - at) ** 2) / 2
    ends = [
        oracle.walk(text(rng, 1500, at), text(rng, 1500, at), walked_edits(base), 12)[0] for _ in range(5)
    ]
    assert np.median(ends) < 500


def test_what_is_fitted():
    assert (chance.MOST_BY_CHANCE, chance.SLOWEST, chance.RELATED) == (64, 0.02, 0.9)


def test_presets_take_it_from_the_reads():
    rate = ErrorRate(0.13, "given")
    equal, rich = (preset_params(unrelated(at), rate, 1)[0] for at in (0.5, 0.84))
    assert equal.chain.sure_score <= equal.chain.min_score
    assert rich.chain.sure_score > rich.chain.min_score
    assert (equal.chain.end_edits, rich.chain.end_edits) == (45, 37)
    given, _ = preset_params(unrelated(0.84), rate, 1, {"sketch": {"kmer_length": 19, "window": 7}})
    assert given.chain.sure_score < rich.chain.sure_score


@pytest.mark.parametrize("at", [0.84, 0.9, 0.25])
def test_reads_rich_in_two_bases_overlap_where_they_are_of_one_place(at):
    genome = Reads.from_sequences(["genome"], [text(np.random.default_rng(5), 30_000, at)])
    reads, truth = simulate_reads(genome, "clr", coverage=12, seed=3)
    overlaps = find_overlaps(reads, threads=1)
    found = evaluate_overlaps(truth, ReportedOverlaps.from_table(overlaps, reads), min_overlap=1000).total
    assert found.precision > 0.99
    assert found.recall > 0.98
