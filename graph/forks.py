"""Forks at which no overlap tells which copy goes on: of two haplotypes, or of a repeat longer than reads.

Behind a stretch that both copies share, and no read goes through, the reads of both lead on to reads of
both. Which overlap is the longer one there is chance, so that none of these edges is weak beside another
(`overlapper.graph.clean`).

**Each by its own reads.** Reads ``v`` and ``u`` of either copy lead in, ``b`` and ``w`` lead on. Where
all of them overlap in what is the same, the bases that they share add up::

    v   ═══════════════════
    u   ────────────────                   v -> w and u -> b share as many bases together
    b          ════════════════════        as v -> b and u -> w do
    w             ─────────────────────

An edge ``v -> w`` stays if this holds for any read ``u``, and the read ``b`` with which ``v`` has the longest
overlap.

**By reads of both.** A read that is shared as a whole stands for both. An edge from it stays if it is the
only one that leads to its target. Of two haplotypes such a read has `_SHARED_WHOLE` times the depth from
which on a read is shared. In a repeat it has the reads of both ``w`` and ``b``: its depth is that of the
unitig of ``b`` and at least half of that of ``w``.

**By confirmed reads.** Where reads are told that others confirm (`overlapper.graph.confirmed`), an edge
between two of them stays, too, if it is the only one that leads to its target: were it a repeat that joins
them, reads of the target's own copy would lead there as well, from before the repeat. A read with an error,
which may have lost these, is not confirmed.
"""

from __future__ import annotations

import numpy as np

from overlapper.graph.layout import layout
from overlapper.graph.model import Graph
from overlapper.kernels.graph.graph_edges import add_up, longest_edge

_SHARED_WHOLE = 1.2


def is_undecided(graph: Graph, rows: np.ndarray, shared_depth: float, confirmed: bool) -> np.ndarray:
    """Return which edges belong to such a fork at their sources.

    Parameters
    ----------
    graph : Graph
    rows : ndarray of int64, shape (n,)
        The edges in question, none of them the longest of its source.
    shared_depth : float
        Depth from which on a read is of two haplotypes; infinite where there are not two.
    confirmed : bool
        Whether the reads are told that others confirm.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    first, edges = graph.first_edge, graph.edges
    undecided = add_up(first, edges.source, edges.target, edges.overlap, rows)
    only_ways_in = np.flatnonzero(np.diff(first)[edges.target[rows] ^ 1] == 1)
    if len(only_ways_in):
        alone = rows[only_ways_in]
        least = _SHARED_WHOLE * shared_depth if shared_depth < np.inf else _nearer_both(graph, alone)
        source, target = edges.source[alone] >> 1, edges.target[alone] >> 1
        undecided[only_ways_in] |= graph.reads.depth[source] >= least
        if confirmed:
            undecided[only_ways_in] |= graph.reads.confirmed[source] & graph.reads.confirmed[target]
    return undecided


def _nearer_both(graph: Graph, rows: np.ndarray) -> np.ndarray:
    """Return for each edge the depth halfway between that of the longest way on and that of both."""
    first, edges = graph.first_edge, graph.edges
    laid_out, _ = layout(graph)
    of_read = np.zeros(len(graph.reads))
    of_read[laid_out.path >> 1] = laid_out.depth[laid_out.unitig_of_step]
    beyond = of_read[edges.target >> 1]
    longest = [longest_edge(first, edges.overlap, v) for v in edges.source[rows]]
    return beyond[np.array(longest, np.int64)] + beyond[rows] / 2
