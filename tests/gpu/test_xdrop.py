"""X-drop on the GPU equals the CPU kernels: score and both ends."""

import numpy as np
import pytest

from overlapper.kernels.common.walks import Seeds
from overlapper.kernels.xdrop import xdrop as cpu
from overlapper.params.stages import XdropParams
from overlapper.runtime.threads import available_threads, map_in_order
from tests.simulated_pairs import simulate_pairs

pytestmark = pytest.mark.gpu


def on_the_gpu(reads, seeds, scheme, arena_bytes=1 << 30):
    from overlapper.kernels.common.cuda.walks import upload_reads
    from overlapper.kernels.xdrop.cuda.xdrop import extend_seeds
    from overlapper.runtime.gpu.memory import Arena

    return extend_seeds(upload_reads(reads, Arena(1 << 28)), seeds, scheme, Arena(arena_bytes))


def scheme_of(**changes):
    return cpu.Scheme(**vars(XdropParams(**changes)))


def both(reads, seeds, scheme):
    found, tried = on_the_gpu(reads, seeds, scheme)
    blocks = np.array_split(np.arange(len(seeds.query)), 64)

    def expected_of(block):
        rows = Seeds(*(column[block] for column in seeds[:-1]), seeds.length)
        return cpu.extend_seeds(reads, rows, scheme)

    expected = np.concatenate(
        list(map_in_order(expected_of, [b for b in blocks if len(b)], available_threads()))
    )
    return found, expected, tried


def assert_equal(reads, seeds, scheme):
    found, expected, tried = both(reads, seeds, scheme)
    wrong = np.flatnonzero((found != expected).any(axis=(1, 2)))
    assert not len(wrong), (
        f"{len(wrong)} of {len(found)} pairs differ ({tried}); pair {wrong[0]}: "
        f"{found[wrong[0]].tolist()} on the GPU, {expected[wrong[0]].tolist()} on the CPU"
    )
    return tried


def mixed_pairs(seed, pairs, shortest, longest, **options):
    """Pairs of 5 to 30 % error, one in eight of them unrelated."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(shortest, longest + 1, pairs)
    errors = np.where(rng.random(pairs) < 0.125, 1.0, rng.uniform(0.05, 0.3, pairs))
    return simulate_pairs(lengths, errors, seed=seed, **options)


@pytest.mark.parametrize("xdrop", [0, 1, 5, 10, 20, 49, 50, 100, 200, 500, 1000])
def test_equals_the_cpu_whatever_x(gpu, xdrop):
    reads, seeds = mixed_pairs(xdrop, 4000 if xdrop < 200 else 1000, 100, 4000, unknown=0.2)
    for window in (0, 2048):
        assert_equal(reads, seeds, scheme_of(xdrop=xdrop, stop_window=window))


@pytest.mark.parametrize("xdrop", [2500, 5000, 40000])
def test_equals_the_cpu_where_bands_are_wide(gpu, xdrop):
    reads, seeds = mixed_pairs(xdrop, 60, 100, 8000, unknown=0.2)
    assert_equal(reads, seeds, scheme_of(xdrop=xdrop))


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_equals_the_cpu_wherever_the_seed_lies(gpu, share):
    reads, seeds = mixed_pairs(7, 3000, 20, 3000, seed_share=share, unknown=0.5)
    assert_equal(reads, seeds, scheme_of(xdrop=60))


@pytest.mark.parametrize("xdrop", [2000, 3000, 5000])
def test_equals_the_cpu_in_groups_of_many_rows(gpu, xdrop):
    reads, seeds = mixed_pairs(xdrop, 150, 2500, 9000, unknown=0.2, seed_share=0.0)
    tried = assert_equal(reads, seeds, scheme_of(xdrop=xdrop))
    assert max(int(name.split()[0]) for name in tried if name != "the CPU") >= 2000


def test_equals_the_cpu_on_long_reads(gpu):
    reads, seeds = mixed_pairs(11, 300, 20000, 100000)
    assert_equal(reads, seeds, scheme_of())
    assert_equal(reads, seeds, scheme_of(xdrop=100, stop_window=0))


@pytest.mark.parametrize("case", range(30))
def test_equals_the_cpu_for_any_scores(gpu, case):
    rng = np.random.default_rng(1000 + case)
    largest = (4, 30, 1000, 2**20)[case % 4]
    match, mismatch, gap = (int(rng.integers(1, largest + 1)) for _ in range(3))
    scheme = scheme_of(
        match=match,
        mismatch=-mismatch,
        gap=-gap,
        xdrop=int(rng.integers(0, 60 * max(match, gap))),
        stop_window=int(rng.choice([0, 1, 3, 37, 64, 1000])),
        stop_rate=int(rng.integers(1, 40)),
    )
    reads, seeds = mixed_pairs(case, 1000, 100, 1500, unknown=0.3)
    assert_equal(reads, seeds, scheme)


def test_what_outgrows_a_group_goes_to_wider_ones(gpu):
    reads, seeds = mixed_pairs(3, 2000, 2000, 4000)
    tried = assert_equal(reads, seeds, scheme_of(xdrop=45, stop_window=0))
    counts = list(tried.values())
    assert counts[0] == 4000
    assert counts == sorted(counts, reverse=True)
    assert len(counts) > 1


def test_a_small_arena_changes_nothing(gpu):
    reads, seeds = mixed_pairs(9, 3000, 100, 2000)
    for scheme in (scheme_of(), scheme_of(match=2**15, mismatch=-(2**15), gap=-(2**15), xdrop=2**20)):
        whole, small = (on_the_gpu(reads, seeds, scheme, size) for size in (1 << 28, 100_000))
        assert np.array_equal(whole.extensions, small.extensions)
        assert whole.tried == small.tried


@pytest.mark.parametrize("case", range(20))
def test_equals_the_cpu_on_a_million_pairs(gpu, case):
    scheme = scheme_of(xdrop=(10, 20, 49, 100, 200)[case % 5], stop_window=(2048, 0)[case // 5 % 2])
    reads, seeds = mixed_pairs(100 + case, 50_000, 100, 2000, unknown=0.1)
    assert_equal(reads, seeds, scheme)
