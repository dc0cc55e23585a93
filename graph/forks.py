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
from overlapper.kernels.graph.graph_edges import add_up

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
    first, edges = graph.first_edge, graph.edges
    ways_in = np.diff(first)[edges.target[rows] ^ 1]
    from_both = graph.reads.depth[edges.source[rows] >> 1] >= _SHARED_WHOLE * shared_depth
    one_of_four = add_up(first, edges.source, edges.target, edges.overlap, rows)
    return one_of_four | (from_both & (ways_in == 1))
