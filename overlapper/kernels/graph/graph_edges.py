"""From dovetails to the ordered edges of an overlap graph. Definitions are in `overlapper.graph.build`."""

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
