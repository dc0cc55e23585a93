"""The seed index and D-SOFT equal their oracles."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlapper.candidates.dsoft import DsoftFinder
from overlapper.params.stages import DsoftParams, Params, SketchParams
from overlapper.sketch import deep_reads, occurrences, page_chains, seed_index, seed_lists
from tests.oracle import dsoft as oracle
from tests.oracle import tandem
from tests.oracle.minimizers import minimizers
from tests.read_sets import columns_of, linked, mutated, random_text, reads_of, texts_of
from tests.tries import tries

SKETCHES = st.builds(
    SketchParams, kmer_length=st.integers(8, 18), window=st.integers(1, 12), repeat_limit=st.integers(2, 40)
)
DSOFTS = st.builds(
    DsoftParams,
    band_width=st.sampled_from([1, 2, 8, 16, 64, 512]),
    min_bases=st.integers(1, 40),
    drift=st.sampled_from([0, 50, 200, 1000]),
    most_windows=st.integers(1, 4),
    min_share=st.sampled_from([0, 25, 60, 100]),
)


def rows_of(found):
    places = list(zip(found.hit_query_pos.tolist(), found.hit_target_pos.tolist(), strict=True))
    columns = (
        found.query, found.target, found.reverse, found.query_pos, found.target_pos, found.seeds, found.span,
    )  # fmt: skip
    return [
        (*row, places[start:stop])
        for *row, start, stop in zip(
            *(c.tolist() for c in columns),
            found.hit_offsets[:-1].tolist(),
            found.hit_offsets[1:].tolist(),
            strict=True,
        )
    ]


@settings(max_examples=tries(150), deadline=None)
@given(seed=st.integers(0, 2**32), sketch=SKETCHES, dsoft=DSOFTS)
def test_candidates_equal_the_oracle(seed, sketch, dsoft):
    texts = texts_of(seed, genome=700, reads=8, longest=350)
    finder = DsoftFinder.prepare(reads_of(texts), Params(sketch=sketch, dsoft=dsoft), 1)
    found = finder.find(0, len(texts)).validate()
    assert found.seed_length == sketch.kmer_length
    assert rows_of(found) == oracle.candidates(
        texts, sketch.kmer_length, sketch.window, sketch.repeat_limit,
        dsoft.band_width, dsoft.min_bases, dsoft.drift, dsoft.most_windows, dsoft.min_share,
    )  # fmt: skip


@settings(max_examples=tries(60), deadline=None)
@given(seed=st.integers(0, 2**32), sketch=SKETCHES, together=st.sampled_from([1, 200, 1 << 26]))
def test_seeding_and_counts_equal_the_oracle(seed, sketch, together):
    texts = texts_of(seed, genome=700, reads=8, longest=350)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_chains, "MINIMIZERS_TOGETHER", together)
        index = seed_index.SeedIndex.build(reads_of(texts), sketch, 2)
    of_read = [minimizers(text, sketch.kmer_length, sketch.window) for text in texts]
    times = Counter(value for found in of_read for value, _, _ in found)
    tandem_free = tandem.seeding(of_read, sketch.repeat_limit, 0, 10**6)
    seeds = [[p for v, p, _ in found if v in tandem_free] for found in of_read]
    assert index.seeding.sketched.tolist() == [len(found) for found in of_read]
    assert index.seeding.positions.tolist() == [p for read in seeds for p in read]
    assert np.diff(index.seeding.starts).tolist() == [len(read) for read in seeds]
    assert list(index.counts.values()) == [
        times.total(),
        sum(n for n in times.values() if n == 1),
        sum(n for value, n in times.items() if n > 1 and value not in tandem_free),
        sum(map(len, seeds)),
    ]


@settings(max_examples=tries(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**32),
    unit=st.sampled_from([1, 2, 7, 60, 171, 2100]),
    met=st.sampled_from([1, 3, 64]),
    limit=st.sampled_from([30, 10_000]),
)
def test_tandem_minimizers_do_not_seed_and_frequent_ones_are_thinned_out(seed, unit, met, limit):
    rng = np.random.default_rng(seed)
    satellite = random_text(rng, unit) * (4300 // unit)
    texts = texts_of(seed, genome=700, reads=20, longest=350)
    for _ in range(8):
        part = satellite[int(rng.integers(0, 400)) :][: int(rng.integers(200, 2100))]
        texts.append(mutated(rng, part, 0.1 * rng.random()) + texts[0])
    reads, sketch = reads_of(texts), SketchParams(kmer_length=11, window=2, repeat_limit=limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deep_reads, "MET_AT_EVERY_BASE", met)
        index = seed_index.SeedIndex.build(reads, sketch, 2)
    bits = page_chains.EntryLayout.choose(int(reads.word_offsets[-1]) * 32, sketch).bucket_bits
    found = [minimizers(text, 11, 2) for text in texts]
    seeding = tandem.seeding(found, limit, bits, 3 * met)
    expected = [[p for value, p, _ in of_read if value in seeding] for of_read in found]
    assert index.seeding.positions.tolist() == [p for of_read in expected for p in of_read]
    assert np.diff(index.seeding.starts).tolist() == [len(of_read) for of_read in expected]


def test_blocks_buckets_and_threads_do_not_change_the_index(monkeypatch):
    reads = reads_of(texts_of(1, genome=20_000, reads=60, longest=5000))
    sketch = SketchParams(kmer_length=13, window=2)
    whole = seed_index.SeedIndex.build(reads, sketch, 1)
    monkeypatch.setattr(page_chains, "BLOCK_BASES", 3000)
    monkeypatch.setattr(occurrences, "BLOCK_BITS", 11)
    monkeypatch.setattr(seed_lists, "LISTED_TOGETHER", 40)
    monkeypatch.setattr(page_chains, "RANGE_BITS", 3)
    for threads, together in ((1, 1 << 26), (3, 40_000), (2, 5000)):
        monkeypatch.setattr(page_chains, "MINIMIZERS_TOGETHER", together)
        other = seed_index.SeedIndex.build(reads, sketch, threads)
        assert np.array_equal(linked(whole), linked(other))
        assert columns_of(whole.seeding) == columns_of(other.seeding)
        assert (whole.limit, whole.counts) == (other.limit, other.counts)
    monkeypatch.setattr(page_chains, "ENTRIES_PER_BUCKET", 50)
    other = seed_index.SeedIndex.build(reads, sketch, 2)
    assert columns_of(whole.seeding) == columns_of(other.seeding)
    assert (whole.limit, whole.counts) == (other.limit, other.counts)


@pytest.mark.parametrize("unit", ["ACGATTC", "A", "ACGTTGCATTAGGATTACAGC"])
def test_minimizers_that_all_fall_into_few_buckets(unit):
    texts = [unit * (20_000 // len(unit)), random_text(np.random.default_rng(3), 3000)] * 2
    sketch = SketchParams(kmer_length=13, window=4)
    index = seed_index.SeedIndex.build(reads_of(texts), sketch, 2)
    of_read = [minimizers(text, 13, 4) for text in texts]
    assert index.seeding.sketched.tolist() == [len(found) for found in of_read]
    assert index.counts["minimizers"] == sum(map(len, of_read))


def test_a_repeat_limit_above_every_multiplicity_limits_nothing():
    texts = [random_text(np.random.default_rng(2), 3000)] * 3
    reads = reads_of(texts)
    found = [
        DsoftFinder.prepare(reads, Params(sketch=SketchParams(repeat_limit=limit)), 1).find(0, 3)
        for limit in (10, 10**9)
    ]
    assert rows_of(found[0]) == rows_of(found[1])
