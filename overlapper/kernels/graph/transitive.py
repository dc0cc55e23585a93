"""Transitive edges, by a product in the (min, +) semiring. Definition in `overlapper.graph.reduce`.

The matrix R of an overlap graph holds the length of edge ``v -> x`` at row ``v``, column ``x``. Rows are
nodes, so that the four orientations of a pair of reads are four entries of one matrix.
"""

from __future__ import annotations

import numpy as np

from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def transitive_edges(first, target, length, fuzz, start, stop):
    """Find edges that a path of two edges explains: R times R, masked by R (Gustavson, row by row).

    Parameters
    ----------
    first, target, length : arrays of int
        The graph; the edges of a node ascend by length, then by target.
    fuzz : int
        How much longer than the edge the path may be.
    start, stop : int
        Nodes to look at.

    Returns
    -------
    ndarray of bool, shape (first[stop] - first[start],)
        True where an edge of these nodes is transitive.
    """
    transitive = np.zeros(first[stop] - first[start], np.bool_)
    edge_to = np.full(len(first) - 1, -1, np.int64)
    for v in range(start, stop):
        begin, end = first[v], first[v + 1]
        if end - begin < 2:
            continue
        for e in range(begin, end):
            edge_to[target[e]] = e
        limit = length[end - 1] + fuzz
        for e in range(begin, end):
            w = target[e]
            for f in range(first[w], first[w + 1]):
                path = length[e] + length[f]
                if path > limit:
                    break
                direct = edge_to[target[f]]
                if direct > e and path <= length[direct] + fuzz:
                    transitive[direct - first[start]] = True
        for e in range(begin, end):
            edge_to[target[e]] = -1
    return transitive
