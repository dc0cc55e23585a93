"""Transitive reduction (Myers 2005), as a sparse min-plus product (Guidi 2021).

Let R(v, x) be the length of edge ``v -> x``, infinite where there is none, over all nodes: both strands of
every read, so that the four orientations of two reads are four entries. In the semiring where addition is the
minimum and multiplication is addition, the product

    N(v, x) = min over w of  R(v, w) + R(w, x)

is the shortest path of two edges. Edge ``v -> x`` is **transitive** when N(v, x) <= R(v, x) + fuzz, over
those ``w`` that come no later than ``x``, (R(v, w), w) < (R(v, x), x), or when its mirror is. All transitive
edges go at once.

That is a fixed point: what is left of R has no path that R did not have, so another product finds nothing
more.

The fuzz is needed because lengths count bases of noisy reads. It is added to the edge itself; Myers and
miniasm add it to the longest edge of ``v`` and so take any edge that a path explains within that reach.
"""

from __future__ import annotations

import itertools

import numpy as np

from overlapper.graph.model import Graph
from overlapper.kernels.graph.graph_edges import transitive_edges
from overlapper.params.graph import GraphParams
from overlapper.runtime.threads import cut_evenly, map_in_order

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
        Edges removed, mirrors counted.
    """
    first, target, length = graph.first_edge, graph.edges.target, graph.edges.length
    work = np.diff(first) + 1
    bounds = cut_evenly(work, int(work.sum()) // _BLOCKS + 1)
    found = map_in_order(
        lambda block: transitive_edges(first, target, length, fuzz, *block),
        itertools.pairwise(bounds),
        threads,
    )
    transitive = np.concatenate([np.zeros(0, np.bool_), *found])
    reduced = graph.without(edges=transitive)
    return reduced, {"transitive edges": len(graph.edges) - len(reduced.edges)}
