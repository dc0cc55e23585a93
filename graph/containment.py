"""Contained reads: those that another read covers.

A containment overlap is an arrow from the contained read to its container. Hangs and gaps make the relation
imperfect: reads of about the same extent can contain each other, in pairs or in longer rings. A read stays
when it has no arrow, or when it is the longest (of equals the first) of a ring that no arrow leaves; a ring
is a strongly connected component of the arrows. Every other read goes, and a chain of arrows leads from it to
one that stays.
"""

from __future__ import annotations

import numpy as np

from overlapper.graph.model import Contained
from overlapper.graph.pairs import Pairs
from overlapper.tables import OverlapClass

_FAR = np.iinfo(np.int32).max


def contained_reads(
    pairs: Pairs, kinds: np.ndarray, extents: np.ndarray, start: np.ndarray, end: np.ndarray
) -> Contained:
    """Find the contained reads that leave the graph, each with a container.

    Parameters
    ----------
    pairs : Pairs
        On kept intervals, in canonical order.
    kinds : ndarray of uint8, shape (n,)
        Class of each pair.
    extents : ndarray of int32, shape (4, n)
        First two rows: how much further the query reaches to the left and right than the target.
    start, end : ndarray of int32, shape (reads,)
        Kept interval of every read.

    Returns
    -------
    Contained
        One row a read, by read; numbers are those of the pairs. Of several containers the one with the fewest
        arrows left to a read that stays, then the first, then the first pair.
    """
    arrow = (kinds == OverlapClass.QUERY_CONTAINED) | (kinds == OverlapClass.TARGET_CONTAINED)
    pairs, left, right = pairs.take(arrow), extents[0, arrow], extents[1, arrow]
    query_contained = kinds[arrow] == OverlapClass.QUERY_CONTAINED
    inner = np.where(query_contained, pairs.query, pairs.target)
    outer = np.where(query_contained, pairs.target, pairs.query)
    steps = _steps_to_a_read_that_stays(inner, outer, end - start)

    chosen = _first_of_nearest(inner, steps[outer], outer)
    chosen = chosen[steps[inner[chosen]] > 0]
    flipped = query_contained & pairs.reverse
    position = np.where(query_contained, -np.where(flipped, right, left), left)
    return Contained(
        read=inner[chosen],
        container=outer[chosen],
        start=start[inner[chosen]],
        end=end[inner[chosen]],
        reverse=pairs.reverse[chosen],
        position=position[chosen],
        row=pairs.row[chosen],
    )


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
