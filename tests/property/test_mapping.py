"""Mapping equals its oracle."""

import dataclasses
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper.mapping.mapper import map_reads
from overlapper.params.mapping import AnchorChainParams, ChoiceParams, MapParams, SeedParams
from overlapper.params.scoring import Scoring
from overlapper.params.stages import SketchParams
from tests.oracle import mapping as oracle
from tests.read_sets import mutated, random_text, reads_of, reverse_complement
from tests.tries import tries

COLUMNS = (
    "target", "reverse", "q_start", "q_end", "t_start", "t_end", "matches", "block_length", "gaps",
    "score", "chain_score", "second_score", "seeds", "kind", "quality",
)  # fmt: skip
PARAMS = st.builds(
    MapParams,
    sketch=st.builds(SketchParams, kmer_length=st.integers(8, 11), window=st.integers(1, 6)),
    seeds=st.builds(SeedParams, hit_limit=st.sampled_from([2, 5, 50])),
    chain=st.builds(
        AnchorChainParams,
        look_back=st.sampled_from([1, 5, 64]),
        max_gap=st.sampled_from([20, 100, 5000]),
        bandwidth=st.sampled_from([0, 10, 500]),
        gap_cost=st.sampled_from([0, 38, 300]),
        distance_cost=st.sampled_from([0, 1, 20]),
        doubling_cost=st.sampled_from([0, 128]),
        min_seeds=st.integers(1, 3),
        min_score=st.sampled_from([9, 20, 40]),
    ),
    choice=st.builds(
        ChoiceParams,
        mask_level=st.sampled_from([1, 50, 100]),
        secondary_ratio=st.sampled_from([0, 80, 100]),
        most_secondary=st.integers(0, 3),
        min_score=st.sampled_from([1, 20, 60]),
    ),
    scoring=st.sampled_from(
        [MapParams().scoring, Scoring(match=1, mismatch=-1, unknown=-1, gap_open=0, gap_extend=-1)]
    ),
    end_bonus=st.sampled_from([0, 10]),
    drop=st.sampled_from([0, 60, 400]),
)


def case(seed):
    """A reference of two sequences that share a repeat, and reads of it, some of several pieces."""
    rng = np.random.default_rng(seed)
    repeat = random_text(rng, 150)
    one = random_text(rng, 400) + repeat + random_text(rng, 200) + mutated(rng, repeat, 0.03)
    other = random_text(rng, 150) + "N" * 20 + random_text(rng, 100) + reverse_complement(repeat) * 2
    reads = ["", "ACGT", random_text(rng, 200), "N" * 60]
    for _ in range(5):
        source = one if rng.random() < 0.6 else other
        start = int(rng.integers(0, len(source) - 100))
        text = mutated(rng, source[start : start + int(rng.integers(60, 500))], 0.12 * rng.random())
        if rng.random() < 0.3:
            start = int(rng.integers(0, len(one) - 200))
            text += random_text(rng, int(rng.integers(0, 300))) + reverse_complement(one[start : start + 150])
        if rng.random() < 0.2:
            text = text[:30] + "N" * 5 + text[30:]
        reads.append(reverse_complement(text) if rng.random() < 0.5 else text)
    for flank in (60, 90):
        start, end = int(rng.integers(100, 150)), int(rng.integers(330, 390))
        text = one[start - flank : start] + reverse_complement(one[start:end]) + one[end : end + flank]
        reads.append(reverse_complement(text) if rng.random() < 0.5 else text)
    return [one, "", other], reads


def letters_of(mappings, row):
    runs = mappings.cigar[mappings.cigar_offsets[row] : mappings.cigar_offsets[row + 1]].tolist()
    assert all(run >> 4 for run in runs)
    assert all(a & 15 != b & 15 for a, b in pairwise(runs))
    return "".join("MIDNSHP=X"[run & 15] * (run >> 4) for run in runs)


@settings(max_examples=tries(8), deadline=None)
@given(seed=st.integers(0, 2**32), params=PARAMS)
def test_minimizers_and_edits_equal_the_oracle(seed, params):
    reference, reads = case(seed)
    mappings = map_reads(reads_of(reference), reads_of(reads), params, threads=1).validate()
    ends = vars(params.scoring) | {"end_bonus": params.end_bonus, "drop": params.drop}
    row = 0
    for number, read in enumerate(reads):
        anchors = oracle.minimizer_anchors(
            read, reference, params.sketch.kmer_length, params.sketch.window, params.seeds.hit_limit,
            params.seeds.MOST_ANCHORS,
        )  # fmt: skip
        expected = oracle.map_read(
            read, reference, anchors, lambda query, target, chain: oracle.edits(query, target, chain, ends),
            vars(params.chain), vars(params.choice), ends,
        )  # fmt: skip
        for entry in expected:
            assert mappings.query[row] == number
            assert {name: getattr(mappings, name)[row] for name in COLUMNS} == {
                name: entry[name] for name in COLUMNS
            }
            assert letters_of(mappings, row) == entry["letters"]
            row += 1
    assert row == len(mappings)


def test_long_ends_equal_the_oracle():
    """Ends of several tiles: of good and of bad sequence, up to the end of read or reference, and clipped."""
    rng = np.random.default_rng(5)
    reference = random_text(rng, 1600)
    # All k-mers outside the middle are masked by being repeated, so that both ends are long.
    decoy = reference[:700] + "N" + reference[800:]
    reads = [
        mutated(rng, reference[50:1550], 0.1),
        random_text(rng, 600) + reference[700:1100] + random_text(rng, 500),
        random_text(rng, 300) + reference,
        reverse_complement(mutated(rng, reference[300:], 0.05)) + "ACG",
    ]
    params = dataclasses.replace(
        MapParams(),
        sketch=SketchParams(kmer_length=11, window=3),
        seeds=SeedParams(hit_limit=1),
        chain=AnchorChainParams(min_seeds=1),
    )
    texts = [reference, decoy]
    mappings = map_reads(reads_of(texts), reads_of(reads), params, threads=1)
    ends = vars(params.scoring) | {"end_bonus": params.end_bonus, "drop": params.drop}
    found = 0
    for number, read in enumerate(reads):
        anchors = oracle.minimizer_anchors(read, texts, 11, 3, 1, 1024)
        expected = oracle.map_read(
            read, texts, anchors, lambda query, target, chain: oracle.edits(query, target, chain, ends),
            vars(params.chain), vars(params.choice), ends,
        )  # fmt: skip
        rows = np.flatnonzero(mappings.query == number)
        assert [letters_of(mappings, row) for row in rows] == [entry["letters"] for entry in expected]
        found += len(rows)
    assert found >= 4


def test_nothing_depends_on_threads_or_blocks(monkeypatch):
    reference, reads = case(11)
    params = MapParams(sketch=SketchParams(kmer_length=9, window=2), chain=AnchorChainParams(min_seeds=2))
    whole = map_reads(reads_of(reference), reads_of(reads), params, threads=1)
    monkeypatch.setattr("overlapper.mapping.mapper.BLOCK_BASES", 300)
    blocks = map_reads(reads_of(reference), reads_of(reads), params, threads=3)
    assert len(whole) >= 5
    for field in dataclasses.fields(whole):
        np.testing.assert_array_equal(getattr(whole, field.name), getattr(blocks, field.name))
