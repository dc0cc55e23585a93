"""The same graph for shuffled and renamed reads, shuffled rows and any number of threads."""

import dataclasses

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import graph
from overlapper.tables import Overlaps, Reads
from tests.graph_cases import random_genome, read_set, tiled

PARAMS = graph.GraphParams(min_overlap=100, min_depth=2, max_hang=20, fuzz=10)


def noisy_set(seed):
    """Reads of a genome with a repeat, an alternative tract, chimeras, and overlaps that are wrong by some bases."""
    draw = np.random.default_rng(seed)
    unique = random_genome(4000, seed)
    genome = unique[:1500] + unique[300:800] + unique[1500:]
    placements = tiled(len(genome), 700, 90, seed)
    reads, overlaps = read_set(genome, placements)
    repeat, more = read_set(
        genome, [(s + 1200, e + 1200, r) if s >= 300 and e <= 800 else (s, e, r) for s, e, r in placements]
    )
    fits = (repeat.lengths[more.query] == reads.lengths[more.query]) & (
        repeat.lengths[more.target] == reads.lengths[more.target]
    )
    overlaps = Overlaps.concat([overlaps, more.take(fits)])
    wobble = draw.integers(0, 15, len(overlaps)) * (overlaps.q_end - overlaps.q_start > 40)
    return reads, dataclasses.replace(overlaps, q_start=overlaps.q_start + wobble, cigar=None, cigar_offsets=None)


def shuffled(reads, overlaps, seed):
    """Put reads and rows in another order, under other names; pairs change places as their order asks."""
    draw = np.random.default_rng(seed)
    order = draw.permutation(len(reads))
    place = np.argsort(order)
    moved = Reads.from_sequences([f"x{i}" for i in range(len(reads))], [reads.sequence(i) for i in order])
    query, target = place[overlaps.query], place[overlaps.target]
    swap = query > target
    columns = {
        one: np.where(swap, getattr(overlaps, two), getattr(overlaps, one))
        for one, two in (("q_start", "t_start"), ("q_end", "t_end"), ("t_start", "q_start"), ("t_end", "q_end"))
    }
    rows = dataclasses.replace(
        overlaps, query=np.where(swap, target, query), target=np.where(swap, query, target), **columns
    )
    return moved, rows.take(draw.permutation(len(rows)))


def facts(reads, overlaps, threads=1):
    """Return all of an assembly that does not name reads or rows."""
    assembly = graph.assemble(reads, overlaps, PARAMS, threads=threads)
    found = assembly.layout
    edges, table = found.graph.edges, found.graph.reads
    arrays = (edges.source, edges.target, edges.length, edges.overlap, table.start, table.end, table.depth, found.path)
    return assembly.counts, [a.tolist() for a in arrays], [found.sequence(u, reads) for u in range(len(found))]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.integers(0, 1000), st.integers(1, 4))
def test_order_names_and_threads_change_nothing(seed, shuffle, threads):
    reads, overlaps = noisy_set(seed)
    assert facts(*shuffled(reads, overlaps, shuffle), threads) == facts(reads, overlaps)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000))
def test_every_step_keeps_mirrors(seed):
    reads, overlaps = noisy_set(seed)
    built, _ = graph.build_graph(reads, overlaps, PARAMS)
    reduced, _ = graph.reduce(built.validate(), PARAMS.fuzz)
    cleaned, _ = graph.clean(reduced.validate())
    cleaned.validate()
