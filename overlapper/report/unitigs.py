"""What a report says of an assembly graph, ours or another program's."""

from __future__ import annotations

import dataclasses

from overlapper.drawing import picture
from overlapper.graph.gfa import Gfa
from overlapper.graph.plot import describe, draw_graph, place_segments
from overlapper.graph.stats import graph_stats
from overlapper.report.charts import histogram
from overlapper.report.page import Figure, Part, Remark, Table
from overlapper.runtime.messages import counted

NEEDS_GFA = "Lengths of unitigs are left out: they need the GFA file that overlapper layout writes."
_MOST_LISTED = 20
_MOST_DRAWN, _WIDTH = 300, 400
"""Segments of a picture, and its pixels across."""


def unitig_parts(gfa: Gfa) -> list[Part]:
    """Describe the segments of a graph; contained ones are left out."""
    stats = graph_stats(gfa)
    gfa = gfa.without_contained()
    caption = (
        f"{counted(stats.segments, 'unitig')} of {stats.bases:,} bases; half of the bases are in unitigs of "
        f"{stats.n50:,} bases (N50) or more."
    )
    order = (-gfa.lengths).argsort(kind="stable")[:_MOST_LISTED].tolist()
    rows = [
        (
            gfa.names[i],
            "circular" if gfa.circular[i] else "linear",
            _depth(float(gfa.depth[i])),
            int(gfa.lengths[i]),
        )
        for i in order
    ]
    longest = Table(
        f"Longest unitigs ({len(rows)} of {stats.segments:,})",
        ("unitig", "shape", "depth", "bases"),
        rows,
        bars=True,
    )
    numbers = [
        ("N50" if name == "n50" else name.replace("_", " "), "not in the file" if value is None else value)
        for name, value in dataclasses.asdict(stats).items()
    ]
    return [
        _picture(gfa),
        *_lengths(gfa, caption, stats.n50),
        longest,
        Table("The graph in numbers", ("what", "value"), numbers),
    ]


def _picture(gfa: Gfa) -> Part:
    """Return the graph as a picture, if one can be read."""
    if len(gfa.names) > _MOST_DRAWN:
        return Remark(
            f"The graph is not drawn: of {len(gfa.names):,} segments no picture of this size could be read; "
            "overlapper graph plot draws a larger one."
        )
    if not len(gfa.names):
        return Remark("The graph has no segments.")
    title, caption = "Assembly graph", describe(gfa)
    return Figure(title, caption, picture(draw_graph(gfa, place_segments(gfa), _WIDTH), title, caption))


def _lengths(gfa: Gfa, caption: str, half: int) -> list[Figure]:
    """Return a histogram, where there is more to see than a few bars."""
    lengths = gfa.lengths[gfa.lengths > 0]
    if len(lengths) < 3:
        return []
    return [
        histogram(
            "Unitig lengths", caption, lengths, "length, bases", "unitigs", log=True, marks=((half, "N50"),)
        )
    ]


def _depth(depth: float) -> str:
    return "unknown" if depth != depth else f"{depth:.1f}"
