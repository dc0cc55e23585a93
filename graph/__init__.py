"""The overlap graph: build, reduce, clean, join, lay out.

::

    build_graph -> reduce -> clean -> drop_remnants -> contain_again -> join_ends -> layout

Each step returns what it made and a count of what it changed, by reason; `assemble` takes all seven.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from overlapper.graph.build import build_graph
from overlapper.graph.clean import clean
from overlapper.graph.containment import contain_again
from overlapper.graph.join import join_ends
from overlapper.graph.layout import Layout, layout
from overlapper.graph.model import Contained, Edges, Graph, GraphReads
from overlapper.graph.molecule_ends import open_circles
from overlapper.graph.reduce import reduce
from overlapper.graph.remnants import drop_remnants
from overlapper.params.graph import CleanParams, GraphParams
from overlapper.runtime.clock import Clock
from overlapper.runtime.messages import Report, unreported
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
    "contain_again",
    "drop_remnants",
    "join_ends",
    "layout",
    "reduce",
]

_PARAMS, _CLEANING = GraphParams(), CleanParams()
_Made = TypeVar("_Made")


@dataclasses.dataclass(frozen=True, eq=False)
class Assembly:
    """The result of `assemble`: the cleaned graph, its layout and counts.

    Attributes
    ----------
    layout : Layout
        Unitigs, and the cleaned graph below them.
    counts : dict of str to dict
        For each step, in order, what it removed and why.
    sizes : dict of str to dict
        For each step that makes a graph, how many ``reads`` and ``edges`` (one a pair of mirrors) it left.
    seconds : dict of str to float
        Wall-clock time of each step.
    memory : dict of str to int
        Largest resident memory by the end of each step, in bytes (`overlapper.runtime.clock.Clock`).
    """

    layout: Layout
    counts: dict[str, dict[str, int]]
    sizes: dict[str, dict[str, int]]
    seconds: dict[str, float]
    memory: dict[str, int]

    @property
    def graph(self) -> Graph:
        """The cleaned graph."""
        return self.layout.graph


def assemble(
    reads: Reads,
    overlaps: Overlaps,
    params: GraphParams = _PARAMS,
    cleaning: CleanParams | None = _CLEANING,
    *,
    within: tuple[np.ndarray, np.ndarray] | None = None,
    shared_depth: float = np.inf,
    threads: int = 1,
    report: Report = unreported,
) -> Assembly:
    """Build, reduce, clean, drop remnants, contain reads again, join dead ends and lay out.

    Parameters
    ----------
    reads : Reads
    overlaps : Overlaps
        In any order, from any tool.
    params : GraphParams
    cleaning : CleanParams, optional
        None leaves the graph as reduction leaves it, dead ends too.
    within : tuple of ndarray of int, shape (reads,), optional
        Intervals of the reads that count (`overlapper.graph.build.build_graph`).
    shared_depth : float
        Depth from which on a read is of two haplotypes, whose bubbles and ends stay.
    threads : int
        Changes nothing but the time.
    report : callable
        ``report(step, done, total)`` is told which step begins.

    Raises
    ------
    ParameterError
        When the overlaps do not belong to the reads.
    """
    params = params.of_reads(reads.lengths)
    counts: dict[str, dict[str, int]] = {}
    sizes: dict[str, dict[str, int]] = {}
    clock = Clock()

    def step(name: str, function: Callable[[], tuple[_Made, dict[str, int]]]) -> _Made:
        report(name, 0, 0)
        made, counts[name] = function()
        clock.lap(name)
        if isinstance(made, Graph):
            sizes[name] = {"reads": len(made.reads), "edges": len(made.edges) // 2}
        return made

    two_haplotypes = shared_depth < np.inf
    graph = step(
        "build",
        lambda: build_graph(
            reads, overlaps, params, within=within, two_haplotypes=two_haplotypes, threads=threads
        ),
    )
    graph = step("reduce", lambda: reduce(graph, params.fuzz, threads=threads))
    if cleaning is not None:
        confirmed = params.confirm_depth > 0
        graph = step(
            "clean",
            lambda: clean(graph, overlaps, cleaning, confirmed=confirmed, shared_depth=shared_depth),
        )
        graph = step("remnants", lambda: drop_remnants(graph, overlaps))
        graph, again = contain_again(graph)
        counts["remnants"] |= again
        graph = step(
            "join",
            lambda: join_ends(
                graph, reads, overlaps, params, cleaning.tip_reads, within=within, threads=threads
            ),
        )
        graph = step("open", lambda: open_circles(graph))
    made = step("layout", lambda: layout(graph))
    return Assembly(made, counts, sizes, clock.seconds, clock.memory)
