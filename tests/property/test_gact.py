"""GACT equals its oracle on random pairs of every kind."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.extend import gact
from overlapper.params.stages import GactParams
from overlapper.tables.candidates import Candidates
from tests.oracle import gact as oracle
from tests.oracle.strands import reverse_complement
from tests.read_sets import reads_of
from tests.tries import tries


def extend(reads, candidates, params, threads=1):
    return gact.extend(reads, candidates, params, threads)[0]


PAIRS = 25
ALPHABETS = ["ACGT"] * 4 + ["ACGTN", "AC", "A", "N"]

linear = st.builds(dict, gap_open=st.just(0), gap_extend=st.integers(-4, -1))
affine = st.builds(dict, gap_open=st.integers(-6, -1), gap_extend=st.integers(-4, -1))
steep = st.builds(dict, gap_open=st.integers(-60, 0), gap_extend=st.integers(-60, -1))
tiles = st.integers(8, 100).flatmap(lambda t: st.builds(dict, tile=st.just(t), overlap=st.integers(0, t - 1)))


@st.composite
def parameters(draw):
    return GactParams(
        match=draw(st.integers(1, 6) | st.integers(1, 300)),
        mismatch=draw(st.integers(-8, -1) | st.integers(-300, -1)),
        **draw(linear | affine | steep),
        **draw(tiles),
        min_identity=draw(st.sampled_from([0, 50, 60, 66, 90])),
        give_up=draw(st.sampled_from([1, 20, 100, 600])),
    )


def text(rng, length):
    if rng.random() < 0.15:
        unit = text(rng, rng.randint(1, 6))
        return (unit * length)[:length]
    return "".join(rng.choices(rng.choice(ALPHABETS), k=length))


def mutated(rng, sequence, rate):
    pieces = []
    for base in sequence:
        kind = rng.random() / rate if rate else 9
        pieces.append(rng.choice("ACGT") if kind < 1 / 3 else "" if kind < 2 / 3 else base)
        if 2 / 3 <= kind < 1:
            pieces.append(rng.choice("ACGT"))
    return "".join(pieces)


def random_pair(rng):
    """Return query, target and an anchor in each, on the query's strand."""
    q = text(rng, rng.choice([0, 1, 2, rng.randint(1, 130), rng.randint(1, 130)]))
    t = (
        mutated(rng, q, rng.choice([0, 0.1, 0.2, 0.4]))
        if rng.random() < 0.8
        else text(rng, rng.randint(1, 130))
    )
    q_anchor = rng.choice([0, len(q), rng.randint(0, len(q))])
    t_anchor = rng.choice([min(q_anchor, len(t)), rng.randint(0, len(t))])
    return q, t, q_anchor, t_anchor


def extend_pairs(pairs, reverse, params, threads):
    """Return the alignments of `extend`, on the query's strand like the oracle's."""
    texts = []
    for (q, t, _, _), flipped in zip(pairs, reverse, strict=True):
        texts += [q, reverse_complement(t) if flipped else t]
    lengths = np.array([len(t) for _, t, _, _ in pairs])
    reverse = np.array(reverse)
    anchors = np.array([t_anchor for _, _, _, t_anchor in pairs])
    rows = np.arange(len(pairs))
    candidates = Candidates(
        query=2 * rows, target=2 * rows + 1, reverse=reverse, query_pos=np.array([pair[2] for pair in pairs]),
        target_pos=np.where(reverse, lengths - anchors, anchors), seeds=rows, span=rows,
    )  # fmt: skip
    found = extend(reads_of(texts), candidates, params, threads).validate()
    t_start = np.where(reverse, lengths - found.t_end, found.t_start)
    t_end = np.where(reverse, lengths - found.t_start, found.t_end)
    for row in rows:
        runs = found.cigar[found.cigar_offsets[row] : found.cigar_offsets[row + 1]]
        columns = "".join("?ID????=X"[run & 15] * int(run >> 4) for run in runs)
        assert found.matches[row] == columns.count("=")
        assert found.block_length[row] == len(columns) == found.matches[row] + found.edits[row]
        yield oracle.Alignment(
            found.q_start[row], found.q_end[row], t_start[row], t_end[row], found.score[row], columns
        )


def oracle_rule(params):
    return oracle.Rule(**{name: getattr(params, name) for name in oracle.Rule._fields})


@settings(max_examples=tries(200), deadline=None)
@given(parameters(), st.integers(0, 2**32))
def test_equals_the_oracle(params, seed):
    rng = random.Random(seed)
    pairs = [random_pair(rng) for _ in range(PAIRS)]
    reverse = [rng.random() < 0.5 for _ in pairs]
    found = extend_pairs(pairs, reverse, params, threads=rng.choice([1, 2]))
    for pair, got in zip(pairs, found, strict=True):
        expected = oracle.align(*pair, oracle_rule(params))
        assert got == expected, pair
        q, t, _, _ = pair
        i, j = expected.q_start, expected.t_start
        for operation in expected.columns:
            if operation in "=X":
                assert (operation == "=") == oracle.equal(q[i], t[j])
            i, j = i + (operation != "D"), j + (operation != "I")
        assert (i, j) == (expected.q_end, expected.t_end)


@pytest.mark.parametrize("params", [GactParams(), GactParams(2, -4, -4, -2)], ids=["linear", "affine"])
def test_equals_the_oracle_with_default_tiles(params):
    rng = random.Random(7)
    pairs = []
    for rate in (0.1, 0.2, 0.3):
        q = text(rng, 700)
        head = mutated(rng, q[:200], rate)
        pairs.append((q, head + mutated(rng, q[200:], rate), 200, len(head)))
    reverse = [False, True, True]
    expected = [oracle.align(*pair, oracle_rule(params)) for pair in pairs]
    assert list(extend_pairs(pairs, reverse, params, threads=1)) == expected


@pytest.mark.slow
def test_equals_the_oracle_on_100_kb():
    rng = random.Random(4)
    q = text(random.Random(5), 100_000)
    t = mutated(rng, q[:60_000], 0.15) + mutated(rng, q[60_000:], 0.15)
    anchor = 60_000
    params = GactParams(2, -3, -2, -2, tile=24, overlap=8)
    t_anchor = len(mutated(random.Random(4), q[:60_000], 0.15))
    (got,) = extend_pairs([(q, t, anchor, t_anchor)], [True], params, threads=1)
    assert got == oracle.align(q, t, anchor, t_anchor, oracle_rule(params))
    assert got.q_end - got.q_start > 95_000


def test_tiles_find_what_one_matrix_finds():
    """On 10 to 20 % of differences, tiles of 160 score what one whole matrix does."""
    rng = random.Random(6)
    rule = oracle.Rule(tile=160, overlap=60, min_identity=50)
    same = 0
    for _ in range(10):
        q = "".join(rng.choices("ACGT", k=330))
        t = mutated(rng, q, rng.choice([0.1, 0.15, 0.2]))
        same += oracle.align(q, t, 0, 0, rule).score == oracle.full_extension_score(q, t, rule)
    assert same >= 9
