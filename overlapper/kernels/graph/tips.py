"""Short chains with a dead end. Definitions are in `overlapper.graph.clean`.

The edges of node ``v`` are ``first[v]`` to ``first[v + 1]``; the reverse complement of a node is ``v ^ 1``,
so the in-degree of ``v`` is the out-degree of ``v ^ 1``.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.graph.graph_edges import longest_edge
from overlapper.kernels.graph.unitigs import chain_end
from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def tips(first, target, length, overlap, ends_molecule, stays, most):
    """Find tips whose best neighbour can be reached in a better way, and such edges of other tips.

    Parameters
    ----------
    first, target, length, overlap : arrays of int
        The graph.
    ends_molecule : ndarray of bool, shape (nodes,)
    stays : ndarray of bool, shape (reads,)
        A chain that begins with one of these is no tip.
    most : int
        Reads a tip may have.

    Returns
    -------
    doomed_reads : ndarray of bool, shape (reads,)
    doomed_edges : ndarray of bool, shape (edges,)
        One of each pair of mirrors.
    """
    nodes = len(first) - 1
    tip_ending_at = np.full(nodes, -1, np.int32)
    tip_reads = np.zeros(nodes, np.int32)
    tip_bases = np.zeros(nodes, np.int64)
    for v in range(nodes):
        if first[v ^ 1] != first[(v ^ 1) + 1] or stays[v >> 1]:
            continue
        end, count = chain_end(first, target, v, most)
        if end >= 0 and first[end] != first[end + 1]:
            tip_ending_at[end] = v
            tip_reads[v] = count
            w = v
            while w != end:
                w = target[first[w]]
                tip_bases[v] += length[first[w ^ 1]]

    doomed_reads = np.zeros(nodes >> 1, np.bool_)
    doomed_edges = np.zeros(len(target), np.bool_)
    for end in range(nodes):
        tip = tip_ending_at[end]
        if tip < 0:
            continue
        best = longest_edge(first, overlap, end)
        if ends_molecule[tip ^ 1]:
            outdone = _is_outdone_at_an_end(first, target, overlap, end, best, tip_ending_at, ends_molecule)
        else:
            outdone = _is_outdone(first, target, length, end, best, tip_ending_at, tip_reads, tip_bases)
        if outdone:
            _mark(first, target, tip, tip_reads[tip], doomed_reads)
        else:
            for e in range(first[end], first[end + 1]):
                doomed_edges[e] = e != best and _is_outdone(
                    first, target, length, end, e, tip_ending_at, tip_reads, tip_bases
                )
    return doomed_reads, doomed_edges


@njit(nogil=True, cache=True)
def _is_outdone(first, target, length, end, edge, tip_ending_at, tip_reads, tip_bases):
    """Return whether a node that ends no tip, or a better tip, leads where an edge of a tip's end leads."""
    back = target[edge] ^ 1
    best, best_end = (np.int64(-1), np.int32(0), np.int32(0)), end
    for f in range(first[back], first[back + 1]):
        rival_end = target[f] ^ 1
        rival = tip_ending_at[rival_end]
        if rival < 0:
            return True
        rank = (tip_bases[rival] + length[f], tip_reads[rival], -(rival >> 1))
        if rank > best:
            best, best_end = rank, rival_end
    return best_end != end


@njit(nogil=True, cache=True)
def _is_outdone_at_an_end(first, target, overlap, end, edge, tip_ending_at, ends_molecule):
    """Return whether another tip at an end of a molecule leads where an edge does, by a longer overlap."""
    back = target[edge] ^ 1
    for f in range(first[back], first[back + 1]):
        rival = tip_ending_at[target[f] ^ 1]
        if rival >= 0 and ends_molecule[rival ^ 1]:
            if (overlap[f], -(rival >> 1)) > (overlap[edge], -(tip_ending_at[end] >> 1)):
                return True
    return False


@njit(nogil=True, cache=True)
def forked_ends(first, target, overlap, most):
    """Find chains of at most ``most`` reads that nothing leads into and that end at a fork.

    Returns
    -------
    reads : ndarray of bool, shape (reads,)
        Those of these chains.
    edges : ndarray of bool, shape (edges,)
        The edges of these forks but the one with the longest overlap, the first of equals; one of each pair
        of mirrors.
    """
    nodes = len(first) - 1
    reads = np.zeros(nodes >> 1, np.bool_)
    edges = np.zeros(len(target), np.bool_)
    for v in range(nodes):
        if first[v ^ 1] != first[(v ^ 1) + 1]:
            continue
        end, count = chain_end(first, target, v, most)
        if end < 0 or first[end + 1] - first[end] < 2:
            continue
        _mark(first, target, v, count, reads)
        best = longest_edge(first, overlap, end)
        for e in range(first[end], first[end + 1]):
            edges[e] = e != best
    return reads, edges


@njit(nogil=True, cache=True)
def dead_ends(first, target, most):
    """Find chains of at most ``most`` reads that nothing leads into.

    Returns
    -------
    reads : ndarray of bool, shape (reads,)
        Those of these chains.
    alone : ndarray of bool, shape (reads,)
        Those of the chains among them that lead nowhere, either.
    """
    nodes = len(first) - 1
    reads, alone = np.zeros(nodes >> 1, np.bool_), np.zeros(nodes >> 1, np.bool_)
    for v in range(nodes):
        if first[v ^ 1] != first[(v ^ 1) + 1]:
            continue
        end, count = chain_end(first, target, v, most)
        if end >= 0:
            _mark(first, target, v, count, reads)
            if first[end] == first[end + 1]:
                _mark(first, target, v, count, alone)
    return reads, alone


@inner
def _mark(first, target, v, count, marked):
    """Mark the reads of a chain of ``count`` nodes that begins with ``v``."""
    marked[v >> 1] = True
    for _ in range(count - 1):
        v = target[first[v]]
        marked[v >> 1] = True
