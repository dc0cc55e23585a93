import numpy as np
import pytest

from overlapper.sketch.ploidy import ploidy


def spectrum(depth, once, twice, errors=0, more=0, seed=1):
    """Return how many of the k-mers of a genome occur how often; it holds ``more`` 5 to 9 times."""
    random = np.random.default_rng(seed)
    times = np.concatenate(
        [
            random.poisson(depth, once),
            random.poisson(2 * depth, twice),
            np.ones(errors, int),
            random.poisson(depth * random.integers(5, 10, more)),
        ]
    )
    counts = np.bincount(np.minimum(times, 1000), minlength=1001)
    counts[0] = 0
    return counts


@pytest.mark.parametrize("depth", [12, 20, 45])
@pytest.mark.parametrize("single", [0.01, 0.1, 0.5, 0.8])
@pytest.mark.parametrize("errors", [0, 3000])
def test_two_haplotypes(depth, single, errors):
    found = ploidy(spectrum(depth, int(20_000 * single), int(20_000 * (1 - single)), errors))
    assert found.has_both_peaks
    assert found.depth == pytest.approx(depth, rel=0.06)
    assert found.single == pytest.approx(single, abs=0.03)


@pytest.mark.parametrize("single", [0.05, 0.1, 0.5])
def test_repeats_do_not_hide_two_haplotypes(single):
    found = ploidy(spectrum(24, int(20_000 * single), int(20_000 * (1 - single)), 500, more=1_500))
    assert found.has_both_peaks
    assert found.depth == pytest.approx(24, rel=0.06)


@pytest.mark.parametrize("depth", [12, 25, 60])
@pytest.mark.parametrize("repeats", [0, 0.02, 0.08])
def test_one_haplotype(depth, repeats):
    found = ploidy(spectrum(depth, int(20_000 * (1 - repeats)), int(20_000 * repeats), 2000))
    assert not found.has_both_peaks
    # Asked for, it is taken for what two haplotypes share.
    assert found.of_one_peak == pytest.approx(depth / 2, rel=0.06)


def test_too_few_reads_of_two_haplotypes():
    assert not ploidy(spectrum(5, 4_000, 16_000)).has_both_peaks
    assert ploidy(spectrum(8, 4_000, 16_000)).has_both_peaks


def test_no_peak():
    assert ploidy(spectrum(1, 0, 0, 500)) is None
    assert ploidy(np.zeros(1001, np.int64)) is None


def test_a_window_of_few_reads_has_peaks_by_chance():
    """As of HiFi reads of 131 kb: k-mers begin and end with the same reads, so that counts jump."""
    counts = spectrum(16, 8_000, 12_000)
    counts[2:10] = [1096, 794, 619, 738, 273, 220, 496, 324]
    found = ploidy(counts)
    assert found.has_both_peaks
    assert found.depth == pytest.approx(16, rel=0.06)
