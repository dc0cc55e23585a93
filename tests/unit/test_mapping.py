"""Parts of mapping that are judged by themselves: limits, qualities, evaluation, errors."""

import dataclasses

import numpy as np
import pytest

from overlapper.errors import EmptyInputError, ParameterError
from overlapper.io.truth import Truth, TruthRow
from overlapper.kernels.seeds.reference_seeds import STRETCH
from overlapper.mapping.choice import mapping_quality
from overlapper.mapping.mapper import BatchMapper, map_reads
from overlapper.mapping.one_by_one import Mapper
from overlapper.params.mapping import AnchorChainParams, ChoiceParams, MapParams, SeedParams
from overlapper.simulate import random_genome, simulate_reads
from overlapper.sketch.reference_index import places_limit
from tests.mapping_scores import ReportedMappings, evaluate_mappings, reported_mappings
from tests.oracle import mapping as oracle
from tests.read_sets import mutated, random_text, reads_of


def test_few_minimizers_exceed_the_limit():
    spectrum = np.zeros(1000, np.int64)
    spectrum[1], spectrum[30], spectrum[400] = 100_000, 19, 2
    assert places_limit(spectrum) == 30
    spectrum[30] = 5
    assert places_limit(spectrum) == 10
    assert places_limit(np.zeros(1000, np.int64)) == 10


def test_qualities_equal_the_definition():
    rng = np.random.default_rng(2)
    f, s = rng.integers(1, 5000, 300), rng.integers(1, 9000, 300)
    f2, s2 = rng.integers(0, 5000, 300), rng.integers(0, 2, 300) * rng.integers(1, 9000, 300)
    seeds = rng.integers(1, 30, 300)
    expected = [oracle.quality(*row) for row in zip(f, f2, s, s2, seeds, strict=True)]
    assert mapping_quality(f, f2, s, s2, seeds).tolist() == expected


def test_simulated_reads_are_mapped_to_their_places():
    genome = random_genome(60_000, seed=3)
    reads, truth = simulate_reads(genome, "ont-r9", coverage=4, seed=3)
    lengths = dict(zip(genome.names, genome.lengths.tolist(), strict=True))
    for preset in ("ont", "clr", "hifi"):
        reported = reported_mappings(map_reads(genome, reads, preset), reads, genome)
        result = evaluate_mappings(reported, truth, lengths)
        assert result.wrong == 0
        assert result.mapped_share > 0.97
        assert sum(b.mapped for b in result.by_quality) == result.mapped


def rows(*places):
    return Truth.from_rows(
        TruthRow(f"r{i}", "c", start, end, strand, 0, 1000, 1000, kind, 0.9)
        for i, (start, end, strand, kind) in enumerate(places)
    )


def mappings(*values):
    names, refs, *numbers = zip(*values, strict=True)
    return ReportedMappings(np.array(names), np.array(refs), *(np.array(column) for column in numbers))


def test_errors_are_those_of_the_places():
    truth = rows(
        (1000, 2000, "+", "normal"), (1000, 2000, "-", "normal"), (9500, 10500, "+", "normal"),
        (0, 1000, "+", "chimera"), (3000, 4100, "+", "normal"), (5000, 6000, "+", "normal"),
    )  # fmt: skip
    reported = mappings(
        ("r0", "c", False, 100, 1000, 1110, 2000, 60),  # 10 off
        ("r1", "c", True, 0, 900, 1100, 2000, 30),  # right
        ("r2", "c", False, 500, 1000, 0, 500, 5),  # right, around the origin
        ("r3", "c", False, 0, 1000, 7000, 8000, 60),  # not judged
        ("r4", "c", True, 0, 1000, 3000, 4100, 5),  # on the wrong strand
        ("r5", "c", False, 0, 1000, 5000, 6101, 0),  # 101 off
    )
    result = evaluate_mappings(reported, truth, {"c": 10_000}, circular=["c"])
    assert (result.placed, result.mapped, result.wrong, result.error) == (5, 5, 2, 0.0)
    judged = {b.low: (b.mapped, b.wrong) for b in result.by_quality if b.mapped}
    assert judged == {60: (1, 0), 30: (1, 0), 5: (2, 1), 0: (1, 1)}
    assert evaluate_mappings(reported, truth, {"c": 10_000}).wrong == 3


def test_nothing_to_map():
    reference = reads_of([random_text(np.random.default_rng(1), 500)])
    assert len(map_reads(reference, reads_of([]))) == 0
    assert len(map_reads(reference, reads_of(["", "ACGT"]))) == 0
    with pytest.raises(EmptyInputError, match="no bases"):
        map_reads(reads_of([""]), reads_of(["ACGT"]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MapParams.preset("x"), "preset is 'x', expected one of ont, clr, hifi, short"),
        (lambda: map_reads(reads_of(["ACGT"]), reads_of([]), MapParams(seeder="x")), "seeder is 'x'"),
        (lambda: map_reads(reads_of(["ACGT"]), reads_of([]), MapParams(extender="x")), "extender is 'x'"),
        (lambda: SeedParams(length=2), "length is 2, expected 8 to 1000"),
        (lambda: AnchorChainParams(max_gap=0), "max_gap is 0"),
        (lambda: ChoiceParams(mask_level=0), "mask_level is 0"),
        (lambda: MapParams(end_bonus=-1), "end_bonus is -1"),
        (lambda: MapParams(drop=-1), "drop is -1"),
        (
            lambda: Mapper("ACGTTGCA" * 2000),
            "^reference: the sequence 'ACGTTGCA.{20,60} is given, expected the path",
        ),
    ],
)
def test_wrong_parameters_are_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


@pytest.mark.parametrize("unit", [1, 2, 5, 31, 171])
@pytest.mark.parametrize("seeder", ["minimizers", "smem", "nov-smem"])
def test_anchors_are_bounded_by_the_bases_of_reads_whatever_repeats(unit, seeder):
    rng = np.random.default_rng(unit)
    repeat = random_text(rng, unit) * (40_000 // unit)
    params = dataclasses.replace(MapParams(), seeder=seeder)
    mapper = BatchMapper.prepare(reads_of([mutated(rng, repeat, 0.1)]), params, threads=1)
    reads = reads_of([mutated(rng, repeat[:5_000], 0.1) for _ in range(4)])
    mapper.map_all(reads, threads=1)
    assert 1000 < mapper.counts["anchors"] <= SeedParams.MOST_ANCHORS * (reads.total_bases / STRETCH + 4)
