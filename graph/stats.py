"""Figures of sequences, and statistics of an assembly graph read from GFA."""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.graph.gfa import Gfa


def n50(lengths: np.ndarray) -> int:
    """Return the largest length such that sequences of at least this length have half of all bases, or 0."""
    falling = np.sort(lengths)[::-1]
    reached = np.cumsum(falling, dtype=np.int64) * 2 >= falling.sum(dtype=np.int64)
    return int(falling[reached][0]) if len(falling) else 0


def length_figures(lengths: np.ndarray, circular: np.ndarray | None = None) -> dict[str, int]:
    """Return figures of sequences: how many, of these circular ones (if told), bases, longest and N50."""
    return {
        "number": len(lengths),
        **({} if circular is None else {"circular": int(circular.sum())}),
        "bases": int(lengths.sum()),
        "longest": int(lengths.max(initial=0)),
        "n50": n50(lengths),
    }


def with_median_base(values: np.ndarray, lengths: np.ndarray) -> int:
    """Return the number of the sequence with the median base of all, by a value of each sequence."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(lengths[order])
    return int(order[np.searchsorted(below, below[-1] / 2)])


@dataclasses.dataclass(frozen=True)
class GraphStats:
    """Statistics of an assembly graph."""

    segments: int
    links: int
    contained: int
    """Segments that others contain; all other numbers leave them out."""
    bases: int
    longest: int
    n50: int
    """`bases`, `longest`, `n50`: of the segments."""
    circular: int
    """Segments that link to themselves alone."""
    isolated: int
    """Linear segments without a link."""
    components: int
    """Parts that no link joins."""
    largest_component: int
    """Bases of the largest of them."""
    dead_ends: int
    """Ends of segments without a link, two for an isolated one."""
    branching_ends: int
    """Ends with two links or more."""
    median_depth: float | None
    """Depth that half of the bases reach; None where the file does not tell."""


def graph_stats(gfa: Gfa) -> GraphStats:
    """Describe a graph."""
    everything = len(gfa.names)
    gfa = gfa.without_contained()
    ends = links_by_end(gfa)
    component = components(gfa)
    return GraphStats(
        segments=len(gfa.names),
        links=len(gfa.links),
        contained=everything - len(gfa.names),
        bases=int(gfa.lengths.sum()),
        longest=int(gfa.lengths.max(initial=0)),
        n50=n50(gfa.lengths),
        circular=int(gfa.circular.sum()),
        isolated=int((ends.reshape(-1, 2).sum(axis=1) == 0).sum()),
        components=int(component.max(initial=-1)) + 1,
        largest_component=int(np.bincount(component, gfa.lengths).max(initial=0)),
        dead_ends=int((ends == 0).sum()),
        branching_ends=int((ends > 1).sum()),
        median_depth=_median_depth(gfa),
    )


def links_by_end(gfa: Gfa) -> np.ndarray:
    """Count the links that leave each end of each segment.

    Returns
    -------
    ndarray of int64, shape (2 * segments,)
        ``2 * i`` is the right end of segment ``i``, ``2 * i + 1`` its left end. A link that joins an end to
        itself counts once.
    """
    ends = {(min(pair), max(pair)) for pair in ((link.first, link.second ^ 1) for link in gfa.links)}
    counts = np.zeros(2 * len(gfa.names), np.int64)
    for first, second in ends:
        counts[first] += 1
        counts[second] += second != first
    return counts


def components(gfa: Gfa) -> np.ndarray:
    """Return the component of every segment (int32), numbered from 0."""
    first = np.array([join.first >> 1 for join in gfa.joins], np.int64)
    second = np.array([join.second >> 1 for join in gfa.joins], np.int64)
    return joined(first, second, len(gfa.names)).astype(np.int32)


def joined(first: np.ndarray, second: np.ndarray, size: int) -> np.ndarray:
    """Return the component of each of some items, pairs of which are joined.

    Parameters
    ----------
    first, second : ndarray of int, shape (n,)
        Pairs of items, by number.
    size : int
        Number of items.

    Returns
    -------
    ndarray of int64, shape (size,)
        Components are numbered by their first items.
    """
    # Not by scipy, which takes .3 s to load.
    lowest = np.arange(size)
    while (apart := lowest[first] != lowest[second]).any():
        first, second = lowest[first[apart]], lowest[second[apart]]
        np.minimum.at(lowest, np.maximum(first, second), np.minimum(first, second))
        while (lower := lowest[lowest] != lowest).any():
            lowest[lower] = lowest[lowest[lower]]
    return np.unique(lowest, return_inverse=True)[1]


def _median_depth(gfa: Gfa) -> float | None:
    known = ~np.isnan(gfa.depth)
    if not gfa.lengths[known].sum():
        return None
    order = np.argsort(gfa.depth[known], kind="stable")
    reached = np.cumsum(gfa.lengths[known][order])
    return float(gfa.depth[known][order][np.searchsorted(reached, reached[-1] / 2)])
