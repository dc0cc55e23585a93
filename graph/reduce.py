"""Transitive reduction.

Let R(v, x) be the length of edge ``v -> x``, infinite where there is none, over all nodes: both strands of
every read, so that the four orientations of two reads are four entries. In the semiring where addition is the
minimum and multiplication is addition, the product

    N(v, x) = min over w of  P(v, w) + R(w, x)

is the shortest path from ``v`` to ``x`` by way of ``w``. Edge ``v -> x`` is **transitive** when N(v, x) <=
R(v, x) + fuzz, over those ``w`` that come no later than ``x``, (P(v, w), w) < (R(v, x), x), or when its
mirror is. Paths do not return to ``v``.

1. With P = R, paths of two edges (Myers 2005; Guidi 2021): nearly every transitive edge.
2. On the edges that are left, with P the closure of R, paths of any number of edges: what remains where an
   overlap between was missed.

This is a fixed point: removing edges makes no new path, so a third product would find nothing.

The fuzz is needed because lengths count bases of noisy reads. It is added to the edge itself; Myers and
miniasm add it to the longest edge of ``v`` and so take any edge that a path explains within that reach.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from graph.model import Graph
from overlapper.kernels.cpu import transitive
from overlapper.params import GraphParams
from overlapper.threads import cut_evenly, map_in_order

_BLOCKS = 64


def reduce(graph: Graph, fuzz: int = GraphParams.fuzz, *, threads: int = 1) -> tuple[Graph, dict[str, int]]:
    """Remove transitive edges.

    Parameters
    ----------
    graph : Graph
    fuzz : int
        How much longer than an edge a path may be that explains it, in bases.
    threads : int
        Changes nothing but the time.

    Returns
    -------
    graph : Graph
    counts : dict of str to int
        Edges removed, mirrors counted, by the paths that explain them.
    """
    by_two = _without(graph, transitive.two_edge_paths, fuzz, threads)
    by_more = _without(by_two, transitive.all_paths, fuzz, threads)
    return by_more, {
        "transitive edges": len(graph.edges) - len(by_two.edges),
        "transitive edges by longer paths": len(by_two.edges) - len(by_more.edges),
    }


def _without(graph: Graph, kernel: Callable[..., np.ndarray], fuzz: int, threads: int) -> Graph:
    first, target, length = graph.first_edge, graph.edges.target, graph.edges.length
    work = np.diff(first) + 1
    bounds = cut_evenly(work, int(work.sum()) // _BLOCKS + 1)
    blocks = itertools.pairwise(bounds)
    found = map_in_order(lambda b: kernel(first, target, length, fuzz, *b), blocks, threads)
    doomed = np.concatenate([np.zeros(0, np.bool_), *found])
    return graph.without(np.zeros(len(graph.reads), np.bool_), doomed)
