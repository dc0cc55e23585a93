"""Maps of the circular contigs of an assembly: the depth along each, and its bases in doubt."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from overlapper.drawing import picture, ring
from overlapper.errors import FormatError, shortened
from overlapper.graph.gfa import Gfa
from overlapper.io.lines import text_lines, whole
from overlapper.report.doubt import stretches_in_doubt
from overlapper.report.page import Figure, Part, Remark, Table
from overlapper.runtime.messages import counted

GRAPH = "contigs.noseq.gfa"
_MOST_DRAWN, _DRAWN, _LISTED = 12, 360, 24
"""Circles that are drawn; equal stretches of each whose depths are drawn, and are listed."""


def circle_parts(folder: Path, gfa: Gfa, remedy: str) -> list[Part]:
    """Draw the circular contigs of an assembly, the longest ones if there are many."""
    circles = np.flatnonzero(gfa.circular & (gfa.lengths > 0))
    drawn = circles[np.argsort(-gfa.lengths[circles], kind="stable")][:_MOST_DRAWN].tolist()
    lengths = {gfa.names[i]: int(gfa.lengths[i]) for i in drawn}
    if not lengths:
        return []
    reads = _reads_on(folder / GRAPH, lengths, remedy)
    doubt: dict[str, list[tuple[int, int]]] = {name: [] for name in lengths}
    of_all = dict(zip(gfa.names, gfa.lengths.tolist(), strict=True))
    for name, start, end, _ in stretches_in_doubt(folder, of_all, remedy):
        if name in doubt:
            doubt[name].append((start, end))
    parts: list[Part] = [
        _map_of(name, length, depth, reads[name], np.array(doubt[name], np.int64).reshape(-1, 2))
        for (name, length), depth in zip(lengths.items(), gfa.depth[drawn].tolist(), strict=True)
    ]
    if len(drawn) < len(circles):
        parts.append(Remark(f"Of {len(circles):,} circles the longest {len(drawn)} are drawn."))
    return parts


def _reads_on(path: Path, lengths: Mapping[str, int], remedy: str) -> dict[str, np.ndarray]:
    """Return where reads start on contigs, and which part of them that is (int64, a row a read)."""
    found: dict[str, list[list[int]]] = {name: [] for name in lengths}
    with contextlib.closing(text_lines(str(path))) as lines:
        for number, line in enumerate(lines, 1):
            fields = line.split("\t")
            if fields[0] != "A":
                continue
            numbers = [whole(fields[at]) if at < len(fields) else None for at in (2, 5, 6)]
            known = [value for value in numbers if value is not None]
            if len(known) < len(numbers) or known[1] >= known[2]:
                raise FormatError(
                    f"is damaged: {shortened(line)}", file=str(path), record=f"on line {number}",
                    remedy=remedy,
                )  # fmt: skip
            if fields[1] in found:
                found[fields[1]].append(known)
    return {name: np.array(rows, np.int64).reshape(-1, 3) for name, rows in found.items()}


def depth_along(reads: np.ndarray, length: int, edges: np.ndarray) -> np.ndarray:
    """Return the bases of reads in stretches of a circle (int64), which reads may go round several times.

    Parameters
    ----------
    reads : ndarray of int64, shape (reads, 3)
        Where each starts on the circle, and which part of it that is.
    edges : ndarray of int64, shape (stretches + 1,)
        Where the stretches start, and the last one ends.
    """
    start, bases = reads[:, 0] % length, reads[:, 2] - reads[:, 1]
    end = start + bases % length
    once = _bases_between(start, end, edges) + _bases_between(start, end, edges + length)
    return once + int((bases // length).sum()) * np.diff(edges)


def _bases_between(start: np.ndarray, end: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return how many bases of intervals are in each stretch (int64)."""

    def before(places: np.ndarray) -> np.ndarray:
        """Return how far edges are behind places, summed up for those before them."""
        ordered = np.sort(places)
        number = np.searchsorted(ordered, edges)
        return number * edges - np.append(0, np.cumsum(ordered))[number]

    return np.diff(before(start) - before(end))


def _union(stretches: np.ndarray, length: int) -> np.ndarray:
    """Return stretches without what an earlier one has (int64, shape (n, 2))."""
    ordered = stretches[np.lexsort((stretches[:, 1], stretches[:, 0]))].clip(0, length)
    reached = np.append(0, np.maximum.accumulate(ordered[:, 1]))[:-1]
    ordered[:, 0] = np.maximum(ordered[:, 0], reached)
    return ordered[ordered[:, 0] < ordered[:, 1]]


def _map_of(name: str, length: int, depth: float, reads: np.ndarray, doubt: np.ndarray) -> Figure:
    doubt = _union(doubt, length)
    # Reads that were set aside count where the others lie.
    per_read = depth * length / max(1, int((reads[:, 2] - reads[:, 1]).sum()))

    def of_stretches(most: int) -> tuple[np.ndarray, np.ndarray]:
        edges = np.linspace(0, length, min(most, length) + 1).astype(np.int64)
        return edges, depth_along(reads, length, edges) * per_read / np.diff(edges)

    depths, (edges, listed) = of_stretches(_DRAWN)[1], of_stretches(_LISTED)
    most, in_doubt = max(float(depths.max()), 1e-9), _bases_between(doubt[:, 0], doubt[:, 1], edges)
    title = f"Map of {name}"
    caption = (
        "The contig begins at the top and goes on clockwise. The band is the depth along it, "
        f"{depths.min():,.0f}x to {most:,.0f}x. {counted(int(in_doubt.sum()), 'base')} in doubt are marked "
        "on the outside."
    )
    rows = [
        (start + 1, end, float(at), int(doubtful))
        for start, end, at, doubtful in zip(
            edges.tolist(), edges[1:].tolist(), listed, in_doubt, strict=False
        )
    ]
    drawing = ring(length, depths / most, doubt, (f"{length:,} bases", f"{depth:,.0f}x"))
    table = Table(title, ("from base", "to base", "depth", "bases in doubt"), rows)
    return Figure(title, caption, picture(drawing, title, caption), table)
