"""Chaining equals its oracle."""

import itertools
import statistics
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.candidates.registry import finder
from overlapper.extend import chain
from overlapper.params.stages import ChainParams, DsoftParams, Params, SketchParams, SpgemmParams
from overlapper.sketch.seeding_at import seeding_at
from overlapper.tables import Candidates
from tests.oracle import chain as oracle
from tests.read_sets import mutated, random_text, reads_of, reverse_complement, texts_of
from tests.tries import tries


@st.composite
def chain_params(draw):
    reach = draw(st.integers(0, 4))
    return ChainParams(
        look_back=draw(st.sampled_from([1, 2, 5, 32])),
        max_gap=draw(st.sampled_from([5, 40, 200, 5000])),
        gap_cost=draw(st.sampled_from([0, 1, 38, 300])),
        distance_cost=draw(st.sampled_from([0, 1, 20])),
        min_seeds=draw(st.integers(1, 4)),
        sure_seeds=draw(st.integers(0, 6)),
        sure_score=draw(st.sampled_from([0, 30, 80])),
        min_score=draw(st.integers(0, 40)),
        min_agreement=draw(st.sampled_from([0, 25, 100])),
        typical_agreement=draw(st.sampled_from([1, 100, 500, 1500])),
        typical_shares=draw(st.sampled_from([0, 1, 100_000, 400_000, 10**6])),
        chance_share=draw(st.sampled_from([0, 100, 500, 1000])),
        reach=reach,
        max_reach=draw(st.sampled_from([0, 20, 300])),
        give_up=reach + draw(st.sampled_from([0, 2, 30])),
        end_tolerance=draw(st.sampled_from([0, 10, 50])),
        end_edits=draw(st.sampled_from([20, 45, 60, 100])),
        end_drop=draw(st.sampled_from([0, 2, 12, 1000])),
    )


def assert_equals_the_oracle(texts, candidates, params):
    overlaps, dropped = chain.extend(reads_of(texts), candidates, params, 1)
    overlaps.validate()
    seeding = candidates.seeding
    seeds = [p.tolist() for p in np.split(seeding.positions, seeding.starts[1:-1])]
    hits = list(zip(candidates.hit_query_pos.tolist(), candidates.hit_target_pos.tolist(), strict=True))
    expected, why = [], {"few seeds": 0, "disagreement": 0}
    for row, (query, target, reverse) in enumerate(
        zip(candidates.query.tolist(), candidates.target.tolist(), candidates.reverse.tolist(), strict=True)
    ):
        result = oracle.extend(
            texts[query], texts[target], reverse,
            hits[candidates.hit_offsets[row] : candidates.hit_offsets[row + 1]], candidates.seed_length,
            seeds[query], seeds[target], int(seeding.sketched[query]), int(seeding.sketched[target]),
            vars(params),
        )  # fmt: skip
        if isinstance(result, str):
            why[result] += 1
        else:
            expected.append((query, target, reverse, *result))
    columns = (
        overlaps.query, overlaps.target, overlaps.reverse,
        overlaps.q_start, overlaps.q_end, overlaps.t_start, overlaps.t_end,
        overlaps.matches, overlaps.score, overlaps.seeds,
    )  # fmt: skip
    assert list(zip(*(c.tolist() for c in columns), strict=True)) == expected
    assert dropped == why
    spans = np.maximum(overlaps.q_end - overlaps.q_start, overlaps.t_end - overlaps.t_start)
    assert overlaps.block_length.tolist() == spans.tolist()


@settings(max_examples=tries(80), deadline=None)
@given(
    seed=st.integers(0, 2**32),
    name=st.sampled_from(["dsoft", "spgemm"]),
    k=st.integers(8, 13),
    w=st.integers(1, 5),
    params=chain_params(),
)
def test_reads_equal_the_oracle(seed, name, k, w, params):
    texts = texts_of(seed, genome=500, reads=7, longest=220, errors=0.1)
    set_up = Params(
        sketch=SketchParams(kmer_length=k, window=w, repeat_limit=20),
        dsoft=DsoftParams(min_bases=k),
        spgemm=SpgemmParams(lower=2, upper=20, shared_kmers=0, min_kmers=1),
    )
    candidates = finder(name).prepare(reads_of(texts), set_up, 1).find(0, len(texts))
    assert_equals_the_oracle(texts, candidates, params)


def scattered(rng, k):
    """Return a pair of related reads and a candidate whose seeds lie anywhere, many on the same places."""
    query = random_text(rng, int(rng.integers(60, 200)))
    target = mutated(rng, query, 0.2) + random_text(rng, int(rng.integers(20, 90)))
    reverse = bool(rng.integers(2))
    q_last, t_last = len(query) - k, len(target) - k
    n = int(rng.integers(1, 60))
    grain = int(rng.integers(1, 6))
    x = rng.integers(0, q_last // grain + 1, n) * grain
    drift = rng.integers(-6, 7, n) if rng.random() < 0.7 else rng.integers(-80, 80, n)
    y = np.clip(x + drift, 0, t_last)
    if reverse:
        y = t_last - y
    hits = np.unique(np.stack([x, y], axis=1), axis=0)
    seeds = [
        np.union1d(hits[:, column], rng.integers(0, last + 1, int(rng.integers(0, 40))))
        for column, last in enumerate((q_last, t_last))
    ]
    return query, (reverse_complement(target) if reverse else target), reverse, hits, seeds


@settings(max_examples=tries(100), deadline=None)
@given(seed=st.integers(0, 2**32), k=st.integers(8, 16), params=chain_params())
def test_scattered_seeds_equal_the_oracle(seed, k, params):
    rng = np.random.default_rng(seed)
    pairs = [scattered(rng, k) for _ in range(10)]
    n = len(pairs)
    seeds = [positions for *_, both in pairs for positions in both]
    hits = np.concatenate([pair[3] for pair in pairs])
    starts = np.cumsum([0] + [len(pair[3]) for pair in pairs])
    candidates = Candidates(
        query=2 * np.arange(n),
        target=2 * np.arange(n) + 1,
        reverse=np.array([pair[2] for pair in pairs]),
        query_pos=hits[starts[:-1], 0],
        target_pos=hits[starts[:-1], 1],
        seeds=np.diff(starts),
        span=np.ones(n),
        hit_query_pos=hits[:, 0],
        hit_target_pos=hits[:, 1],
        hit_offsets=starts,
        seed_length=k,
        seeding=seeding_at(
            sketched=(np.array([len(p) for p in seeds]) + rng.integers(0, 50, 2 * n)).astype(np.int32),
            positions=np.concatenate(seeds).astype(np.int32),
            starts=np.cumsum([0] + [len(p) for p in seeds]),
            word_offsets=reads_of([text for pair in pairs for text in pair[:2]]).word_offsets,
        ),
    ).validate()
    assert_equals_the_oracle([text for pair in pairs for text in pair[:2]], candidates, params)


def fit(reads, candidates):
    """Return the parameters of chains with what is typical of candidates."""
    return chain.with_typical(Params(), [chain.agreements(reads, candidates, ChainParams())]).chain


def weighted_medians(measured):
    """Return medians of chains; those of a query count for four times as many as is usual at most."""
    numbers = Counter(measured[:, 2].tolist())
    usual = statistics.median(numbers.values())
    counting = [min(10**6, int(10**6 * 4 * usual) // numbers[query]) for query in measured[:, 2].tolist()]
    medians = []
    for column in range(2):
        pairs = sorted(zip(measured[:, column].tolist(), counting, strict=True))
        up_to = list(itertools.accumulate(weight for _, weight in pairs))
        low = next(value for (value, _), so_far in zip(pairs, up_to, strict=True) if 2 * so_far >= up_to[-1])
        high = next(value for (value, _), so_far in zip(pairs, up_to, strict=True) if 2 * so_far > up_to[-1])
        medians.append((low + high) / 2)
    return np.array(medians)


def noisy_copies(error_rate):
    """Return reads of one place and their candidates."""
    rng = np.random.default_rng(4)
    genome = random_text(rng, 6000)
    reads = reads_of([mutated(rng, genome[s : s + 2000], error_rate) for s in rng.integers(0, 4000, 60)])
    set_up = Params(sketch=SketchParams(kmer_length=13, window=5, repeat_limit=100))
    return reads, finder("dsoft").prepare(reads, set_up, 1).find(0, len(reads))


def test_what_is_typical_are_medians(monkeypatch):
    monkeypatch.setattr(chain, "MOST_TYPICAL", 1000)
    reads, candidates = noisy_copies(0.12)
    seeding, params = candidates.seeding, ChainParams()
    measured = chain.agreements(reads, candidates, params)
    fitted = fit(reads, candidates)
    agreement, shares = weighted_medians(measured) / [1e3, 1e6]
    assert 0 < fitted.typical_agreement < chain.MOST_TYPICAL
    assert fitted.typical_agreement == round(1000 * agreement)
    # A share p is in common, and of the others chance seeds a share c: agreement is p^2 / (p + (1 - p) c)^2.
    in_common = np.sqrt(shares * agreement)
    by_chance = (np.sqrt(shares) - in_common) / (1 - in_common)
    assert in_common + (1 - in_common) * by_chance == pytest.approx(np.sqrt(shares))
    assert fitted.chance_share == round(1000 * by_chance)
    assert fitted.typical_shares == round(1e6 * (np.sqrt(shares) - by_chance) ** 2)
    of_read = 1000 * np.diff(seeding.starts) // seeding.sketched
    assert set(measured[:, 1].tolist()) <= set(
        (of_read[candidates.query] * of_read[candidates.target]).tolist()
    )


def test_typical_agreement_is_bounded():
    reads, candidates = noisy_copies(0.02)
    fitted = fit(reads, candidates)
    agreement, shares = weighted_medians(chain.agreements(reads, candidates, ChainParams()))
    assert agreement > chain.MOST_TYPICAL == fitted.typical_agreement
    assert fitted.typical_shares == round(shares * (chain.MOST_TYPICAL / agreement) ** 8)
    assert fitted.chance_share == 0


def test_a_query_with_most_of_the_chains_counts_little():
    ordinary = np.array([[400 + chain, 250_000, query] for query in range(9) for chain in range(5)])
    within_a_satellite = np.array([[30, 90_000, 9]] * 1_000)
    fitted = chain.with_typical(Params(), [ordinary, within_a_satellite]).chain
    assert 400 <= fitted.typical_agreement <= 402
    assert fitted.typical_agreement == round(
        weighted_medians(np.concatenate([ordinary, within_a_satellite]))[0]
    )
    assert chain.with_typical(Params(), [ordinary]).chain.typical_agreement == 402


def test_typical_agreement_that_is_given_stays():
    given = Params().changed({"chain": {"typical_agreement": 7}})
    assert chain.with_typical(given, []) == given


@pytest.mark.parametrize("rows", [0, 3])
def test_few_chains_tell_nothing(rows):
    reads = reads_of(texts_of(1))
    candidates = finder("dsoft").prepare(reads, Params(), 1).find(0, len(reads))
    fitted = fit(reads, candidates.take(np.arange(rows)))
    assert (fitted.typical_agreement, fitted.typical_shares) == (chain.AGREEMENT_UNKNOWN, 0)
