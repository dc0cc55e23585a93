"""Overlap graph: build, reduce, clean, lay out and correct.

::

    build_graph -> reduce -> clean -> layout

Each step returns what it made and a count of what it removed, by reason; `assemble` takes all four.
"""

from __future__ import annotations

import dataclasses

from graph.build import build_graph
from graph.clean import clean
from graph.layout import Layout, layout
from graph.model import Contained, Edges, Graph, GraphReads
from graph.params import CleanParams, GraphParams
from graph.reduce import reduce
from overlapper.tables import Overlaps, Reads

__all__ = [
    "Assembly",
    "CleanParams",
    "Contained",
    "Edges",
    "Graph",
    "GraphParams",
    "GraphReads",
    "Layout",
    "assemble",
    "build_graph",
    "clean",
    "layout",
    "reduce",
]


@dataclasses.dataclass(frozen=True, eq=False)
class Assembly:
    """What `assemble` makes of reads and overlaps.

    Attributes
    ----------
    layout : Layout
        Unitigs, and the cleaned graph below them.
    counts : dict of str to dict
        For each step, in order, what it removed and why.
    """

    layout: Layout
    counts: dict[str, dict[str, int]]

    @property
    def graph(self) -> Graph:
        """The cleaned graph."""
        return self.layout.graph


def assemble(
    reads: Reads,
    overlaps: Overlaps,
    params: GraphParams | None = None,
    cleaning: CleanParams | None = None,
    *,
    threads: int = 1,
) -> Assembly:
    """Build, reduce, clean and lay out.

    Parameters
    ----------
    reads : Reads
    overlaps : Overlaps
        In any order, from any tool.
    params : GraphParams, optional
    cleaning : CleanParams, optional
    threads : int
        Changes nothing but the time.

    Raises
    ------
    ParameterError
        When the overlaps do not belong to the reads.
    """
    params = params or GraphParams()
    built, built_counts = build_graph(reads, overlaps, params)
    reduced, reduced_counts = reduce(built, params.fuzz, threads=threads)
    cleaned, cleaned_counts = clean(reduced, cleaning or CleanParams())
    found, found_counts = layout(cleaned)
    counts = {
        "build": built_counts,
        "reduce": reduced_counts,
        "clean": cleaned_counts,
        "layout": found_counts,
    }
    return Assembly(found, counts)
