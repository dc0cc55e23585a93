"""Joining of dead ends of a cleaned graph, by reads that the graph left out.

Where few reads cross a place, those that do can be missing: their parts beyond it are trimmed, as too few
overlaps confirm them; they have no overlap of ``min_overlap``; or a read that ends in a chimera, and so goes
on nowhere, contains them. Where overlaps match to the last base, so may a read with an error that others
have, too::

    linear unitig  ─────────────────────▶            ◀───────────────── linear unitig
    left out                      ──────────────────────
                                           ─────────────────────
    a read that contains them           ────────────────~~~~~~~~~

**Ends.** A node that nothing follows is a dead end, and so are the nodes before it, up to ``most_reads`` in
all, as long as there is no choice: what comes last may be the read that is wrong.

**Evidence.** Reads are trimmed anew with a depth of one and overlaps of ``join_overlap``, at most half as
long as others, but not beyond the intervals that the graph was built within. A dovetail between nodes of two
dead ends joins them, and so does each read outside of the graph that has a dovetail with both. Two dead ends
are joined where at least two such facts ask for it (a chimera is one alone), where each is the other's best
by their number, and where no other has more than half of them.

**The way.** Of all ways from one to the other that whose shortest overlap is the longest is taken; of equals
the one behind which the fewest reads are left over, then that of the first reads in content order. Reads
beyond the nodes that it joins leave the graph, the read between them enters it.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import defaultdict
from typing import NamedTuple

import numpy as np

from overlapper.extend.classify import classify
from overlapper.graph.build import depth_of, is_similar
from overlapper.graph.model import Edges, Graph, GraphReads
from overlapper.graph.pairs import Pairs, cut, pairs_of, without_repeats
from overlapper.graph.trim import kept_intervals
from overlapper.kernels.graph import graph_edges
from overlapper.kernels.graph.unitigs import only_successor
from overlapper.params.graph import GraphParams
from overlapper.sketch.canonical import canonical_order
from overlapper.tables import OverlapClass, Overlaps, Reads

FEWEST_FACTS = 2
"""Least facts that join two dead ends: a chimera is a single one."""

Ends = list[list[int]]
"""The nodes of every dead end, the last one first: ``2 * read`` or ``2 * read + 1``, with reads numbered in
content order."""


class _Step(NamedTuple):
    """A dovetail that leaves a dead end.

    ``length`` is how much further the second node reaches than the first, ``back`` how much further the first
    reaches than the second at the other end.
    """

    source: int
    target: int
    overlap: int
    length: int
    back: int
    row: int

    def mirrored(self) -> _Step:
        """Return the same overlap of the other strand."""
        return _Step(self.target ^ 1, self.source ^ 1, self.overlap, self.back, self.length, self.row)


class _Way(NamedTuple):
    """A way from one dead end to another; the least is the best."""

    shortest: int
    """Bases of the shortest overlap, negated."""
    left_over: int
    steps: tuple[_Step, ...]
    beyond: list[int]
    """The ``left_over`` reads of the two dead ends beyond the nodes that it joins."""

    @property
    def joined(self) -> tuple[int, int]:
        """The two nodes that it joins, both as they leave their dead ends."""
        return self.steps[0].source, self.steps[-1].target ^ 1

    @property
    def between(self) -> list[int]:
        """The reads on it that are not of the dead ends."""
        return [step.target >> 1 for step in self.steps[:-1]]


def join_ends(
    graph: Graph,
    reads: Reads,
    overlaps: Overlaps,
    params: GraphParams,
    most_reads: int,
    *,
    within: tuple[np.ndarray, np.ndarray] | None = None,
    threads: int = 1,
) -> tuple[Graph, dict[str, int]]:
    """Join the dead ends of a cleaned graph.

    Parameters
    ----------
    graph : Graph
    reads : Reads
    overlaps : Overlaps
    params : GraphParams
        Parameters that the graph was built with.
    most_reads : int
        Most reads of a dead end.
    within : tuple of ndarray of int, shape (reads,), optional
        As the graph was built with.
    threads : int
        Changes nothing but the time.

    Returns
    -------
    graph : Graph
    counts : dict of str to int
        Dead ends that were joined, reads that entered the graph for it, and reads that left it.
    """
    params = params.of_reads(reads.lengths)
    ends = _dead_ends(graph, most_reads)
    ways: list[_Way] = []
    if params.join_overlap and len(ends) > 1:
        order = canonical_order(reads, threads)
        content = np.empty(len(order), np.int64)
        content[order] = np.arange(len(order))
        of_graph = content[graph.reads.read]
        ends = [[2 * int(of_graph[v >> 1]) + (v & 1) for v in end] for end in ends]
        pairs = _pairs_near(ends, overlaps, params, order, threads)
        kept = np.zeros((2, len(order)), np.int32)
        kept[:, of_graph] = graph.reads.start, graph.reads.end
        intervals = _lax_intervals(ends, pairs, kept, params, threads)
        if within is not None:
            start, end = (
                np.maximum(intervals[0], within[0][order]),
                np.minimum(intervals[1], within[1][order]),
            )
            intervals = tuple(np.where(start < end, (start, end), 0).astype(np.int32))
        steps = _steps(ends, pairs, overlaps, intervals, params)
        ways = _chosen(ends, steps, set(of_graph.tolist()))
    counts = {
        "dead ends joined": 2 * len(ways),
        "reads that join them": sum(len(way.between) for way in ways),
        "reads beyond joins": sum(way.left_over for way in ways),
    }
    if ways:
        depth = depth_of(cut(pairs, overlaps, *intervals), intervals[1] - intervals[0])
        graph = _with_ways(graph, ways, order, of_graph, intervals, depth)
    return graph, counts


def _dead_ends(graph: Graph, most_reads: int) -> Ends:
    """Return the dead ends of a graph, by its own nodes."""
    first, target = graph.first_edge, graph.edges.target
    ends = []
    for v in np.flatnonzero(first[1:] == first[:-1]).tolist():
        nodes = [v]
        while len(nodes) < most_reads and (before := only_successor(first, target, nodes[-1] ^ 1)) >= 0:
            nodes.append(int(before) ^ 1)
        ends.append(nodes)
    return ends


def _pairs_near(
    ends: Ends, overlaps: Overlaps, params: GraphParams, order: np.ndarray, threads: int
) -> Pairs:
    """Return all overlaps of reads that overlap a read of a dead end."""
    similar = is_similar(overlaps, params.max_divergence_ratio)
    near = np.zeros(len(order), np.bool_)
    near[order[[v >> 1 for v in itertools.chain(*ends)]]] = True
    touching = (near[overlaps.query] | near[overlaps.target]) & similar
    near[overlaps.query[touching]] = near[overlaps.target[touching]] = True
    rows = np.flatnonzero((near[overlaps.query] | near[overlaps.target]) & similar)
    pairs = without_repeats(pairs_of(overlaps.take(rows), order, threads=threads))
    return dataclasses.replace(pairs, row=rows[pairs.row])


def _lax_intervals(
    ends: Ends,
    pairs: Pairs,
    kept: np.ndarray,
    params: GraphParams,
    threads: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the intervals of reads that one overlap confirms; reads of the graph grow at dead ends alone."""
    least = np.full(kept.shape[1], params.join_overlap)
    trimmed = kept_intervals(pairs, 1, least // 2, least, threads)
    start, end = trimmed.start.copy(), trimmed.end.copy()
    in_graph = kept[1] > kept[0]
    start[in_graph], end[in_graph] = kept[:, in_graph]
    for v in itertools.chain(*ends):
        read = v >> 1
        if v & 1 and trimmed.end[read]:
            start[read] = min(start[read], trimmed.start[read])
        elif trimmed.end[read]:
            end[read] = max(end[read], trimmed.end[read])
    return start, end


def _steps(
    ends: Ends,
    pairs: Pairs,
    overlaps: Overlaps,
    intervals: tuple[np.ndarray, np.ndarray],
    params: GraphParams,
) -> list[_Step]:
    """Return the dovetails that leave dead ends, the longest one to each node."""
    lengths = (intervals[1] - intervals[0]).astype(np.int64)
    inside = cut(pairs, overlaps, *intervals)
    kinds = classify(inside, lengths, params.max_hang, params.min_ratio)
    extents = graph_edges.extents(*inside.intervals, lengths)
    long_enough = np.minimum(extents[2], extents[3]) >= params.join_overlap
    fit = np.flatnonzero((kinds == OverlapClass.DOVETAIL) & long_enough)
    left, right, on_query, on_target = extents[:, fit].astype(np.int64)
    nodes = (
        2 * inside.query[fit].astype(np.int64),
        2 * inside.target[fit].astype(np.int64) + inside.reverse[fit],
    )
    source, target = np.where(left > 0, nodes, nodes[::-1])
    overlap, length, back = np.minimum(on_query, on_target), np.abs(right), np.abs(left)
    there = np.stack([source, target, overlap, length, back, inside.row[fit]])
    mirrored = np.stack([target ^ 1, source ^ 1, overlap, back, length, inside.row[fit]])
    found = np.stack([there, mirrored], axis=2).reshape(len(there), -1)
    leaving = np.isin(found[0], list(itertools.chain(*ends)))
    best: dict[tuple[int, int], _Step] = {}
    for values in found[:, leaving].T.tolist():
        one = _Step(*values)
        place = one.source, one.target
        best[place] = max(best.get(place, one), one, key=lambda step: step.overlap)
    return list(best.values())


def _chosen(ends: Ends, steps: list[_Step], of_graph: set[int]) -> list[_Way]:
    """Return the ways that join dead ends, at most one for each."""
    end_of = {v: end for end, nodes in enumerate(ends) for v in nodes}
    by_target = defaultdict(list)
    for step in steps:
        by_target[step.target].append(step)
    ways: dict[tuple[int, int], list[_Way]] = defaultdict(list)
    for step in steps:
        if step.target ^ 1 in end_of:
            following: list[tuple[_Step, ...]] = [(step,)]
        elif step.target >> 1 in of_graph:
            continue
        else:
            following = [(step, other.mirrored()) for other in by_target[step.target ^ 1]]
        for taken in following:
            here, there = end_of[taken[0].source], end_of[taken[-1].target ^ 1]
            if here != there:
                after, before = (ends[here].index(taken[0].source), ends[there].index(taken[-1].target ^ 1))
                beyond = [v >> 1 for v in ends[here][:after] + ends[there][:before]]
                shortest = -min(one.overlap for one in taken)
                ways[here, there].append(_Way(shortest, len(beyond), taken, beyond))
    best = _best_partners(ways, len(ends))
    chosen: list[_Way] = []
    used: set[int] = set()
    for here, there in sorted(best.items()):
        if here < there and best.get(there) == here:
            way = min(ways[here, there])
            reads = way.between + way.beyond + [v >> 1 for v in way.joined]
            if len(set(reads)) == len(reads) and not used.intersection(reads):
                used.update(reads)
                chosen.append(way)
    return chosen


def _best_partners(ways: dict[tuple[int, int], list[_Way]], ends: int) -> dict[int, int]:
    """Return the dead end that most facts join to each, if they are enough and clear."""
    facts: dict[int, list[tuple[int, int]]] = {here: [] for here in range(ends)}
    for (here, there), found in ways.items():
        facts[here].append((len({tuple(way.between) for way in found}), there))
    best = {}
    for here, counted in facts.items():
        (most, there), (second, _) = [*sorted(counted, reverse=True), (0, 0), (0, 0)][:2]
        if most >= max(FEWEST_FACTS, 2 * second):
            best[here] = there
    return best


def _with_ways(
    graph: Graph,
    ways: list[_Way],
    order: np.ndarray,
    of_graph: np.ndarray,
    intervals: tuple[np.ndarray, np.ndarray],
    depth: np.ndarray,
) -> Graph:
    """Add the reads and edges of ways to the graph; remove the reads beyond them."""
    start, end = intervals
    beyond = {read for way in ways for read in way.beyond}
    entering = np.array([read for way in ways for read in way.between], np.int64)
    none = np.zeros(len(entering), np.bool_)
    joined = [v for way in ways for v in way.joined]

    numbers = np.concatenate([of_graph, entering])
    table = GraphReads.concat([
        graph.reads,
        GraphReads(
            read=order[entering].astype(np.int32), start=start[entering], end=end[entering],
            depth=depth[entering].astype(np.float32), begins_molecule=none, ends_molecule=none,
            confirmed=none,
        ),
    ])  # fmt: skip
    longer = np.zeros(2 * len(order), np.int32)
    for v in joined:
        at = np.flatnonzero(of_graph == v >> 1)[0]
        if v & 1:
            longer[v] = table.start[at] - start[v >> 1]
            table.start[at] = start[v >> 1]
        else:
            longer[v] = end[v >> 1] - table.end[at]
            table.end[at] = end[v >> 1]
    stays = np.array([number not in beyond for number in numbers.tolist()])
    sorted_rows = np.argsort(numbers)
    rows = sorted_rows[stays[sorted_rows]]

    edges = graph.edges
    source, target = (2 * of_graph[node >> 1] + (node & 1) for node in (edges.source, edges.target))
    steps = [both for way in ways for step in way.steps for both in (step, step.mirrored())]
    new_source, new_target, overlap, length, _, row = np.array(steps, np.int64).T
    source, target = np.concatenate([source, new_source]), np.concatenate([target, new_target])
    old_length = edges.length + longer[target[: len(edges)]]
    columns = {
        "length": np.concatenate([old_length, length]).astype(np.int32),
        "overlap": np.concatenate([edges.overlap, overlap]).astype(np.int32),
        "row": np.concatenate([edges.row, row]),
    }
    number = np.full(len(order), -1, np.int64)
    number[numbers[rows]] = np.arange(len(rows))
    source, target = (2 * number[node >> 1] + (node & 1) for node in (source, target))
    there = np.flatnonzero((source >= 0) & (target >= 0))
    there = there[np.lexsort([target[there], columns["length"][there], source[there]])]
    made = Edges(
        source=source[there].astype(np.int32), target=target[there].astype(np.int32),
        **{name: values[there] for name, values in columns.items()},
    )  # fmt: skip
    contained = graph.contained.take(~np.isin(graph.contained.read, order[entering]))
    return Graph(table.take(rows), made, contained, graph.containments)
