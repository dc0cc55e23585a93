"""Forks at which no overlap tells which of two haplotypes goes on.

Behind a stretch that both haplotypes share, and no read goes through, the reads of both lead on to reads of
both. Which overlap is the longer one there is chance, so that none of these edges is weak beside another
(`overlapper.graph.clean`).

**Each by its own reads.** Reads ``v`` and ``u`` of either haplotype lead in, ``b`` and ``w`` lead on. Where
all of them overlap in what is the same, the bases that they share add up::

    v   ═══════════════════
    u   ────────────────                   v -> w and u -> b share as many bases together
    b          ════════════════════        as v -> b and u -> w do
    w             ─────────────────────

An edge ``v -> w`` stays if this holds for any read ``u``, and the read ``b`` with which ``v`` has the longest
overlap.

**By reads of both.** A read that is shared as a whole, of `_SHARED_WHOLE` times the depth from which on a
read is shared, stands for both. An edge from it stays if it is the only one that leads to its target.
"""

from __future__ import annotations

import numpy as np

from overlapper.graph.model import Graph

_SHARED_WHOLE = 1.2


def is_undecided(graph: Graph, rows: np.ndarray, shared_depth: float) -> np.ndarray:
    """Return which edges belong to such a fork at their sources.

    Parameters
    ----------
    graph : Graph
    rows : ndarray of int64, shape (n,)
        The edges in question, none of them the longest of its source.
    shared_depth : float
        Depth from which on a read is of two haplotypes.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    return _is_one_of_four(graph, rows) | _is_only_way_from_both(graph, rows, shared_depth)


def _is_only_way_from_both(graph: Graph, rows: np.ndarray, shared_depth: float) -> np.ndarray:
    edges = graph.edges
    ways_in = np.diff(graph.first_edge)[edges.target[rows] ^ 1]
    return (ways_in == 1) & (graph.reads.depth[edges.source[rows] >> 1] >= _SHARED_WHOLE * shared_depth)


def _is_one_of_four(graph: Graph, rows: np.ndarray) -> np.ndarray:
    source, target, overlap = graph.edges.source, graph.edges.target, graph.edges.overlap
    longest = _longest(graph)[source[rows]]
    # Each edge in question beside every other one that leads to its target.
    back = target[rows] ^ 1
    ways_in = np.diff(graph.first_edge)[back]
    row = np.repeat(np.arange(len(rows)), ways_in)
    into_w = np.arange(len(row)) + np.repeat(graph.first_edge[back] - np.cumsum(ways_in) + ways_in, ways_in)
    other = target[into_w] ^ 1
    into_b = _edges_between(graph, other, target[longest][row])
    adds_up = overlap[rows][row] + overlap[into_b] == overlap[longest][row] + overlap[into_w]
    found = (into_b >= 0) & (other != source[rows][row]) & adds_up
    return np.bincount(row[found], minlength=len(rows)) > 0


def _longest(graph: Graph) -> np.ndarray:
    """Return the edge with the longest overlap of each node, the first of equals; 0 for none."""
    longest = np.zeros(graph.nodes, np.int64)
    order = np.lexsort([-np.arange(len(graph.edges)), graph.edges.overlap])
    longest[graph.edges.source[order]] = order
    return longest


def _edges_between(graph: Graph, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the edge that leads from each source to its target; -1 for none."""
    every = graph.edges.source.astype(np.int64) * graph.nodes + graph.edges.target
    order = np.argsort(every)
    wanted = source.astype(np.int64) * graph.nodes + target
    at = np.minimum(np.searchsorted(every, wanted, sorter=order), len(every) - 1)
    return np.where(every[order[at]] == wanted, order[at], -1)
