"""From overlaps to an overlap graph.

1. Reads are numbered by content, as they are to find overlaps: longest first, equal lengths by a hash of the
   bases. Everything below breaks ties by that number, so the graph does not depend on the order of the file.
2. Overlaps that diverge far more than others are dropped: chains of chance seeds in low-complexity sequence.
   So are those that repeat a longer one of the same pair (`overlapper.graph.pairs`).
3. Reads are trimmed to what other reads confirm, which cuts chimeras (`overlapper.graph.trim`), and overlaps
   with them.
4. Overlaps are classified on the trimmed reads (`overlapper.extend.classify`); internal matches go.
5. Reads that others confirm from end to end are found. Of the overlaps of other reads, those with a better
   alternative are left out (`overlapper.graph.confirmed`): containments now, dovetails as edges.
6. **Containment.** A containment is an arrow from the contained read to its container. The arrows lead from
   every read to a read that no other contains, or to a ring of reads that contain one another. Reads that no
   other contains stay, and so does one read of each such ring; all others are removed
   (`overlapper.graph.containment`).
7. **Edges.** Every dovetail between two reads that stay is an edge and its mirror; of several dovetails that
   join the same ends of a pair the longest stays.
8. Of reads of two haplotypes that others confirm (``confirm_depth``), edges beyond ends of molecules are left
   out (`overlapper.graph.molecule_ends`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.extend.classify import check_within, classify
from overlapper.graph.confirmed import confirmed_reads, containments_that_count, edges_that_count
from overlapper.graph.containment import contained_reads, containments_of
from overlapper.graph.model import Edges, Graph, GraphReads
from overlapper.graph.molecule_ends import edges_beyond_molecules, ends_of_molecules
from overlapper.graph.pairs import Pairs, blocks_of, cut, pairs_of, without_repeats
from overlapper.graph.trim import trim
from overlapper.kernels.graph import graph_edges
from overlapper.params.graph import GraphParams
from overlapper.runtime.threads import map_in_order
from overlapper.sketch.canonical import canonical_order
from overlapper.tables import OverlapClass, Overlaps, Reads

_DEFAULT = GraphParams()
_HARMLESS_DIVERGENCE = 0.15
"""Divergence that is never too much. Repeats that are too frequent to seed look like differences: there, true
overlaps of HiFi reads have 0.11, chains of chance seeds 0.15 to 0.3."""


def build_graph(
    reads: Reads,
    overlaps: Overlaps,
    params: GraphParams = _DEFAULT,
    *,
    within: tuple[np.ndarray, np.ndarray] | None = None,
    two_haplotypes: bool = False,
    threads: int = 1,
) -> tuple[Graph, dict[str, int]]:
    """Build an overlap graph.

    Parameters
    ----------
    reads : Reads
    overlaps : Overlaps
        In any order, from any tool, with or without alignments; classes are found anew.
    params : GraphParams
    within : tuple of ndarray of int, shape (reads,), optional
        Starts and ends of intervals of the reads, half open; bases outside are trimmed.
    two_haplotypes : bool
        Whether the reads are of two haplotypes, so that ends of molecules count.
    threads : int
        Changes nothing but the time.

    Returns
    -------
    graph : Graph
    counts : dict of str to int
        Counts of what was left out, by reason.

    Raises
    ------
    ParameterError
        When an overlap names a read that is not there, or lies outside its read.
    """
    order = canonical_order(reads, threads)
    lengths = reads.lengths[order]
    params = params.of_reads(lengths)
    pairs = pairs_of(overlaps, order, threads=threads)
    counts = {"overlaps of a read with itself": len(overlaps) - len(pairs)}
    check_within(pairs, lengths)
    similar = pairs.take(is_similar(overlaps, params.max_divergence_ratio)[pairs.row])
    counts["overlaps that diverge too much"] = len(pairs) - len(similar)
    distinct = without_repeats(similar)
    counts["overlaps that repeat another"] = len(similar) - len(distinct)

    trimmed = trim(distinct, overlaps, lengths, params, threads=threads)
    if within is not None:
        trimmed = trimmed.within(*(places[order] for places in within))
    counts |= trimmed.counts
    graph, more = connect(
        distinct, overlaps, trimmed.start, trimmed.end, order, params,
        two_haplotypes=two_haplotypes, threads=threads,
    )  # fmt: skip
    return graph, counts | more


def connect(
    pairs: Pairs,
    overlaps: Overlaps,
    start: np.ndarray,
    end: np.ndarray,
    order: np.ndarray,
    params: GraphParams,
    *,
    two_haplotypes: bool = False,
    threads: int = 1,
) -> tuple[Graph, dict[str, int]]:
    """Build the graph of trimmed reads.

    Parameters
    ----------
    pairs : Pairs
        On whole reads.
    overlaps : Overlaps
        The table that the rows of the pairs refer to.
    start, end : ndarray of int32, shape (reads,)
        Kept interval of every read, in content order; empty for a removed read.
    order : ndarray of int, shape (reads,)
        Row of the read table of every read.
    params : GraphParams
    two_haplotypes : bool
        As `build_graph` takes it.
    threads : int
        Changes nothing but the time.

    Returns
    -------
    graph : Graph
    counts : dict of str to int
    """
    lengths = (end - start).astype(np.int64)
    parts = list(
        map_in_order(
            lambda block: _inside(block, overlaps, start, end, lengths, params), blocks_of(pairs), threads
        )
    )
    inside = Pairs.concat([part.pairs for part in parts])
    kinds = np.concatenate([part.kinds for part in parts])
    extents = np.concatenate([part.extents for part in parts], axis=1)
    counts = {name: sum(part.counts[name] for part in parts) for name in parts[0].counts}

    depth = depth_of(inside, lengths)
    confirmed = confirmed_reads(inside, lengths, params, threads)
    counts["reads not confirmed"] = int(((lengths > 0) & ~confirmed).sum())
    arrow = containments_that_count(inside, kinds, extents, confirmed, params.least_of(lengths))
    arrows = containments_of(inside.take(arrow), kinds[arrow], extents.compress(arrow, axis=1), order)
    contained = contained_reads(arrows, start, end)
    counts["contained reads"] = len(contained)
    stays = (lengths > 0) & ~np.isin(order, contained.read)
    dovetail = (kinds == OverlapClass.DOVETAIL) & stays[inside.query] & stays[inside.target]
    counts["overlaps of contained reads"] = len(inside) - int(dovetail.sum())
    edges, doubled = _edges(inside.take(dovetail), extents.compress(dovetail, axis=1), stays)
    counts["overlaps that double an edge"] = doubled
    counting = edges_that_count(edges, confirmed[stays], lengths[stays], params.least_overlap)
    counts["overlaps not used next to better ones"] = int((~counting).sum()) // 2
    edges = edges.take(np.flatnonzero(counting))

    kept = np.flatnonzero(stays)
    ends = ends_of_molecules(inside, extents, len(lengths))[kept]
    graph_reads = GraphReads(
        read=order[kept], start=start[kept], end=end[kept], depth=depth[kept],
        begins_molecule=ends[:, 1], ends_molecule=ends[:, 0],
        confirmed=confirmed[kept] & (params.confirm_depth > 0),
    )  # fmt: skip
    graph = Graph(graph_reads, edges, contained, arrows)
    if two_haplotypes and params.confirm_depth:
        graph = graph.without(np.zeros(len(kept), np.bool_), edges_beyond_molecules(graph))
    counts["overlaps beyond ends of molecules"] = (len(edges) - len(graph.edges)) // 2
    return graph, counts


class _Inside(NamedTuple):
    """Overlaps of kept intervals that are neither short nor internal; their classes, extents and counts."""

    pairs: Pairs
    kinds: np.ndarray
    extents: np.ndarray
    counts: dict[str, int]


def _inside(
    pairs: Pairs,
    overlaps: Overlaps,
    start: np.ndarray,
    end: np.ndarray,
    lengths: np.ndarray,
    params: GraphParams,
) -> _Inside:
    inside = cut(pairs, overlaps, start, end)
    kinds = classify(inside, lengths, params.max_hang, params.min_ratio)
    extents = graph_edges.extents(*inside.intervals, lengths)
    shortest = min(params.min_end_overlap or params.least_overlap, params.least_overlap)
    long_enough = np.minimum(extents[2], extents[3]) >= shortest
    internal = kinds == OverlapClass.INTERNAL
    counts = {
        "overlaps outside the kept intervals": len(pairs) - len(inside),
        "internal matches": int(internal.sum()),
        "overlaps that are too short": int((~long_enough & ~internal).sum()),
    }
    fit = long_enough & ~internal
    return _Inside(inside.take(fit), kinds[fit], extents[:, fit], counts)


def is_similar(overlaps: Overlaps, ratio: float) -> np.ndarray:
    """Return a mask of the overlaps that do not diverge far more than others, or have no estimate."""
    known = overlaps.divergence[~np.isnan(overlaps.divergence)]
    limit = max(_HARMLESS_DIVERGENCE, ratio * float(np.median(known))) if len(known) else np.inf
    return ~(overlaps.divergence > limit)


def depth_of(pairs: Pairs, lengths: np.ndarray) -> np.ndarray:
    """Return the mean depth of each read, itself included (float64)."""
    return 1 + pairs.mean_cover(lengths)


def _edges(pairs: Pairs, extents: np.ndarray, stays: np.ndarray) -> tuple[Edges, int]:
    left, right, on_query, on_target = extents
    overlap = np.minimum(on_query, on_target)
    longest = graph_edges.longest_dovetails(pairs.query, pairs.target, pairs.reverse, left, overlap)
    pairs, left, right, overlap = pairs.take(longest), left[longest], right[longest], overlap[longest]

    number = np.cumsum(stays, dtype=np.int32) - 1
    query, target = 2 * number[pairs.query], 2 * number[pairs.target] + pairs.reverse
    query_first = left > 0
    source, target = np.where(query_first, query, target), np.where(query_first, target, query)
    both_source, both_target = np.concatenate([source, target ^ 1]), np.concatenate([target, source ^ 1])
    length = np.concatenate([np.abs(right), np.abs(left)])
    key = (both_source.astype(np.uint64) << np.uint64(32)) | length.astype(np.uint64)
    order = np.argsort(key)
    graph_edges.order_ties(order, key, both_target)
    edges = Edges(
        source=both_source[order],
        target=both_target[order],
        length=length[order],
        overlap=np.tile(overlap, 2)[order],
        row=np.tile(pairs.row, 2)[order],
    )
    return edges, int((~longest).sum())
