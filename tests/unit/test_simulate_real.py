"""What makes simulated reads as unkind as real ones: bad stretches, reads and ends, missed adapters."""

import dataclasses
import math

import numpy as np
import pytest

from overlapper.errors import ParameterError
from overlapper.simulate import PRESETS, adapted_model, random_genome, simulate_reads
from overlapper.simulate.bits import Bits, Stream
from overlapper.simulate.errors import LONGEST_STALL, bad_errors, sequence, stall_lengths
from overlapper.simulate.reads import generate_reads
from overlapper.tables import Reads
from tests.unit.test_simulate import template_of

PERFECT = PRESETS["perfect"]
REAL = sorted(name for name in PRESETS if name.startswith("real-"))


def bits(number=0):
    return Bits(Stream.READ, 1, number)


def only(kind, **changes):
    shares = dict.fromkeys(("substitutions", "insertions", "deletions"), 0.0)
    return dataclasses.replace(PERFECT, **{**shares, kind: 1.0, **changes})


def runs_of(flags):
    edges = np.diff(np.concatenate([[0], flags.astype(int), [0]]))
    return np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)


def test_bad_stretches_are_as_many_long_and_bad_as_the_model_says():
    model = dataclasses.replace(
        PERFECT, bad_stretches=2.0, bad_length=300, bad_length_sd=200, bad_errors=0.2, bad_insertions=1.0
    )
    added = bad_errors(3_000_000, 0.0, model, bits())
    runs = runs_of(added > 0)
    # Some of the 600 overlap and make one run.
    assert len(runs) == pytest.approx(600 * (1 - 0.06), rel=0.12)
    assert added.mean() == pytest.approx(2e-4 * 300 * 0.2, rel=0.15)
    assert added[added > 0].mean() == pytest.approx(0.2 * (1 + 0.06), rel=0.15)
    assert np.mean([bad_errors(1, 0.0, model, bits(i)) is not None for i in range(4000)]) == pytest.approx(
        0.06, abs=0.012
    )


def test_what_bad_stretches_add_has_its_own_share_of_insertions():
    model = only("deletions", bad_stretches=50.0, bad_length=500, bad_length_sd=100, bad_errors=0.2)
    template = bits().bases(200_000)
    added = 50e-4 * 500 * 0.2
    inserting = sequence(template, 1.0, dataclasses.replace(model, bad_insertions=1.0), bits())
    assert len(inserting.codes) / 200_000 - 1 == pytest.approx(added, rel=0.2)
    assert inserting.identity == 200_000 / len(inserting.codes)
    deleting = sequence(template, 1.0, dataclasses.replace(model, bad_insertions=0.0), bits())
    assert 1 - len(deleting.codes) / 200_000 == pytest.approx(added, rel=0.2)


def test_worse_reads_have_the_rest_of_their_errors_as_bad_stretches_do():
    model = only("deletions", bad_above=0.2, bad_insertions=1.0)
    read = sequence(bits().bases(100_000), 0.6, model, bits())
    template_left = read.identity * max(100_000, len(read.codes))
    assert len(read.codes) == pytest.approx(100_000 * (1 - 0.2 + 0.2), rel=0.03)
    assert template_left < 0.85 * 100_000


def test_stalls_have_lengths_of_a_power_law():
    model = only(
        "deletions", bad_stretches=20.0, bad_length=1000, bad_length_sd=0, bad_insertions=1.0, stall=1.5
    )
    template = np.zeros(1_000_000, np.uint8)
    read = sequence(template, 1.0, dataclasses.replace(model, bad_errors=0.05), bits())
    # Random bases of a run of A: three of four insertions show, and runs of other bases are within them.
    assert (len(read.codes) / 1e6 - 1) == pytest.approx(20e-4 * 1000 * 0.05, rel=0.25)
    longer = stall_lengths(1.5)
    assert longer[0] == 1
    assert longer[9] == pytest.approx(10**-1.5)
    assert len(longer) == LONGEST_STALL


@pytest.mark.parametrize("kind", ["substitutions", "insertions", "deletions"])
def test_errors_go_on_for_some_bases_and_the_rate_stays(kind):
    model = only(kind, extension=0.4)
    template = np.tile(np.arange(4, dtype=np.uint8), 50_000)
    read = sequence(template, 0.95, model, bits())
    assert read.identity == pytest.approx(0.95, abs=0.005)
    if kind == "substitutions":
        runs = runs_of(read.codes != template)
        # Errors that touch make a few runs longer.
        assert runs.mean() == pytest.approx(1 / (1 - 0.4), rel=0.1)
        assert np.mean(runs == 1) == pytest.approx(0.6, abs=0.05)


def test_inserted_bases_copy_their_neighbour_as_often_as_asked():
    for copied in (0.0, 0.5, 1.0):
        read = sequence(np.zeros(100_000, np.uint8), 0.8, only("insertions", copied=copied), bits())
        inserted = len(read.codes) - 100_000
        others = int((read.codes != 0).sum())
        assert others / inserted == pytest.approx(0.75 * (1 - copied), abs=0.02)


def test_homopolymers_can_lose_bases_and_not_gain_them():
    model = dataclasses.replace(
        PERFECT, substitutions=0.0, insertions=0.5, deletions=0.5, homopolymer_deletions=4.0
    )
    runs = np.repeat(np.tile(np.arange(4, dtype=np.uint8), 3000), 6)
    read = sequence(runs, 0.95, model, bits())
    assert read.identity == pytest.approx(0.95, abs=0.005)
    # The weight of a deletion is 1 + 4 * 4 / 2 = 9.
    assert 1 - len(read.codes) / len(runs) == pytest.approx(0.05 * 0.8, rel=0.1)


@pytest.mark.parametrize("circular", [False, True])
def test_reads_turn_back_at_missed_adapters(circular):
    references = random_genome(20_000)
    model = adapted_model("perfect", mean_length=3000, missed_adapters=0.4, chimeras=0.1)
    reads = list(generate_reads(references, model, coverage=100, circular=circular))
    kinds = [read.truth[0].kind for read in reads]
    assert kinds.count("split") / len(reads) == pytest.approx(0.4, abs=0.06)
    assert kinds.count("chimera") / len(reads) == pytest.approx(0.1, abs=0.04)
    for read in reads:
        for row in read.truth:
            assert np.array_equal(read.codes[row.qstart : row.qend], template_of(row, references))
        if read.truth[0].kind == "split":
            there, back = read.truth
            assert {there.strand, back.strand} == {"+", "-"}
            shared = min(there.qend - there.qstart, back.qend - back.qstart)
            turn = there.qend
            there_codes, back_codes = read.codes[turn - shared : turn], read.codes[turn : turn + shared]
            assert np.array_equal(back_codes, 3 - there_codes[::-1])


def test_ends_are_bad_and_have_adapters_as_the_model_says():
    references = random_genome(30_000)
    model = dataclasses.replace(
        PERFECT, mean_length=2000, length_sd=0, bad_heads=0.3, bad_tails=0.1, bad_end_length=500,
        bad_end_length_sd=400, adapters=0.5, head_adapter="ACGTACGT", tail_adapter="GGG",
    )  # fmt: skip
    heads, tails = [], []
    for read in generate_reads(references, model, coverage=80, circular=True):
        (row,) = read.truth
        assert np.array_equal(read.codes[row.qstart : row.qend], template_of(row, references))
        assert row.identity == 1
        assert (read.qualities[row.qstart : row.qend] == 50).all()
        adapter = read.codes[:8].tolist() == [0, 1, 2, 3] * 2 and read.codes[-3:].tolist() == [2, 2, 2]
        heads.append(row.qstart - 8 * adapter)
        tails.append(row.read_len - row.qend - 3 * adapter)
    heads, tails = np.array(heads), np.array(tails)
    assert (heads > 0).mean() == pytest.approx(0.3, abs=0.04)
    assert (tails > 0).mean() == pytest.approx(0.1, abs=0.03)
    assert heads[heads > 0].mean() == pytest.approx(500, rel=0.2)


def test_lognormal_identities_have_a_tail_of_bad_reads():
    model = dataclasses.replace(
        PERFECT, identity_model="lognormal", identity=0.86, identity_sd=0.05, max_identity=0.91
    )
    drawn = np.array([model.identities().draw(bits(i)) for i in range(4000)])
    assert drawn.mean() == pytest.approx(0.86, abs=0.005)
    assert drawn.std() == pytest.approx(0.05, rel=0.15)
    assert drawn.max() < 0.91
    spread = math.sqrt(math.log(2))
    assert np.median(0.91 - drawn) == pytest.approx(0.05 * math.exp(-(spread**2) / 2), rel=0.06)


@pytest.mark.parametrize("identity", [0.95, 0.85, 0.7])
@pytest.mark.parametrize("preset", REAL)
def test_identities_are_as_asked_where_errors_crowd(preset, identity):
    model = dataclasses.replace(PRESETS[preset], bad_stretches=0.0, bad_above=math.inf)
    read = sequence(bits().bases(100_000), identity, model, bits())
    assert read.identity == pytest.approx(identity, abs=0.01)


@pytest.mark.parametrize("preset", REAL)
def test_real_presets_give_the_reads_that_they_promise(preset):
    model = PRESETS[preset]
    references = random_genome(400_000)
    reads, truth = simulate_reads(references, preset, coverage=6, circular=True)
    normal = truth.kind == "normal"
    extra = model.bad_stretches * 1e-4 * model.bad_length * model.bad_errors
    assert 1 - truth.identity[normal].mean() == pytest.approx(1 - model.identity + 0.9 * extra, rel=0.15)
    assert reads.total_bases / (truth.end - truth.start).sum() < 1.15
    assert truth.identity.min() >= 0
    assert reads.qualities.min() >= 1


def test_clr_of_a_kind_model_keep_their_mean_and_lose_their_spread():
    _, kind = simulate_reads(random_genome(400_000), "clr", coverage=6, circular=True)
    _, real = simulate_reads(random_genome(400_000), "real-clr", coverage=6, circular=True)
    kind_sd, real_sd = (t.identity[t.kind == "normal"].std() for t in (kind, real))
    assert real_sd > 1.4 * kind_sd


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"identity_model": "normal"}, "identity_model is normal, expected beta or lognormal"),
        ({"extension": 1.0}, "extension is 1.0, expected below 1"),
        ({"copied": -0.1}, "copied is -0.1, expected 0 to 1"),
        ({"bad_stretches": -1.0}, "bad_stretches is -1.0, expected 0 or more"),
        ({"bad_length": 0.5}, "bad_length is 0.5, expected 1 or more"),
        ({"bad_heads": 1.5}, "bad_heads is 1.5, expected 0 to 1"),
        ({"stall": 1.0}, "stall is 1.0, expected 0 or above 1"),
        ({"burst_length": 0}, "burst_length is 0, expected 1 or more"),
        (
            {"chimeras": 0.6, "missed_adapters": 0.5},
            "missed_adapters is 0.5, expected at most 1 together with",
        ),
        ({"tail_adapter": "ACGN"}, "tail_adapter is ACGN, expected bases A, C, G, T"),
    ],
)
def test_bad_models_are_told(changes, message):
    with pytest.raises(ParameterError, match=message):
        dataclasses.replace(PERFECT, **changes)


def test_reads_of_references_shorter_than_they_are():
    references = Reads.from_sequences(["short"], ["ACGTTGCA" * 8])
    for preset in REAL:
        for circular in (False, True):
            _, truth = simulate_reads(references, preset, coverage=3, circular=circular)
            placed = truth.kind != "junk"
            assert ((truth.end - truth.start)[placed] <= 64).all()
