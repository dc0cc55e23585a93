"""Estimates on reads whose coverage and error rate are known."""

import itertools
import math

import numpy as np
import pytest

from overlapper.errors import ParameterError
from overlapper.sketch import estimates
from overlapper.sketch.aligned_pairs import AlignedPairs
from overlapper.sketch.estimates import estimate, estimate_errors
from overlapper.tables import Reads
from tests.read_sets import reads_of

LETTERS = np.frombuffer(b"ACGT", np.uint8)
COMPLEMENT = np.array([3, 2, 1, 0], np.uint8)


def with_errors(codes, rate, rng):
    """Substitute, insert and delete bases, each at a third of the rate."""
    kind = rng.random(len(codes)) / max(rate, 1e-12)
    changed = np.where(kind < 1 / 3, (codes + rng.integers(1, 4, len(codes))) & 3, codes).astype(np.uint8)
    copies = np.where((kind >= 1 / 3) & (kind < 2 / 3), 0, np.where((kind >= 2 / 3) & (kind < 1), 2, 1))
    result = np.repeat(changed, copies)
    second = np.flatnonzero(np.diff(np.repeat(np.arange(len(codes)), copies), prepend=-1) == 0)
    result[second] = rng.integers(0, 4, len(second))
    return result


def simulate(genome_size, coverage, rate, *, seed=1, length=3000, repeats=0, skewed=0.0):
    """Draw reads of a circular genome with copies of 2,000 bases, a share of C and G turned to A and T."""
    rng = np.random.default_rng(seed)
    genome = rng.integers(0, 4, genome_size).astype(np.uint8)
    if skewed:
        genome = np.where(rng.random(genome_size) < skewed, 3 * (genome & 1), genome).astype(np.uint8)
    for copy in range(repeats):
        genome[copy * 10_000 : copy * 10_000 + 2000] = genome[:2000]
    circle = np.concatenate([genome, genome[:length]])
    sequences = []
    for start in rng.integers(0, genome_size, int(genome_size * coverage / length)):
        codes = circle[start : start + length]
        if rng.random() < 0.5:
            codes = COMPLEMENT[codes[::-1]]
        sequences.append(LETTERS[with_errors(codes, rate, rng)].tobytes().decode())
    return reads_of(sequences)


@pytest.mark.parametrize(
    ("genome_size", "coverage", "rate"),
    [(1_000_000, 10, 0.15), (800_000, 6, 0.05), (200_000, 40, 0.2), (60_000, 25, 0.002), (20_000, 100, 0.1)],
)
def test_known_coverage_and_error_rate(genome_size, coverage, rate):
    reads = simulate(genome_size, coverage, rate)
    found = estimate(reads)
    assert found.unknown == ""
    assert found.coverage == pytest.approx(coverage, rel=0.2)
    assert found.genome_size == pytest.approx(reads.total_bases / found.coverage)
    assert found.error_rate == pytest.approx(rate, rel=0.15, abs=0.001)
    assert 1 - found.kmer_survival(17) ** (1 / 17) == pytest.approx(rate, rel=0.25, abs=0.001)


@pytest.mark.parametrize(("coverage", "rate"), [(2, 0.13), (8, 0.18), (2, 0.002)])
def test_low_coverage_is_told_beside_repeats(coverage, rate):
    reads = simulate(1_500_000, coverage, rate, repeats=10)
    found = estimate(reads)
    assert found.coverage == pytest.approx(coverage, rel=0.3)
    assert found.error_rate == pytest.approx(rate, rel=0.15, abs=0.001)
    assert found.genome_size == pytest.approx(reads.total_bases / found.coverage)
    assert found.unknown == ""


def test_chance_matches_of_a_skewed_composition_do_not_count():
    found = estimate(simulate(600_000, 15, 0.08, skewed=0.7))
    assert found.coverage == pytest.approx(15, rel=0.2)
    assert found.error_rate == pytest.approx(0.08, rel=0.1)


def test_reads_that_are_mostly_one_base_over_and_over_have_no_error_rate():
    rng = np.random.default_rng(3)
    genome = "".join(rng.choice(list("ACGT"), 8000))
    texts = ["A" * 2000] * 80 + [genome[start : start + 3000] for start in rng.integers(0, 5000, 24)]
    found = estimate(reads_of(texts))
    assert math.isnan(found.error_rate) and "error rate" in found.unknown


def test_what_k_mers_and_aligned_pairs_tell_differently_is_unknown(monkeypatch):
    reads = simulate(100_000, 30, 0.1)
    monkeypatch.setattr(AlignedPairs, "intact", lambda self, k, threads: 0.9)
    found = estimate(reads)
    assert math.isnan(found.coverage) and math.isnan(found.kmer_survival(16))
    assert "do not agree" in found.unknown
    assert found.error_rate == pytest.approx(0.1, rel=0.15)


def test_threads_do_not_change_the_estimate():
    reads = simulate(300_000, 8, 0.1, length=9000)
    assert estimate(reads, 1) == estimate(reads, 2)
    assert estimate_errors(reads, 2)[0] == estimate(reads, 1).error_rate


def test_long_reads_do_not_count_twice_where_few_k_mers_of_a_read_are_sampled(monkeypatch):
    monkeypatch.setattr(estimates, "_SAMPLES", 8_000)
    rng = np.random.default_rng(6)
    genome = rng.integers(0, 4, 150_000).astype(np.uint8)

    def draw(length, rate):
        starts = rng.integers(0, len(genome) - length, 10 * len(genome) // length)
        return [LETTERS[with_errors(genome[a : a + length], rate, rng)].tobytes().decode() for a in starts]

    texts = draw(10_000, 0.01) + draw(1_000, 0.04)
    reads = reads_of(texts)
    assert estimate_errors(reads)[0] == pytest.approx(0.025, abs=0.004)


@pytest.mark.parametrize("sequences", [[], [""], ["ACGT"], ["A" * 5000], ["N" * 500, "ACGTN" * 100]])
def test_too_little_is_unknown_with_a_reason(sequences):
    found = estimate(reads_of(sequences))
    assert math.isnan(found.coverage) and math.isnan(found.error_rate) and math.isnan(found.genome_size)
    assert "too few" in found.unknown
    assert math.isnan(found.kmer_survival(17))


def test_reads_without_overlaps_are_unknown():
    rng = np.random.default_rng(2)
    texts = ["".join(rng.choice(list("ACGT"), 3000)) for _ in range(20)]
    found = estimate(Reads.from_sequences([str(i) for i in range(20)], texts))
    assert math.isnan(found.coverage) and "none overlap" in found.unknown


def test_short_reads_have_coverage_but_no_error_rate():
    found = estimate(simulate(20_000, 30, 0.01, length=300))
    assert found.coverage == pytest.approx(30, rel=0.2)
    assert math.isnan(found.error_rate) and "error rate" in found.unknown


def test_survival_falls_with_k():
    found = estimate(simulate(60_000, 25, 0.05))
    survival = [found.kmer_survival(k) for k in range(1, 60)]
    assert all(a > b for a, b in itertools.pairwise(survival))
    assert survival[20] == pytest.approx(0.95**21, rel=0.1)
    with pytest.raises(ParameterError, match="k is 0"):
        found.kmer_survival(0)
