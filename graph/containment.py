"""Contained reads: those that another read covers.

A containment overlap is an arrow from the contained read to its container. Hangs and gaps make the relation
imperfect: reads of about the same extent can contain each other, in pairs or in longer rings. A read stays
when it has no arrow, or when it is the longest (of equals the first) of a ring that no arrow leaves; a ring
is a strongly connected component of the arrows. Every other read goes, and a chain of arrows leads from it to
one that stays.

Of several containers a read has the one with the fewest arrows left to a read that stays, then the first, by
the first overlap. Cleaning may take that read away: a long read with an error fits no others, and contains
what lies on either side of the error. So what it contained is contained again, by the same rule, in reads of
the cleaned graph, once remnants have gone, whose reads fit elsewhere as well.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.graph.model import Contained, Containments, Graph
from overlapper.graph.pairs import Pairs
from overlapper.tables import OverlapClass

_FAR = np.iinfo(np.int32).max


def containments_of(pairs: Pairs, kinds: np.ndarray, extents: np.ndarray, order: np.ndarray) -> Containments:
    """Return the arrows from contained reads to containers.

    Parameters
    ----------
    pairs : Pairs
        Containments, on kept intervals, in canonical order.
    kinds : ndarray of uint8, shape (n,)
        Class of each pair.
    extents : ndarray of int32, shape (4, n)
        First two rows: how much further the query reaches to the left and right than the target.
    order : ndarray of int, shape (reads,)
        Row of the read table of every read.
    """
    left, right = extents[:2]
    query_contained = kinds == OverlapClass.QUERY_CONTAINED
    flipped = query_contained & pairs.reverse
    return Containments(
        order=order,
        inner=np.where(query_contained, pairs.query, pairs.target),
        outer=np.where(query_contained, pairs.target, pairs.query),
        reverse=pairs.reverse,
        position=np.where(query_contained, -np.where(flipped, right, left), left),
        row=pairs.row,
    )


def contained_reads(arrows: Containments, start: np.ndarray, end: np.ndarray) -> Contained:
    """Find the contained reads that leave the graph, each with a container.

    Parameters
    ----------
    arrows : Containments
    start, end : ndarray of int32, shape (reads,)
        Kept interval of every read, in content order.

    Returns
    -------
    Contained
        One row a read, in content order.
    """
    steps = _steps_to_a_read_that_stays(arrows.inner, arrows.outer, end - start)
    chosen = _first_of_nearest(arrows.inner, steps[arrows.outer], arrows.outer)
    chosen = chosen[steps[arrows.inner[chosen]] > 0]
    inner = arrows.inner[chosen]
    return Contained(
        read=arrows.order[inner],
        container=arrows.order[arrows.outer[chosen]],
        start=start[inner],
        end=end[inner],
        reverse=arrows.reverse[chosen],
        position=arrows.position[chosen],
        row=arrows.row[chosen],
    )


def contain_again(graph: Graph) -> tuple[Graph, dict[str, int]]:
    """Give contained reads whose container was removed another container, which leads to a read of the graph.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    graph : Graph
        The same reads are contained; where nothing else contains them, in the container that was removed.
    counts : dict of str to int
        Reads with another container.
    """
    arrows, contained = graph.containments, graph.contained
    rank = np.empty(len(arrows.order), np.int64)
    rank[arrows.order] = np.arange(len(arrows.order))
    lost = np.zeros(len(rank), np.bool_)
    lost[rank[contained.read[~leads_to_graph(graph)]]] = True
    there = np.zeros(len(rank), np.bool_)
    there[rank[graph.reads.read]] = True
    steps = _steps(arrows.inner, arrows.outer, there)
    fit = np.flatnonzero(lost[arrows.inner] & (steps[arrows.outer] < _FAR))
    chosen = fit[_first_of_nearest(arrows.inner[fit], steps[arrows.outer[fit]], arrows.outer[fit])]
    changed = np.searchsorted(rank[contained.read], arrows.inner[chosen])
    columns = {
        "container": arrows.order[arrows.outer],
        "reverse": arrows.reverse,
        "position": arrows.position,
        "row": arrows.row,
    }
    for name, values in columns.items():
        column = getattr(contained, name).copy()
        column[changed] = values[chosen]
        columns[name] = column
    found = dataclasses.replace(graph, contained=dataclasses.replace(contained, **columns))
    return found, {"reads contained again": len(chosen)}


def leads_to_graph(graph: Graph) -> np.ndarray:
    """Return a mask of the contained reads that a chain of containers joins to a read of the graph."""
    inner, outer = graph.contained.read, graph.contained.container
    everything = np.concatenate([graph.reads.read, inner, outer])
    there = np.zeros(int(everything.max(initial=-1)) + 1, np.bool_)
    there[graph.reads.read] = True
    while (found := there[outer] & ~there[inner]).any():
        there[inner[found]] = True
    return there[inner]


def _first_of_nearest(inner: np.ndarray, steps: np.ndarray, outer: np.ndarray) -> np.ndarray:
    """Return an arrow of each read: of the fewest steps left, the first container, the first arrow."""
    key = (steps.astype(np.uint64) << np.uint64(32)) | outer.astype(np.uint64)
    least = np.full(inner.max(initial=-1) + 1, np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(least, inner, key)
    row = np.full(len(least), -1)
    fit = np.flatnonzero(key == least[inner])[::-1]
    row[inner[fit]] = fit  # the first arrow comes last, and stays
    return row[row >= 0]


def _steps_to_a_read_that_stays(inner: np.ndarray, outer: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the number of arrows from each read to one that stays (int32); 0 for reads that stay."""
    stays = np.ones(len(lengths), np.bool_)
    stays[inner] = False
    in_rings = _steps(inner, outer, stays) == _FAR
    if in_rings.any():
        stays |= _first_of_final_rings(inner, outer, in_rings, lengths)
    return _steps(inner, outer, stays)


def _steps(inner: np.ndarray, outer: np.ndarray, stays: np.ndarray) -> np.ndarray:
    steps = np.where(stays, 0, _FAR).astype(np.int32)
    step = 0
    while len(inner):
        reached = steps[outer] == step
        fresh = inner[reached & (steps[inner] == _FAR)]
        if len(fresh) == 0:
            break
        step += 1
        steps[fresh] = step
        waiting = steps[inner] == _FAR
        inner, outer = inner[waiting], outer[waiting]
    return steps


def _first_of_final_rings(
    inner: np.ndarray, outer: np.ndarray, in_rings: np.ndarray, lengths: np.ndarray
) -> np.ndarray:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    within = in_rings[inner] & in_rings[outer]
    inner, outer, reads = inner[within], outer[within], len(lengths)
    arrows = coo_array((np.ones(len(inner), np.bool_), (inner, outer)), shape=(reads, reads)).tocsr()
    rings, ring = connected_components(arrows, directed=True, connection="strong")
    final = np.ones(rings, np.bool_)
    final[ring[inner[ring[inner] != ring[outer]]]] = False
    members = np.flatnonzero(in_rings & final[ring])
    members = members[np.lexsort([members, -lengths[members].astype(np.int64)])]
    best = members[np.unique(ring[members], return_index=True)[1]]
    stays = np.zeros(reads, np.bool_)
    stays[best] = True
    return stays
