"""X-drop kernels against the oracle."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlapper.kernels.xdrop import xdrop as kernels
from overlapper.params.stages import XdropParams
from overlapper.tables import Reads
from tests.oracle.xdrop import extend_seed
from tests.read_sets import mutated, random_text, reads_of
from tests.tries import tries
from tests.unit.test_xdrop import candidates_of, extend, extensions_by, pair_with_seed

SETTINGS = settings(
    max_examples=tries(60), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
CASES = 40
"""Candidates in one example, so that an example is worth its overhead."""


def sequence(rng, kind, length):
    if kind == "random":
        return random_text(rng, length)
    if kind == "homopolymer":
        return "ACGT"[rng.integers(4)] * length
    if kind == "tandem":
        return (random_text(rng, int(rng.integers(2, 7))) * length)[:length]
    if kind == "unknown":
        return "N" * length
    return random_text(rng, length, "ACGTN")


KINDS = ("random", "random", "homopolymer", "tandem", "unknown", "mixed")


def case(rng, longest):
    """A pair of reads and a place to start from, with no seed: both sides start from nothing."""
    query = sequence(rng, KINDS[rng.integers(len(KINDS))], int(rng.integers(1, longest)))
    if rng.random() < 0.7:
        target = mutated(rng, query.replace("N", "A"), float(rng.choice([0, 0.05, 0.2, 0.4]))) or "A"
        q_pos = int(rng.integers(len(query) + 1))
        t_pos = int(np.clip(q_pos + rng.integers(-3, 4), 0, len(target)))
    else:
        target = sequence(rng, KINDS[rng.integers(len(KINDS))], int(rng.integers(1, longest)))
        q_pos, t_pos = int(rng.integers(len(query) + 1)), int(rng.integers(len(target) + 1))
    if rng.random() < 0.3:
        q_pos, t_pos = 0, 0
    return query, target, bool(rng.integers(2)), q_pos, t_pos


def agree_with_oracle(rng, params, longest, kernel_list):
    cases = [case(rng, longest) for _ in range(CASES)]
    reads = Reads.from_sequences(
        [str(i) for i in range(2 * CASES)], [s for query, target, *_ in cases for s in (query, target)]
    )
    candidates = candidates_of([(2 * i, 2 * i + 1, *c[2:]) for i, c in enumerate(cases)], 0)
    scheme = tuple(vars(params).values())
    wanted = [side for c in cases for side in extend_seed(*c, 0, *scheme)]
    for kernel in kernel_list:
        got = extensions_by(kernel, reads, candidates, params)
        for i, (g, w) in enumerate(zip(got, wanted, strict=True)):
            assert g in (None, w), (kernel, params, cases[i // 2], i % 2, g, w)


@SETTINGS
@given(
    seed=st.integers(0, 2**32),
    xdrop=st.one_of(st.integers(0, 20), st.integers(0, 123)),
    stop=st.sampled_from([(0, 1), (8, 3), (16, 12), (64, 6)]),
)
def test_unit_scores(seed, xdrop, stop):
    params = XdropParams(xdrop=xdrop, stop_window=stop[0], stop_rate=stop[1])
    frames = kernels.frames_for(kernels.Scheme(**vars(params)))
    agree_with_oracle(np.random.default_rng(seed), params, 90, [*frames, *range(len(kernels.BANDS))])


@SETTINGS
@given(
    seed=st.integers(0, 2**32),
    match=st.integers(1, 5),
    mismatch=st.integers(-9, -1),
    gap=st.integers(-9, -1),
    xdrop=st.integers(0, 300),
    stop=st.sampled_from([(0, 1), (8, 3), (32, 8)]),
)
def test_any_scores(seed, match, mismatch, gap, xdrop, stop):
    params = XdropParams(match, mismatch, gap, xdrop, *stop)
    scheme = kernels.Scheme(**vars(params))
    bands = range(kernels.band_for(scheme), len(kernels.BANDS))
    agree_with_oracle(np.random.default_rng(seed), params, 90, [*kernels.frames_for(scheme), *bands])


@settings(SETTINGS, max_examples=tries(8))
@given(
    seed=st.integers(0, 2**32),
    scores=st.sampled_from([(1, -1, -1), (1, -2, -2), (2, -4, -4), (1000, -3000, -2000)]),
    xdrop=st.sampled_from([25, 10_000, 2**30]),
)
def test_longer_reads_and_extreme_scores(seed, scores, xdrop):
    params = XdropParams(*scores, xdrop=xdrop)
    scheme = kernels.Scheme(**vars(params))
    kernel_list = [*kernels.frames_for(scheme), kernels.band_for(scheme)]
    agree_with_oracle(np.random.default_rng(seed), params, 160, kernel_list)


@settings(SETTINGS, max_examples=tries(150))
@given(
    seed=st.integers(0, 2**32),
    match=st.integers(1, 3),
    mismatch=st.integers(-70, -1),
    gap=st.integers(-70, -1),
    xdrop=st.one_of(st.integers(0, 8), st.integers(0, 190)),
)
def test_frames_equal_the_band_up_to_the_limits_of_8_bits(seed, match, mismatch, gap, xdrop):
    params = XdropParams(match, mismatch, gap, xdrop, stop_window=0)
    frames = kernels.frames_for(kernels.Scheme(**vars(params)))
    rng = np.random.default_rng(seed)
    sequences, rows = [], []
    for pair in range(12):
        query = random_text(rng, 500, ["ACGT", "AC", "AAAAC"][pair % 3])
        sequences += [query, mutated(rng, query, float(rng.choice([0, 0.01, 0.03, 0.2]))) or "A"]
        rows.append((2 * pair, 2 * pair + 1, False, 0, 0))
    reads = reads_of(sequences)
    wanted = extensions_by(len(kernels.BANDS) - 1, reads, candidates_of(rows, 0), params)
    for frame in frames:
        got = extensions_by(frame, reads, candidates_of(rows, 0), params)
        assert all(g in (None, w) for g, w in zip(got, wanted, strict=True)), (params, got, wanted)
        if xdrop < 8 and gap < -1:
            assert None not in got, params


@settings(SETTINGS, max_examples=tries(25))
@given(seed=st.integers(0, 2**32), xdrop=st.integers(0, 60), match=st.integers(1, 3))
def test_extender_on_both_strands(seed, xdrop, match):
    rng, params = np.random.default_rng(seed), XdropParams(match=match, xdrop=xdrop, stop_window=32)
    sequences, rows = [], []
    for pair in range(CASES):
        rate, length = float(rng.choice([0, 0.1, 0.3])), int(rng.integers(0, 150))
        query, target, row = pair_with_seed(rng, length, rate, bool(rng.integers(2)), 9)
        if rng.random() < 0.3:
            at = int(rng.integers(row[3] + 1))
            query = query[: at // 2] + "N" * (at - at // 2) + query[at:]
        sequences += [query, target]
        rows.append((2 * pair, 2 * pair + 1, *row[2:]))
    reads = Reads.from_sequences([str(i) for i in range(2 * CASES)], sequences)
    overlaps = extend(reads, candidates_of(rows, 9), params, 1)
    scheme = tuple(vars(params).values())
    for pair, (_, _, reverse, q_pos, t_pos) in enumerate(rows):
        query, target = sequences[2 * pair : 2 * pair + 2]
        before, after = extend_seed(query, target, reverse, q_pos, t_pos, 9, *scheme)
        below, above = (after, before) if reverse else (before, after)
        assert overlaps.score[pair] == before[0] + 9 * match + after[0]
        assert overlaps.q_start[pair] == q_pos - before[1]
        assert overlaps.q_end[pair] == q_pos + 9 + after[1]
        assert overlaps.t_start[pair] == t_pos - below[2]
        assert overlaps.t_end[pair] == t_pos + 9 + above[2]
        longer = max(
            overlaps.q_end[pair] - overlaps.q_start[pair], overlaps.t_end[pair] - overlaps.t_start[pair]
        )
        assert overlaps.matches[pair] <= longer <= overlaps.block_length[pair]
