"""What seeds in molecules of many copies equals the oracle, in memory and in blocks."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from overlapper.params.stages import SketchParams
from overlapper.sketch import deep_reads, grouped, seed_index
from overlapper.sketch.page_chains import EntryLayout
from tests.oracle import deep_reads as oracle
from tests.oracle.minimizers import minimizers
from tests.oracle.tandem import is_sampled, is_tandem
from tests.read_sets import ALONE, linked, mutated, random_text, reads_of
from tests.tries import tries

K, W = 11, 3


def with_a_plasmid(seed):
    """Reads of a genome, of a plasmid in many copies, of a satellite, of a repeat, and scraps."""
    rng = np.random.default_rng(seed)
    genome, plasmid, repeat, unit = (random_text(rng, n) for n in (1200, 240, 150, 100))
    satellite = "".join(mutated(rng, unit, 0.1) for _ in range(12))
    texts = ["", "ACGT", "N" * 90, plasmid + genome[:300], genome[:400] + repeat]
    for source, reads in (
        (genome, 8), (plasmid * 3, 12), (satellite, 8), (repeat, 6), (genome[600:] + repeat, 4),
    ):  # fmt: skip
        for _ in range(reads):
            start = int(rng.integers(0, len(source) - 100))
            text = source[start : start + int(rng.integers(100, 500))]
            texts.append(mutated(rng, text, 0.06 * rng.random()))
    return [texts[i] for i in rng.permutation(len(texts))]


def without_tandem(found):
    """Leave out the minimizers that repeat within reads: they are gone before frequent ones are counted."""
    places = {}
    for read, in_read in enumerate(found):
        for value, position, _ in in_read:
            places.setdefault(value, []).append((read, position))
    return [[m for m in in_read if not is_tandem(places[m[0]])] for in_read in found]


@settings(max_examples=tries(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(seed=30436026, limit=2, stretch=32, most_hits=100, met=128)  # has a tandem minimizer
@given(
    seed=st.integers(0, 2**32),
    limit=st.integers(2, 14),
    stretch=st.sampled_from([32, 64, 100]),
    most_hits=st.sampled_from([0, 1, 4, 100]),
    met=st.sampled_from([2, 128]),
)
def test_seeds_equal_the_oracle(seed, limit, stretch, most_hits, met):
    texts = with_a_plasmid(seed)
    found = without_tandem([minimizers(text, K, W) for text in texts])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouped, "chosen_limit", lambda sketch, spectrum: limit)
        patch.setattr(deep_reads, "STRETCH", stretch)
        patch.setattr(deep_reads, "MOST_HITS", most_hits)
        patch.setattr(deep_reads, "MET_AT_EVERY_BASE", met)
        reads, sketch = reads_of(texts), SketchParams(kmer_length=K, window=W)
        index = seed_index.SeedIndex.build(reads, sketch, 2)
    expected = oracle.seeding(
        found, [len(text) for text in texts], limit, stretch, deep_reads.LEAST_SHARE, most_hits
    )
    times = Counter(value for read in found for value, _, _ in read)
    bits = EntryLayout.choose(int(reads.word_offsets[-1]) * 32, sketch).bucket_bits
    expected = [[m for m in read if is_sampled(m[0], times[m[0]], bits, met * (W + 1))] for read in expected]
    assert index.seeding.positions.tolist() == [p for read in expected for _, p, _ in read]
    assert np.diff(index.seeding.starts).tolist() == [len(read) for read in expected]
    times = Counter(value for read in expected for value, _, _ in read)
    assert index.limit >= max(times.values(), default=0)
    assert np.count_nonzero(linked(index) != ALONE) == times.total() - len(times)


def test_reads_of_the_plasmid_are_deep_and_those_of_a_satellite_are_not():
    rng = np.random.default_rng(3)
    circle, unit = random_text(rng, 1_000), random_text(rng, 300)
    array = "".join(mutated(rng, unit, 0.03) for _ in range(30))
    genome = random_text(rng, 3_000)
    sources = [genome] * 20 + [circle * 2] * 20 + [array] * 20
    starts = [int(rng.integers(0, len(source) - 900)) for source in sources]
    texts = [source[start : start + 900] for source, start in zip(sources, starts, strict=True)]
    found = [minimizers(text, K, W) for text in texts]
    deep = oracle.deep_reads(found, [900] * 60, 14, 64, deep_reads.LEAST_SHARE)
    assert deep == [False] * 20 + [True] * 20 + [False] * 20
