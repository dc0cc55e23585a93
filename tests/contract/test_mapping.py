"""Every seeder and every extender equals its oracle, and every combination of them keeps the contract."""

import dataclasses
import functools
from itertools import product

import numpy as np
import pytest

from overlapper.mapping.extenders import MAP_EXTENDERS
from overlapper.mapping.mapper import map_reads
from overlapper.mapping.seeders import SEEDERS, seeder
from overlapper.params.mapping import AnchorChainParams, ChoiceParams, MapParams, SeedParams
from overlapper.params.stages import GactParams, SketchParams
from overlapper.simulate import random_genome, simulate_reads
from overlapper.tables import MappingKind
from tests.mapping_scores import evaluate_mappings, reported_mappings
from tests.oracle import exact_matches, gact
from tests.oracle import mapping as oracle
from tests.oracle.mapping_extenders import EXTENDERS
from tests.property.test_mapping import COLUMNS, case, letters_of
from tests.read_sets import mutated, random_text, reads_of, reverse_complement

PARAMS = MapParams(
    sketch=SketchParams(kmer_length=9, window=3),
    seeds=SeedParams(length=11, hit_limit=3),
    chain=AnchorChainParams(min_seeds=1, min_score=15),
    choice=ChoiceParams(min_score=20),
    gact=GactParams(tile=64, overlap=24, give_up=40),
)


@functools.cache  # every extender starts from the same
def oracle_matches(name, read, reference):
    """Matches that the oracle of a seeder takes, however many there are."""
    search = exact_matches.smems if name == "smem" else exact_matches.nov_smems
    rows = search(reference, read, PARAMS.seeds.length)
    places = [row[:2] for row in rows]
    return [row for row in rows if places.count(row[:2]) <= PARAMS.seeds.hit_limit]


def oracle_anchors(name, read, *reference, most=1024):
    """Anchors of a read by the oracle of a seeder."""
    if name == "minimizers":
        return oracle.minimizer_anchors(read, reference, 9, 3, PARAMS.seeds.hit_limit, most)
    rows = oracle_matches(name, read, reference)
    places = [row[:2] for row in rows]
    kept = oracle.uncrowded([(*seed, places.count(seed)) for seed in set(places)], most)
    ends = np.cumsum([len(text) for text in reference])
    anchors = []
    for q_start, n, reverse, t_start in rows:
        if (q_start, n) not in kept:
            continue
        sequence = int(np.searchsorted(ends, t_start, side="right"))
        y = t_start - int(ends[sequence]) + len(reference[sequence])
        anchors.append((bool(reverse), sequence, y, len(read) - q_start - n if reverse else q_start, n))
    return sorted(anchors)


@pytest.mark.parametrize("most", [1024, 15])
@pytest.mark.parametrize("name", SEEDERS)
def test_seeders_equal_their_oracle(name, most, monkeypatch):
    monkeypatch.setattr(SeedParams, "MOST_ANCHORS", most)
    reference, reads = case(17)
    reads = [read[:110] for read in reads]
    table = reads_of(reference)
    find = seeder(name).prepare(table, PARAMS, 1)
    anchors = find.find(reads_of(reads))
    total = 0
    for number, read in enumerate(reads):
        expected = oracle_anchors(name, read, *reference, most=most)
        rows = slice(anchors.starts[number], anchors.starts[number + 1])
        sequence = np.searchsorted(table.word_offsets * 32, anchors.y[rows], side="right") - 1
        y = anchors.y[rows] - table.word_offsets[sequence] * 32
        columns = (anchors.reverse[rows], sequence, y, anchors.x[rows], anchors.length[rows])
        assert [tuple(row) for row in zip(*(c.tolist() for c in columns), strict=True)] == expected
        total += len(expected)
    assert total >= 6


@pytest.mark.parametrize(
    ("name", "seeds"),
    [*product(MAP_EXTENDERS, ["nov-smem", "minimizers"]), ("edits", "smem")],
)
def test_extenders_equal_their_oracle(name, seeds):
    reference, reads = case(len(seeds))
    reads = [read[:110] for read in reads[4:7]] if seeds == "smem" else [read[:170] for read in reads]
    params = dataclasses.replace(PARAMS, extender=name, seeder=seeds)
    extend = EXTENDERS.get(name, oracle.edits)
    mappings = map_reads(reads_of(reference), reads_of(reads), params, threads=1).validate()
    tile = params.gact
    rule = gact.Rule(**{field: getattr(tile, field) for field in gact.Rule._fields})
    p = vars(params.scoring) | {"xdrop": tuple(vars(params.xdrop).values()), "gact": rule}
    p["end_bonus"], p["drop"] = params.end_bonus, params.drop
    row = 0
    for read in reads:
        anchors = oracle_anchors(seeds, read, *reference)
        for entry in oracle.map_read(
            read, reference, anchors, lambda query, target, chain: extend(query, target, chain, p),
            vars(params.chain), vars(params.choice), p,
        ):  # fmt: skip
            assert {c: getattr(mappings, c)[row] for c in COLUMNS} == {c: entry[c] for c in COLUMNS}
            assert letters_of(mappings, row) == entry["letters"]
            row += 1
    assert row == len(mappings) >= 2


@pytest.fixture(scope="module")
def simulated():
    genome = random_genome(20_000, seed=5)
    return genome, *simulate_reads(genome, "ont-r10", coverage=2, seed=5)


@pytest.mark.parametrize("extender", MAP_EXTENDERS)
@pytest.mark.parametrize("seeds", SEEDERS)
def test_every_combination_keeps_the_contract(simulated, seeds, extender):
    genome, reads, truth = simulated
    short = reads.lengths < 6000  # seed extension with affine gaps takes the square of the length
    reads = reads.take(short)
    params = MapParams(seeder=seeds, extender=extender, seeds=SeedParams(length=15))
    mappings = map_reads(genome, reads, params, threads=1).validate()
    other = map_reads(genome, reads, params, threads=2)
    for field in dataclasses.fields(mappings):
        np.testing.assert_array_equal(getattr(mappings, field.name), getattr(other, field.name))
    reference = genome.sequence(0)
    for row in range(len(mappings)):
        query = reads.sequence(mappings.query[row])[mappings.q_start[row] : mappings.q_end[row]]
        query = reverse_complement(query) if mappings.reverse[row] else query
        letters = letters_of(mappings, row)
        check_columns(letters, query, reference[mappings.t_start[row] : mappings.t_end[row]])
        assert (mappings.matches[row], mappings.block_length[row]) == (letters.count("="), len(letters))
        assert oracle.score_of(letters, vars(params.scoring)) == (mappings.score[row], mappings.gaps[row])
    primary = mappings.kind == MappingKind.PRIMARY
    assert (np.diff(mappings.query[primary]) > 0).all()
    assert (np.diff(mappings.query) >= 0).all()
    lengths = dict(zip(genome.names, genome.lengths.tolist(), strict=True))
    result = evaluate_mappings(reported_mappings(mappings, reads, genome), truth, lengths)
    assert result.wrong == 0
    assert result.mapped >= len(reads) - 2


def check_columns(letters, query, target):
    assert letters[0] in "=X" and letters[-1] in "=X"
    q = t = 0
    for letter in letters:
        if letter in "=X":
            assert (query[q] == target[t] and query[q] != "N") == (letter == "=")
        q, t = q + (letter != "D"), t + (letter != "I")
    assert (q, t) == (len(query), len(target))


def test_a_split_read_keeps_both_pieces():
    """Extenders that leave ends unaligned map both pieces of a read of two places."""
    rng = np.random.default_rng(4)
    reference = random_text(rng, 6000)
    read = mutated(rng, reference[500:1500], 0.03) + reverse_complement(
        mutated(rng, reference[4000:4800], 0.03)
    )
    for extender in ("edits", "local", "xdrop", "gact"):
        mappings = map_reads(reads_of([reference]), reads_of([read]), MapParams(extender=extender), threads=1)
        assert mappings.kind.tolist() == [MappingKind.PRIMARY, MappingKind.SUPPLEMENTARY], extender
        np.testing.assert_allclose(mappings.t_start, [500, 4000], atol=60)
        np.testing.assert_allclose(mappings.t_end, [1500, 4800], atol=60)
