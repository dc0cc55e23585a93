"""Ways on through removed reads that a cleaned graph regains at its dead ends.

A tip is removed when the node that it leads to can be reached in a better way (`overlapper.graph.clean`).
That way may later be cut as a weak edge. So the end of a haplotype would be lost where another haplotype is
the same for a while, and goes on further::

    the other haplotype   ──────────────────────────────────────────▶
                                   the same
    this haplotype        ────────────────▶                              dead end, once the weak edge is cut
                               ──────────────────▶ end of the genome     a tip, which went

**Way on.** From a dead end of the cleaned graph, in the graph as it was before it was cleaned: from read to
read, until one that nothing follows. Each is a read that the cleaned graph lacks, and to which the dead end
alone leads of the reads that the cleaned graph has. Where several follow, a confirmed one
(`overlapper.graph.confirmed`) is taken, of these that of the longest overlap, then that with the fewest bases
more, then with the smallest read number. There is none where it comes to a read that only others follow.
Every dead end gets its way on back; of reads that two dead ends want, the one of the smaller read number.
"""

from __future__ import annotations

import numpy as np

from overlapper.graph.model import Graph


def regain_tips(cleaned: Graph, before: Graph) -> tuple[Graph, dict[str, int]]:
    """Add the ways on back where a cleaned graph has dead ends.

    Parameters
    ----------
    cleaned : Graph
    before : Graph
        The graph before it was cleaned.
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
        way = _way_on(before, stays | back, v)
        kept[way] = True
        back[before.edges.target[way] >> 1] = True
    gone = ~(stays | back)
    return before.without(gone, ~(kept | kept[before.mirror])), {
        "reads in tips at dead ends": int(back.sum())
    }


def _way_on(graph: Graph, stays: np.ndarray, v: int) -> list[int]:
    """Return the edges of the way on from a node; none if there is no such way."""
    first, target, overlap = graph.first_edge, graph.edges.target, graph.edges.overlap
    start, way, seen = v >> 1, list[int](), set[int]()
    while True:
        edges = range(first[v], first[v + 1])
        on = []
        for e in edges:
            w = int(target[e])
            others = target[first[w ^ 1] : first[(w ^ 1) + 1]] >> 1
            if not (stays[w >> 1] or w >> 1 in seen or (stays[others] & (others != start)).any()):
                on.append(e)
        if not on:
            return [] if len(edges) else way
        e = max(on, key=lambda e: (graph.reads.confirmed[target[e] >> 1], overlap[e]))
        way.append(e)
        v = int(target[e])
        seen.add(v >> 1)
