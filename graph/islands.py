"""Islands: small unlinked unitigs, of reads with errors or of small molecules.

Reads with errors fit no other reads, and lie alone beside the unitig of their place. A small linear plasmid
or a phage is laid out in as few reads, as long ones contain the others::

    unitig     ──────────────────────────────        molecule   ─────────────────────────
    island           ─────x──────                                  ──────────── ──────
                        ───────   reads that it contains              ──────── ─────────  fit nowhere else
                          ────    fit the unitig as well

**Island.** A linear unitig of at most ``tip_reads`` reads that is joined to nothing. *Its own reads* are
those of its path and those that they contain. A read *fits* another unitig where an overlap with a read of
its path has half of the read or more.

**Molecule.** An island of whose own reads more than ``tip_reads``, and half or more, fit no other unitig that
stays. Islands are looked at by their own reads, most first, of equals the longest first; those that stay are
other unitigs to the next ones. In R10 reads of yeast and of two LPA haplotypes 0 to 3 of the 5 to 187 own
reads of islands of errors fit no other unitig; of molecules of 9 to 35 kb (HiFi, R10, R9 and CLR reads, 25x),
which have 16 to 94, all but one at most.

All other islands go, unless nothing else is there.
"""

from __future__ import annotations

import numpy as np

from overlapper.graph.layout import Layout, layout
from overlapper.graph.model import Graph
from overlapper.graph.placement import contained_in_unitigs
from overlapper.kernels.graph import tips
from overlapper.tables import Overlaps


def drop_islands(graph: Graph, overlaps: Overlaps, most_reads: int) -> tuple[Graph, dict[str, int]]:
    """Remove islands that are not molecules.

    Parameters
    ----------
    graph : Graph
    overlaps : Overlaps
        The overlaps that the graph was built from.
    most_reads : int
        Most reads on the path of an island.
    """
    doomed = tips.islands(graph.first_edge, graph.edges.target, most_reads)
    if doomed.any():
        laid_out, _ = layout(graph)
        stays = _without_errors(laid_out, doomed, overlaps, most_reads)
        doomed[laid_out.path >> 1] = ~stays[laid_out.unitig_of_step]
    if doomed.all():
        doomed[:] = False
    dropped = graph.without(doomed)
    return dropped, {"reads in islands": int(doomed.sum())}


def _without_errors(
    laid_out: Layout, in_island: np.ndarray, overlaps: Overlaps, most_reads: int
) -> np.ndarray:
    """Return a mask of the unitigs that are molecules or no islands, given the reads in islands."""
    unitig, on_path, bases = _places(laid_out, overlaps)
    stays = np.ones(len(laid_out), np.bool_)
    stays[laid_out.unitig_of_step[in_island[laid_out.path >> 1]]] = False
    islands = np.flatnonzero(~stays)
    reads, fitted = _fits(unitig, on_path, bases, overlaps, ~stays)
    own = np.bincount(unitig[unitig >= 0], minlength=len(laid_out))
    for island in islands[np.argsort(-own[islands], kind="stable")].tolist():
        if own[island] <= most_reads:
            break
        fits = (unitig[reads] == island) & stays[fitted]
        alone = own[island] - len(np.unique(reads[fits]))
        stays[island] = alone > most_reads and 2 * alone >= own[island]
    return stays


def _places(laid_out: Layout, overlaps: Overlaps) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the unitig of each read (-1 for none), whether it is on the path, and its laid-out bases."""
    graph = laid_out.graph
    contained = contained_in_unitigs(laid_out)
    inner = graph.contained.take(contained.row)
    reads = 1 + int(np.concatenate([overlaps.query, overlaps.target, graph.reads.read, inner.read]).max())
    unitig, bases = np.full(reads, -1, np.int64), np.zeros(reads, np.int64)
    unitig[inner.read], bases[inner.read] = contained.unitig, inner.end - inner.start
    of_path = graph.reads.read[laid_out.path >> 1]
    unitig[of_path], bases[of_path] = laid_out.unitig_of_step, graph.lengths[laid_out.path >> 1]
    on_path = np.zeros(reads, np.bool_)
    on_path[of_path] = True
    return unitig, on_path, bases


def _fits(
    unitig: np.ndarray, on_path: np.ndarray, bases: np.ndarray, overlaps: Overlaps, island: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of a read of an island and another unitig that it fits."""
    pairs = []
    for read, other, start, end in overlaps.sides():
        here, there = unitig[read], unitig[other]
        rows = np.flatnonzero((here >= 0) & on_path[other] & (here != there))
        rows = rows[island[here[rows]] & (2 * (end - start)[rows] >= bases[read[rows]])]
        pairs.append((read[rows], there[rows]))
    return np.concatenate([read for read, _ in pairs]), np.concatenate([there for _, there in pairs])
