"""Islands, and sequence of its own: short unitigs that other reads show not to be errors.

A read with an error fits no other reads, and is an island, or a tip where it leaves the unitig of its place.
A small linear plasmid or a phage, or the end of a chromosome, is laid out in as few reads, as long ones
contain the others::

    unitig     ──────────────────────────────        molecule   ─────────────────────────
    error            ─────x──────                                  ──────────── ──────
                        ───────   reads that it contains              ──────── ─────────  fit nowhere else
                          ────    fit the unitig as well

**Short unitig.** A linear one of at most ``tip_reads`` reads, of which one end or both lead nowhere. *Its own
reads* are those of its path and those that they contain. A read *fits* another unitig where an overlap with a
read of its path has half of the read or more.

**Sequence of its own** is that of a short unitig of whose own reads more than ``tip_reads``, and half or
more, fit no other unitig that stays. Short unitigs are looked at by their own reads, most first, of equals
the longest first; those that stay are other unitigs to the next ones. In R10 reads of yeast and of two LPA
haplotypes 0 to 3 of the 5 to 187 own reads of islands of errors fit no other unitig; of molecules of 9 to 35
kb (HiFi, R10, R9 and CLR reads, 25x), which have 16 to 94, all but one at most.

**Island.** A short unitig that is joined to nothing. It goes unless it has sequence of its own, or nothing
else is there.

A copy that four or five reads cover is laid out in as few, too, and has too few reads of its own. Where the
reads are laid out alone that another layout lost (``keep_confirmed``), a confirmed read
(`overlapper.graph.confirmed`) on its path is enough: errors leave no read confirmed.
"""

from __future__ import annotations

import numpy as np

from overlapper.graph.layout import Layout, layout
from overlapper.graph.model import Graph
from overlapper.graph.placement import contained_in_unitigs
from overlapper.kernels.graph import tips
from overlapper.tables import Overlaps


def reads_in_tips_of_their_own(
    graph: Graph, overlaps: Overlaps, most_reads: int, keep_confirmed: bool = False
) -> np.ndarray:
    """Return the numbers of the reads on paths of short unitigs with sequence of their own.

    Parameters
    ----------
    graph : Graph
    overlaps : Overlaps
        The overlaps that the graph was built from.
    most_reads : int
        Most reads on the path of a short unitig.
    keep_confirmed : bool
        Whether a confirmed read on its path is enough.

    Returns
    -------
    ndarray of int32
    """
    short, _ = tips.dead_ends(graph.first_edge, graph.edges.target, most_reads)
    if not short.any():
        return graph.reads.read[:0]
    laid_out, _ = layout(graph)
    stays = have_their_own(laid_out, short, overlaps, most_reads)
    if keep_confirmed:
        stays |= has_confirmed(laid_out)
    on_path = laid_out.path >> 1
    return graph.reads.read[on_path[short[on_path] & stays[laid_out.unitig_of_step]]]


def has_confirmed(laid_out: Layout) -> np.ndarray:
    """Return a mask of the unitigs that have a confirmed read on their path."""
    confirmed = laid_out.graph.reads.confirmed[laid_out.path >> 1]
    return np.bincount(laid_out.unitig_of_step, confirmed, len(laid_out)) > 0


def have_their_own(laid_out: Layout, doubted: np.ndarray, overlaps: Overlaps, most_reads: int) -> np.ndarray:
    """Return a mask of the unitigs that have sequence of their own, or none of the doubted reads.

    Parameters
    ----------
    laid_out : Layout
    doubted : ndarray of bool, shape (reads,)
        Reads on the paths of short unitigs.
    overlaps : Overlaps
    most_reads : int
    """
    unitig, on_path, bases = _places(laid_out, overlaps)
    own = np.bincount(unitig[unitig >= 0], minlength=len(laid_out))
    stays = np.ones(len(laid_out), np.bool_)
    stays[laid_out.unitig_of_step[doubted[laid_out.path >> 1]]] = False
    asked = ~stays & (own > most_reads)
    if not asked.any():
        return stays
    reads, fitted = _fits(unitig, on_path, bases, overlaps, asked)
    by_unitig = np.argsort(unitig[reads], kind="stable")
    reads, fitted = reads[by_unitig], fitted[by_unitig]
    first = np.searchsorted(unitig[reads], np.arange(len(laid_out) + 1))
    short = np.flatnonzero(asked)
    for some in short[np.argsort(-own[short], kind="stable")].tolist():
        rows = slice(first[some], first[some + 1])
        alone = own[some] - len(np.unique(reads[rows][stays[fitted[rows]]]))
        stays[some] = alone > most_reads and 2 * alone >= own[some]
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
    unitig: np.ndarray, on_path: np.ndarray, bases: np.ndarray, overlaps: Overlaps, some: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of a read of some unitigs and another unitig that it fits."""
    pairs = []
    for read, other, start, end in overlaps.sides():
        here, there = unitig[read], unitig[other]
        rows = np.flatnonzero((here >= 0) & on_path[other] & (here != there))
        rows = rows[some[here[rows]] & (2 * (end - start)[rows] >= bases[read[rows]])]
        pairs.append((read[rows], there[rows]))
    return np.concatenate([read for read, _ in pairs]), np.concatenate([there for _, there in pairs])


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
