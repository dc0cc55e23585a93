"""Layout: unitigs, the paths of the graph without a choice, and their sequences.

A **unitig** is a maximal path of nodes in which every node but the last has one way on and every node but the
first one way in. One that ends where it starts is circular. Of the two strands a linear unitig is laid out on
the one whose first node has the smaller id. Unitigs are numbered by length, longest first, then by their
first node.

**Sequence.** The first read is spelled whole, each later one from where the one before it ends. From the
first read on that reaches from there to the start of the next one, the rule turns around: each read is
spelled up to where the next one starts, the last one whole. So both ends of a unitig are whole reads, and the
alignment of a link between two unitigs holds for their sequences. Where no read reaches that far (every read
overlaps the one after the next) the last read too is spelled from the end of the one before.

In a circular unitig every read is spelled up to where the next one starts.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property

import numpy as np

from overlapper.graph.model import Graph
from overlapper.graph.stats import with_median_base
from overlapper.kernels.common.walks import PackedReads
from overlapper.kernels.graph import unitigs
from overlapper.kernels.text import spelling
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of


@dataclasses.dataclass(frozen=True, eq=False)
class Layout:
    """Unitigs of a graph.

    Attributes
    ----------
    graph : Graph
        What they were laid out from.
    path : ndarray of int32
        Nodes, unitig after unitig.
    starts : ndarray of int64, shape (n + 1,)
        Where the path of each unitig starts.
    circular : ndarray of bool, shape (n,)
    stretch_start, stretch_end : ndarray of int32, shape (len(path),)
        What each node gives to the sequence of its unitig, half open, on the node's strand, within the kept
        interval of its read.
    """

    graph: Graph
    path: np.ndarray
    starts: np.ndarray
    circular: np.ndarray
    stretch_start: np.ndarray
    stretch_end: np.ndarray

    def __len__(self) -> int:
        return len(self.circular)

    def nodes(self, unitig: int) -> np.ndarray:
        """Return the path of one unitig."""
        return self.path[self.starts[unitig] : self.starts[unitig + 1]]

    @cached_property
    def lengths(self) -> np.ndarray:
        """Bases of every unitig (int64)."""
        ends = offsets_of(self.stretch_end - self.stretch_start)
        return ends[self.starts[1:]] - ends[self.starts[:-1]]

    @cached_property
    def names(self) -> list[str]:
        """Names (`unitig_names`)."""
        return unitig_names(self.circular)

    @cached_property
    def depth(self) -> np.ndarray:
        """Mean depth of the reads of every unitig, weighted by their lengths (float64)."""
        graph = self.graph
        weight = graph.lengths[self.path >> 1].astype(np.float64)
        depth = graph.reads.depth[self.path >> 1] * weight
        unitig = self.unitig_of_step
        return np.bincount(unitig, depth, len(self)) / np.bincount(unitig, weight, len(self))

    @cached_property
    def copies(self) -> np.ndarray:
        """Estimated copies of every unitig (`copies_of`)."""
        return copies_of(self.depth, self.lengths)

    @cached_property
    def unitig_of_step(self) -> np.ndarray:
        """The unitig of every node of the paths (int64)."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def step_starts(self) -> np.ndarray:
        """Where in its unitig the bases that every node gives start (int64)."""
        sizes = (self.stretch_end - self.stretch_start).astype(np.int64)
        before = np.cumsum(sizes) - sizes
        return before - before[self.starts[:-1]][self.unitig_of_step]

    @cached_property
    def read_counts(self) -> np.ndarray:
        """Number of reads of every unitig, contained ones included (int64)."""
        graph = self.graph
        everything = np.concatenate([graph.reads.read, graph.contained.read, graph.contained.container])
        unitig = np.full(int(everything.max(initial=-1)) + 1, -1, np.int64)
        unitig[graph.reads.read[self.path >> 1]] = self.unitig_of_step
        inner, outer = graph.contained.read, graph.contained.container
        while (found := (unitig[inner] < 0) & (unitig[outer] >= 0)).any():
            unitig[inner[found]] = unitig[outer[found]]
        return np.bincount(unitig[unitig >= 0], minlength=len(self))

    def links(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the edges between unitigs, one of each pair of mirrors.

        Returns
        -------
        source, target : ndarray of int64
            Ends of unitigs: ``2 * unitig`` for its own strand, ``2 * unitig + 1`` for the reverse complement.
        edge : ndarray of int64
            Edge of the graph.
        """
        graph = self.graph
        linear = np.flatnonzero(~self.circular)
        leaves, enters = np.full((2, graph.nodes), -1, np.int64)
        head, tail = self.path[self.starts[linear]], self.path[self.starts[linear + 1] - 1]
        leaves[tail], leaves[head ^ 1] = 2 * linear, 2 * linear + 1
        enters[head], enters[tail ^ 1] = 2 * linear, 2 * linear + 1
        source, target = leaves[graph.edges.source], enters[graph.edges.target]
        one_of_two = np.arange(len(graph.edges)) <= graph.mirror
        edge = np.flatnonzero((source >= 0) & (target >= 0) & one_of_two)
        return source[edge], target[edge], edge

    def sequence(self, unitig: int, reads: Reads) -> str:
        """Return the bases of one unitig, N where a read has one.

        Parameters
        ----------
        unitig : int
        reads : Reads
            The reads the graph was built from.
        """
        table, steps = self.graph.reads, slice(self.starts[unitig], self.starts[unitig + 1])
        read, reverse = self.path[steps] >> 1, self.path[steps] & 1 == 1
        first, last = self.stretch_start[steps], self.stretch_end[steps]
        start = np.where(reverse, table.end[read] - last, table.start[read] + first).astype(np.int64)
        end = np.where(reverse, table.end[read] - first, table.start[read] + last).astype(np.int64)
        return spelling.spell(PackedReads.of(reads), table.read[read], start, end, reverse).tobytes().decode()


def unitig_names(circular: np.ndarray) -> list[str]:
    """Return names of unitigs, as miniasm's: ``utg``, a number, ``c`` for circular or ``l`` for linear."""
    return [f"utg{i + 1:06d}{'c' if c else 'l'}" for i, c in enumerate(circular)]


def copies_of(depth: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return estimated copies of unitigs (float64): their depths relative to that of the median base."""
    return depth / depth[with_median_base(depth, lengths)] if len(depth) else depth


def layout(graph: Graph) -> tuple[Layout, dict[str, int]]:
    """Lay out the unitigs of a graph.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    layout : Layout
    counts : dict of str to int
        Unitigs and reads, by what became of them.
    """
    first, edges = graph.first_edge, graph.edges
    path, starts, circular = unitigs.unitigs(first, edges.target)
    stretch_start, stretch_end = unitigs.stretches(
        first, edges.target, edges.length, graph.mirror, graph.lengths, path, starts, circular
    )
    unordered = Layout(graph, path, starts, circular, stretch_start, stretch_end)
    order = np.lexsort([path[starts[:-1]], -unordered.lengths])
    steps = np.concatenate([np.arange(starts[u], starts[u + 1]) for u in order] or [np.zeros(0, np.int64)])
    found = Layout(
        graph,
        path[steps],
        offsets_of(np.diff(starts)[order]),
        circular[order],
        stretch_start[steps],
        stretch_end[steps],
    )
    counts = {
        "unitigs": len(found),
        "circular unitigs": int(circular.sum()),
        "links": len(found.links()[0]),
        "reads in unitigs": len(path),
    }
    return found, counts
