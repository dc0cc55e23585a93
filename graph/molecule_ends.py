"""Ends of molecules: where reads end together, and nothing goes on with them.

Reads break anywhere, but none goes on beyond the end of a molecule. Where another molecule is the same for a
while, the other haplotype say, and goes on further, a unitig would follow it::

    reads of this molecule     ────────────────────────
                                    ───────────────────
                                          ─────────────
    reads of the other one              ─────────────────────────────
                                               ──────────────────────────
                                               the same │ the other one alone

**End of a molecule.** At least `FEWEST` reads that end no more than `RAGGED` bases from the end of a
read share more with it than any read that goes on. Reads of the other molecule share no more than what is the
same; and where one of them ends there by chance, others of its own go on.

Where there are two haplotypes, and overlaps match to the last base (others stop at either side of the true
end), edges from there to reads that go on further are left out, and a tip that ends there is no error
(`overlapper.graph.clean`). Reads of amplicons end together, too.

**Terminal repeats.** A linear molecule that begins as it ends would be laid out as a circle, as its last
reads overlap its first ones by the repeat. In a circle reads end anywhere: a circular unitig with an edge
from an end of a molecule to an end of a molecule is opened there. With several such edges it is one of
amplicons, and stays.
"""

from __future__ import annotations

import numpy as np

from overlapper.graph.model import Graph
from overlapper.graph.pairs import Pairs
from overlapper.kernels.graph import molecule_ends, unitigs

FEWEST = 3
"""Reads that end with a molecule, at least: chosen, as in `overlapper.assembly.chimeras`."""
RAGGED = 50
"""Most bases between the ends of reads that end with a molecule; what is left of adapters is shorter."""


def ends_of_molecules(pairs: Pairs, extents: np.ndarray, reads: int) -> np.ndarray:
    """Return where molecules end with reads.

    Parameters
    ----------
    pairs : Pairs
        On kept intervals, none of them internal.
    extents : ndarray of int32, shape (4, n)
        How much further the query reaches to the left and right than the target; bases shared on either.
    reads : int

    Returns
    -------
    ndarray of bool, shape (reads, 2)
        At the end of the forward strand, and of the reverse complement, of each interval.
    """
    columns = pairs.query, pairs.target, pairs.reverse, np.ascontiguousarray(extents)
    together = molecule_ends.count_together(*columns, reads, RAGGED)
    return together >= FEWEST


def edges_beyond_molecules(graph: Graph) -> np.ndarray:
    """Return a mask of the edges from ends of molecules to what goes on further; one or both of mirrors."""
    return graph.ends_molecule[graph.edges.source] & (graph.edges.length > RAGGED)


def open_circles(graph: Graph) -> tuple[Graph, dict[str, int]]:
    """Open circular unitigs of linear molecules that begin as they end.

    Parameters
    ----------
    graph : Graph
        Cleaned.

    Returns
    -------
    graph : Graph
    counts : dict of str to int
        Circles that were opened.
    """
    doomed: list[int] = []
    first, target = graph.first_edge, graph.edges.target
    path, starts, circular = unitigs.unitigs(first, target)
    for unitig in np.flatnonzero(circular).tolist():
        edges = first[path[starts[unitig] : starts[unitig + 1]]]  # each node has one
        source = graph.edges.source[edges]
        at_ends = edges[graph.ends_molecule[source] & graph.ends_molecule[target[edges] ^ 1]]
        doomed += at_ends.tolist() if len(at_ends) == 1 else []
    opened = np.isin(np.arange(len(graph.edges)), doomed)
    return graph.without(edges=opened), {"circles opened": len(doomed)}
