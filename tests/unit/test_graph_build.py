import dataclasses

import numpy as np
import pytest

from overlapper import graph
from overlapper.errors import ParameterError
from overlapper.graph.build import connect
from overlapper.graph.pairs import cut, pairs_of
from overlapper.graph.trim import trim
from overlapper.tables import Reads
from tests.graph_cases import overlap_table, random_genome, read_set, reverse_complement, tiled

PARAMS = graph.GraphParams(min_overlap=100, min_depth=2, max_hang=20)


def kept(built):
    return {
        int(r): (int(s), int(e))
        for r, s, e in zip(built.reads.read, built.reads.start, built.reads.end, strict=True)
    }


def pile(parts, genome_size=6000):
    """Reads of one genome plus one read joined of ``parts``, with the overlaps of each part."""
    genome = random_genome(genome_size, 7)
    placements = tiled(genome_size, 900, 100, 8)
    reads, overlaps = read_set(genome, placements)
    odd = len(placements)
    sequence, rows = "", []
    for start, end, reverse in parts:
        offset = len(sequence)
        piece = genome[start:end]
        sequence += reverse_complement(piece) if reverse else piece
        for read, (left, right, read_reverse) in enumerate(placements):
            low, high = max(start, left), min(end, right)
            if high - low > 50:
                on_read = (right - high, right - low) if read_reverse else (low - left, high - left)
                on_odd = (end - high, end - low) if reverse else (low - start, high - start)
                rows.append(
                    (read, odd, read_reverse != reverse, *on_read, offset + on_odd[0], offset + on_odd[1])
                )
    names = [*reads.names, "odd"]
    sequences = [reads.sequence(i) for i in range(odd)] + [sequence]
    columns = zip(
        overlaps.query, overlaps.target, overlaps.reverse, overlaps.q_start, overlaps.q_end, overlaps.t_start,
        overlaps.t_end, strict=True,
    )  # fmt: skip
    return Reads.from_sequences(names, sequences), overlap_table([*columns, *rows]), genome


@pytest.mark.parametrize(
    ("parts", "chimeric", "adapters"),
    [([(500, 1500, False), (4000, 4800, True)], 1, 0), ([(2000, 3200, False), (2300, 3200, True)], 0, 1)],
)
def test_a_chimera_or_missed_adapter_is_told_and_cut_and_leaves_no_misjoin(parts, chimeric, adapters):
    reads, overlaps, genome = pile(parts)
    assembly = graph.assemble(reads, overlaps, PARAMS)
    assert assembly.counts["build"]["chimeric reads cut"] == chimeric
    assert assembly.counts["build"]["missed adapters cut"] == adapters
    assert len(assembly.layout) == 1
    assert assembly.layout.sequence(0, reads) in (genome, reverse_complement(genome))


def test_overlaps_that_run_past_a_junction_by_chance_do_not_bridge_it():
    sides = [(0, 1045)] * 3 + [(955, 2000)] * 3
    rows = [(0, i + 1, False, start, end, 0, end - start) for i, (start, end) in enumerate(sides)]
    pairs = pairs_of(overlap_table(rows), np.arange(7))
    lengths = np.array([2000] + [1045] * 6)
    trimmed = trim(pairs, overlap_table(rows), lengths, graph.GraphParams(100, min_depth=1, max_hang=50))
    assert (trimmed.start[0], trimmed.end[0]) in ((0, 1045), (955, 2000))


def test_a_chimera_that_is_not_cut_leaves_no_misjoin_either():
    reads, overlaps, genome = pile([(500, 1500, False), (4000, 4800, True)])
    params = graph.GraphParams(min_overlap=100).of_exact_overlaps()
    assembly = graph.assemble(reads, overlaps, params)
    assert len(assembly.layout) == 1
    assert assembly.layout.sequence(0, reads) in (genome, reverse_complement(genome))


@pytest.mark.parametrize(("shortest", "chains"), [(0, 2), (60, 1), (130, 2)])
def test_short_overlaps_join_dead_ends_alone(shortest, chains):
    """Of four reads the first two and the last two overlap by 300, the middle ones by 120, others by less."""
    genome = random_genome(1800, 7)
    reads, overlaps = read_set(genome, [(0, 600, 0), (300, 900, 1), (780, 1380, 0), (1080, 1680, 0)])
    params = graph.GraphParams(min_overlap=200, min_depth=0, max_hang=0, fuzz=0, min_end_overlap=shortest)
    built, counts = graph.build_graph(reads, overlaps, params)
    assert len(graph.layout(built)[0]) == chains
    assert counts["overlaps not used next to better ones"] == 0


def test_short_overlaps_beside_longer_ones_go():
    genome = random_genome(1800, 7)
    reads, overlaps = read_set(genome, [(0, 600, 0), (300, 900, 1), (480, 1080, 0)])
    params = graph.GraphParams(min_overlap=200, min_depth=0, max_hang=0, fuzz=0, min_end_overlap=60)
    built, counts = graph.build_graph(reads, overlaps, params)
    assert counts["overlaps not used next to better ones"] == 1
    assert (len(built.edges), built.edges.overlap.min()) == (4, 300)


def test_reads_that_go_round_a_circle_twice_are_laid_out_as_one_round():
    """Any two of them overlap in one way more than they go round; of both, the shorter is no repeat."""
    starts, once = [0, 260, 610, 880], 1000
    circle = random_genome(once, 9)
    reads = Reads.from_sequences(
        [f"r{start}" for start in starts], [(circle * 3)[start:][:2000] for start in starts]
    )
    rows = []
    for a, first in enumerate(starts):
        for b, second in enumerate(starts[a + 1 :], a + 1):
            for ahead in (second - first, second - first - once):
                on_a, on_b = (ahead, 2000), (0, 2000 - ahead)
                rows.append((a, b, False, *(on_a + on_b if ahead > 0 else (0, 2000 + ahead, -ahead, 2000))))
    assembly = graph.assemble(reads, overlap_table(rows), PARAMS)
    assert assembly.counts["build"]["overlaps that repeat another"] == 0
    assert assembly.layout.circular.tolist() == [True]
    assert assembly.layout.sequence(0, reads) in circle * 2


def test_an_overlap_that_is_given_from_both_reads_counts_once():
    genome = random_genome(1000, 9)
    reads = Reads.from_sequences(["a", "b"], [genome[:800], genome[200:]])
    rows = [
        (0, 1, False, 200, 800, 0, 600),
        (0, 1, False, 203, 800, 0, 597),
        (0, 1, False, 210, 790, 10, 590),
    ]
    built, counts = graph.build_graph(reads, overlap_table(rows), dataclasses.replace(PARAMS, min_depth=0))
    assert counts["overlaps that repeat another"] == 2
    assert len(built.edges) == 2


def test_a_depth_of_0_trims_nothing():
    reads, overlaps, genome = pile([(500, 1500, False), (4000, 4800, True)])
    params = dataclasses.replace(PARAMS, min_depth=0)
    alone = Reads.concat([reads, Reads.from_sequences(["alone"], [genome[::-1]])])
    built, counts = graph.build_graph(alone, overlaps, params)
    assert counts["reads without enough overlaps"] == 1
    everything = np.concatenate([built.reads.read, built.contained.read])
    assert sorted(everything.tolist()) == list(range(len(reads)))
    assert (built.lengths == reads.lengths[built.reads.read]).all()


@pytest.mark.parametrize(("depth", "whole"), [(0, False), (3, True)])
def test_an_error_that_no_other_read_has_goes(depth, whole):
    """The read that has it is the longest of all, and contains all reads that could go past the error."""
    genome, error = random_genome(9000, 7), 2000
    reads, overlaps = read_set(genome, [(2500, 6500, False), *tiled(9000, 900, 100, 8)])
    sequences = [reads.sequence(i) for i in range(len(reads))]
    long = sequences[0]
    sequences[0] = long[:error] + ("A" if long[error] == "C" else "C") + long[error + 1 :]
    reads = Reads.from_sequences(reads.names, sequences)
    exact = (overlaps.query > 0) | (overlaps.q_end <= error) | (overlaps.q_start > error)
    params = graph.GraphParams(min_overlap=100, min_depth=depth).of_exact_overlaps()
    assembly = graph.assemble(reads, overlaps.take(exact), params)
    assert len(assembly.layout) == (1 if whole else 2)
    assert (assembly.layout.sequence(0, reads) in (genome, reverse_complement(genome))) == whole


@pytest.mark.parametrize("depth", [0, 2])
def test_nothing_counts_outside_of_given_intervals(depth):
    reads, overlaps, _ = pile([(500, 1500, False), (4000, 4800, True)])
    params = dataclasses.replace(PARAMS, min_depth=depth)
    start, end = np.zeros(len(reads), np.int64), reads.lengths.copy()
    start[2], end[3], (start[4], end[4]) = 150, 700, (300, 300)
    whole, _ = graph.build_graph(reads, overlaps, params)
    built, counts = graph.build_graph(reads, overlaps, params, within=(start, end))
    cut, before = kept(built), kept(whole)
    assert counts["reads cut beforehand"] == 3
    assert 4 not in cut
    assert 4 not in built.contained.read
    for read in cut.keys() & before.keys():
        assert cut[read] == (max(before[read][0], start[read]), min(before[read][1], end[read]))


def test_an_unconfirmed_end_goes_where_other_reads_go_on():
    genome = random_genome(3000, 1)
    reads, overlaps = read_set(
        genome, [(0, 1500, False), (300, 1800, False), (600, 2100, True), (900, 2400, False)]
    )
    adapter = random_genome(60, 2)
    sequences = [reads.sequence(i) for i in range(4)]
    sequences[1] += adapter
    built, counts = graph.build_graph(Reads.from_sequences(reads.names, sequences), overlaps, PARAMS)
    assert kept(built)[1] == (0, 1500)
    assert (counts["reads trimmed"], counts["bases trimmed"]) == (1, 60)


def test_the_end_of_the_genome_stays_though_one_read_alone_covers_it():
    genome = random_genome(3000, 1)
    reads, overlaps = read_set(
        genome, [(0, 1500, False), (400, 1800, False), (600, 2100, True), (900, 2400, False)]
    )
    built, counts = graph.build_graph(reads, overlaps, PARAMS)
    assert kept(built) == {0: (0, 1500), 1: (0, 1400), 2: (0, 1500), 3: (0, 1500)}
    assert counts["reads trimmed"] == 0


def test_a_read_without_overlaps_leaves():
    reads, overlaps = read_set(
        random_genome(5000, 1), [(0, 900, False), (200, 1100, True), (400, 1300, True), (3000, 4000, False)]
    )
    built, counts = graph.build_graph(reads, overlaps, PARAMS)
    assert set(kept(built)) == {0, 1, 2}
    assert counts["reads without enough overlaps"] == 1


def test_contained_reads_leave_with_their_place():
    placements = [
        (0, 1000, False),
        (100, 700, True),
        (300, 1300, False),
        (350, 900, False),
        (200, 600, False),
    ]
    genome = random_genome(1300, 3)
    reads, overlaps = read_set(genome, placements)
    built, counts = graph.build_graph(
        reads, overlaps, graph.GraphParams(min_overlap=100, min_depth=1, max_hang=20)
    )
    assert set(kept(built)) == {0, 2}
    assert counts["contained reads"] == 3
    inner = built.contained
    by_read = {
        int(r): (int(c), bool(v), int(p))
        for r, c, v, p in zip(inner.read, inner.container, inner.reverse, inner.position, strict=True)
    }
    assert by_read == {1: (0, True, 100), 3: by_read[3], 4: (0, False, 200)}
    assert by_read[3] in {(0, False, 350), (2, False, 50)}


def test_reads_that_contain_each_other_leave_the_longest():
    genome = random_genome(1000, 4)
    reads, _ = read_set(genome, [(0, 1000, False), (0, 999, False), (1, 1000, False)])
    rows = [(0, 1, False, 2, 999, 3, 997), (1, 2, False, 2, 997, 3, 996), (0, 2, False, 3, 996, 2, 997)]
    built, counts = graph.build_graph(
        reads, overlap_table(rows), graph.GraphParams(min_overlap=100, min_depth=1)
    )
    assert counts["contained reads"] == 2
    assert kept(built) == {0: (0, 1000)}


def test_of_two_dovetails_of_the_same_ends_the_longer_stays():
    overlaps = overlap_table([(0, 1, False, 1000, 1250, 0, 250), (0, 1, False, 1300, 1500, 0, 200)])
    params = graph.GraphParams(min_overlap=100, max_hang=250, min_ratio=0.4)
    order, whole = np.array([0, 1]), np.array([1500, 1500], np.int32)
    built, counts = connect(pairs_of(overlaps, order), overlaps, 0 * whole, whole, order, params)
    assert counts["overlaps that double an edge"] == 1
    assert built.edges.overlap.tolist() == [500, 500]


def test_an_overlap_reported_twice_counts_once():
    reads, overlaps = read_set(random_genome(3000, 6), tiled(3000, 900, 200, 1))
    twice = type(overlaps).concat([overlaps, overlaps])
    once_built, _ = graph.build_graph(reads, overlaps, PARAMS)
    twice_built, counts = graph.build_graph(reads, twice, PARAMS)
    assert counts["overlaps that repeat another"] == len(overlaps)
    assert np.array_equal(once_built.reads.depth, twice_built.reads.depth)
    assert np.array_equal(once_built.edges.length, twice_built.edges.length)


def test_gaps_move_the_cut_only_where_there_is_an_alignment():
    """The target has 40 bases more, all of them in one gap within the first 100."""
    rows = overlap_table([(0, 1, False, 0, 1000, 0, 1040)])
    aligned = type(rows)(
        **(vars(rows) | {"cigar": [100 << 4 | 7, 40 << 4 | 2, 900 << 4 | 7], "cigar_offsets": [0, 3]})
    )
    plain = type(rows)(**(vars(rows) | {"cigar": None, "cigar_offsets": None}))
    start, end = np.array([500, 0], np.int32), np.array([1000, 1040], np.int32)
    for overlaps, t_start in ((aligned, 540), (plain, 520)):
        found = cut(pairs_of(overlaps, np.array([0, 1])), overlaps, start, end)
        assert (found.q_start[0], found.q_end[0], found.t_start[0], found.t_end[0]) == (0, 500, t_start, 1040)


def test_overlaps_of_other_reads_are_refused():
    reads, _ = read_set(random_genome(500, 1), [(0, 200, False), (100, 300, False)])
    with pytest.raises(ParameterError, match="names read 7, but there are 2 reads"):
        graph.build_graph(reads, overlap_table([(0, 7, False, 0, 10, 0, 10)]))
    with pytest.raises(ParameterError, match="lies outside its reads"):
        graph.build_graph(reads, overlap_table([(0, 1, False, 0, 201, 0, 201)]))


def test_what_diverges_far_more_than_the_rest_goes():
    reads, overlaps = read_set(random_genome(3000, 6), tiled(3000, 900, 100, 1))
    divergence = np.full(len(overlaps), 0.04)
    divergence[:4] = 0.155, 0.165, 0.159, np.nan
    diverged = dataclasses.replace(overlaps, divergence=divergence)
    _, counts = graph.build_graph(reads, diverged, PARAMS)
    assert counts["overlaps that diverge too much"] == 1
    strict = dataclasses.replace(PARAMS, max_divergence_ratio=1.0)
    assert graph.build_graph(reads, diverged, strict)[1]["overlaps that diverge too much"] == 3
    accurate = dataclasses.replace(diverged, divergence=divergence / 2)
    assert graph.build_graph(reads, accurate, strict)[1]["overlaps that diverge too much"] == 0


def test_overlaps_without_divergence_all_count():
    reads, overlaps = read_set(random_genome(3000, 6), tiled(3000, 900, 100, 1))
    unknown = dataclasses.replace(overlaps, divergence=np.full(len(overlaps), np.nan))
    assert graph.build_graph(reads, unknown, PARAMS)[1]["overlaps that diverge too much"] == 0
