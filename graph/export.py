"""Graphs and layouts as files: GFA 1, FASTA, a table of unitigs; and as a networkx graph.

**GFA 1 of reads.** ``S`` a read (its kept interval; the name then says so as ``name:first-last``, counted
from 1) with ``LN`` and ``dp``, its depth. ``L`` an edge, once for both strands. ``C`` a contained read,
``pos`` counted on the forward strand of its container. ``P`` a unitig, as a path of reads.

**GFA 1 of unitigs.** ``S`` a unitig with ``LN``, ``dp`` and ``RC``, its reads, contained ones included. ``L``
a link between the ends of two unitigs; a circular unitig has one to itself, of ``0M``. Behind an option, one
line a read: ``a`` as in miniasm (unitig, where the read starts in it, read with its kept interval, strand,
bases that it gives) or ``A`` as in hifiasm (unitig, start, strand, read, first and last base of its kept
interval). Behind another, ``S`` and ``C`` of every contained read, ``pos`` being the base of the unitig's
forward strand where it starts (`overlapper.graph.placement`), without a CIGAR.

The overlap of ``L``, and of ``C`` in a read, is the CIGAR of the alignment, `*` where there is none, or where
the sequence at the end of a unitig is not that of its last read (`overlapper.graph.layout`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from overlapper.errors import ParameterError
from overlapper.graph.alignment import NO_ALIGNMENT, Side, cigar_of
from overlapper.graph.containment import leads_to_graph
from overlapper.graph.layout import Layout
from overlapper.graph.model import Contained, Graph, GraphReads
from overlapper.graph.placement import contained_in_unitigs
from overlapper.tables import Overlaps, Reads

if TYPE_CHECKING:
    import networkx

_HEADER = "H\tVN:Z:1.0"


def unitig_gfa(
    layout: Layout,
    reads: Reads,
    *,
    overlaps: Overlaps | None = None,
    contained: bool = False,
    read_lines: str | None = None,
) -> Iterator[str]:
    """Yield the lines of unitigs and their links in GFA 1.

    Parameters
    ----------
    layout : Layout
    reads : Reads
        The reads the graph was built from.
    overlaps : Overlaps, optional
        The overlaps the graph was built from, for CIGARs.
    contained : bool
        Add the contained reads, and where in the unitigs they lie.
    read_lines : {"a", "A"}, optional
        Say which reads a unitig consists of, in the manner of miniasm or of hifiasm.

    Raises
    ------
    ParameterError
        When ``read_lines`` is something else.
    """
    check_read_lines(read_lines)
    return _unitig_lines(layout, reads, overlaps, contained, read_lines)


def check_read_lines(style: str | None) -> None:
    """Raise a `ParameterError` unless the style of read lines is "a", "A" or none."""
    if style not in (None, "a", "A"):
        raise ParameterError(f"read_lines is {style!r}, expected 'a', 'A' or none")


def read_gfa(
    graph: Graph,
    reads: Reads,
    *,
    overlaps: Overlaps | None = None,
    contained: bool = False,
    layout: Layout | None = None,
) -> Iterator[str]:
    """Yield the lines of the reads and edges of a graph in GFA 1.

    Parameters
    ----------
    graph : Graph
    reads : Reads
        The reads the graph was built from.
    overlaps : Overlaps, optional
        The overlaps the graph was built from, for CIGARs.
    contained : bool
        Add the reads that those of the graph contain, and how they lie.
    layout : Layout, optional
        Of this graph; its unitigs become paths.
    """
    yield _HEADER
    table, inner = graph.reads, graph.contained
    for read, start, end, depth in zip(table.read, table.start, table.end, table.depth, strict=True):
        yield f"{_segment(reads, int(read), int(start), int(end))}\tdp:f:{depth:.2f}"
    within = np.flatnonzero(leads_to_graph(graph)) if contained else np.zeros(0, np.int64)
    for i in within:
        yield _segment(reads, int(inner.read[i]), int(inner.start[i]), int(inner.end[i]))

    names = [_segment_name(reads, *side) for side in zip(table.read, table.start, table.end, strict=True)]
    for edge in np.flatnonzero(np.arange(len(graph.edges)) <= graph.mirror):
        source, target = int(graph.edges.source[edge]), int(graph.edges.target[edge])
        link = f"{names[source >> 1]}\t{_sign(source)}\t{names[target >> 1]}\t{_sign(target)}"
        yield f"L\t{link}\t{_edge_cigar(graph, overlaps, int(edge))}"
    yield from _containments(graph, reads, overlaps, within)
    if layout is not None:
        for unitig, name in enumerate(layout.names):
            yield f"P\t{name}\t{','.join(names[v >> 1] + _sign(v) for v in layout.nodes(unitig))}\t*"


def fasta_line(name: str, length: int, circular: bool, depth: float) -> str:
    """Return the line before the bases of a unitig, as readers of other assemblers' contigs look for it."""
    return f">{name} length={length} circular={'true' if circular else 'false'} depth={depth:.2f}x"


def unitig_fasta(layout: Layout, reads: Reads) -> Iterator[str]:
    """Yield the lines of the unitigs' sequences."""
    columns = zip(layout.names, layout.lengths, layout.circular, layout.depth, strict=True)
    for unitig, of_unitig in enumerate(columns):
        yield fasta_line(*of_unitig)
        yield layout.sequence(unitig, reads)


def unitig_table(layout: Layout) -> Iterator[str]:
    """Yield a header, and one tab-separated line a unitig.

    Columns: name; length in bases; yes or no for circular; reads of the path; reads, contained ones included;
    depth; copies (`Layout.copies`).
    """
    yield "name\tlength\tcircular\tpath_reads\treads\tdepth\tcopies"
    rows = zip(
        layout.names, layout.lengths, layout.circular, np.diff(layout.starts), layout.read_counts,
        layout.depth, layout.copies, strict=True,
    )  # fmt: skip
    for name, length, circular, steps, count, depth, copies in rows:
        yield (
            f"{name}\t{length}\t{'yes' if circular else 'no'}\t{steps}\t{count}\t{depth:.2f}\t{copies:.2f}"
        )


def to_networkx(graph: Graph) -> networkx.DiGraph:
    """Return the graph with its nodes' ids, and the columns of its tables as attributes."""
    import networkx

    found = networkx.DiGraph()
    table, edges = graph.reads, graph.edges
    for i in range(len(table)):
        attributes = {"read": int(table.read[i]), "start": int(table.start[i]), "end": int(table.end[i])}
        for node in (2 * i, 2 * i + 1):
            found.add_node(node, reverse=bool(node & 1), depth=float(table.depth[i]), **attributes)
    columns = (edges.source, edges.target, edges.length, edges.overlap, edges.row)
    for source, target, length, overlap, row in zip(*(c.tolist() for c in columns), strict=True):
        found.add_edge(source, target, length=length, overlap=overlap, row=row)
    return found


def _unitig_lines(
    layout: Layout, reads: Reads, overlaps: Overlaps | None, contained: bool, read_lines: str | None
) -> Iterator[str]:
    yield _HEADER
    columns = zip(layout.names, layout.lengths, layout.depth, layout.read_counts, strict=True)
    for unitig, (name, length, depth, count) in enumerate(columns):
        tags = f"LN:i:{length}\tdp:f:{depth:.2f}\tRC:i:{count}"
        yield f"S\t{name}\t{layout.sequence(unitig, reads)}\t{tags}"
        if read_lines:
            yield from _steps(layout, unitig, reads, read_lines)
        if layout.circular[unitig]:
            yield f"L\t{name}\t+\t{name}\t+\t0M"
    placed = contained_in_unitigs(layout) if contained else None
    if placed is not None:
        inner = layout.graph.contained
        yield from (_segment(reads, *side) for side in _sides(inner, placed.row))
    links = layout.links()
    for source, target, edge, exact in zip(*links, _are_exact(layout, *links), strict=True):
        cigar = _edge_cigar(layout.graph, overlaps, int(edge)) if exact else NO_ALIGNMENT
        first, second = layout.names[source >> 1], layout.names[target >> 1]
        yield f"L\t{first}\t{_sign(source)}\t{second}\t{_sign(target)}\t{cigar}"
    if placed is not None:
        names = (_segment_name(reads, *side) for side in _sides(inner, placed.row))
        for name, unitig, start, reverse in zip(
            names, placed.unitig, placed.start, placed.reverse, strict=True
        ):
            outer = layout.names[unitig]
            yield f"C\t{outer}\t+\t{name}\t{'-' if reverse else '+'}\t{start}\t{NO_ALIGNMENT}"


def _sides(table: GraphReads | Contained, rows: np.ndarray) -> Iterator[tuple[int, int, int]]:
    """Yield row of the read table and kept interval of some reads."""
    columns = (table.read[rows], table.start[rows], table.end[rows])
    return zip(*(column.tolist() for column in columns), strict=True)


def _are_exact(layout: Layout, source: np.ndarray, target: np.ndarray, edge: np.ndarray) -> np.ndarray:
    """Return which links overlap where the sequences of both unitigs are those of their end reads (bool).

    The first read of a unitig is spelled whole, the last one from ``stretch_start`` on. What an overlap does
    not reach of the last read is the suffix that the other node of the edge, or of its mirror, lacks.
    """
    edges = layout.graph.edges
    last = layout.stretch_start[layout.starts[1:] - 1]
    source_fits = (source & 1 == 1) | (last[source >> 1] <= edges.length[layout.graph.mirror[edge]])
    target_fits = (target & 1 == 0) | (last[target >> 1] <= edges.length[edge])
    return source_fits & target_fits


def _steps(layout: Layout, unitig: int, reads: Reads, style: str) -> Iterator[str]:
    table, name = layout.graph.reads, layout.names[unitig]
    for step in range(layout.starts[unitig], layout.starts[unitig + 1]):
        node = int(layout.path[step])
        read = node >> 1
        start = layout.step_starts[step] - layout.stretch_start[step]
        of_read, first, last = reads.name(int(table.read[read])), table.start[read], table.end[read]
        if style == "a":
            given = layout.stretch_end[step] - layout.stretch_start[step]
            yield f"a\t{name}\t{start}\t{of_read}:{first + 1}-{last}\t{_sign(node)}\t{given}"
        else:
            yield f"A\t{name}\t{start}\t{_sign(node)}\t{of_read}\t{first}\t{last}"


def _containments(graph: Graph, reads: Reads, overlaps: Overlaps | None, rows: np.ndarray) -> Iterator[str]:
    inner = graph.contained
    everything = (
        (graph.reads.read, graph.reads.start, graph.reads.end),
        (inner.read, inner.start, inner.end),
    )
    interval = {int(r): (int(s), int(e)) for columns in everything for r, s, e in zip(*columns, strict=True)}
    for i in rows:
        outer, read, reverse = int(inner.container[i]), int(inner.read[i]), bool(inner.reverse[i])
        first, second = Side(outer, *interval[outer], False), Side(read, *interval[read], reverse)
        cigar = cigar_of(overlaps, int(inner.row[i]), first, second)
        names = f"{_segment_name(reads, *first[:3])}\t+\t{_segment_name(reads, *second[:3])}"
        yield f"C\t{names}\t{'-' if reverse else '+'}\t{inner.position[i]}\t{cigar}"


def _edge_cigar(graph: Graph, overlaps: Overlaps | None, edge: int) -> str:
    table = graph.reads
    sides = []
    for node in (int(graph.edges.source[edge]), int(graph.edges.target[edge])):
        read = node >> 1
        sides.append(
            Side(int(table.read[read]), int(table.start[read]), int(table.end[read]), bool(node & 1))
        )
    return cigar_of(overlaps, int(graph.edges.row[edge]), *sides)


def _segment(reads: Reads, read: int, start: int, end: int) -> str:
    return (
        f"S\t{_segment_name(reads, read, start, end)}\t{reads.sequence(read)[start:end]}\tLN:i:{end - start}"
    )


def _segment_name(reads: Reads, read: int, start: int, end: int) -> str:
    whole = start == 0 and end == reads.lengths[read]
    return reads.name(read) if whole else f"{reads.name(read)}:{start + 1}-{end}"


def _sign(node: int) -> str:
    return "-" if node & 1 else "+"
