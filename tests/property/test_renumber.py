"""Read numbers: other numbers for overlaps, the order that reads are worked on in, one overlap a pair."""

import dataclasses
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.candidates.registry import finder
from overlapper.extend import gact
from overlapper.extend.best_of_pair import best_of_pair
from overlapper.extend.classify import classify
from overlapper.params.stages import DsoftParams, GactParams, Params, SketchParams
from overlapper.sketch.canonical import canonical_order, in_order
from overlapper.tables import Overlaps
from tests.oracle import best_of_pair as oracle
from tests.read_sets import columns_of, random_text, reads_of, reverse_complement, texts_of
from tests.tries import tries

AFFINE = GactParams(match=2, mismatch=-3, gap_open=-2, gap_extend=-1, min_identity=50)
MAX_HANG = 20


def aligned(texts):
    set_up = Params(
        sketch=SketchParams(kmer_length=10, window=2, repeat_limit=30), dsoft=DsoftParams(min_bases=12)
    )
    reads = reads_of(texts)
    candidates = finder("dsoft").prepare(reads, set_up, 1).find(0, len(reads))
    overlaps, _ = gact.extend(reads, candidates, AFFINE, 1)
    return dataclasses.replace(overlaps, kind=classify(overlaps, reads.lengths, MAX_HANG))


def alignment_of(overlaps, row, texts):
    """Walk a CIGAR and return its score, equal pairs and columns; the walk must end where the row says."""
    cigar = overlaps.cigar[overlaps.cigar_offsets[row] : overlaps.cigar_offsets[row + 1]]
    query = texts[overlaps.query[row]][overlaps.q_start[row] : overlaps.q_end[row]]
    target = texts[overlaps.target[row]][overlaps.t_start[row] : overlaps.t_end[row]]
    if overlaps.reverse[row]:
        target = reverse_complement(target)
    q, t, score, equal, columns = 0, 0, 0, 0, 0
    for operation, length in zip(("?ID????=X"[c & 15] for c in cigar), (cigar >> 4).tolist(), strict=True):
        columns += length
        if operation in "=X":
            pairs = list(zip(query[q : q + length], target[t : t + length], strict=True))
            same = [a == b and a != "N" for a, b in pairs]
            assert same == [operation == "="] * length
            equal += sum(same)
            score += length * (AFFINE.match if operation == "=" else AFFINE.mismatch)
        else:
            score += AFFINE.gap_open + length * AFFINE.gap_extend
        q += length * (operation != "D")
        t += length * (operation != "I")
    assert (q, t) == (len(query), len(target))
    return score, equal, columns


def assert_alignments_fit(overlaps, texts):
    for row in range(len(overlaps)):
        assert alignment_of(overlaps, row, texts) == (
            overlaps.score[row], overlaps.matches[row], overlaps.block_length[row],
        )  # fmt: skip


@settings(max_examples=tries(60), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_renumbered_overlaps_fit_the_reads(seed):
    texts = texts_of(seed, genome=700, reads=8, longest=400, errors=0.15)
    overlaps = aligned(texts)
    assert_alignments_fit(overlaps, texts)
    numbers = np.random.default_rng(seed).permutation(len(texts))
    renamed = [""] * len(texts)
    for old, new in enumerate(numbers):
        renamed[new] = texts[old]
    other = overlaps.renumber(numbers).validate()
    assert (other.query < other.target).all()
    assert_alignments_fit(other, renamed)
    pairs = zip(overlaps.query.tolist(), overlaps.target.tolist(), strict=True)
    assert [{int(numbers[q]), int(numbers[t])} for q, t in pairs] == [
        {q, t} for q, t in zip(other.query.tolist(), other.target.tolist(), strict=True)
    ]
    lengths = np.array([len(text) for text in renamed])
    tied = lengths[other.query] == lengths[other.target]
    assert (other.kind == classify(other, lengths, MAX_HANG))[~tied].all()
    assert columns_of(other.renumber(np.argsort(numbers))) == columns_of(overlaps)


@settings(max_examples=tries(100), deadline=None)
@given(seed=st.integers(0, 2**32), cigars=st.booleans())
def test_renumbering_there_and_back_changes_nothing(seed, cigars):
    rng = np.random.default_rng(seed)
    n, n_reads = int(rng.integers(0, 20)), 6
    query = rng.integers(0, n_reads - 1, n)
    columns = {f.name: rng.integers(0, 100, n) for f in Overlaps.fields_of("column")}
    columns |= {"query": query, "target": rng.integers(query + 1, n_reads) if n else query}
    columns |= {"reverse": rng.random(n) < 0.5, "kind": rng.integers(0, 4, n)}
    if cigars:
        offsets = np.cumsum([0, *rng.integers(0, 5, n)])
        cigar = rng.integers(1, 9, offsets[-1]) << 4 | rng.choice([1, 2, 7, 8], offsets[-1])
        columns |= {"cigar": cigar, "cigar_offsets": offsets}
    overlaps = Overlaps(**columns).validate()
    numbers = rng.permutation(n_reads)
    assert columns_of(overlaps.renumber(np.arange(n_reads))) == columns_of(overlaps)
    there = overlaps.renumber(numbers).validate()
    assert columns_of(there.renumber(np.argsort(numbers))) == columns_of(overlaps)


@settings(max_examples=tries(100), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_the_best_of_each_pair_among_some(seed):
    rng = np.random.default_rng(seed)
    rows = sorted({(int(q), int(q + t), bool(r)) for q, t, r in rng.integers([0, 1, 0], [3, 4, 2], (12, 3))})
    columns = {f.name: np.zeros(len(rows)) for f in Overlaps.fields_of("column")}
    query, target, reverse = (np.array(column) for column in zip(*rows, strict=True))
    score = rng.integers(1, 4, len(rows))
    order = rng.permutation(len(rows))
    columns |= {"query": query, "target": target, "reverse": reverse, "score": score}
    shuffled = Overlaps(**columns).take(order)
    among = rng.random(len(rows)) < 0.8
    left = order[among].tolist()
    expected = []
    for pair in sorted({rows[i][:2] for i in left}):
        layers = [i for i in left if rows[i][:2] == pair]
        expected.append(min(layers, key=lambda i: (-score[i], rows[i][2])))
    assert order[best_of_pair(shuffled, among)].tolist() == expected


@settings(max_examples=tries(200), deadline=None)
@given(seed=st.integers(0, 2**32), most=st.integers(0, 4))
def test_the_best_overlaps_of_each_pair(seed, most):
    rng = np.random.default_rng(seed)
    names = ("query", "target", "reverse", "q_start", "q_end", "t_start", "t_end", "score")
    drawn = rng.integers(0, [2, 2, 2, 3, 3, 3, 3, 4], (int(rng.integers(0, 15)), len(names)))
    drawn += [0, 2, 0, 0, 5, 0, 5, 1]
    columns = {f.name: np.zeros(len(drawn)) for f in Overlaps.fields_of("column")}
    columns |= dict(zip(names, drawn.T, strict=True))
    overlaps = Overlaps(**columns)
    among = np.ones(len(drawn), bool)
    rows = [tuple(row) for row in drawn.tolist()]
    assert best_of_pair(overlaps, among, most).tolist() == oracle.best_of_pair(rows, most)


@pytest.mark.parametrize("most", [0, 1, 2])
def test_the_best_of_nothing(most):
    assert len(best_of_pair(Overlaps.empty(), np.empty(0, bool), most)) == 0


@settings(max_examples=tries(60), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_reads_are_ordered_by_what_they_hold(seed):
    rng = np.random.default_rng(seed)
    texts = [random_text(rng, int(length), "ACGT") for length in rng.integers(0, 70, 12)] + ["ACGTA", "ACGTC"]
    ordered = [texts[i] for i in canonical_order(reads_of(texts))]
    assert sorted(ordered) == sorted(texts)
    assert [len(text) for text in ordered] == sorted(map(len, texts), reverse=True)
    shuffled = [texts[i] for i in rng.permutation(len(texts))]
    assert [shuffled[i] for i in canonical_order(reads_of(shuffled))] == ordered


@settings(max_examples=tries(60), deadline=None)
@given(seed=st.integers(0, 2**32), block=st.integers(1, 200), threads=st.integers(1, 2))
def test_threads_put_blocks_of_reads_in_order(seed, block, threads):
    rng = np.random.default_rng(seed)
    reads = reads_of([random_text(rng, int(length), "ACGTN") for length in rng.integers(0, 70, 12)])
    with mock.patch("overlapper.sketch.canonical._BLOCK_BASES", block):
        order = canonical_order(reads, threads)
        ordered = in_order(reads, order, threads).validate()
    assert order.tolist() == canonical_order(reads).tolist()
    assert ordered.names == [reads.name(i) for i in order]
    assert [ordered.sequence(i) for i in range(12)] == [reads.sequence(i) for i in order]


def test_unknown_bases_are_part_of_what_reads_hold():
    texts = ["ACGTN", "ACGTA", "NCGTA", "ANGTA", "ACNTA"]
    ordered = [texts[i] for i in canonical_order(reads_of(texts))]
    backwards = [texts[::-1][i] for i in canonical_order(reads_of(texts[::-1]))]
    assert ordered == backwards
