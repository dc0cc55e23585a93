"""Seeds by the recall they predict."""

import itertools
import math
import random

import numpy as np
import pytest

from overlapper.simulate import random_genome, simulate_reads
from overlapper.sketch.choice import (
    MEASURED,
    PARTS,
    SUPPORT,
    SharedKmers,
    choose,
    overlap_lengths,
    seconds,
    widest_window,
)
from overlapper.sketch.estimates import estimate_errors

BASES = 100_000_000
LENGTHS = np.linspace(500, 16_000, 200).astype(np.int64)


def by_simulation(shares, r, k, w, overlap, trials):
    """Return the share of overlaps that are found where clumps are drawn, and both reads choose k-mers."""
    generator, clump, found = random.Random(1), 1 / (1 - r), 0
    rho = (clump * 2 / (w + 1) + w * different_chosen(w)) / (clump + w)
    for _ in range(trials):
        share, clumps, more, place = generator.choice(shares), 0, False, 0
        while place < overlap - k:
            place += 1
            if generator.random() >= share * (1 - r) / (1 - share):
                continue
            at, first_seed = 0, -1
            while True:
                if generator.random() < rho:
                    more |= first_seed >= 0 and at - first_seed >= SUPPORT - k
                    first_seed = at if first_seed < 0 else first_seed
                if generator.random() >= r:
                    break
                at += 1
            place += at
            clumps += first_seed >= 0
        found += clumps >= 2 or more
    return found / trials


def different_chosen(w):
    """Probability that two reads which differ around a shared k-mer both choose it, by drawing hashes."""
    generator = np.random.default_rng(1)
    own = generator.random((200_000, 1))
    chosen = np.ones(len(own), bool)
    for _ in range(2):
        smaller = generator.random((len(own), 2 * w - 2)) < own
        before, after = smaller[:, : w - 1], smaller[:, w - 1 :]
        # Others in a row, towards either side, that are larger.
        larger = [np.where(side.any(axis=1), side.argmax(axis=1), w - 1) if w > 1 else np.zeros(len(own))
                  for side in (before, after)]  # fmt: skip
        chosen &= larger[0] + larger[1] >= w - 1
    return float(np.mean(chosen))


@pytest.mark.parametrize(("k", "w", "overlap"), [(13, 1, 500), (15, 4, 600), (15, 9, 600), (17, 7, 900)])
def test_prediction(k, w, overlap):
    shared = SharedKmers.assumed(0.12)
    r = (shared.mean(19) / shared.mean(13)) ** (1 / 6)
    simulated = by_simulation(shared.at(k).tolist(), r, k, w, overlap, 2000)
    assert recall(shared, k, w, overlap) == pytest.approx(simulated, abs=0.035)


def recall(shared, k, w, overlap):
    return float(shared.recall(k, np.array([w]), overlap, np.array([2.0]))[0])


def test_overlaps_shorter_than_a_seed_are_not_found():
    assert recall(SharedKmers.assumed(0.01), 15, 1, 15) == 0


def test_shares_fall_with_k_and_errors():
    for k in range(13, 19):
        assert (SharedKmers.assumed(0.1).at(k) > SharedKmers.assumed(0.1).at(k + 1)).all()
        assert (SharedKmers.assumed(0.1).at(k) > SharedKmers.assumed(0.12).at(k)).all()
    assert (np.diff(SharedKmers.assumed(0.1).at(14)) > 0).all()


def test_mean_shares_fall_geometrically_between_those_measured_and_beyond():
    shared = SharedKmers.assumed(0.1)
    for k in MEASURED:
        assert shared.mean(k) == pytest.approx(shared.at(k).mean())
    assert shared.mean(16) == pytest.approx(math.sqrt(shared.mean(15) * shared.mean(17)))
    assert shared.mean(23) == pytest.approx(shared.mean(19) ** 3 / shared.mean(17) ** 2)


def test_parts_of_equal_weight_have_their_means():
    values = np.repeat(np.arange(PARTS), 3) / PARTS
    order = np.random.default_rng(1).permutation(len(values))
    shared = SharedKmers.measured([values[order]] * len(MEASURED), np.full(len(values), 2.0), 0.25)
    assert shared.at(13) == pytest.approx(np.arange(PARTS) / PARTS)


def test_lengths_of_overlaps_are_those_of_reads_placed_at_random():
    lengths, genome = np.array([3000, 5000, 9000]), 50_000
    generator = np.random.default_rng(1)
    read = generator.choice(lengths, (2, 400_000))
    start = generator.integers(0, genome, read.shape)
    overlap = np.minimum(*(start + read)) - np.maximum(*start)
    middles, shares = overlap_lengths(lengths, 1000)
    bounds = np.geomspace(1000, 9000, len(middles) + 1)
    bounds[-1] += 1
    counted, _ = np.histogram(overlap, bounds)
    assert shares == pytest.approx(counted / counted.sum(), abs=0.01)
    assert sum(shares) == pytest.approx(1)


def test_reads_too_short_for_the_overlaps_wanted_are_as_good_as_any():
    assert overlap_lengths(np.array([100, 200]), 500) == ([500], [1.0])
    assert choose(SharedKmers.assumed(0.1), 7, np.array([100, 200]), 500).kmer_length >= 13


def chosen(bases, error_rate, overlap=500, depth=20.0):
    shared = SharedKmers.assumed(error_rate)._replace(depth=depth)
    sketch = choose(shared, widest_window(error_rate), LENGTHS, overlap, int(bases))
    k, w = sketch.kmer_length, sketch.window
    time = float(seconds(shared, k, np.array([w]), int(bases))[0])
    return sketch, recall(shared, k, w, overlap), time


def assert_no_cliff(walk):
    for (_, recall, time), (_, next_recall, next_time) in itertools.pairwise(walk):
        assert abs(recall - next_recall) < 0.09
        assert time / 1.7 < next_time < 1.7 * time


@pytest.mark.parametrize("error_rate", [0.002, 0.04, 0.09, 0.12, 0.15])
def test_no_cliff_in_size(error_rate):
    assert_no_cliff(chosen(bases, error_rate) for bases in np.geomspace(1e6, 1e10, 120))


@pytest.mark.parametrize("bases", [2e6, 7e7, 2e8, 3e9])
def test_no_cliff_in_error_rate(bases):
    assert_no_cliff(chosen(bases, error_rate) for error_rate in np.geomspace(0.001, 0.2, 120))


@pytest.mark.parametrize("error_rate", [0.002, 0.06, 0.12])
def test_no_cliff_in_depth(error_rate):
    assert_no_cliff(chosen(2e8, error_rate, depth=depth) for depth in np.geomspace(0.1, 1000, 120))


def test_deep_reads_take_fewer_seeds():
    densities = [2 / (1 + chosen(2e8, 0.12, depth=depth)[0].window) for depth in (5.0, 20.0, 100.0)]
    assert densities == sorted(densities, reverse=True)
    assert densities[-1] < densities[0]


@pytest.mark.parametrize("error_rate", [0.002, 0.06, 0.1])
def test_recall_stays_above_a_bound_at_every_size(error_rate):
    for bases in np.geomspace(1e6, 1e9, 10):
        _, recall, _ = chosen(bases, error_rate)
        assert recall > 1 - 4 * error_rate


def test_longer_overlaps_cost_less():
    without_seeds = float(seconds(SharedKmers.assumed(0.12), 19, np.array([10**5]), BASES)[0])
    costs = [chosen(BASES, 0.12, overlap)[2] - without_seeds for overlap in (500, 1000, 2000, 5000)]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < 0.75 * costs[0]


def test_short_overlaps_get_the_seeds_of_500_bases():
    shared = SharedKmers.assumed(0.1)
    assert choose(shared, 7, LENGTHS, 100, BASES) == choose(shared, 7, LENGTHS, 500, BASES)


def test_accurate_reads_take_longer_kmers_and_wider_windows():
    accurate, _, _ = chosen(BASES, 0.002)
    noisy, _, _ = chosen(BASES, 0.12)
    assert accurate.kmer_length > noisy.kmer_length
    assert accurate.window > noisy.window
    assert widest_window(0.0) == widest_window(0.002) == 50
    assert widest_window(0.3) == 7
    assert widest_window(0.02, 45) > 2 * widest_window(0.02)


def test_what_reads_share_is_the_same_on_any_number_of_threads():
    reads, _ = simulate_reads(random_genome(60_000, seed=1), "clr", coverage=15, seed=2)
    error_rate, shared = estimate_errors(reads, 1)
    assert (error_rate, shared) == estimate_errors(reads, 3)
    assert shared.mean(13) == pytest.approx(SharedKmers.assumed(error_rate).mean(13), rel=0.6)
    assert shared.depth == pytest.approx(15, rel=0.6)


def test_copies_of_repeats_count_as_depth():
    genome = random_genome(60_000, seed=1, repeat_copies=6, repeat_length=5000)
    reads, _ = simulate_reads(genome, "hifi", coverage=15, seed=2)
    _, shared = estimate_errors(reads)
    assert shared.depth == pytest.approx((15 + 6 * 15) / 2, rel=0.3)


def test_reads_that_do_not_overlap_share_nothing_known():
    reads, _ = simulate_reads(random_genome(400_000, seed=1), "clr", coverage=0.2, seed=2)
    error_rate, shared = estimate_errors(reads, 1)
    assert math.isnan(error_rate)
    assert shared is None
