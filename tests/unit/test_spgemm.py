"""The SpGEMM finder on reads with known overlaps."""

import tracemalloc

import numpy as np
import pytest

from overlapper.candidates.spgemm import (
    SpgemmFinder,
    bounds_at_depth,
    bounds_over_genome,
)
from overlapper.errors import ParameterError
from overlapper.params.stages import Params, SketchParams, SpgemmParams
from overlapper.tables import Reads
from tests.read_sets import assert_same, reads_of
from tests.unit.test_estimates import simulate

FIXED = {"lower": 2, "upper": 12, "shared_kmers": 0}


def prepare(reads, threads=1, **spgemm):
    params = Params(sketch=SketchParams(kmer_length=15), spgemm=SpgemmParams(**spgemm))
    return SpgemmFinder.prepare(reads, params, threads)


@pytest.fixture(scope="module")
def reads():
    return simulate(120_000, 12, 0.08, length=6000)


def test_small_blocks_do_not_change_the_candidates(reads, monkeypatch):
    finder = prepare(reads, **FIXED)
    whole = finder.find(0, len(reads))
    monkeypatch.setattr("overlapper.candidates.sparse_product._PRODUCTS_PER_BLOCK", 100)
    assert_same(whole, finder.find(0, len(reads)))


def test_a_few_queries_take_the_memory_of_a_few(reads):
    finder = prepare(reads, **FIXED)

    def peak(queries):
        tracemalloc.start()
        finder.find(0, queries)
        return tracemalloc.get_traced_memory()[1], tracemalloc.stop()

    assert peak(3)[0] < peak(len(reads))[0] / 10


def test_bounds_are_derived_from_the_reads(reads):
    finder = prepare(reads)
    given = prepare(reads, coverage=12, error_rate=0.08)
    assert finder.kmers.lower == given.kmers.lower == 2
    assert abs(finder.kmers.upper - given.kmers.upper) <= 2
    assert len(finder.find(0, len(reads))) > len(reads)


def test_two_reads_are_enough_to_overlap():
    genome = "".join(np.random.default_rng(8).choice(list("ACGT"), 60))
    reads = Reads.from_sequences(["a", "b"], [genome[:45], genome[20:]])
    assert len(prepare(reads, min_kmers=1).find(0, 2)) == 1


@pytest.mark.parametrize(
    ("depth", "survival", "expected"), [(30, 0.85**17, (2, 7)), (20, 1.0, (19, 21)), (1, 0.5, (2, 2))]
)
def test_bounds_by_hand(depth, survival, expected):
    assert bounds_at_depth(depth, survival, 0.99) == expected


def test_bounds_allow_for_uneven_depth():
    assert bounds_over_genome(20.0, 1.0, 0.99) == (bounds_at_depth(10, 1.0, 0.99)[0], 32)
    assert bounds_over_genome(0.2, 0.5, 0.99)[0] == 2
    with pytest.raises(ParameterError, match="coverage is 0"):
        bounds_over_genome(0.0, 0.5, 0.99)


def test_accurate_reads_are_seeded_by_a_sample():
    reads = simulate(60_000, 15, 0.002, length=6000)
    every = prepare(reads, shared_kmers=0)
    some = prepare(reads)
    assert every.kmers.sampled == 1.0
    assert some.kmers.sampled == pytest.approx(32 / 485, rel=0.2)
    assert len(some.occurrences) == pytest.approx(len(every.occurrences) * some.kmers.sampled, rel=0.2)
    pairs = [len(f.find(0, len(reads))) for f in (every, some)]
    assert 0.8 * pairs[0] < pairs[1] <= pairs[0]


@pytest.mark.parametrize(("depth", "survival", "probability"), [(0, 0.5, 0.9), (9, 1.5, 0.9), (9, 0.5, 1.0)])
def test_bounds_refuse_what_makes_no_sense(depth, survival, probability):
    with pytest.raises(ParameterError, match="expected"):
        bounds_at_depth(depth, survival, probability)


def test_the_upper_bound_is_raised_where_reads_lie_in_repeats():
    rng = np.random.default_rng(9)
    unit = rng.choice(np.frombuffer(b"ACGT", np.uint8), 3000)
    array = np.tile(unit, 15)
    diverged = np.where(
        rng.random(len(array)) < 0.01, rng.choice(np.frombuffer(b"ACGT", np.uint8), len(array)), array
    )
    genome = np.concatenate([rng.choice(np.frombuffer(b"ACGT", np.uint8), 60_000), diverged])
    starts = rng.integers(0, len(genome) - 4000, 500)
    texts = [genome[s : s + 4000].tobytes().decode() for s in starts]
    reads = reads_of(texts)
    raised = prepare(reads)
    plain = prepare(reads, coverage=19, error_rate=0.001)
    assert plain.kmers.upper < 60 < raised.kmers.upper <= 10 * plain.kmers.upper
    assert len(raised.occurrences) > 1.2 * len(plain.occurrences)
