"""From dovetails to the ordered edges of an overlap graph. Definitions are in `graph.build`."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def longest_dovetails(query, target, reverse, left, overlap):
    """Choose among dovetails that join the same ends of two reads.

    Parameters
    ----------
    query, target, reverse : arrays, shape (n,)
        Dovetails; those of the same query, target and strand lie next to each other.
    left : array of int, shape (n,)
        Above 0 where the query comes first, else below.
    overlap : array of int, shape (n,)

    Returns
    -------
    ndarray of bool, shape (n,)
        True for the longest overlap of each query, target, strand and order; of equals, the first.
    """
    chosen = np.zeros(len(query), np.bool_)
    begin = 0
    for row in range(1, len(query) + 1):
        if (
            row < len(query)
            and query[row] == query[begin]
            and target[row] == target[begin]
            and reverse[row] == reverse[begin]
        ):
            continue
        for query_first in (False, True):
            best = -1
            for i in range(begin, row):
                if (left[i] > 0) == query_first and (best < 0 or overlap[i] > overlap[best]):
                    best = i
            if best >= 0:
                chosen[best] = True
        begin = row
    return chosen


@njit(nogil=True, cache=True)
def edge_order(source, target, length, nodes):
    """Return the canonical order of edges (int64): by source, then by length, then by target."""
    first = np.zeros(nodes + 1, np.int64)
    for v in source:
        first[v + 1] += 1
    for v in range(nodes):
        first[v + 1] += first[v]
    fill = first[:-1].copy()
    order = np.empty(len(source), np.int64)
    for e in range(len(source)):
        order[fill[source[e]]] = e
        fill[source[e]] += 1
    for v in range(nodes):
        edges = order[first[v] : first[v + 1]].copy()
        keys = np.empty(len(edges), np.int64)
        for i in range(len(edges)):
            keys[i] = (np.int64(length[edges[i]]) << 32) | target[edges[i]]
        order[first[v] : first[v + 1]] = edges[np.argsort(keys)]
    return order


@njit(nogil=True, cache=True)
def mirror_edges(first, source, target):
    """Return the mirror ``target ^ 1 -> source ^ 1`` of every edge, -1 where there is none (int64)."""
    mirror = np.full(len(source), -1, np.int64)
    for e in range(len(source)):
        tail, head = target[e] ^ 1, source[e] ^ 1
        for f in range(first[tail], first[tail + 1]):
            if target[f] == head:
                mirror[e] = f
                break
    return mirror
