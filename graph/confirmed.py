"""Confirmed reads, which others cover from end to end, and the overlaps of other reads that count.

Where overlaps match to the last base, a read in which correction left an error has none across it, and still
has some on either side of it::

    read with an error   ──────────────────x──────────
    overlaps               ───────────────     ──────────────
                         ─────────────────    ────────────────
                                 ─────────     ────────────────────
    contained                 ───────────

So it contains reads without one that go on across the error, and when these are gone, unitigs end at it.

**Confirmed** is a read whose core (`overlapper.graph.trim`) is all of it: inside of ``min_overlap / 2`` bases
at either end, ``confirm_depth`` overlaps cover every base, each shortened by as many at either end. Thus a
read is not confirmed either that goes from one copy of a repeat into another: overlaps from both sides reach
into what the copies share, and none across it. For a short read, ``min_overlap`` is less here and below
(`overlapper.params.graph.GraphParams.least_of`).

**Containment.** A confirmed read that no confirmed read contains *stands*. If others contain it, it falls
unless a dovetail of ``min_overlap`` bases or more leads to a read that stands, from each of its ends beyond
which one of them goes on; but of a read that has no such dovetail at either end not where this one has one to
a read that stands or that none contains. Repeated until none falls. Containments of reads that stand do not
count::

    the end of a molecule  ├────────────────────x───       contains all, and leads nowhere
                           ├─────────────────────          confirmed: none goes on to the left; to the right
                                 ─────────────────────     it leads to this one

**Dovetails** are of four grades: of ``min_overlap`` bases or more, or of a third of the shorter read, between
two reads that are confirmed, between one that is and one that is not, between two that are not; and shorter
ones. A dovetail counts where neither of the two read ends has one of a better grade. So reads that are not
confirmed still cross what no other does, and short overlaps join dead ends alone. (A third, because reads of
a small plasmid go round it once: of two of them that overlap on both sides, one overlap is short, and reads
with an error have long ones beside it.)
"""

from __future__ import annotations

import numpy as np

from overlapper.graph.cores import cores_of
from overlapper.graph.model import Edges
from overlapper.graph.pairs import Pairs
from overlapper.params.graph import GraphParams
from overlapper.tables import OverlapClass

SHORT = 3
"""Grade of a short dovetail."""
SHARE = 3
"""A dovetail of one in this many of the bases of the shorter read is not short."""


def confirmed_reads(pairs: Pairs, lengths: np.ndarray, params: GraphParams, threads: int) -> np.ndarray:
    """Return a mask of the confirmed reads; all where ``confirm_depth`` is 0.

    Parameters
    ----------
    pairs : Pairs
        On kept intervals.
    lengths : ndarray of int64, shape (reads,)
        Of kept intervals.
    params : GraphParams
    threads : int
        Changes nothing but the time.
    """
    if params.confirm_depth == 0:
        return np.ones(len(lengths), np.bool_)
    cores, _ = cores_of(pairs, params.confirm_depth, params.least_of(lengths) // 2, threads)
    return (cores[:, 0] == 0) & (cores[:, 1] == lengths)


def containments_that_count(
    pairs: Pairs, kinds: np.ndarray, extents: np.ndarray, confirmed: np.ndarray, least: np.ndarray
) -> np.ndarray:
    """Return a mask of the pairs that are containments that count.

    Parameters
    ----------
    pairs : Pairs
    kinds : ndarray of uint8, shape (n,)
        Class of each pair.
    extents : ndarray of int32, shape (4, n)
        How much further the query reaches to the left than the target, and to the right; the bases of the
        overlap on either read.
    confirmed : ndarray of bool, shape (reads,)
    least : ndarray of int64, shape (reads,)
        Bases of the least overlap of each read.
    """
    query_contained = kinds == OverlapClass.QUERY_CONTAINED
    containment = query_contained | (kinds == OverlapClass.TARGET_CONTAINED)
    inner = np.where(query_contained, pairs.query, pairs.target)
    outer = np.where(query_contained, pairs.target, pairs.query)
    disputed = containment & confirmed[inner] & ~confirmed[outer]

    stands = confirmed.copy()
    stands[inner[containment & ~disputed]] = False
    enough = np.minimum(least[pairs.query], least[pairs.target])
    joins = (kinds == OverlapClass.DOVETAIL) & (np.minimum(extents[2], extents[3]) >= enough)
    query, target = pairs.query[joins], pairs.target[joins]
    query_first = extents[0, joins] > 0
    query_end, target_end = 2 * query + query_first, 2 * target + (pairs.reverse[joins] == query_first)

    def have_way_on(to: np.ndarray, source: np.ndarray) -> np.ndarray:
        """Return a mask of the ends of reads ``source`` from which a dovetail leads to one of ``to``."""
        ends = np.zeros(2 * len(confirmed), np.bool_)
        ends[query_end[source[query] & to[target]]] = True
        ends[target_end[source[target] & to[query]]] = True
        return ends

    every, free = np.ones(len(confirmed), np.bool_), stands.copy()
    free[np.setdiff1d(np.arange(len(free)), inner[containment])] = True
    leads_on, leads_to_free = have_way_on(every, every), have_way_on(free, every)
    leads_on = (leads_on[::2] | leads_on[1::2])[outer[disputed]]
    wanted = np.zeros(2 * len(confirmed), np.bool_)
    for side in (0, 1):
        turned = (pairs.reverse & (inner == pairs.target))[disputed]
        ends = 2 * inner[disputed] + (side ^ turned)
        wanted[ends[(extents[side, disputed] != 0) & (leads_on | ~leads_to_free[ends])]] = True
    falling = stands
    while falling.any():
        ends_there = wanted & ~have_way_on(stands, stands)
        falling = stands & (ends_there[::2] | ends_there[1::2])
        stands &= ~falling
    return containment & ~(disputed & stands[inner])


def edges_that_count(
    edges: Edges, confirmed: np.ndarray, lengths: np.ndarray, min_overlap: int
) -> np.ndarray:
    """Return a mask of the edges whose read ends both have none of a better grade.

    Parameters
    ----------
    edges : Edges
        With their mirrors.
    confirmed : ndarray of bool
        By the numbers that reads have in the edges.
    lengths : ndarray of int64
        Of kept intervals, by the same numbers.
    min_overlap : int
        Bases.
    """
    shorter = np.minimum(lengths[edges.source >> 1], lengths[edges.target >> 1])
    enough = np.minimum(min_overlap, -(-shorter // SHARE))
    not_confirmed = 2 - confirmed[edges.source >> 1].astype(np.int8) - confirmed[edges.target >> 1]
    grade = np.where(edges.overlap < enough, SHORT, not_confirmed)
    best = np.full(2 * len(confirmed), SHORT, np.int8)
    np.minimum.at(best, edges.source, grade)
    return grade <= np.minimum(best[edges.source], best[edges.target ^ 1])
