"""Edges of an overlap graph: made of dovetails (`overlapper.graph.build`), and judged.

Transitive edges are defined in `overlapper.graph.reduce`, forks in `overlapper.graph.forks`.
The edges of node ``v`` are ``first[v]`` to ``first[v + 1]``; the reverse complement of a node is ``v ^ 1``.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def extents(query, target, reverse, q_start, q_end, t_start, t_end, lengths):
    """Return how each overlap lies, with the target on the query's strand.

    Parameters
    ----------
    query, target, reverse, q_start, q_end, t_start, t_end : arrays, shape (n,)
        Overlaps within their reads.
    lengths : array of int, shape (reads,)

    Returns
    -------
    ndarray of int32, shape (4, n)
        How much further the query reaches to the left and to the right than the target (below 0 the other way
        round); bases that the two share, hangs included, on the query and on the target.
    """
    found = np.empty((4, len(query)), np.int32)
    for row in range(len(query)):
        q_length, t_length = lengths[query[row]], lengths[target[row]]
        left_target, right_target = np.int64(t_start[row]), np.int64(t_length - t_end[row])
        if reverse[row]:
            left_target, right_target = right_target, left_target
        left, right = q_start[row] - left_target, q_length - q_end[row] - right_target
        found[0, row], found[1, row] = left, right
        found[2, row] = q_length - max(left, 0) - max(right, 0)
        found[3, row] = t_length - max(-left, 0) - max(-right, 0)
    return found


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
def order_ties(order, key, target):
    """Order edges of the same key by target.

    Parameters
    ----------
    order : ndarray of int64, shape (m,)
        Edges by ascending key; changed in place.
    key : ndarray of uint64, shape (m,)
    target : array of int, shape (m,)
    """
    for place in range(1, len(order)):
        edge = order[place]
        slot = place
        while slot > 0 and key[order[slot - 1]] == key[edge] and target[order[slot - 1]] > target[edge]:
            order[slot] = order[slot - 1]
            slot -= 1
        order[slot] = edge


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


@inner
def longest_edge(first, overlap, v):
    """Return the edge with the longest overlap of a node that has some, the first one of equals."""
    longest = first[v]
    for e in range(first[v] + 1, first[v + 1]):
        if overlap[e] > overlap[longest]:
            longest = e
    return longest


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


@njit(nogil=True, cache=True)
def add_up(first, source, target, overlap, rows):
    """Find edges that share as many bases, with one of another source, as the two that cross them.

    Parameters
    ----------
    first, source, target, overlap : arrays of int
        The graph.
    rows : ndarray of int64, shape (n,)
        The edges in question.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    found = np.zeros(len(rows), np.bool_)
    for i in range(len(rows)):
        v, back = source[rows[i]], target[rows[i]] ^ 1
        longest = longest_edge(first, overlap, v)
        surplus = overlap[longest] - overlap[rows[i]]
        for e in range(first[back], first[back + 1]):
            u = target[e] ^ 1
            for f in range(first[u], first[u + 1]):
                if u != v and target[f] == target[longest] and overlap[f] - overlap[e] == surplus:
                    found[i] = True
    return found
