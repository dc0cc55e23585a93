"""What every registered finder promises (`overlapper.candidates.registry.Finder`)."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.candidates.registry import FINDERS, finder
from overlapper.errors import ParameterError
from overlapper.params.stages import DsoftParams, Params, SketchParams, SpgemmParams
from overlapper.tables import Candidates
from tests.read_sets import assert_same, random_text, reads_of, reverse_complement, texts_of
from tests.tries import tries

every_finder = pytest.mark.parametrize("name", FINDERS)
PARAMS = Params(
    sketch=SketchParams(kmer_length=11, window=3, repeat_limit=30),
    dsoft=DsoftParams(min_bases=16),
    spgemm=SpgemmParams(lower=2, upper=30, shared_kmers=0),
)
K = PARAMS.sketch.kmer_length


def prepared(name, texts, threads=1, params=PARAMS):
    return finder(name).prepare(reads_of(texts), params, threads)


@every_finder
@settings(max_examples=tries(20), deadline=None)
@given(seed=st.integers(0, 2**32), cuts=st.lists(st.integers(0, 17), max_size=5))
def test_cuts_threads_and_order_do_not_matter(name, seed, cuts):
    texts = texts_of(seed)
    n = len(texts)
    whole = prepared(name, texts).find(0, n)
    other = prepared(name, texts, threads=3)
    ranges = list(itertools.pairwise([0, *sorted(cuts), n]))
    backwards = [other.find(*bounds) for bounds in reversed(ranges)]
    assert_same(whole, Candidates.concat(backwards[::-1]))
    with ThreadPoolExecutor(4) as pool:
        assert_same(whole, Candidates.concat(list(pool.map(lambda bounds: other.find(*bounds), ranges))))
        singly = list(pool.map(lambda query: other.find(query, query + 1), range(n)))
    assert_same(whole, Candidates.concat(singly))
    assert_same(whole, other.find(0, n))


@every_finder
@settings(max_examples=tries(60), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_candidates_keep_what_the_table_promises(name, seed):
    texts = texts_of(seed)
    found = prepared(name, texts).find(0, len(texts)).validate()
    assert_same(found, found.sort_canonical())
    assert found.seed_length == K
    assert (found.query < found.target).all()
    assert (found.seeds > 0).all()
    bases = sum(map(len, texts))
    assert len(found.hit_query_pos) <= prepared(name, texts).hits_per_base() * bases * (1 + 1e-9)
    assert (found.span > 0).all()
    seeding = found.seeding.validate()
    seeds_of = [set(p.tolist()) for p in np.split(seeding.positions, seeding.starts[1:-1])]
    for row in range(len(found)):
        query, target = texts[found.query[row]], texts[found.target[row]]
        hits = slice(found.hit_offsets[row], found.hit_offsets[row + 1])
        places = list(
            zip(found.hit_query_pos[hits].tolist(), found.hit_target_pos[hits].tolist(), strict=True)
        )
        assert places == sorted(set(places))
        assert (found.query_pos[row], found.target_pos[row]) in places
        for q, t in places:
            assert 0 <= q <= len(query) - K
            assert 0 <= t <= len(target) - K
            seed_text = query[q : q + K]
            there = target[t : t + K]
            assert seed_text == (reverse_complement(there) if found.reverse[row] else there)
            assert "N" not in seed_text
            assert q in seeds_of[found.query[row]]
            assert t in seeds_of[found.target[row]]


@every_finder
@settings(max_examples=tries(30), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_seeding_is_that_of_the_reads(name, seed):
    texts = texts_of(seed)
    found = prepared(name, texts).find(0, len(texts))
    seeding = found.seeding.validate()
    assert len(seeding) == len(texts)
    for read, text in enumerate(texts):
        positions = seeding.positions[seeding.starts[read] : seeding.starts[read + 1]]
        kmers = sum("N" not in text[i : i + K] for i in range(len(text) - K + 1))
        assert (np.diff(positions) > 0).all()
        assert len(positions) <= seeding.sketched[read] <= kmers
        assert not len(positions) or 0 <= positions[0] <= positions[-1] <= len(text) - K
        assert all("N" not in text[p : p + K] for p in positions)


@every_finder
def test_both_strands_are_found(name):
    rng = np.random.default_rng(1)
    genome = random_text(rng, 3000)
    texts = [genome[:2000], genome[1000:], reverse_complement(genome[500:1700])]
    found = prepared(name, texts).find(0, 3)
    assert list(zip(found.query.tolist(), found.target.tolist(), found.reverse.tolist(), strict=True)) == [
        (0, 1, False),
        (0, 2, True),
        (1, 2, True),
    ]
    assert found.span == pytest.approx([1000, 1200, 700], abs=PARAMS.dsoft.band_width)


@every_finder
@pytest.mark.parametrize(
    "texts",
    [[], ["ACGTTGCA" * 30], ["ACGT", "ACG", "A"], ["N" * 100] * 3, ["", ""], ["", "ACGT", "N" * 40, ""]],
    ids=["no read", "one read", "shorter than k", "unknown bases", "no bases", "all of these"],
)
@pytest.mark.parametrize("params", [PARAMS, Params()], ids=["fixed", "derived"])
def test_sets_without_overlaps(name, texts, params):
    one = prepared(name, texts, threads=2, params=params)
    found = one.find(0, len(texts)).validate()
    assert len(found) == 0
    assert len(found.hit_query_pos) == 0
    assert len(found.seeding.validate()) == len(texts)
    assert len(one.find(0, 0).validate()) == 0


@every_finder
def test_counts_are_whole_numbers_that_finding_leaves_alone(name):
    texts = texts_of(3)
    one = prepared(name, texts)
    before = dict(one.counts())
    found = one.find(0, len(texts))
    assert one.counts() == before
    assert before
    assert all(type(count) is int and count >= 0 for count in before.values())
    total, *parts = before.values()
    assert total == sum(parts) == found.seeding.sketched.sum()
    assert parts[-1] == len(found.seeding.positions)


@every_finder
@pytest.mark.parametrize("bounds", [(-1, 2), (2, 1), (0, 18)])
def test_queries_outside_the_set_are_refused(name, bounds):
    with pytest.raises(ParameterError, match="of 17 reads"):
        prepared(name, texts_of(4)).find(*bounds)


def test_an_unknown_finder_is_refused():
    with pytest.raises(ParameterError, match="'none', expected one of dsoft, spgemm"):
        finder("none")
