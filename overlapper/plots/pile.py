"""A picture of the overlaps along a read, a line each, in the order in which they start.

A thick line is the part of the read that an overlap covers, coloured by its class. A thin one goes on to
where the other read would reach if it matched: many that end thick and go on thin at one place are a chimera
or the border of a repeat. Behind them stands how many overlaps cover each base.
"""

from __future__ import annotations

import numpy as np

from overlapper.drawing import Axis, Drawing, Plane, element, shortened, standalone
from overlapper.drawing.svg import path_of
from overlapper.errors import ParameterError
from overlapper.runtime.messages import counted
from overlapper.tables import OverlapClass, Overlaps, Reads

_WIDE, _NARROW = 760.0, 380.0
_HEIGHTS = (300.0, 900.0)
_COLOURS = {"dovetail": "a", "within the other": "d", "holds the other": "c", "internal match": "b"}


def plot_pile(overlaps: Overlaps, reads: Reads, name: str) -> str:
    """Return the overlaps along a read, SVG.

    Parameters
    ----------
    overlaps : Overlaps
    reads : Reads
        Names and lengths; bases are not needed.
    name : str
        Of the read.

    Raises
    ------
    ParameterError
        When there is no such read, or no overlap of it.
    """
    if name not in (names := reads.names):
        raise ParameterError(
            f"there is no read {name!r} in the overlaps; its name is what stands before the first blank"
        )
    read = names.index(name)
    rows = np.flatnonzero((overlaps.query == read) | (overlaps.target == read))
    if not len(rows):
        raise ParameterError(f"the read {name!r} has no overlaps, so there is nothing to draw")
    pile = _Pile(overlaps.take(rows).distinct(), read, reads.lengths)
    return standalone(pile.draw(name, _WIDE), pile.draw(name, _NARROW), *pile.told(name))


class _Pile:
    """The overlaps of one read, seen from it: ``start`` to ``end`` match, ``left`` to ``right`` would."""

    def __init__(self, overlaps: Overlaps, read: int, lengths: np.ndarray) -> None:
        first = overlaps.query == read
        self.length = int(lengths[read])
        self.start = np.where(first, overlaps.q_start, overlaps.t_start).astype(np.int64)
        self.end = np.where(first, overlaps.q_end, overlaps.t_end).astype(np.int64)
        other_start = np.where(first, overlaps.t_start, overlaps.q_start).astype(np.int64)
        other_end = np.where(first, overlaps.t_end, overlaps.q_end).astype(np.int64)
        other = lengths[np.where(first, overlaps.target, overlaps.query)]
        before = np.where(overlaps.reverse, other - other_end, other_start)
        after = np.where(overlaps.reverse, other_start, other - other_end)
        self.left, self.right = np.maximum(self.start - before, 0), np.minimum(self.end + after, self.length)
        inner = np.where(first, OverlapClass.QUERY_CONTAINED, OverlapClass.TARGET_CONTAINED)
        self.kind = np.select(
            [overlaps.kind == kind for kind in (OverlapClass.DOVETAIL, OverlapClass.INTERNAL, inner)],
            ["dovetail", "internal match", "within the other"], "holds the other",
        )  # fmt: skip

    def draw(self, name: str, width: float) -> Drawing:
        order = np.lexsort((self.end, self.start))
        count = len(order)
        plane = Plane(
            Axis(f"{shortened(name, width)}, bases", 0, float(self.length)),
            Axis("overlaps", 0, float(count), whole=True),
            width=width, height=float(np.clip(90 + 12 * count, *_HEIGHTS)),
        )  # fmt: skip
        edges, depth = self.depth()
        plane.bars(edges, depth, "grid")
        plane.draw("", "depth", "grid")
        thick = max(1.0, min(6.0, float(plane.up(0) - plane.up(1)) - 1))
        height = np.empty(count)
        height[order] = plane.up(np.arange(count) + 0.5)
        for kind, colour in _COLOURS.items():
            chosen = np.flatnonzero(self.kind == kind)
            if not len(chosen):
                continue
            for low, high, stroke, key in (
                (self.left, self.right, 1.0, ""),
                (self.start, self.end, thick, f"{kind}: {len(chosen):,}"),
            ):
                x, y = plane.across(np.column_stack([low, high])[chosen]), height[chosen]
                lines = "".join(path_of(ends, np.array([at, at])) for ends, at in zip(x, y, strict=True))
                plane.draw(
                    element("path", d=lines, class_=f"line-{colour}", stroke_width=stroke), key, colour
                )
        return plane.drawing()

    def told(self, name: str) -> tuple[str, str]:
        """Return title and description of the picture."""
        kinds = ", ".join(f"{kind}: {(self.kind == kind).sum():,}" for kind in _COLOURS)
        return (
            f"Overlaps along {name} ({self.length:,} bases)",
            f"{counted(len(self.kind), 'overlap')}, in the order in which they start; {kinds}. At most "
            f"{self.depth()[1].max():,} cover one base.",
        )

    def depth(self) -> tuple[np.ndarray, np.ndarray]:
        """Return where the number of overlaps that cover a base changes, and that number in between."""
        edges = np.unique(np.concatenate([self.start, self.end, [0, self.length]]))
        opened = np.searchsorted(np.sort(self.start), edges[:-1], side="right")
        closed = np.searchsorted(np.sort(self.end), edges[:-1], side="right")
        return edges, opened - closed
