"""The same graph for shuffled and renamed reads, shuffled rows and any number of threads."""

import dataclasses

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapper import graph
from overlapper.tables import Reads
from tests.graph_cases import two_paths
from tests.tries import tries

PARAMS = graph.GraphParams(min_overlap=100, min_depth=2, max_hang=20, fuzz=10)


def noisy_set(seed):
    """Reads that branch, with chimeras; overlaps wrong by some bases at an end, one in eight missing."""
    draw = np.random.default_rng(seed)
    reads, overlaps = two_paths(seed, chimeras=3)
    overlaps = overlaps.take(draw.random(len(overlaps)) > 0.125)
    wobble = draw.integers(0, 15, len(overlaps))
    return reads, dataclasses.replace(
        overlaps, q_start=overlaps.q_start + wobble, cigar=None, cigar_offsets=None
    )


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
        for one, two in (
            ("q_start", "t_start"),
            ("q_end", "t_end"),
            ("t_start", "q_start"),
            ("t_end", "q_end"),
        )
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
    arrays = (
        edges.source,
        edges.target,
        edges.length,
        edges.overlap,
        table.start,
        table.end,
        table.depth,
        found.path,
    )
    return (
        assembly.counts,
        [a.tolist() for a in arrays],
        [found.sequence(u, reads) for u in range(len(found))],
    )


@settings(max_examples=tries(15), deadline=None)
@given(st.integers(0, 1000), st.integers(0, 1000), st.integers(1, 4))
def test_order_names_and_threads_change_nothing(seed, shuffle, threads):
    reads, overlaps = noisy_set(seed)
    assert facts(*shuffled(reads, overlaps, shuffle), threads) == facts(reads, overlaps)


@settings(max_examples=tries(15), deadline=None)
@given(st.integers(0, 1000))
def test_every_step_keeps_mirrors(seed):
    reads, overlaps = noisy_set(seed)
    built, _ = graph.build_graph(reads, overlaps, PARAMS)
    reduced, _ = graph.reduce(built.validate(), PARAMS.fuzz)
    cleaned, _ = graph.clean(reduced.validate(), overlaps)
    cleaned.validate()
