"""Spectra drawn from a known mixture, and the repeat limit."""

import numpy as np
import pytest

from overlapper.sketch.spectrum import find_valley, fit_spectrum, repeat_limit


def spectrum_of(multiplicities, most=1000):
    counts = np.bincount(np.minimum(multiplicities, most), minlength=most + 1)
    counts[0] = 0
    return counts


def drawn(mean, *, kmers=20_000, errors=0, copies=1, repeats=0, seed=3):
    rng = np.random.default_rng(seed)
    parts = [rng.poisson(mean, kmers), rng.poisson(mean * copies, repeats), np.full(errors, 1)]
    parts.append(rng.poisson(rng.exponential(0.05 * mean, 3 * kmers)))
    return spectrum_of(np.concatenate(parts))


@pytest.mark.parametrize("mean", [1.5, 4.0, 9.0, 30.0, 150.0])
def test_mean_and_number_of_kmers_are_found(mean):
    fit = fit_spectrum(drawn(mean, errors=100_000, copies=4, repeats=200))
    assert fit.mean == pytest.approx(mean, rel=0.1)
    assert fit.kmers == pytest.approx(20_000, rel=0.15)


def test_valley_lies_between_errors_and_genome():
    valley, peak = find_valley(drawn(40.0, errors=100_000)[:-1].astype(float))
    assert 10 <= valley <= 25
    assert 36 <= peak <= 44
    assert find_valley(drawn(1.5)[:-1].astype(float)) == (2, 3)


@pytest.mark.parametrize("counts", [[], [0], [0, 1000], [0, 5, 5, 5], [0] * 900 + [60] * 2 + [0] * 99])
def test_too_small_a_spectrum_has_no_fit(counts):
    spectrum = np.array([*counts, 0])
    assert fit_spectrum(spectrum) is None
    assert repeat_limit(spectrum) == len(spectrum) - 1


@pytest.mark.parametrize("copies", [2, 3, 4])
def test_limit_lies_between_that_many_copies_and_one_less(copies):
    limit = repeat_limit(drawn(30.0, copies=6, repeats=200), copies=copies)
    assert 30 * (copies - 1) < limit < 30 * copies


def test_more_copies_allow_more():
    assert repeat_limit(drawn(30.0), copies=2) < repeat_limit(drawn(30.0), copies=5)


def test_limit_has_a_floor():
    assert repeat_limit(drawn(1.5), floor=12) == 12
    assert repeat_limit(drawn(1.5), floor=25) == 25


def test_a_genome_full_of_repeats_keeps_its_seeds():
    spectrum = drawn(30.0, copies=6, repeats=5000)
    occurrences = np.arange(len(spectrum)) * spectrum
    limit = repeat_limit(spectrum, most_masked=0.1)
    assert limit > 150
    assert occurrences[limit + 1 :].sum() <= 0.1 * occurrences.sum()
    assert repeat_limit(spectrum, copies=3, most_masked=1.0) < 90
