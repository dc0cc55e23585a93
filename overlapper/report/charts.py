"""The charts that several parts of a report draw."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from overlapper.drawing import Axis, Plane
from overlapper.report.page import Cell, Figure, Table

_BINS = 40


def histogram(
    title: str,
    caption: str,
    values: np.ndarray,
    label: str,
    counted: str,
    *,
    log: bool = False,
    marks: tuple[tuple[float, str], ...] = (),
) -> Figure:
    """Return how often values occur.

    Parameters
    ----------
    values : ndarray, shape (n,), n above 0
        Above 0 where logarithmic.
    label, counted : str
        Names of the axes: what the values are, and what is counted.
    log : bool
        Bins of equal ratio in place of equal width.
    marks : tuple of (float, str)
        Values to point out, where they lie within the chart.
    """
    edges = _edges(values, log)
    counts = np.histogram(values, edges)[0]
    x = Axis(label, float(edges[0]), float(edges[-1]), log=log)
    plane = Plane(x, Axis(counted, 0, float(counts.max()), whole=True))
    plane.bars(edges, counts)
    for value, text in marks:
        if x.low <= value <= x.high:
            plane.mark(value, text)
    rows = [
        (_number(low), _number(high), int(count))
        for low, high, count in zip(edges, edges[1:], counts, strict=False)
        if count
    ]
    return chart(title, caption, plane, ("from", "to", counted), rows)


def chart(
    title: str, caption: str, plane: Plane, head: Sequence[str], rows: Sequence[Sequence[Cell]]
) -> Figure:
    """Return a chart, and the numbers behind it in a table of its title."""
    return Figure(title, caption, plane.inline(title, caption), Table(title, head, rows))


def _edges(values: np.ndarray, log: bool) -> np.ndarray:
    low, high = float(values.min()), float(values.max())
    if log:
        edges = np.geomspace(low, max(high, low * 1.5), _BINS + 1)
        # Whole numbers would leave bins empty that are narrower than 1.
        return np.unique(np.round(edges)) if values.dtype.kind in "iu" else edges
    if values.dtype.kind in "iu":
        width = max(1, -(-int(high - low + 1) // _BINS))
        return np.arange(int(low), int(high) + width + 1, width).astype(float)
    if high - low < 1e-6 * max(1.0, abs(high)):
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, _BINS + 1)


def _number(value: float) -> int | float:
    return int(value) if value == int(value) else float(value)
