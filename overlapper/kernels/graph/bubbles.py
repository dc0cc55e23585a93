"""Bubbles. Definitions are in `overlapper.graph.clean`.

The edges of node ``v`` are ``first[v]`` to ``first[v + 1]``; the reverse complement of a node is ``v ^ 1``,
so the in-degree of ``v`` is the out-degree of ``v ^ 1``.
"""

from __future__ import annotations

import numpy as np

from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def bubbles(first, target, length, overlap, max_bases, kept):
    """Find bubbles and all but their best path.

    A bubble that shares a read other than its source and sink with one found earlier (sources are tried in
    the order of their ids) is left for the next call.

    Parameters
    ----------
    first, target, length, overlap : arrays of int
        The graph.
    max_bases : int
        Longest distance from the source.
    kept : array of bool, shape (reads,)
        A bubble between two such reads is none.

    Returns
    -------
    doomed_reads : ndarray of bool, shape (reads,)
    doomed_edges : ndarray of bool, shape (edges,)
        One of each pair of mirrors.
    count : int
        Bubbles.
    """
    nodes = len(first) - 1
    taken = np.zeros(nodes >> 1, np.bool_)
    doomed_reads = np.zeros(nodes >> 1, np.bool_)
    doomed_edges = np.zeros(len(target), np.bool_)
    seen = np.zeros(nodes, np.bool_)
    pending = np.zeros(nodes, np.int32)
    distance = np.zeros(nodes, np.int64)
    shortest = np.zeros(nodes, np.int64)
    path_overlap = np.zeros(nodes, np.int64)
    entry = np.full(nodes, -1, np.int64)
    before = np.full(nodes, -1, np.int32)
    count = 0
    for source in range(nodes):
        if first[source + 1] - first[source] < 2:
            continue
        inside = [np.int64(0) for _ in range(0)]
        sink = _bubble_sink(
            first, target, length, overlap, max_bases, source,
            seen, pending, distance, shortest, path_overlap, entry, before, inside,
        )  # fmt: skip
        clash = sink < 0 or taken[source >> 1] or (kept[source >> 1] and kept[sink >> 1])
        for v in inside:
            seen[v] = False
            clash = clash or taken[v >> 1]
        if clash:
            continue
        count += 1
        for e in range(first[source], first[source + 1]):
            doomed_edges[e] = True
        for v in inside:
            if v == sink:
                continue
            taken[v >> 1] = True
            doomed_reads[v >> 1] = True
            for e in range(first[v], first[v + 1]):
                doomed_edges[e] = True
        v = sink
        while v != source:
            doomed_edges[entry[v]] = False
            doomed_reads[v >> 1] = False
            v = before[v]
    return doomed_reads, doomed_edges, count


@njit(nogil=True, cache=True)
def _bubble_sink(
    first, target, length, overlap, max_bases, source,
    seen, pending, distance, shortest, path_overlap, entry, before, inside,
):  # fmt: skip
    """Walk from ``source`` in topological order until all paths meet; return where, or -1.

    Fills ``inside`` with all nodes reached, and for each of them the last edge and node of its best path.
    """
    distance[source] = path_overlap[source] = 0
    shortest[source] = np.iinfo(np.int64).max
    ready = [np.int64(source)]
    waiting = 0
    while True:
        v = ready.pop()
        if first[v] == first[v + 1]:
            return -1
        for e in range(first[v], first[v + 1]):
            w = np.int64(target[e])
            away = distance[v] + length[e]
            if w >> 1 == source >> 1 or seen[w ^ 1] or away > max_bases:
                return -1
            least, shared = min(shortest[v], np.int64(overlap[e])), path_overlap[v] + overlap[e]
            if not seen[w]:
                seen[w] = True
                inside.append(w)
                pending[w] = first[(w ^ 1) + 1] - first[w ^ 1]
                waiting += 1
                distance[w] = away
                better = True
            else:
                distance[w] = min(distance[w], away)
                better = (least, shared, -v) > (shortest[w], path_overlap[w], -before[w])
            if better:
                shortest[w], path_overlap[w], entry[w], before[w] = least, shared, e, v
            pending[w] -= 1
            if pending[w] == 0:
                waiting -= 1
                ready.append(w)
        if len(ready) == 0:
            return -1
        if len(ready) == 1 and waiting == 0:
            return ready[0]
