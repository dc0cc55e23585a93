"""Depth of reads before overlaps are found, and what is kept of deep molecules."""

import dataclasses
import functools

import numpy as np
import pytest

from overlapper.correction.polish import Unitigs
from overlapper.correction.voting_rows import LOOKED_AT
from overlapper.kernels.seeds import read_depth
from overlapper.params.assembly import AssembleParams
from overlapper.params.correction import POLISHING_THRESHOLDS, CorrectParams
from overlapper.simulate import adapted_model, simulate_reads
from overlapper.sketch.canonical import canonical_order
from overlapper.sketch.depth import RARE, RARER, ChosenReads, groups
from overlapper.sketch.estimates import estimate_errors
from overlapper.tables import Reads
from tests.oracle import read_depth as oracle
from tests.oracle.strands import reverse_complement
from tests.read_sets import columns_of, mutated, random_text
from tests.steps import assemble_reads, correct, polish

PLASMID = random_text(np.random.default_rng(1), 3_000)
LIMIT = 60


def drawn(text, preset, coverage, seed, name, mean_length=2_500, **changes):
    """Reads of a circle, at most once round it, with names that tell what they are of."""
    model = adapted_model(preset, mean_length=mean_length, **changes)
    genome = Reads.from_sequences(["circle"], [text])
    reads, _ = simulate_reads(genome, model, coverage=coverage, seed=seed, circular=True)
    return [(f"{name}{i}", reads.sequence(i)[: len(text)]) for i in range(len(reads))]


def as_reads(pairs):
    return Reads.from_sequences(*(list(column) for column in zip(*pairs, strict=True)))


def in_canonical_order(reads):
    return reads.take(canonical_order(reads))


@functools.cache
def deep_set(preset):
    """A plasmid at 400x, a relative of it at 20x, a chromosome at 15x."""
    rng = np.random.default_rng(2)
    relative = mutated(rng, PLASMID, 0.05)
    parts = [
        *drawn(PLASMID, preset, 400, 3, "plasmid"),
        *drawn(relative, preset, 20, 4, "relative"),
        *drawn(random_text(rng, 40_000), preset, 15, 5, "chromosome", mean_length=5_000),
    ]
    return in_canonical_order(as_reads(parts))


def chosen(reads, limit=LIMIT, threads=1):
    return ChosenReads.of(reads, estimate_errors(reads)[1], limit, threads)


def bases_of(reads, name, mask):
    of_name = np.array([given.startswith(name) for given in reads.names])
    return int(reads.lengths[of_name & mask].sum())


@pytest.mark.parametrize(("preset", "most"), [("hifi", 1.2), ("ont-r10", 1.2), ("ont-r9", 1.3), ("clr", 2.0)])
def test_of_each_molecule_hardly_more_is_kept_than_the_limit(preset, most):
    # Of CLR reads some have so many errors that it is not seen of what they are.
    reads = deep_set(preset)
    kept = chosen(reads).kept
    assert 0.9 < bases_of(reads, "plasmid", kept) / (LIMIT * len(PLASMID)) < most
    everything = np.ones(len(reads), bool)
    assert bases_of(reads, "chromosome", kept) == bases_of(reads, "chromosome", everything)


@pytest.mark.parametrize(("preset", "least"), [("hifi", 1.0), ("ont-r10", 0.8)])
def test_a_rare_relative_of_a_deep_molecule_stays(preset, least):
    reads = deep_set(preset)
    everything = np.ones(len(reads), bool)
    kept = bases_of(reads, "relative", chosen(reads).kept)
    assert kept >= least * bases_of(reads, "relative", everything)


def test_better_reads_of_a_deep_molecule_are_kept_first():
    """As many bases are kept as without bad reads."""
    good = drawn(PLASMID, "ont-r10", 400, 3, "good")
    bad = drawn(PLASMID, "ont-r10", 200, 4, "bad", identity=0.8, identity_sd=0.01)
    reads = in_canonical_order(as_reads(good + bad))
    found, everything = chosen(reads), np.ones(len(reads), bool)
    share = {
        name: bases_of(reads, name, found.kept) / bases_of(reads, name, everything)
        for name in ("good", "bad")
    }
    assert share["good"] > 2 * share["bad"]
    kept = bases_of(reads, "", found.kept) / len(PLASMID)
    assert 0.8 * LIMIT < kept < 1.3 * LIMIT


def test_depth_is_that_of_the_bases():
    reads = deep_set("hifi")
    found = chosen(reads)
    of_plasmid = np.array([name.startswith("plasmid") for name in reads.names])
    depth = bases_of(reads, "plasmid", of_plasmid) / len(PLASMID)
    assert abs(np.median(found.depth[of_plasmid]) - depth) < 0.06 * depth
    weights = found.weights()
    all_bases = int(reads.lengths.sum())
    assert abs(weights @ reads.lengths[found.kept] - all_bases) < 0.1 * all_bases


def test_sets_that_are_not_deeper_stay_as_they_are():
    reads = in_canonical_order(as_reads(drawn(PLASMID, "ont-r10", 50, 1, "plasmid")))
    found = chosen(reads)
    assert found.kept.all()
    assert not found.depth.any()
    assert [len(members) for members in groups(reads, estimate_errors(reads)[1], LIMIT, 1)] == [len(reads)]


def test_all_are_kept_where_no_limit_is_asked_for():
    assert chosen(deep_set("hifi"), limit=0).kept.all()


def test_copies_of_a_repeat_stay_where_reads_show_what_lies_beside_it():
    rng = np.random.default_rng(6)
    repeat = random_text(rng, 1_500)
    genome = "".join(random_text(rng, 3_000) + repeat for _ in range(16))
    reads = in_canonical_order(as_reads(drawn(genome, "hifi", 10, 7, "genome", mean_length=5_000)))
    assert chosen(reads).kept.all()


def test_an_array_stays_and_a_circle_that_reads_go_round_twice_does_not():
    rng = np.random.default_rng(13)
    unit = random_text(rng, 1_000)
    array = "".join(mutated(rng, unit, 0.01) for _ in range(40))
    parts = [
        *drawn(array, "hifi", 20, 14, "array", mean_length=5_000),
        *drawn(7 * PLASMID[:1_200], "hifi", 80, 15, "plasmid", mean_length=4_000),
    ]
    reads = in_canonical_order(as_reads(parts))
    kept, everything = chosen(reads).kept, np.ones(len(reads), bool)
    assert bases_of(reads, "array", kept) > 0.95 * bases_of(reads, "array", everything)
    assert bases_of(reads, "plasmid", kept) < 0.2 * bases_of(reads, "plasmid", everything)


def test_telomeres_of_equal_units_are_no_deep_molecule():
    """Reads that hardly reach beyond them have the same few k-mers all along."""
    rng = np.random.default_rng(15)
    chromosome = random_text(rng, 25_000) + "TTAGGG" * 850
    starts = rng.integers(-3_000, len(chromosome) - 1_000, 300)
    texts = (chromosome[max(start, 0) : start + 4_000] for start in starts.tolist())
    reads = in_canonical_order(
        as_reads([(f"r{i}", mutated(rng, text, 0.002)) for i, text in enumerate(texts)])
    )
    assert chosen(reads).kept.all()


def test_what_is_kept_depends_on_bases_alone():
    reads = deep_set("ont-r10")
    kept = set(reads.take(np.flatnonzero(chosen(reads).kept)).names)
    shuffled = reads.take(np.random.default_rng(8).permutation(len(reads)))
    again = in_canonical_order(shuffled)
    found = chosen(again, threads=3)
    assert set(again.take(np.flatnonzero(found.kept)).names) == kept


def test_of_equal_reads_a_share_is_kept():
    same = [(f"same{i}", PLASMID) for i in range(600)]
    reads = in_canonical_order(as_reads([*same, *drawn(PLASMID, "hifi", 100, 9, "other")]))
    kept = chosen(reads).kept
    assert 0.05 < bases_of(reads, "same", kept) / (600 * len(PLASMID)) < 0.13


def test_groups_are_as_deep_as_each_other_and_have_all_reads():
    reads = deep_set("ont-r10")
    found = groups(reads, estimate_errors(reads)[1], LIMIT, 1)
    assert np.array_equal(np.sort(np.concatenate(found)), np.arange(len(reads)))
    assert len(found) in (7, 8)
    for members in found[1:]:
        bases = reads.lengths[members].sum() / len(PLASMID)
        assert 0.6 * LIMIT < bases < 1.2 * LIMIT


@pytest.mark.parametrize("seed", range(20))
def test_multiplicities_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    molecules = [np.arange(start, start + 300) for start in (0, 200, 1_000)]
    reads = []
    for _ in range(120):
        molecule = molecules[rng.integers(3) if rng.random() < 0.3 else 0]
        start = int(rng.integers(0, 290))
        read = molecule[start : start + int(rng.integers(1, 250))].copy()
        if rng.random() < 0.2:
            read = np.tile(read[:100], 3) if rng.random() < 0.7 else np.tile(read[:9], 24)
        wrong = rng.random(len(read)) < 0.2 * rng.random()
        read[wrong] = rng.integers(1_500, 2_000, int(wrong.sum()))
        reads.append(read.tolist())
    reads.append([])
    least = int(rng.integers(3, 30))
    sure = np.maximum(1, np.arange(2 * read_depth.STRETCH) * 7 // 10)
    wanted = np.maximum(2, np.arange(2 * read_depth.STRETCH) // 8)
    slots = np.array([sample for read in reads for sample in read], np.uint32)
    first = np.concatenate([[0], np.cumsum([len(read) for read in reads])])
    table, among = np.zeros(2_000, np.uint32), np.zeros(2_000, np.uint32)
    read_depth.count(slots, table)
    read_depth.count_where_deep(slots, first, table, least, sure, among)
    out, known = np.empty(len(reads), np.uint32), np.empty(len(reads), np.float32)
    relatives = np.array([[0.25, RARE], [0.4, RARER]])
    read_depth.multiplicities(slots, first, table, least, wanted, among, 0.3, relatives, out, known)
    expected, shares = oracle.multiplicities(
        reads, read_depth.STRETCH, least, sure.__getitem__, wanted.__getitem__, 0.3, relatives.tolist()
    )
    assert out.tolist() == expected
    assert np.allclose(known, shares)
    assert any(expected)


@functools.cache
def plasmid_reads(coverage, preset="ont-r10"):
    return as_reads(drawn(PLASMID, preset, coverage, 10, "plasmid"))


def is_plasmid(sequence):
    twice = 2 * PLASMID
    return len(sequence) == len(PLASMID) and (sequence in twice or reverse_complement(sequence) in twice)


@pytest.mark.parametrize("preset", ["ont-r10", "ont-r9"])
def test_a_deep_plasmid_is_one_circle_of_its_depth(preset):
    reads = plasmid_reads(600, preset)
    made = assemble_reads(reads, AssembleParams(depth=LIMIT))
    assert made.contigs.circular.tolist() == [True]
    assert is_plasmid(made.contigs.sequences.sequence(0))
    # Reads too short for the layout are not in its depth: of R9 reads, most of those of this plasmid.
    assert {"ont-r10": 480, "ont-r9": 240}[preset] < made.contigs.depth[0] < 660
    facts = next(stage.facts for stage in made.stages if stage.name == "depth")
    assert facts["depth kept"] == LIMIT
    assert 6 < len(reads) / (len(reads) - facts["reads set aside"]) < 12
    assert f"{facts['reads set aside']:,} reads" in made.set_aside()[0]


def test_correction_finds_overlaps_within_groups_and_corrects_all_reads():
    reads = plasmid_reads(400)
    made = correct(reads, params=CorrectParams(depth=LIMIT))
    assert made.funnel["groups"] in (7, 8)
    assert made.funnel["round 1: overlaps"] < 0.75 * LIMIT * len(reads)
    assert len(made.reads) == len(reads)
    assert made.reads.names == reads.names
    twice = 2 * PLASMID
    exact = [
        sequence in twice or reverse_complement(sequence) in twice
        for sequence in map(made.reads.sequence, range(len(reads)))
    ]
    assert np.mean(exact) > 0.9


def test_reads_beyond_the_limit_do_not_polish():
    draft = mutated(np.random.default_rng(11), PLASMID, 0.01)
    unitigs = Unitigs(Reads.from_sequences(["1c"], [draft]), np.array([True]))
    params = CorrectParams(rounds=1, thresholds=POLISHING_THRESHOLDS, depth=LIMIT)
    made = polish(unitigs, plasmid_reads(400), params)
    assert is_plasmid(made.unitigs.sequences.sequence(0))
    assert made.funnel["round 1: reads on windows"] < 0.4 * len(plasmid_reads(400))
    everything = polish(unitigs, plasmid_reads(400), dataclasses.replace(params, depth=0))
    assert columns_of(everything.unitigs.sequences) != columns_of(made.unitigs.sequences)


def test_errors_in_a_deep_molecule_do_not_hide_its_depth():
    reads = in_canonical_order(as_reads(drawn(PLASMID[:1_500], "ont-r9", 4_000, 12, "plasmid", 1_500)))
    found = chosen(reads)
    assert np.median(found.depth) > 0.8 * reads.total_bases / 1_500
    assert reads.lengths[found.kept].sum() < 2.5 * LIMIT * 1_500


@functools.cache
def with_bad_reads():
    """A plasmid at 2,000x, whose reads are as bad as real ones, and a chromosome at 12x with parts of it."""
    rng = np.random.default_rng(16)
    genome = "".join(random_text(rng, 5_000) + PLASMID[start : start + 800] for start in (0, 700, 1_400))
    parts = [
        *drawn(PLASMID, "real-ont", 2_000, 17, "plasmid", 3_000, bad_heads=0.0, junk=0.0),
        *drawn(genome, "real-ont", 12, 18, "chromosome", 6_000),
    ]
    return in_canonical_order(as_reads(parts))


def test_bad_reads_of_a_deep_molecule_are_deep_and_those_that_go_on_elsewhere_are_not():
    reads = with_bad_reads()
    is_deep = chosen(reads).depth > 0
    of_plasmid = np.array([name.startswith("plasmid") for name in reads.names])
    assert np.mean(is_deep[of_plasmid]) > 0.99
    assert reads.lengths[is_deep & ~of_plasmid].sum() < 0.1 * reads.lengths[~of_plasmid].sum()


def test_as_many_reads_are_kept_as_votes_look_at():
    assert CorrectParams().depth == LOOKED_AT * CorrectParams().max_depth
    assert AssembleParams().depth == CorrectParams().depth
