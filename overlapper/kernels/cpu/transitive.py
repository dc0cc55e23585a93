"""Transitive edges, as products in the (min, +) semiring. Definition in `graph.reduce`.

The matrix R of an overlap graph holds the length of edge ``v -> x`` at row ``v``, column ``x``. Rows are
nodes, so that the four orientations of a pair of reads are four entries of one matrix.
"""

from __future__ import annotations

import heapq

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def two_edge_paths(first, target, length, fuzz, start, stop):
    """Find edges that a path of two edges explains: R times R, masked by R.

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


@njit(nogil=True, cache=True)
def all_paths(first, target, length, fuzz, start, stop):
    """Find edges that a path of two or more edges explains: the closure of R times R, masked by R.

    The closure is never stored: from each node, nodes are settled in the order of their distance (Dijkstra),
    as far as the longest edge of the node and the fuzz reach.

    Parameters and the returned value are those of `two_edge_paths`.
    """
    transitive = np.zeros(first[stop] - first[start], np.bool_)
    edge_to = np.full(len(first) - 1, -1, np.int64)
    distance = np.full(len(first) - 1, -1, np.int64)
    for v in range(start, stop):
        begin, end = first[v], first[v + 1]
        if end - begin < 2:
            continue
        limit = np.int64(length[end - 1]) + fuzz
        heap = [(np.int64(0), np.int64(0)) for _ in range(0)]
        reached = [np.int64(0) for _ in range(0)]
        for e in range(begin, end):
            w = np.int64(target[e])
            edge_to[w] = e
            distance[w] = length[e]
            reached.append(w)
            heapq.heappush(heap, (np.int64(length[e]), w))
        while len(heap) > 0:
            near, w = heapq.heappop(heap)
            if near > distance[w]:
                continue
            for f in range(first[w], first[w + 1]):
                x = np.int64(target[f])
                path = near + length[f]
                if path > limit:
                    break
                if x == v:
                    continue
                direct = edge_to[x]
                if direct >= 0 and path <= length[direct] + fuzz and (near, w) < (length[direct], x):
                    transitive[direct - first[start]] = True
                if distance[x] < 0:
                    reached.append(x)
                if distance[x] < 0 or path < distance[x]:
                    distance[x] = path
                    heapq.heappush(heap, (path, x))
        for w in reached:
            distance[w] = -1
        for e in range(begin, end):
            edge_to[target[e]] = -1
    return transitive
