"""Seeds by the recall they predict."""

import itertools
import math

import numpy as np
import pytest

from overlapper.params.stages import SketchParams
from overlapper.simulate import random_genome, simulate_reads
from overlapper.sketch.choice import MEASURED, PARTS, SharedKmers, choose, seconds, widest_window
from overlapper.sketch.estimates import estimate_errors

BASES = 100_000_000


def by_hand(shared, k, w, overlap):
    """Predicted recall, straight from the definition, for a k that was measured."""
    found = 0.0
    for share in shared.shares[MEASURED.index(k)]:
        m = share * (overlap - k) / (w + 1)
        found += 1 - math.exp(-m) * (1 + m)
    return found / PARTS


@pytest.mark.parametrize(("k", "w", "overlap"), [(13, 1, 500), (15, 5, 500), (17, 10, 2000), (19, 50, 800)])
def test_prediction(k, w, overlap):
    shared = SharedKmers.assumed(0.1)
    sketch = SketchParams(kmer_length=k, window=w)
    assert shared.recall(sketch, overlap) == pytest.approx(by_hand(shared, k, w, overlap))


def test_overlaps_shorter_than_a_seed_are_not_found():
    assert SharedKmers.assumed(0.01).recall(SketchParams(kmer_length=15, window=1), 15) == 0


def test_shares_fall_with_k_and_errors():
    for k in range(13, 19):
        assert (SharedKmers.assumed(0.1).at(k) > SharedKmers.assumed(0.1).at(k + 1)).all()
        assert (SharedKmers.assumed(0.1).at(k) > SharedKmers.assumed(0.12).at(k)).all()
    assert (np.diff(SharedKmers.assumed(0.1).at(14)) > 0).all()


def test_parts_of_equal_weight_have_their_means():
    values = np.repeat(np.arange(PARTS), 3) / PARTS
    order = np.random.default_rng(1).permutation(len(values))
    shared = SharedKmers.measured([values[order]] * len(MEASURED), np.full(len(values), 2.0), 0.25)
    assert shared.at(13) == pytest.approx(np.arange(PARTS) / PARTS)


def chosen(bases, error_rate, overlap=500):
    shared = SharedKmers.assumed(error_rate)
    sketch = choose(shared, error_rate, int(bases), overlap)
    return sketch, shared.recall(sketch, overlap), seconds(sketch, int(bases), shared.chance)


@pytest.mark.parametrize("error_rate", [0.002, 0.04, 0.09, 0.12, 0.15])
def test_no_cliff_in_size(error_rate):
    walk = [chosen(bases, error_rate) for bases in np.geomspace(1e6, 1e10, 120)]
    for (_, recall, time), (_, next_recall, next_time) in itertools.pairwise(walk):
        assert abs(recall - next_recall) < 0.09
        assert time / 1.7 < next_time < 1.7 * time


@pytest.mark.parametrize("bases", [2e6, 7e7, 2e8, 3e9])
def test_no_cliff_in_error_rate(bases):
    walk = [chosen(bases, error_rate) for error_rate in np.geomspace(0.001, 0.2, 120)]
    for (_, recall, time), (_, next_recall, next_time) in itertools.pairwise(walk):
        assert abs(recall - next_recall) < 0.09
        assert time / 1.7 < next_time < 1.7 * time


@pytest.mark.parametrize("error_rate", [0.002, 0.06, 0.1])
def test_recall_stays_above_a_bound_at_every_size(error_rate):
    for bases in np.geomspace(1e6, 1e9, 10):
        _, recall, _ = chosen(bases, error_rate)
        assert recall > 1 - 4 * error_rate


def test_longer_overlaps_cost_less():
    costs = [chosen(BASES, 0.12, overlap)[2] for overlap in (500, 1000, 2000, 5000)]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < 0.75 * costs[0]


def test_short_overlaps_get_the_seeds_of_500_bases():
    shared = SharedKmers.assumed(0.1)
    assert choose(shared, 0.1, BASES, 100) == choose(shared, 0.1, BASES, 500)


def test_accurate_reads_take_longer_kmers_and_wider_windows():
    accurate, _, _ = chosen(BASES, 0.002)
    noisy, _, _ = chosen(BASES, 0.06)
    assert accurate.kmer_length > noisy.kmer_length
    assert accurate.window > noisy.window
    assert widest_window(0.0) == widest_window(0.002) == 50
    assert widest_window(0.3) == 7


def test_what_reads_share_is_the_same_on_any_number_of_threads():
    reads, _ = simulate_reads(random_genome(60_000, seed=1), "clr", coverage=15, seed=2)
    error_rate, shared = estimate_errors(reads, 1)
    assert (error_rate, shared) == estimate_errors(reads, 3)
    assert shared.at(13).mean() == pytest.approx(SharedKmers.assumed(error_rate).at(13).mean(), rel=0.6)


def test_reads_that_do_not_overlap_share_nothing_known():
    reads, _ = simulate_reads(random_genome(400_000, seed=1), "clr", coverage=0.2, seed=2)
    error_rate, shared = estimate_errors(reads, 1)
    assert math.isnan(error_rate)
    assert shared is None
