"""Paths without a choice. Definitions are in `overlapper.graph.layout`.

The edges of node ``v`` are ``first[v]`` to ``first[v + 1]``; the reverse complement of a node is ``v ^ 1``,
so the in-degree of ``v`` is the out-degree of ``v ^ 1``.
"""

from __future__ import annotations

import numpy as np

from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def only_successor(first, target, v):
    """Return the node that follows ``v`` when neither has a choice, else -1."""
    if first[v + 1] - first[v] != 1:
        return -1
    w = target[first[v]]
    back = w ^ 1
    return w if first[back + 1] - first[back] == 1 else -1


@njit(nogil=True, cache=True)
def chain_end(first, target, v, most):
    """Follow only successors from ``v``.

    Returns
    -------
    end : int
        Last node of the chain; -1 where the chain has more than ``most`` nodes.
    count : int
        Nodes in it, ``v`` and ``end`` included.
    """
    count = 1
    while count <= most:
        w = only_successor(first, target, v)
        if w < 0:
            return v, count
        v, count = w, count + 1
    return -1, count


@njit(nogil=True, cache=True)
def unitigs(first, target):
    """Find all maximal paths without a choice, each on one strand.

    Returns
    -------
    path : ndarray of int32
        Nodes, unitig after unitig. A linear one runs in the direction whose first node has the smaller id, a
        circular one starts at the forward strand of its first read.
    starts : ndarray of int64, shape (unitigs + 1,)
        Where each unitig starts.
    circular : ndarray of bool, shape (unitigs,)
    """
    nodes = len(first) - 1
    path = np.empty(nodes >> 1, np.int32)
    done = np.zeros(nodes >> 1, np.bool_)
    starts = [np.int64(0)]
    circular = [False for _ in range(0)]
    size = 0
    for circles in (False, True):
        for start in range(nodes):
            if done[start >> 1] or (not circles and only_successor(first, target, start ^ 1) >= 0):
                continue
            v = np.int64(start)
            while v >= 0 and not done[v >> 1]:
                done[v >> 1] = True
                path[size] = v
                size += 1
                v = np.int64(only_successor(first, target, v))
            starts.append(np.int64(size))
            circular.append(circles)
    return path, np.array(starts), np.array(circular, np.bool_)


@njit(nogil=True, cache=True)
def stretches(first, target, length, mirror, bases, path, starts, circular):
    """Choose what each node of a unitig gives to its sequence.

    Parameters
    ----------
    first, target, length, mirror : arrays of int
        The graph.
    bases : array of int, shape (reads,)
        Length of every read.
    path, starts, circular : arrays
        As `unitigs` gives them.

    Returns
    -------
    start, end : ndarray of int32, shape (len(path),)
        Half open, on the strand of the node.
    """
    start, end = np.zeros(len(path), np.int32), np.empty(len(path), np.int32)
    for i in range(len(path)):
        end[i] = bases[path[i] >> 1]
    for unitig in range(len(circular)):
        begin, stop = starts[unitig], starts[unitig + 1]
        up_to_next = circular[unitig]
        for i in range(begin, stop if circular[unitig] else stop - 1):
            e = first[path[i]]
            next_starts = length[mirror[e]]
            up_to_next = up_to_next or (i > begin and start[i] <= next_starts)
            if up_to_next:
                end[i] = next_starts
            else:
                start[i + 1] = bases[target[e] >> 1] - length[e]
    return start, end
