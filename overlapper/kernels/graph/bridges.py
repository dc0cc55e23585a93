"""Bridges and bi-loops. Definitions are in `overlapper.graph.clean`.

The edges of node ``v`` are ``first[v]`` to ``first[v + 1]``; the reverse complement of a node is ``v ^ 1``,
so the in-degree of ``v`` is the out-degree of ``v ^ 1``.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.graph.graph_edges import longest_edge
from overlapper.kernels.graph.unitigs import chain_end, only_successor
from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def bridges(first, target, overlap):
    """Find single reads that join two branching nodes, where both have a better way to go.

    Returns
    -------
    ndarray of bool, shape (reads,)
        Reads to remove.
    """
    nodes = len(first) - 1
    strength = np.full(nodes >> 1, -1, np.int64)
    for read in range(nodes >> 1):
        v = 2 * read
        if (
            first[v + 1] - first[v] == 1
            and first[v + 2] - first[v + 1] == 1
            and only_successor(first, target, v) < 0
            and only_successor(first, target, v ^ 1) < 0
            and not (_is_longest(first, target, overlap, v) and _is_longest(first, target, overlap, v ^ 1))
        ):
            strength[read] = min(overlap[first[v]], overlap[first[v + 1]])

    doomed = np.zeros(nodes >> 1, np.bool_)
    for read in range(nodes >> 1):
        if strength[read] < 0:
            continue
        better_sides = 0
        for v in (2 * read, 2 * read + 1):
            back = target[first[v]] ^ 1
            for e in range(first[back], first[back + 1]):
                rival = target[e] >> 1
                if rival != read and (
                    strength[rival] < 0
                    or strength[rival] > strength[read]
                    or (strength[rival] == strength[read] and rival < read)
                ):
                    better_sides += 1
                    break
        doomed[read] = better_sides == 2
    return doomed


@njit(nogil=True, cache=True)
def _is_longest(first, target, overlap, v):
    """Return whether no other overlap of the node that ``v`` leads to is longer than theirs."""
    longest = longest_edge(first, overlap, target[first[v]] ^ 1)
    return overlap[longest] == overlap[first[v]]


@njit(nogil=True, cache=True)
def biloops(first, target, overlap, most):
    """Find edges that close a short chain on the other strand of the node it started from.

    Returns
    -------
    ndarray of bool, shape (edges,)
        One of each pair of mirrors.
    """
    nodes = len(first) - 1
    doomed = np.zeros(len(target), np.bool_)
    for w in range(nodes):
        for e in range(first[w], first[w + 1]):
            v = target[e]
            if first[w + 1] - first[w] < 2 or first[(v ^ 1) + 1] - first[v ^ 1] != 1:
                continue
            end, _ = chain_end(first, target, v, most)
            if end < 0 or first[end + 1] - first[end] < 2:
                continue
            for f in range(first[w], first[w + 1]):
                if target[f] == end ^ 1 and f != e:
                    doomed[e if overlap[e] < overlap[f] else f] = True
    return doomed
