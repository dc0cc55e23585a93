"""Cleaning of a reduced graph: tips, bubbles, weak edges and other marks of errors, repeats and chimeras.

**Tip.** A chain of at most ``tip_reads`` reads that nothing leads into. It goes when the node it leads to (of
several the one with the longest overlap) can be reached in a better way: from a node that ends no tip, or
from a better tip (one that goes on over more bases from there, then of more reads, then of the smaller read
number). So an end of the genome keeps the best of its tips. Where there are two haplotypes, a tip at an end
of a molecule (`overlapper.graph.molecule_ends`) is no error: it goes only where another such tip reaches that
node by a longer overlap, of equals where the other one begins with the smaller read number. Of a tip that
stays, edges to other nodes that can be reached in a better way go. Repeated until none goes. A chain that has
sequence of its own (`overlapper.graph.own_sequence`) is no tip. Which have is asked each time: where the end
of a haplotype forks, one way goes as a tip, and the other goes on with the chain before them.

**Bubble.** A source and a sink with two or more paths between them and no other way in or out, the shortest
way to each node no longer than ``bubble_bases`` (superbubble, Onodera 2013). One path stays: into each node
leads the edge of the path whose shortest overlap is the longest, of equals of that with the most overlap,
then from the smaller node. So long reads stay, and reads with errors, at which overlaps end, go. Repeated
until none is left. Where the depth of reads that two haplotypes share is known (``shared_depth``), a bubble
whose source and sink have it is one of haplotypes, and stays.

**Weak edge.** An edge whose overlap is below a share of the best overlap at one of its two ends: a repeat
shorter than the reads, or a chimera. The share grows over rounds, each followed by tips and bubbles, so that
the clearest cases go first: a dead end that a false edge hides is a tip once that edge has gone, before its
longer overlap makes those of the way on look weak. Edges stay that are weak by chance, as no overlap tells
which haplotype or copy of a repeat goes on (`overlapper.graph.forks`).

**Forked end.** A chain of at most ``tip_reads`` reads that nothing leads into and that leads to several
nodes: the end that two unitigs share. It goes; where reads are told that others confirm
(``confirm_depth``), it stays with the unitig that it has the longest overlap with. Repeated until none is
left, after everything above. Tips and bubbles follow once more: such an end may have been the other way into
a bubble.

**Island.** A small unitig that is joined to nothing, and no molecule of its own
(`overlapper.graph.own_sequence`).

Last, dead ends get back the way on through removed reads, where the way that was better has been cut
(`overlapper.graph.regained`).

Every step takes both strands alike, so each edge keeps its mirror.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from overlapper.graph.forks import is_undecided
from overlapper.graph.model import Graph
from overlapper.graph.own_sequence import drop_islands, reads_in_tips_of_their_own
from overlapper.graph.regained import regain_tips
from overlapper.kernels.graph import bubbles, tips
from overlapper.params.graph import CleanParams
from overlapper.tables import Overlaps

_DEFAULT = CleanParams()
_RATIO_UNIT = 1_000_000


def clean(
    graph: Graph,
    overlaps: Overlaps,
    params: CleanParams = _DEFAULT,
    *,
    confirmed: bool = False,
    shared_depth: float = np.inf,
) -> tuple[Graph, dict[str, int]]:
    """Clean a reduced graph.

    Parameters
    ----------
    graph : Graph
    overlaps : Overlaps
        The overlaps that the graph was built from.
    params : CleanParams
    confirmed : bool
        Whether the reads are told that others confirm.
    shared_depth : float
        Depth from which on a read is of two haplotypes.

    Returns
    -------
    graph : Graph
    counts : dict of str to int
        Reads and edges removed (mirrors counted), by reason.
    """
    counts: Counter[str] = Counter()
    before, by_ends = graph, confirmed and shared_depth < np.inf

    def without_tips_and_bubbles(graph: Graph) -> Graph:
        graph = _counted(*cut_tips(graph, overlaps, params.tip_reads, by_ends, params.keep_confirmed), counts)
        return _counted(*pop_bubbles(graph, params.bubble_bases, shared_depth), counts)

    graph = without_tips_and_bubbles(graph)
    for ratio in np.linspace(params.weak_ratio, params.weak_start, params.weak_rounds)[::-1]:
        graph = _counted(*cut_weak(graph, float(ratio), shared_depth, confirmed), counts)
        graph = without_tips_and_bubbles(graph)
    settle_forked_ends = join_forked_ends if confirmed else cut_forked_ends
    graph = _counted(*settle_forked_ends(graph, params.tip_reads), counts)
    graph = without_tips_and_bubbles(graph)
    graph = _counted(*drop_islands(graph, overlaps, params.tip_reads, params.keep_confirmed), counts)
    graph = _counted(*regain_tips(graph, before), counts)
    return graph, dict(counts)


def find_tips(
    graph: Graph, most_reads: int, own: np.ndarray, by_ends: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Return masks of the reads of tips, and of edges of other tips (one of each pair), to remove first.

    ``by_ends`` tells whether tips at ends of molecules are no errors.
    """
    stays = np.isin(graph.reads.read, own)
    ends_molecule = graph.ends_molecule & by_ends
    return tips.tips(
        *_arrays(graph), graph.edges.length, graph.edges.overlap, ends_molecule, stays, most_reads
    )


def cut_tips(
    graph: Graph, overlaps: Overlaps, most_reads: int, by_ends: bool = True, keep_confirmed: bool = False
) -> tuple[Graph, dict[str, int]]:
    """Remove tips, and edges of tips, until none is left."""
    reads, edges = len(graph.reads), 0
    while any(doomed.any() for doomed in find_tips(graph, most_reads, graph.reads.read[:0], by_ends)):
        own = reads_in_tips_of_their_own(graph, overlaps, most_reads, keep_confirmed)
        doomed_reads, doomed_edges = find_tips(graph, most_reads, own, by_ends)
        if not (doomed_reads.any() or doomed_edges.any()):
            break
        edges += int((doomed_edges | doomed_edges[graph.mirror]).sum())
        graph = graph.without(doomed_reads, doomed_edges)
    return graph, {"reads in tips": reads - len(graph.reads), "edges of tips": edges}


def cut_forked_ends(graph: Graph, most_reads: int) -> tuple[Graph, dict[str, int]]:
    """Remove short ends that several unitigs share, until none is left."""
    before = len(graph.reads)
    while (doomed := _forked_ends(graph, most_reads)[0]).any():
        graph = graph.without(doomed)
    return graph, {"reads in forked ends": before - len(graph.reads)}


def join_forked_ends(graph: Graph, most_reads: int) -> tuple[Graph, dict[str, int]]:
    """Leave short ends that several unitigs share to one of them each, until none is left."""
    edges = 0
    while (doomed := _forked_ends(graph, most_reads)[1]).any():
        edges += int((doomed | doomed[graph.mirror]).sum())
        graph = graph.without(edges=doomed)
    return graph, {"edges of forked ends": edges}


def _forked_ends(graph: Graph, most_reads: int) -> tuple[np.ndarray, np.ndarray]:
    return tips.forked_ends(*_arrays(graph), graph.edges.overlap, most_reads)


def pop_bubbles(graph: Graph, max_bases: int, shared_depth: float = np.inf) -> tuple[Graph, dict[str, int]]:
    """Keep one path of each bubble, until none is left but those between reads of ``shared_depth``."""
    reads, edges, popped = len(graph.reads), len(graph.edges), 0
    while True:
        doomed_reads, doomed_edges, found = bubbles.bubbles(
            *_arrays(graph),
            graph.edges.length,
            graph.edges.overlap,
            max_bases,
            graph.reads.depth >= shared_depth,
        )
        if not found:
            break
        popped += found
        graph = graph.without(doomed_reads, doomed_edges)
    return graph, {
        "bubbles": popped,
        "reads in bubbles": reads - len(graph.reads),
        "edges in bubbles": edges - len(graph.edges),
    }


def cut_weak(
    graph: Graph, ratio: float, shared_depth: float = np.inf, confirmed: bool = False
) -> tuple[Graph, dict[str, int]]:
    """Remove edges whose overlap is below ``ratio`` (six decimals) of the best at either end."""
    source, overlap = graph.edges.source, graph.edges.overlap.astype(np.int64)
    best = np.zeros(graph.nodes, np.int64)
    np.maximum.at(best, source, overlap)
    doomed = overlap * _RATIO_UNIT < best[source] * round(ratio * _RATIO_UNIT)
    weak = np.flatnonzero(doomed)
    doomed[weak] = ~is_undecided(graph, weak, shared_depth, confirmed)
    cleaned = graph.without(edges=doomed)
    return cleaned, {"weak edges": len(graph.edges) - len(cleaned.edges)}


def _counted(graph: Graph, removed: dict[str, int], counts: Counter[str]) -> Graph:
    counts.update(removed)
    return graph


def _arrays(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    return graph.first_edge, graph.edges.target
