"""The simulator: reads are what their truth says."""

import dataclasses
import math

import edlib
import numpy as np
import pytest

from overlapper.errors import EmptyInputError, ParameterError
from overlapper.simulate import (
    PRESETS,
    adapted_model,
    generate_reads,
    random_genome,
    simulate_reads,
)
from overlapper.simulate.bits import Bits, Stream
from overlapper.simulate.errors import burst_factors, homopolymer_weight, phred, sequence
from overlapper.tables import Reads

LETTERS = np.frombuffer(b"ACGT", np.uint8)
KIND = sorted(name for name in PRESETS if name != "perfect" and not name.startswith("real-"))


def text(codes):
    return LETTERS[codes].tobytes().decode()


def template_of(row, references):
    codes = references.codes(references.names.index(row.ref))
    bases = np.concatenate([codes, codes])[row.start : row.end]
    return 3 - bases[::-1] if row.strand == "-" else bases


@pytest.mark.parametrize("circular", [False, True])
def test_perfect_reads_are_pieces_of_their_reference(circular):
    references = Reads.from_sequences(
        ["a", "b"], [random_genome(size, seed).sequence(0) for size, seed in ((30_000, 1), (9_000, 2))]
    )
    model = adapted_model("perfect", mean_length=3000, chimeras=0.2, adapters=0.5)
    reads = list(generate_reads(references, model, coverage=60, circular=circular))
    seen = set()
    for read in reads:
        at = read.truth[0].qstart
        assert text(read.codes[:at]) in ("", model.head_adapter)
        for row in read.truth:
            assert row.qstart == at
            assert row.read_len == len(read.codes)
            assert np.array_equal(read.codes[row.qstart : row.qend], template_of(row, references))
            assert row.identity == 1
            assert row.kind == ("chimera" if len(read.truth) == 2 else "normal")
            size = references.lengths[references.names.index(row.ref)]
            assert 0 <= row.start < size
            through_origin = row.end > size
            assert circular or not through_origin
            seen.add((row.ref, row.strand, row.kind, at > 0, through_origin))
            at = row.qend
        assert at == len(read.codes)
    assert [len(set(values)) for values in zip(*seen, strict=True)] == [2, 2, 2, 2, 1 + circular]


@pytest.mark.parametrize("preset", ["hifi", "clr", "ont-r7", "ont-r9", "ont-r10"])
def test_identities_are_those_of_alignments_to_the_reference(preset):
    references = random_genome(40_000)
    reads, truth = simulate_reads(references, adapted_model(preset, mean_length=2000), coverage=5)
    gains = []
    for number, row in zip(truth.read, truth.rows(), strict=True):
        if row.kind != "normal":
            continue
        read = reads.codes(reads.names.index(number))[row.qstart : row.qend]
        found = edlib.align(text(read), text(template_of(row, references)), mode="NW", task="path")
        columns = sum(int(n) for n in "".join(c if c.isdigit() else " " for c in found["cigar"]).split())
        gains.append(1 - found["editDistance"] / columns - row.identity)
    # An alignment of least cost has no more differences than the simulated one, and seldom many fewer.
    assert min(gains) > -0.02
    assert 0 <= np.mean(gains) < 0.25 * (1 - PRESETS[preset].identity)


@pytest.mark.parametrize("preset", KIND)
def test_reads_follow_their_model(preset):
    model = PRESETS[preset]
    rows = [row for read in generate_reads(random_genome(2_000_000), preset, coverage=4, circular=True)
            for row in read.truth]  # fmt: skip
    normal = [row for row in rows if row.kind == "normal"]
    error = 1 - np.mean([row.identity for row in normal])
    assert error == pytest.approx(1 - model.identity, rel=0.05)
    assert np.std([row.identity for row in normal]) == pytest.approx(model.identity_sd, rel=0.15)
    lengths = [row.end - row.start for row in normal]
    assert np.mean(lengths) == pytest.approx(model.mean_length, rel=0.15)
    assert np.std(lengths) == pytest.approx(model.length_sd, rel=0.25)
    assert np.mean([row.strand == "+" for row in normal]) == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("circular", [False, True])
def test_coverage_is_as_asked_and_level_up_to_the_ends(circular):
    size = 50_000
    model = adapted_model("perfect", mean_length=4000, length_sd=0)
    _, truth = simulate_reads(random_genome(size), model, coverage=60, circular=circular)
    placed = int((truth.end - truth.start).sum())
    assert 60 * size <= placed < 60 * size + 4000
    depth = np.zeros(2 * size, int)
    for start, end in zip(truth.start, truth.end, strict=True):
        depth[start:end] += 1
    depth = depth[:size] + depth[size:]
    thousands = depth.reshape(-1, 1000).mean(axis=1)
    inner = thousands if circular else thousands[1:-1]
    assert inner.min() > 0.55 * 60
    assert inner.max() < 1.45 * 60


def one_kind(kind):
    shares = dict.fromkeys(("substitutions", "insertions", "deletions"), 0.0)
    changes = {**shares, kind: 1.0, "burst": 0.0, "homopolymer": 0.0}
    return dataclasses.replace(PRESETS["clr"], **changes)


def test_each_kind_of_error_changes_the_read_as_it_says():
    bits = Bits(Stream.READ, 1)
    template = bits.bases(20_000)
    read = sequence(template, 0.9, one_kind("substitutions"), bits)
    assert len(read.codes) == 20_000
    assert read.identity == (read.codes == template).mean() == pytest.approx(0.9, abs=0.01)

    read = sequence(template, 0.9, one_kind("deletions"), bits)
    assert read.identity == len(read.codes) / 20_000 == pytest.approx(0.9, abs=0.01)
    assert edlib.align(text(read.codes), text(template), mode="NW")["editDistance"] == 20_000 - len(
        read.codes
    )

    read = sequence(template, 0.9, one_kind("insertions"), bits)
    assert read.identity == 20_000 / len(read.codes) == pytest.approx(0.9, abs=0.01)
    assert (
        edlib.align(text(read.codes), text(template), mode="NW")["editDistance"] == len(read.codes) - 20_000
    )


def test_insertions_in_homopolymers_make_them_longer():
    model = dataclasses.replace(one_kind("insertions"), homopolymer=1.0)
    read = sequence(np.full(5000, 2, np.uint8), 0.9, model, Bits(Stream.READ, 1))
    assert len(read.codes) > 5000
    assert set(read.codes) == {2}


def test_indels_prefer_long_runs_and_the_rate_stays():
    bits = Bits(Stream.READ, 1)
    runs = np.repeat(bits.bases(4000), np.tile([1, 8], 2000))
    model = dataclasses.replace(one_kind("deletions"), homopolymer=2.0)
    read = sequence(runs, 0.9, model, bits)
    assert read.identity == pytest.approx(0.9, abs=0.01)
    weight = homopolymer_weight(np.array([0, 1, 1, 2, 2, 2, 3, 3, 3, 3] + [0] * 9, np.uint8), 2.0)
    assert weight.tolist() == [1, 1, 1, 2, 2, 2, 3, 3, 3, 3] + [7] * 9


def test_burst_factors_have_mean_one():
    for sd in (0.0, 0.3, 0.6):
        factors = burst_factors(sd)
        assert factors.mean() == pytest.approx(1, abs=1e-3)
        assert np.log(factors).std() == pytest.approx(sd, abs=0.02)


def test_qualities_are_phred_scores_of_the_rate():
    assert phred(np.array([0.0, 0.001, 0.1, 0.9], np.float32)).tolist() == [50, 30, 10, 1]
    reads, _ = simulate_reads(random_genome(20_000), "ont-r9", coverage=5)
    promised = (10 ** (-reads.qualities.astype(float) / 10)).mean()
    assert promised == pytest.approx(1 - PRESETS["ont-r9"].identity, rel=0.3)


def test_junk_has_no_place():
    _, truth = simulate_reads(
        random_genome(20_000), adapted_model("hifi", junk=0.5, mean_length=2000), coverage=5
    )
    junk = truth.kind == "junk"
    assert 0.2 < junk.mean() < 0.8
    assert set(truth.ref[junk]) == {"*"}
    assert set(truth.ref[~junk]) == {"genome"}


def test_same_seed_same_reads_and_no_read_depends_on_another():
    references = random_genome(20_000)

    def draw(seed, coverage):
        return [
            (r.name, r.codes.tobytes(), r.truth)
            for r in generate_reads(references, seed=seed, coverage=coverage)
        ]

    assert draw(1, 8) == draw(1, 8)
    assert draw(1, 8)[: len(draw(1, 4))] == draw(1, 4)
    assert not {codes for _, codes, _ in draw(1, 8)} & {codes for _, codes, _ in draw(2, 8)}


def test_unknown_reference_bases_are_replaced():
    references = Reads.from_sequences(["n"], ["ACGT" * 1000 + "N" * 4000])
    reads, _ = simulate_reads(references, "perfect", coverage=5)
    assert len(reads.unknown_start) == 0


def test_planted_repeats_do_not_overlap_and_diverge_as_asked():
    length = 500
    genome = random_genome(10_000, repeat_copies=15, repeat_length=length, repeat_divergence=0.1).sequence(0)
    element = text(_element(10_000, length))
    reverse = element[::-1].translate(str.maketrans("ACGT", "TGCA"))
    places = []
    for _ in range(15):
        found = min((edlib.align(e, genome, mode="HW", task="locations") for e in (element, reverse)),
                    key=lambda hit: hit["editDistance"])  # fmt: skip
        assert 0 < found["editDistance"] < 0.17 * length
        start, end = found["locations"][0]
        places.append(start)
        genome = genome[:start] + "N" * (end + 1 - start) + genome[end + 1 :]
    assert genome.count("N") == pytest.approx(15 * length, abs=60)


def _element(size, length):
    bits = Bits(Stream.GENOME, 1)
    bits.bases(size)
    return bits.bases(length)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "sanger"}, "preset is 'sanger', expected one of hifi, clr"),
        ({"coverage": 0}, "coverage is 0, expected a number above 0"),
        ({"coverage": math.inf}, "coverage is inf"),
        ({"coverage": 1e308}, r"coverage is 1e\+308, expected a number above 0, 1,000,000 at most"),
        ({"coverage": math.nan}, "coverage is nan"),
        ({"seed": -1}, "seed is -1, expected 0 or more"),
    ],
)
def test_bad_options_are_told(options, message):
    with pytest.raises(ParameterError, match=message):
        simulate_reads(random_genome(1000), **options)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"length_model": "normal"}, "length_model is normal, expected gamma or lognormal"),
        ({"identity": 0.4}, "identity is 0.4, expected 0.5 to"),
        ({"identity_sd": 0.5}, "identity_sd is 0.5, expected below 0.2337 for"),
        ({"mean_length": 100.0}, "mean_length is 100.0, expected at least min_length, 500"),
        ({"junk": 1.0}, "junk is 1.0, expected below 1"),
        ({"junk": 0.5, "chimeras": 0.6}, "chimeras is 0.6, expected at most 1 together with junk"),
        ({"deletions": 0.9}, "add up to 1.45"),
        ({"burst": -1.0}, "burst is -1.0, expected 0 or more"),
    ],
)
def test_bad_models_are_told(changes, message):
    with pytest.raises(ParameterError, match=message):
        dataclasses.replace(PRESETS["ont-r9"], **changes)


def test_a_new_mean_takes_its_deviation_along():
    model = adapted_model("ont-r9", mean_length=5000, identity=0.955)
    assert model.length_sd == pytest.approx(4500)
    assert model.identity_sd == pytest.approx(0.015)
    assert model.max_identity == pytest.approx(0.985)
    assert adapted_model("ont-r9", identity=0.955, identity_sd=0.001).identity_sd == 0.001
    assert adapted_model("perfect", identity=0.9).identity_sd == 0
    assert adapted_model("ont-r9", identity=1.0).identities().draw(Bits(Stream.READ, 1)) == 1


def test_no_references_are_told():
    with pytest.raises(EmptyInputError, match="the references hold no bases"):
        simulate_reads(Reads.empty())
    with pytest.raises(ParameterError, match="do not fit into a genome of 100 bases"):
        random_genome(100, repeat_copies=3, repeat_length=50)
    with pytest.raises(ParameterError, match="genome size is 0"):
        random_genome(0)
