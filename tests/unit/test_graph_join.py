"""Dead ends are joined by reads that the graph left out."""

import dataclasses

import numpy as np
import pytest

from overlapper import graph
from overlapper.tables import Reads
from tests.graph_cases import overlap_table, random_genome, read_set, reverse_complement

PARAMS = graph.GraphParams(min_overlap=200, min_depth=2, max_hang=20, fuzz=10, join_overlap=60)
GENOME = random_genome(6000, 5)
LEFT = [(start, start + 900, start % 200 == 0) for start in range(0, 2200, 100)]
RIGHT = [(start, min(start + 900, 6000), start % 200 == 0) for start in range(2970, 5800, 100)]
"""Reads on either side of 3000, where those that lie last overlap by 30 bases."""
CROSSING = [(2830, 3130, False), (2820, 3160, True)]
"""Of these reads less than `min_overlap` is confirmed twice."""


def assembled(placements, params=PARAMS, **kinds):
    reads, overlaps = read_set(GENOME, placements, **kinds)
    return reads, graph.assemble(reads, overlaps, params)


def rows_of(overlaps):
    names = ("query", "target", "reverse", "q_start", "q_end", "t_start", "t_end")
    return list(zip(*(getattr(overlaps, name) for name in names), strict=True))


def genome_of(reads, assembly):
    found = assembly.layout.sequence(0, reads)
    return min(found, reverse_complement(found))


def test_two_reads_that_cross_join_dead_ends():
    reads, assembly = assembled(LEFT + RIGHT + CROSSING)
    assert assembly.counts["join"] == {
        "dead ends joined": 2,
        "reads that join them": 1,
        "reads beyond joins": 0,
    }
    assert len(assembly.layout) == 1
    assert genome_of(reads, assembly) == min(GENOME, reverse_complement(GENOME))
    assembly.graph.validate()


def test_nothing_is_joined_where_that_is_not_asked_for():
    _, assembly = assembled(LEFT + RIGHT + CROSSING, dataclasses.replace(PARAMS, join_overlap=0))
    assert len(assembly.layout) == 2
    assert assembly.counts["join"]["dead ends joined"] == 0


def test_one_read_that_crosses_may_be_a_chimera():
    _, assembly = assembled(LEFT + RIGHT + CROSSING[:1])
    assert len(assembly.layout) == 2


def test_a_circle_closes():
    around = [(start, start + 900, start % 200 == 0) for start in (2970, *range(3000, 8200, 100))]
    crossing = [(start % 6000, start % 6000 + end - start, strand) for start, end, strand in CROSSING]
    reads, assembly = assembled(around + crossing, circular=True)
    assert assembly.layout.circular.tolist() == [True]
    assert len(assembly.layout.sequence(0, reads)) == len(GENOME)


def test_a_read_that_ends_in_another_place_is_left_over():
    """A chimera contains the reads that cross, and its own end leads nowhere."""
    placements = [*LEFT, *RIGHT, *CROSSING]
    reads, overlaps = read_set(GENOME, placements)
    chimera = GENOME[2600:3500]
    odd = random_genome(400, 9)
    names, sequences = [*reads.names, "odd"], [reads.sequence(i) for i in range(len(reads))] + [odd + chimera]
    rows = rows_of(overlaps)
    for read, (start, end, reverse) in enumerate(placements):
        low, high = max(start, 2600), min(end, 3500)
        if high - low > 50:
            on_read = (end - high, end - low) if reverse else (low - start, high - start)
            rows.append((read, len(placements), reverse, *on_read, 400 + low - 2600, 400 + high - 2600))
    whole = Reads.from_sequences(names, sequences)
    assembly = graph.assemble(whole, overlap_table(rows), PARAMS)
    assert len(assembly.layout) == 1
    assert genome_of(whole, assembly) == min(GENOME, reverse_complement(GENOME))


def test_an_end_with_two_partners_stays():
    """Another genome ends as this one does: neither way is clearer than the other."""
    other = random_genome(3000, 6) + GENOME[3000:]
    copies = [(start + 6000, end + 6000, reverse) for start, end, reverse in LEFT + CROSSING]
    reads, overlaps = read_set(GENOME + other, LEFT + RIGHT + CROSSING + copies)
    rows, first_copy = rows_of(overlaps), len(LEFT + RIGHT + CROSSING)
    for q, (q_start, q_end, q_reverse) in enumerate(RIGHT, len(LEFT)):
        for t, (t_start, t_end, t_reverse) in enumerate(LEFT + CROSSING, first_copy):
            low, high = max(q_start, t_start, 3000), min(q_end, t_end)
            if high - low >= 60:
                on_q = (q_end - high, q_end - low) if q_reverse else (low - q_start, high - q_start)
                on_t = (t_end - high, t_end - low) if t_reverse else (low - t_start, high - t_start)
                rows.append((q, t, q_reverse != t_reverse, *on_q, *on_t))
    assembly = graph.assemble(reads, overlap_table(rows), PARAMS)
    assert len(assembly.layout) == 3
    assert assembly.counts["join"]["dead ends joined"] == 0


def test_errors_that_reads_share_do_not_hide_the_way_on():
    """Reads without an error are contained in some that err before them; others that err behind go on."""
    right = [(start, start + 900, False) for start in range(3500, 5000, 100)]
    contained = [(2400, 3850, False), (2420, 3870, False)]
    erring = {(2300 + i, 3900 + i, False): 2350 for i in (0, 10, 20, 30)}
    erring |= {(2600 + i, 3450 + i, False): 3250 for i in (0, 10, 20, 30)}
    placements = [*LEFT, *right, *contained, *erring]
    reads, overlaps = read_set(GENOME, placements)

    def errors(read, other):
        return {erring[read]} & set(range(*other[:2])) if read in erring else set()

    pairs = zip(overlaps.query.tolist(), overlaps.target.tolist(), strict=True)
    reads_of = [(placements[query], placements[target]) for query, target in pairs]
    exact = np.flatnonzero([errors(one, other) == errors(other, one) for one, other in reads_of])
    sequences = [reads.sequence(i) for i in range(len(reads))]
    for i, place in enumerate(placements):
        if error := erring.get(place):
            at = error - place[0]
            sequences[i] = sequences[i][:at] + reverse_complement(sequences[i][at]) + sequences[i][at + 1 :]
    reads = Reads.from_sequences(reads.names, sequences)
    params = graph.GraphParams(min_overlap=200, join_overlap=100).of_exact_overlaps()
    apart = graph.assemble(reads, overlaps.take(exact), dataclasses.replace(params, join_overlap=0))
    joined = graph.assemble(reads, overlaps.take(exact), params)
    assert (len(apart.layout), len(joined.layout)) == (2, 1)
    assert joined.counts["join"]["reads that join them"] == 1
    assert len(joined.layout.sequence(0, reads)) == 5800


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_reads_changes_nothing(seed):
    placements = LEFT + RIGHT + CROSSING
    order = np.random.default_rng(seed).permutation(len(placements))
    _, one = assembled(placements)
    reads, two = assembled([placements[i] for i in order])
    assert two.counts == one.counts
    assert genome_of(reads, two) == min(GENOME, reverse_complement(GENOME))
