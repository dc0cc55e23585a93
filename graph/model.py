"""The overlap graph: arrays of reads and edges.

Every read ``i`` of the graph has two **nodes**, ``2 * i`` for its forward strand and ``2 * i + 1`` for its
reverse complement: the reverse complement of a node is ``id ^ 1``, its read is ``id >> 1``.

An **edge** ``v -> w`` says that a suffix of ``v`` matches a prefix of ``w``. Its mirror ``w^1 -> v^1`` says
the same of the other strand; a graph always holds both. The edge's ``length`` is the *suffix* of ``w`` that
``v`` lacks, so a path spells its first node and then one suffix an edge (Myers 2005); its ``overlap`` is what
the two share.

Reads of the graph are numbered in an order that their content gives (`overlapper.graph.build`), so that ties
broken by node id do not depend on the order of the file.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from overlapper.errors import ParameterError
from overlapper.kernels.graph.graph_edges import mirror_edges
from overlapper.tables.base import Table, column
from overlapper.tables.ragged import offsets_of


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class GraphReads(Table):
    """The reads of a graph.

    Attributes
    ----------
    read : ndarray of int32, shape (n,)
        Row of the read table.
    start, end : ndarray of int32, shape (n,)
        Interval of the read that the graph uses, half open, on its forward strand.
    depth : ndarray of float32, shape (n,)
        Mean number of reads, itself included, over that interval.
    begins_molecule, ends_molecule : ndarray of bool, shape (n,)
        Whether a molecule begins where the interval does, and ends, if that was looked for
        (`overlapper.graph.molecule_ends`).
    confirmed : ndarray of bool, shape (n,)
        Whether others confirm the read from end to end, if that was looked for
        (`overlapper.graph.confirmed`).
    """

    read: np.ndarray = column("i4")
    start: np.ndarray = column("i4")
    end: np.ndarray = column("i4")
    depth: np.ndarray = column("f4")
    begins_molecule: np.ndarray = column("?")
    ends_molecule: np.ndarray = column("?")
    confirmed: np.ndarray = column("?")


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Edges(Table):
    """The edges of a graph, in canonical order: by source, then the nearest target first.

    Attributes
    ----------
    source, target : ndarray of int32, shape (m,)
        Nodes.
    length : ndarray of int32, shape (m,)
        Bases of the target beyond the overlap, above 0.
    overlap : ndarray of int32, shape (m,)
        Bases that both share, hangs included, on the read where they are fewer.
    row : ndarray of int64, shape (m,)
        Row of the overlap table that the edge comes from.
    """

    SORT_KEYS: ClassVar = ("source", "length", "target")

    source: np.ndarray = column("i4")
    target: np.ndarray = column("i4")
    length: np.ndarray = column("i4")
    overlap: np.ndarray = column("i4")
    row: np.ndarray = column("i8")


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Contained(Table):
    """Reads that left the graph because another read covers them.

    Attributes
    ----------
    read, container : ndarray of int32, shape (c,)
        Rows of the read table. The container may be contained itself; every chain ends at a read of the graph
        as it was built, or as it was cleaned (`overlapper.graph.containment.contain_again`).
    start, end : ndarray of int32, shape (c,)
        Interval of the contained read that is kept, half open, on its forward strand.
    reverse : ndarray of bool, shape (c,)
        True where the read's reverse complement lies in the container.
    position : ndarray of int32, shape (c,)
        Where it starts in the container, counted from the start of the container's kept interval, on the
        container's forward strand.
    row : ndarray of int64, shape (c,)
        Row of the overlap table.
    """

    SORT_KEYS: ClassVar = ("read",)

    read: np.ndarray = column("i4")
    container: np.ndarray = column("i4")
    start: np.ndarray = column("i4")
    end: np.ndarray = column("i4")
    reverse: np.ndarray = column("?")
    position: np.ndarray = column("i4")
    row: np.ndarray = column("i8")


@dataclasses.dataclass(frozen=True, eq=False)
class Containments:
    """All containments, each an arrow from a contained read to a container; reads are in content order."""

    order: np.ndarray
    """int, shape (reads,); row of the read table of every read."""
    inner: np.ndarray
    outer: np.ndarray
    """`inner`, `outer`: int32, shape (n,); the contained read and its container."""
    reverse: np.ndarray
    position: np.ndarray
    row: np.ndarray
    """`reverse`, `position`, `row`: shape (n,); as in `Contained`."""


@dataclasses.dataclass(frozen=True, eq=False)
class Graph:
    """An overlap graph.

    Attributes
    ----------
    reads : GraphReads
        Two nodes each.
    edges : Edges
        In canonical order, each with its mirror.
    contained : Contained
        What containment took, for export and for counting reads.
    containments : Containments
        What else contains it, for when its container leaves the graph.
    """

    reads: GraphReads
    edges: Edges
    contained: Contained
    containments: Containments

    @cached_property
    def lengths(self) -> np.ndarray:
        """Bases of the kept interval of every read (int32)."""
        return self.reads.end - self.reads.start

    @property
    def nodes(self) -> int:
        """Number of nodes, two a read."""
        return 2 * len(self.reads)

    @cached_property
    def ends_molecule(self) -> np.ndarray:
        """Whether a molecule ends where each node does (bool)."""
        return np.stack([self.reads.ends_molecule, self.reads.begins_molecule], axis=1).ravel()

    @cached_property
    def first_edge(self) -> np.ndarray:
        """Where the edges of each node start (int64, one value more than there are nodes)."""
        counts = np.bincount(self.edges.source, minlength=self.nodes)
        return offsets_of(counts)

    @cached_property
    def mirror(self) -> np.ndarray:
        """The mirror of every edge (int64)."""
        return mirror_edges(self.first_edge, self.edges.source, self.edges.target)

    def without(self, reads: np.ndarray | None = None, edges: np.ndarray | None = None) -> Self:
        """Return the graph without some reads and edges.

        Parameters
        ----------
        reads : ndarray of bool, shape (n,), optional
            Reads to remove, with all their edges; none by default.
        edges : ndarray of bool, shape (m,), optional
            Edges to remove, each with its mirror; none by default.
        """
        reads = np.zeros(len(self.reads), np.bool_) if reads is None else reads
        edges = np.zeros(len(self.edges), np.bool_) if edges is None else edges
        gone = edges | edges[self.mirror] | reads[self.edges.source >> 1] | reads[self.edges.target >> 1]
        kept = self.edges.take(~gone)
        number = np.cumsum(~reads, dtype=np.int32) - 1
        renumbered = {
            name: (number[node >> 1] << 1) | (node & 1)
            for name, node in (("source", kept.source), ("target", kept.target))
        }
        return dataclasses.replace(
            self, reads=self.reads.take(~reads), edges=dataclasses.replace(kept, **renumbered)
        )

    def validate(self) -> Self:
        """Check the arrays against each other and return the graph.

        Raises
        ------
        ParameterError
            When an edge lacks its mirror, names no node, joins a read to itself, or is out of order.
        """
        for table in (self.reads, self.edges, self.contained):
            table.validate()
        edges = self.edges
        if len(edges) == 0:
            return self
        if min(edges.source.min(), edges.target.min()) < 0 or edges.target.max() >= self.nodes:
            raise ParameterError(f"an edge names a node outside 0 to {self.nodes - 1}")
        if np.any(edges.source >> 1 == edges.target >> 1):
            raise ParameterError("an edge joins a read to itself")
        order = np.lexsort([edges.target, edges.length, edges.source])
        if np.any(order[1:] < order[:-1]):
            raise ParameterError("edges are not in canonical order (source, length, target)")
        if np.any(self.mirror < 0) or np.any(self.mirror[self.mirror] != np.arange(len(edges))):
            raise ParameterError("an edge lacks its mirror, or two edges join the same nodes")
        if np.any(edges.overlap != edges.overlap[self.mirror]) or np.any(edges.row != edges.row[self.mirror]):
            raise ParameterError("an edge and its mirror disagree on overlap or row")
        if np.any(edges.length <= 0):
            raise ParameterError("an edge has a length of 0 or less")
        return self
