"""Islands: small unlinked unitigs, of reads with errors or of small molecules.

**Island.** A linear unitig of at most ``tip_reads`` reads that is joined to nothing. It goes unless it has
sequence of its own (`overlapper.graph.own_sequence`), or nothing else is there.
"""

from __future__ import annotations

from overlapper.graph.layout import layout
from overlapper.graph.model import Graph
from overlapper.graph.own_sequence import has_confirmed, have_their_own
from overlapper.kernels.graph import tips
from overlapper.tables import Overlaps


def drop_islands(
    graph: Graph, overlaps: Overlaps, most_reads: int, keep_confirmed: bool = False
) -> tuple[Graph, dict[str, int]]:
    """Remove islands without sequence of their own.

    Parameters
    ----------
    graph : Graph
    overlaps : Overlaps
        The overlaps that the graph was built from.
    most_reads : int
        Most reads on the path of an island.
    keep_confirmed : bool
        Whether one with a confirmed read on its path stays.
    """
    _, doomed = tips.dead_ends(graph.first_edge, graph.edges.target, most_reads)
    if doomed.any():
        laid_out, _ = layout(graph)
        stays = have_their_own(laid_out, doomed, overlaps, most_reads)
        if keep_confirmed:
            stays |= has_confirmed(laid_out)
        doomed[laid_out.path >> 1] = ~stays[laid_out.unitig_of_step]
    if doomed.all():
        doomed[:] = False
    dropped = graph.without(doomed)
    return dropped, {"reads in islands": int(doomed.sum())}
