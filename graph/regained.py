"""Removed tips that a cleaned graph regains at its dead ends.

A tip is removed when the node that it leads to can be reached in a better way (`overlapper.graph.clean`).
That way may later be cut as a weak edge. So the end of a haplotype would be lost where another haplotype is
the same for a while, and goes on further::

    the other haplotype   ──────────────────────────────────────────▶
                                   the same
    this haplotype        ────────────────▶                              dead end, once the weak edge is cut
                               ──────────────────▶ end of the genome     a tip, which went

**Tip.** In the graph as it was before it was cleaned, a chain of at most ``tip_reads`` reads that follows a
dead end of the cleaned graph, and no other node; that nothing follows; and none of whose reads the cleaned
graph has. Every dead end gets back that with which it has the longest overlap; of equals the one that begins
with the fewest bases more, then with the smallest read number.
"""

from __future__ import annotations

import numpy as np

from overlapper.graph.model import Graph
from overlapper.kernels.graph.unitigs import only_successor


def regain_tips(cleaned: Graph, before: Graph, most_reads: int) -> tuple[Graph, dict[str, int]]:
    """Add removed tips back where a cleaned graph has dead ends.

    Parameters
    ----------
    cleaned : Graph
    before : Graph
        The graph before it was cleaned.
    most_reads : int
        Most reads of a tip.
    """
    stays = np.isin(before.reads.read, cleaned.reads.read)
    number = np.flatnonzero(stays)  # reads keep their order
    source, target = (
        2 * number[node >> 1] + (node & 1) for node in (cleaned.edges.source, cleaned.edges.target)
    )
    every = before.edges.source.astype(np.int64) * before.nodes + before.edges.target
    kept = np.isin(every, source * before.nodes + target)
    back = np.zeros(len(stays), np.bool_)
    dead_ends = np.flatnonzero(np.diff(cleaned.first_edge) == 0)
    for v in (2 * number[dead_ends >> 1] + (dead_ends & 1)).tolist():
        edges = range(before.first_edge[v], before.first_edge[v + 1])
        tips = {e: tip for e in edges if (tip := _tip_behind(before, stays, e, most_reads))}
        if tips:
            edge = max(tips, key=lambda e: before.edges.overlap[e])
            kept[edge] = True
            kept[before.first_edge[tips[edge][:-1]]] = True
            back[np.array(tips[edge]) >> 1] = True
    gone = ~(stays | back)
    return before.without(gone, ~(kept | kept[before.mirror])), {
        "reads in tips at dead ends": int(back.sum())
    }


def _tip_behind(graph: Graph, stays: np.ndarray, edge: int, most_reads: int) -> list[int]:
    """Return the nodes of the tip that an edge leads into; none if it is not a tip."""
    first, target = graph.first_edge, graph.edges.target
    w = int(target[edge])
    if first[(w ^ 1) + 1] - first[w ^ 1] != 1:
        return []
    nodes: list[int] = []
    while w >= 0 and len(nodes) < most_reads and not stays[w >> 1]:
        nodes.append(w)
        if first[w] == first[w + 1]:
            return nodes
        w = int(only_successor(first, target, w))
    return []
