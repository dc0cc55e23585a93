"""GACT on cases that can be read off the page, and the promises of its extender."""

import numpy as np
import parasail
import pytest

from overlapper.errors import ParameterError
from overlapper.extend import gact
from overlapper.params.stages import GactParams
from overlapper.tables.candidates import Candidates
from overlapper.tables.reads import Reads
from tests.benchmarks.gact import simulate
from tests.read_sets import assert_same


def extend(reads, candidates, params, threads=1):
    return gact.extend(reads, candidates, params, threads)[0]


def align(q, t, q_pos, t_pos, *, reverse=False, seed_length=0, **params):
    """Return the only row of an extension, as a dict, with the CIGAR as text."""
    candidates = Candidates(
        query=[0], target=[1], reverse=[reverse], query_pos=[q_pos], target_pos=[t_pos], seeds=[7], span=[1],
        seed_length=seed_length,
    )  # fmt: skip
    overlaps = extend(Reads.from_sequences("qt", [q, t]), candidates, GactParams(**params)).validate()
    columns = {f.name: getattr(overlaps, f.name) for f in overlaps.fields_of("column")}
    row = {name: values[0] for name, values in columns.items() if values is not None}
    return row | {"cigar": "".join(f"{run >> 4}{'?ID????=X'[run & 15]}" for run in overlaps.cigar)}


@pytest.mark.parametrize("anchor", [0, 12])
def test_gaps_lie_as_far_from_the_anchor_as_they_can(anchor):
    row = align("CGTCAAAAGGCT", "CGTCAAAGGCT", anchor, anchor - (anchor > 0))
    assert row["cigar"] == ("7=1I4=" if anchor == 0 else "4=1I7=")


def test_pair_before_insertion_before_deletion():
    q, t = "GGATGACTGACTG", "GGCTGACTGACTG"
    # An unequal pair scores what two gaps do, and comes first.
    assert align(q, t, 0, 0, mismatch=-2)["cigar"] == "2=1X10="
    # Both orders of the two gaps score the same.
    assert align(q, t, 0, 0, mismatch=-3)["cigar"] == "2=1I1D10="


def test_unknown_bases_equal_nothing():
    assert align("ACGTNACGTACG", "ACGTNACGTACG", 0, 0)["cigar"] == "4=1X7="
    row = align("NNNN", "NNNN", 2, 2)
    assert (row["cigar"], row["block_length"], row["score"], row["q_start"], row["q_end"]) == ("", 0, 0, 2, 2)
    assert np.isnan(row["divergence"])


def test_unrelated_sequence_ends_an_extension():
    rng = np.random.default_rng(1)
    shared, q_tail, t_tail = ("".join(rng.choice(list("ACGT"), n)) for n in (500, 3000, 3000))
    row = align(shared + q_tail, shared + t_tail, 10, 10)
    assert (row["q_start"], row["t_start"]) == (0, 0)
    assert 500 <= row["q_end"] <= 520
    untrimmed = align(shared + q_tail, shared + t_tail, 10, 10, min_identity=0, give_up=10**9)
    assert min(untrimmed["q_end"], untrimmed["t_end"]) > 3000


def test_a_burst_of_errors_is_crossed():
    rng = np.random.default_rng(2)
    left, right, q_noise, t_noise = ("".join(rng.choice(list("ACGT"), n)) for n in (900, 900, 150, 150))
    row = align(left + q_noise + right, left + t_noise + right, 0, 0)
    assert (row["q_end"], row["t_end"]) == (1950, 1950)


@pytest.mark.parametrize("scores", [(1, -1, 0, -1), (2, -4, -4, -2), (3, -9, -1, -5)])
def test_scaled_scores_give_the_same_alignments(scores):
    """Scores 1,000 times as large do not fit bytes and take the wide kernel."""
    reads, candidates, _ = simulate(6, 1500, 0.2)
    small, large = (extend(reads, candidates, GactParams(*(f * s for s in scores))) for f in (1, 1000))
    assert np.array_equal(small.cigar, large.cigar)
    assert np.array_equal(1000 * small.score, large.score)


def test_never_above_and_nearly_always_at_the_optimal_score():
    reads, candidates, texts = simulate(40, 1000, 0.15)
    matrix = parasail.matrix_create("ACGT", 1, -1)
    optimal = np.array(
        [parasail.sw_scan_32(q, t, 1, 1, matrix).score for q, t in zip(texts[::2], texts[1::2], strict=True)]
    )
    found = extend(reads, candidates, GactParams(min_identity=50)).score
    assert np.all(found <= optimal)
    assert np.mean(found == optimal) >= 0.95


def test_neither_threads_nor_blocks_nor_order_change_the_result(monkeypatch):
    reads, candidates, _ = simulate(60, 700, 0.2)
    params = GactParams(tile=64, overlap=24)
    whole = extend(reads, candidates, params, 1)
    monkeypatch.setattr(gact, "BLOCK_BASES", 3000)
    for other in (extend(reads, candidates, params, 2), extend(reads, candidates, params, 1)):
        assert_same(whole, other)
    order = np.random.default_rng(3).permutation(len(candidates))
    assert_same(whole.take(order), extend(reads, candidates.take(order), params, 2))


@pytest.mark.parametrize(("q_pos", "t_pos", "side"), [(-1, 0, "query"), (0, 7, "target"), (6, 0, "query")])
def test_a_seed_outside_its_read_is_an_error(q_pos, t_pos, side):
    with pytest.raises(ParameterError, match=f"candidate 0: its seed of 3 bases at {side} .* of 8 bases"):
        align("ACGTACGT", "ACGTACGT", q_pos, t_pos, seed_length=3)


def test_scores_that_may_pass_32_bits_are_an_error():
    with pytest.raises(ParameterError, match="use smaller scores"):
        align("ACGTACGT", "ACGTACGT", 0, 0, match=2**28)
