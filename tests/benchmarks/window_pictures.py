"""Identities of windows of real and simulated reads, side by side: some as strips, and all as curves."""

from __future__ import annotations

import numpy as np

from overlapper.drawing import Axis, Drawing, Plane, element, standalone
from tests.benchmarks.read_profiles import Profile, identities

STRIPS = 36
LONGEST = 15_000
WINDOW = 100
_WIDE, _NARROW, _STRIPS_HIGH, _CURVES_HIGH = 400.0, 380.0, 400.0, 340.0
_LEVELS = ((0.0, 0.7, "b", "below 0.7"), (0.7, 0.8, "c", "to 0.8"), (0.8, 1.01, "pale", "above"))


def picture_of(sets: dict[str, list[Profile]]) -> str:
    """Return the picture of some sets, SVG; the first two are drawn as strips, all as curves."""
    strips = dict(list(sets.items())[:2])
    wide = [_strips(name, reads, _WIDE) for name, reads in strips.items()] + [_curves(sets, 2 * _WIDE)]
    narrow = [_strips(name, reads, _NARROW) for name, reads in strips.items()] + [_curves(sets, _NARROW)]
    told = (
        f"Reads as strips, windows of {WINDOW} bases of the reference by identity; "
        "and the share of windows whose identity is below a value, on a logarithmic axis."
    )
    wide_places = [(0.0, 0.0), (_WIDE, 0.0), (0.0, _STRIPS_HIGH + 20)]
    narrow_places = [(0.0, 0.0), (0.0, _STRIPS_HIGH + 20), (0.0, 2 * _STRIPS_HIGH + 40)]
    return standalone(
        _joined(wide, wide_places), _joined(narrow, narrow_places), f"Identities: {', '.join(sets)}", told
    )


def _joined(drawings: list[Drawing], places: list[tuple[float, float]]) -> Drawing:
    body = "".join(
        element("g", drawing.body, transform=f"translate({x:g} {y:g})")
        for drawing, (x, y) in zip(drawings, places, strict=True)
    )
    width = max(x + drawing.width for drawing, (x, _) in zip(drawings, places, strict=True))
    height = max(y + drawing.height for drawing, (_, y) in zip(drawings, places, strict=True))
    return Drawing(body, width, height)


def _strips(name: str, reads: list[Profile], width: float) -> Drawing:
    """Draw reads of one piece, every n-th of those of some length, as strips coloured by identity."""
    chosen = [read for read in reads if len(read.pieces) == 1 and read.length >= LONGEST // 3]
    chosen = chosen[:: max(1, len(chosen) // STRIPS)][:STRIPS]
    plane = Plane(
        Axis(f"{name}: bases along reads", 0, LONGEST),
        Axis("reads", 0, STRIPS),
        width=width,
        height=_STRIPS_HIGH,
    )
    tracks = [identities(read.pieces[0].columns, WINDOW)[: LONGEST // WINDOW] for read in chosen]
    for low, high, colour, key in _LEVELS:
        boxes = [
            _box(plane, start, end, row)
            for row, identity in enumerate(tracks)
            for start, end in _runs((identity >= low) & (identity < high))
        ]
        plane.draw(element("path", d="".join(boxes), class_=f"fill-{colour}"), key, colour)
    return plane.drawing()


def _runs(flags: np.ndarray) -> np.ndarray:
    edges = np.diff(np.concatenate([[0], flags.astype(np.int8), [0]]))
    return np.transpose([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)])


def _box(plane: Plane, start: int, end: int, row: int) -> str:
    """Return the path around the windows from start to end of a read."""
    left, right = plane.across(start * WINDOW), plane.across(end * WINDOW)
    top, bottom = plane.up(row + 0.85), plane.up(row + 0.15)
    return f"M{left:.1f} {top:.1f}H{right:.1f}V{bottom:.1f}H{left:.1f}Z"


def _curves(sets: dict[str, list[Profile]], width: float) -> Drawing:
    """Draw the share of windows below each identity."""
    plane = Plane(
        Axis("identity of windows", 0.5, 1.0), Axis("share below it", 3e-4, 1, log=True),
        width=width, height=_CURVES_HIGH,
    )  # fmt: skip
    at = np.linspace(0.5, 1.0, 101)
    for (name, reads), colour in zip(sets.items(), "bad", strict=False):
        found = np.concatenate(
            [
                identities(columns, WINDOW)
                for read in reads
                if len(read.pieces) == 1 and len(columns := read.aligned_columns()) > 2 * WINDOW
            ]
        )
        below = np.searchsorted(np.sort(found), at) / len(found)
        shown = below > 0
        plane.line(at[shown], below[shown], name, colour)
    return plane.drawing()
