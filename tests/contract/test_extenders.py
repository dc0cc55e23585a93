"""What every registered extender promises (`overlapper.extend.registry.Extender`)."""

import contextlib
import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.candidates.registry import finder
from overlapper.errors import ParameterError
from overlapper.extend.registry import ALIGNING, EXTENDERS, ON_GPUS, extender
from overlapper.gpu.gpus import Gpus
from overlapper.params.stages import ChainParams, DsoftParams, Params, SketchParams
from overlapper.runtime.gpu.devices import select_devices
from overlapper.sketch.seeding_at import seeding_at
from overlapper.tables import Candidates, Overlaps
from overlapper.tables.overlaps import UNCLASSIFIED
from tests.read_sets import assert_same, random_text, reads_of, reverse_complement, texts_of
from tests.tries import tries

ON_THE_CPU = [(name, "cpu") for name in EXTENDERS]
ON_THE_GPU = [pytest.param(name, "cuda", marks=pytest.mark.gpu) for name in ON_GPUS]
every_extender = pytest.mark.parametrize(("name", "device"), ON_THE_CPU + ON_THE_GPU)
every_aligner = pytest.mark.parametrize(("name", "device"), [(n, "cpu") for n in ALIGNING] + ON_THE_GPU)
PARAMS = Params(
    sketch=SketchParams(kmer_length=11, window=2, repeat_limit=60),
    dsoft=DsoftParams(min_bases=11),
    chain=ChainParams(min_seeds=1, min_score=11, min_agreement=5, typical_agreement=500, max_reach=60),
)


def candidates_of(reads, params=PARAMS):
    return finder("dsoft").prepare(reads, params, 1).find(0, len(reads))


@contextlib.contextmanager
def extender_on(name, device, reads):
    if device == "cpu":
        yield extender(name)
    else:
        with Gpus(select_devices(device), 8_000_000) as gpus:
            gpus.hold(reads)
            yield extender(name, gpus)


def extended(name, device, reads, candidates, threads=1):
    with extender_on(name, device, reads) as extend:
        overlaps, dropped = extend(reads, candidates, getattr(PARAMS, name, None), threads)
    assert all(type(count) is int and count >= 0 for count in dropped.values())
    assert len(overlaps) + sum(dropped.values()) == len(candidates)
    return overlaps.validate()


def pairs_of(table):
    return list(zip(table.query.tolist(), table.target.tolist(), table.reverse.tolist(), strict=True))


@every_extender
@settings(max_examples=tries(40), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_rows_come_in_order_and_intervals_lie_within_their_reads(name, device, seed):
    reads = reads_of(texts_of(seed))
    candidates = candidates_of(reads)
    overlaps = extended(name, device, reads, candidates)
    pairs = iter(pairs_of(candidates))
    assert all(pair in pairs for pair in pairs_of(overlaps))
    q_length, t_length = reads.lengths[overlaps.query], reads.lengths[overlaps.target]
    assert ((overlaps.q_start >= 0) & (overlaps.q_end <= q_length)).all()
    assert ((overlaps.t_start >= 0) & (overlaps.t_end <= t_length)).all()
    q_bases, t_bases = overlaps.q_end - overlaps.q_start, overlaps.t_end - overlaps.t_start
    assert (q_bases >= candidates.seed_length).all()
    assert (t_bases >= candidates.seed_length).all()
    assert (overlaps.block_length >= np.maximum(q_bases, t_bases)).all()
    assert (overlaps.matches <= np.minimum(q_bases, t_bases)).all()
    assert (overlaps.matches > 0).all()
    assert (overlaps.score > 0).all()
    assert (overlaps.seeds > 0).all()
    assert ((overlaps.divergence >= 0) & (overlaps.divergence <= 1)).all()
    assert (overlaps.kind == UNCLASSIFIED).all()


@every_extender
@settings(max_examples=tries(25), deadline=None)
@given(seed=st.integers(0, 2**32), cut=st.floats(0, 1), threads=st.integers(2, 4))
def test_a_row_depends_on_its_candidate_alone(name, device, seed, cut, threads):
    reads = reads_of(texts_of(seed))
    candidates = candidates_of(reads)
    whole = extended(name, device, reads, candidates)
    assert_same(whole, extended(name, device, reads, candidates, threads))
    at = round(cut * len(candidates))
    rows = np.arange(len(candidates))
    second = extended(name, device, reads, candidates.take(rows[at:]), threads)
    first = extended(name, device, reads, candidates.take(rows[:at]))
    assert_same(whole, Overlaps.concat([first, second]))
    backwards = extended(name, device, reads, candidates.take(rows[::-1]), threads)
    assert_same(whole, backwards.take(np.arange(len(backwards))[::-1]))


def mirrored(table, lengths, seed_length):
    """Return candidates as they are when every second read, the target, is reverse-complemented."""
    t_length = lengths[table.target]
    counts = np.diff(table.hit_offsets)
    hit_target = np.repeat(t_length, counts) - seed_length - table.hit_target_pos
    order = np.lexsort((hit_target, table.hit_query_pos, np.repeat(np.arange(len(table)), counts)))
    seeding, positions = table.seeding, []
    for read in range(len(seeding)):
        of_read = seeding.positions[seeding.starts[read] : seeding.starts[read + 1]]
        positions.append(np.sort(lengths[read] - seed_length - of_read) if read % 2 else of_read)
    return dataclasses.replace(
        table,
        reverse=~table.reverse,
        target_pos=t_length - seed_length - table.target_pos,
        hit_target_pos=hit_target[order],
        seeding=seeding_at(seeding.sketched, np.concatenate(positions), seeding.starts, seeding.word_offsets),
    )


@every_extender
@settings(max_examples=tries(40), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_the_other_strand_of_a_target_mirrors_the_result(name, device, seed):
    texts = texts_of(seed)
    reads = reads_of(texts)
    flipped = reads_of([reverse_complement(t) if i % 2 else t for i, t in enumerate(texts)])
    candidates = candidates_of(reads)
    candidates = candidates.take((candidates.query % 2 == 0) & (candidates.target % 2 == 1))
    one = extended(name, device, reads, candidates)
    other = extended(name, device, flipped, mirrored(candidates, reads.lengths, candidates.seed_length))
    t_length = reads.lengths[one.target]
    assert_same(
        one,
        dataclasses.replace(
            other, reverse=~other.reverse, t_start=t_length - other.t_end, t_end=t_length - other.t_start
        ),
    )


@every_extender
def test_a_dovetail_is_found_from_end_to_end(name, device):
    genome = random_text(np.random.default_rng(2), 3000)
    texts = [genome[:2000], genome[800:], reverse_complement(genome[400:2400])]
    reads = reads_of(texts)
    candidates = candidates_of(reads)
    found = extended(name, device, reads, candidates.take(candidates.seeds > 200))
    rows = [
        (0, 1, False, 800, 2000, 0, 1200),
        (0, 2, True, 400, 2000, 400, 2000),
        (1, 2, True, 0, 1600, 0, 1600),
    ]
    columns = found.query, found.target, found.reverse, found.q_start, found.q_end, found.t_start, found.t_end
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == rows


@every_extender
def test_unknown_bases_match_nothing(name, device):
    rng = np.random.default_rng(3)
    genome = random_text(rng, 1200)
    hidden = genome[:600] + "N" * 40 + genome[640:]
    reads = reads_of([hidden, hidden])
    found = extended(name, device, reads, candidates_of(reads))
    if name == "exact":
        assert len(found) == 0
        return
    assert found.score[0] <= 1160 - 40 * (name in ALIGNING)
    assert (found.q_start[0], found.q_end[0]) == (0, 1200)


@every_extender
@pytest.mark.parametrize("texts", [[], ["ACGTTGCA" * 30], ["", "N" * 40]])
@pytest.mark.parametrize("threads", [1, 3])
def test_no_candidates_give_no_overlaps(name, device, texts, threads):
    reads = reads_of(texts)
    assert len(extended(name, device, reads, candidates_of(reads), threads)) == 0
    reads = reads_of(texts_of(5))
    nothing = candidates_of(reads).take(np.empty(0, np.int64))
    assert len(extended(name, device, reads, nothing, threads)) == 0


@every_aligner
def test_alignments_need_the_starting_seed_alone(name, device):
    reads = reads_of(texts_of(6))
    found = candidates_of(reads)
    bare = dataclasses.replace(found, hit_query_pos=None, hit_target_pos=None, hit_offsets=None, seeding=None)
    assert_same(extended(name, device, reads, found), extended(name, device, reads, bare))


@every_aligner
@pytest.mark.parametrize("column", ["query_pos", "target_pos"])
@pytest.mark.parametrize("outside", [-1, 10_000])
def test_seeds_outside_their_reads_are_refused(name, device, column, outside):
    reads = reads_of(texts_of(7))
    found = candidates_of(reads)
    wrong = dataclasses.replace(found, **{column: np.full(len(found), outside)})
    with (
        pytest.raises(ParameterError, match="candidate 0"),
        extender_on(name, device, reads) as extend,
    ):
        extend(reads, wrong, getattr(PARAMS, name), 1)


@pytest.mark.parametrize(("name", "params"), [("chain", ChainParams()), ("exact", None)])
def test_some_extenders_need_the_seeds(name, params):
    bare = dataclasses.replace(Candidates.empty(), seed_length=11)
    with pytest.raises(ParameterError, match="carry their seeds"):
        extender(name)(reads_of(["A"]), bare, params, 1)


def test_an_unknown_extender_is_refused():
    with pytest.raises(ParameterError, match="'none', expected one of chain, xdrop, gact, exact"):
        extender("none")
