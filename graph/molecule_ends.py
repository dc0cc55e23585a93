"""Ends of molecules: where reads end together, and nothing goes on with them.

Reads break anywhere, but none goes on beyond the end of a molecule. Where another molecule is the same for a
while, the other haplotype say, and goes on further, a unitig would follow it::

    reads of this molecule     ────────────────────────
                                    ───────────────────
                                          ─────────────
    reads of the other one              ─────────────────────────────
                                               ──────────────────────────
                                               the same │ the other one alone

**End of a molecule.** At least ``confirm_depth`` reads that end no more than `RAGGED` bases from the end of a
read share more with it than any read that goes on. Reads of the other molecule share no more than what is the
same; and where one of them ends there by chance, others of its own go on.

Ends are looked for where there are two haplotypes, as reads of amplicons end together, too, and where
overlaps match to the last base, as others stop at either side of the true end.

Edges from there to reads that go on further are left out. A tip that ends there is no error
(`overlapper.graph.clean`).
"""

from __future__ import annotations

import numpy as np

from overlapper.graph.model import Graph
from overlapper.graph.pairs import Pairs
from overlapper.kernels.graph import molecule_ends

RAGGED = 50
"""Most bases between the ends of reads that end with a molecule; what is left of adapters is shorter."""


def ends_of_molecules(pairs: Pairs, extents: np.ndarray, reads: int, fewest: int) -> np.ndarray:
    """Return where molecules end with reads.

    Parameters
    ----------
    pairs : Pairs
        On kept intervals, none of them internal.
    extents : ndarray of int32, shape (4, n)
        How much further the query reaches to the left and right than the target; bases shared on either.
    reads : int
    fewest : int
        Reads that must end there, and share more than any that goes on.

    Returns
    -------
    ndarray of bool, shape (reads, 2)
        At the end of the forward strand, and of the reverse complement, of each interval.
    """
    columns = pairs.query, pairs.target, pairs.reverse, np.ascontiguousarray(extents)
    together = molecule_ends.count_together(*columns, reads, RAGGED)
    return together >= fewest


def edges_beyond_molecules(graph: Graph) -> np.ndarray:
    """Return a mask of the edges from ends of molecules to what goes on further; one or both of mirrors."""
    return graph.ends_molecule[graph.edges.source] & (graph.edges.length > RAGGED)
