"""Adapters are found from the reads, and cut off their ends."""

import dataclasses
import functools

import numpy as np
import pytest

from overlapper.simulate import random_genome, simulate_reads
from overlapper.simulate.presets import PRESETS
from overlapper.sketch.adapters import END, adapters_at_ends, adapters_of
from overlapper.tables import Reads
from tests.oracle.adapters import adapters, taken, turned
from tests.steps import assemble_reads

LIGATION = "AATGTACTTCGTTCAGTTACGTATTGCT"
BARCODED = "GTATTGCTAAGGTTAAGACCATTGTGATGAACCCTGTTGTCAGCACCT"


@functools.cache
def genome(bases=200_000):
    return random_genome(bases, seed=3)


def sheared(model="ont-r10", *, coverage=10, genome=None, **changes):
    """Reads of a random genome, with adapters on three in ten of them."""
    model = dataclasses.replace(PRESETS[model], mean_length=2000, length_sd=500, **changes)
    return simulate_reads(genome or globals()["genome"](), model, coverage=coverage, seed=4)[0]


def sequences_of(reads):
    return [reads.sequence(read) for read in range(len(reads))]


def read_set(sequences):
    return Reads.from_sequences([f"r{i}" for i in range(len(sequences))], sequences)


def pieces(text, size, step):
    return [text[i : i + size] for i in range(0, len(text) - size + 1, step)]


@pytest.mark.parametrize(
    ("model", "changes", "expected"),
    [
        ("ont-r10", {}, [LIGATION]),
        ("ont-r10", {"adapters": 1.0}, [LIGATION]),
        ("ont-r9", {"adapters": 0.2}, [LIGATION]),
        ("ont-r10", {"adapters": 0.1, "head_adapter": BARCODED}, [BARCODED]),
        ("ont-r10", {"adapters": 0.3, "tail_adapter": turned(BARCODED[8:])}, [LIGATION, BARCODED[8:]]),
        ("ont-r10", {"adapters": 0.01}, []),
        ("ont-r10", {"adapters": 0.0}, []),
        ("hifi", {}, []),
    ],
)
def test_adapters_are_found_to_the_base(model, changes, expected):
    reads = sheared(model, **changes)
    found = adapters_of(reads)
    assert sorted(found) == sorted(expected)
    assert found == adapters(sequences_of(reads))


def test_reads_with_unknown_bases_and_short_ones_are_as_in_the_oracle():
    text = sequences_of(sheared())
    text = [s[:20] + "N" + s[21:] if i % 3 else s for i, s in enumerate(text)] + ["ACGT" * 20] * 500
    assert adapters_of(read_set(text)) == adapters(text)


@pytest.mark.parametrize("model", ["ont-r10", "ont-r9"])
def test_what_adapters_take_of_reads_is_as_in_the_oracle(model):
    reads = sheared(model, coverage=2, adapters=0.5, tail_adapter=turned(BARCODED))
    text = [*sequences_of(reads), "ACGT" * 20, LIGATION + "N" + genome().sequence(0)[:900]]
    found = adapters_at_ends(read_set(text), [LIGATION, BARCODED])
    np.testing.assert_array_equal(found, [taken(sequence, [LIGATION, BARCODED]) for sequence in text])
    starts = [sequence.startswith(LIGATION) for sequence in text]
    assert (found[starts, 0] == len(LIGATION)).mean() > 0.9
    assert (found > 0).mean() > 0.2


def test_of_a_read_that_would_lose_most_adapters_take_none():
    """Both ends have an adapter as far inside as it is looked for."""
    body = genome().sequence(0)
    end = body[:64] + LIGATION + BARCODED
    texts = [end + body[200:380] + turned(end), end + body[200:900] + turned(end)]
    assert len(texts[0]) < 4 * len(end)
    found = adapters_at_ends(read_set(texts), [LIGATION + BARCODED])
    assert found.tolist() == [[0, 0], [len(end), len(end)]]
    assert [taken(text, [LIGATION + BARCODED]) for text in texts] == [(0, 0), (len(end), len(end))]


def test_too_few_reads_tell_nothing():
    reads = sheared(coverage=1, adapters=0.2)
    assert len(reads) == 95
    assert adapters_of(reads) == adapters(sequences_of(reads)) == []
    assert adapters_of(reads.rows(0, 0)) == []


def test_what_all_reads_of_a_place_begin_with_is_no_adapter():
    """Amplicons, reads of a molecule that is cut at one place, and ends of ten molecules that are alike."""
    whole = genome().sequence(0)
    telomere = whole[:60]
    molecules = [telomere + whole[i : i + 2000] for i in range(1000, 21_000, 2000)]
    for text in (
        [whole[:1500]] * 400,
        [BARCODED + whole[:1500], turned(BARCODED + whole[:1500])] * 200,
        [whole[: 1000 + i] for i in range(400)],
        [s[: 600 + 30 * i] for s in molecules for i in range(40)],
        [whole[: 1000 + i] for i in range(60)] + [whole[60:1200]],  # one end goes on beyond the others
    ):
        assert adapters_of(read_set(text)) == adapters(text) == []


@pytest.mark.parametrize(("bases", "coverage", "model"), [(4000, 90, "ont-r10"), (6000, 60, "ont-r9")])
def test_adapters_of_short_molecules_are_found(bases, coverage, model):
    """Most of their reads end with them."""
    molecule = random_genome(bases, seed=11)
    reads = sheared(model, genome=molecule, coverage=coverage, adapters=1.0)
    assert adapters_of(reads) == adapters(sequences_of(reads)) == [LIGATION]
    bare = sheared(model, genome=molecule, coverage=coverage, adapters=0.0)
    assert adapters_of(bare) == adapters(sequences_of(bare)) == []


def test_a_primer_of_many_places_is_one():
    places = pieces(genome().sequence(0), 1000, 331)
    text = [LIGATION + place for place in places]
    assert adapters_of(read_set(text)) == [LIGATION]


def test_an_adapter_of_a_panel_of_amplicons_is_found():
    """Each of a hundred ends is that of eight reads: none goes on with bases of its own."""
    starts = range(0, 100_000, 1000)
    text = [LIGATION + genome().sequence(0)[start : start + 500] for start in starts for _ in range(8)]
    assert adapters_of(read_set(text)) == adapters(text) == [LIGATION]


def test_an_adapter_of_which_a_third_of_the_reads_lack_a_base_is_found_whole():
    """As basecallers of R9 reads err at the same places of it."""
    rapid = "GTTTTCGCATTTATCGTGAAACGCTTTCGCGTTTTCGTGCGCCGCTTCA"
    lacking = rapid[:-8] + rapid[-7:]
    places = pieces(genome().sequence(0), 1000, 331)
    text = [(lacking if i % 20 < 7 else rapid) + place for i, place in enumerate(places)]
    assert adapters_of(read_set(text))[0] == adapters(text)[0] == rapid


@pytest.mark.parametrize("model", ["ont-r10", "ont-r9"])
def test_contigs_of_linear_molecules_end_without_adapters(model):
    """R10 reads are corrected, R9 reads laid out as they are."""
    molecule = random_genome(40_000, seed=8)
    reads, _ = simulate_reads(
        molecule, dataclasses.replace(PRESETS[model], mean_length=4000, length_sd=1500), coverage=40, seed=2
    )
    made = assemble_reads(reads)
    assert made.adapters == [LIGATION]
    facts = next(stage.facts for stage in made.stages if stage.name == "adapters")
    assert facts["bases cut"] >= 0.9 * len(LIGATION) * facts["reads cut"] > 1000
    contig, whole = made.contigs.sequences.sequence(0), molecule.sequence(0)
    if model == "ont-r10":  # its last bases are those of one read
        assert contig[3:-3] in f"{whole} {turned(whole)}" and abs(len(contig) - len(whole)) <= 3
    ends = contig[:END] + turned(contig)[:END]
    assert not any(word in ends for word in pieces(LIGATION, 12, 1))
