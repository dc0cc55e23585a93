"""A ring: a circular molecule that begins at the top and goes on clockwise, and what lies along it."""

from __future__ import annotations

import numpy as np

from overlapper.drawing.axis import Axis
from overlapper.drawing.svg import Drawing, element, path_of, written

_SIZE = 400.0
_INNER, _OUTER, _BACKBONE, _MARKS, _LABELS = 62.0, 122.0, 130.0, 139.0, 152.0
"""Radii: from where to where a band is drawn, of the molecule, of what is marked, and of labels."""
_SHORTEST = 0.01
"""Of a mark, in radians: what can be seen."""


def ring(length: int, heights: np.ndarray, marks: np.ndarray, middle: tuple[str, ...]) -> Drawing:
    """Return a ring.

    Parameters
    ----------
    length : int
        Of the molecule.
    heights : ndarray of float, shape (n,)
        Of a band within the ring, for each of n equal stretches of it, from 0 to 1.
    marks : ndarray of int, shape (m, 2)
        Where stretches that are marked start and end.
    middle : tuple of str
        Lines of text in the middle.
    """
    edges = np.repeat(np.linspace(0, 2 * np.pi, len(heights) + 1), 2)[1:-1]
    outer = np.repeat(_INNER + heights * (_OUTER - _INNER), 2)
    around = np.concatenate([edges, edges[::-1]])
    band = path_of(*_places(around, np.concatenate([outer, np.full(len(outer), _INNER)])))
    parts = [element("path", d=band + "Z", class_="fill-pale")]
    for radius, kind, width in ((_INNER, "grid", 1), (_OUTER, "grid", 1), (_BACKBONE, "a", 4)):
        drawn = f"line-{kind}"
        parts.append(
            element(
                "circle", cx=_SIZE / 2, cy=_SIZE / 2, r=radius, fill="none", class_=drawn, stroke_width=width
            )
        )
    for start, end in (marks * (2 * np.pi / length)).tolist():
        angles = np.linspace(start, max(end, start + _SHORTEST), 2 + int(40 * (end - start)))
        mark = path_of(*_places(angles, np.full(len(angles), _MARKS)))
        parts.append(element("path", d=mark, class_="line-b", stroke_width=8))
    ticks = Axis("", 0, length, whole=True).ticks(8)[1:]
    for place, label in [(0.0, "1"), *(tick for tick in ticks if tick[0] < 0.95 * length)]:
        angle = np.full(3, 2 * np.pi * place / length)
        x, y = _places(angle, np.array([_BACKBONE, _BACKBONE + 7, _LABELS]))
        parts.append(element("path", d=path_of(x[:2], y[:2]), class_="line-axis", stroke_width=1.5))
        aside = float(x[2]) - _SIZE / 2
        anchor = "middle" if abs(aside) < 20 else "start" if aside > 0 else "end"
        parts.append(written(label, float(x[2]), float(y[2]) + 5, text_anchor=anchor))
    for line, text in enumerate(middle):
        y_of_line = _SIZE / 2 + 5 + 20 * (line - (len(middle) - 1) / 2)
        parts.append(written(text, _SIZE / 2, y_of_line, text_anchor="middle"))
    return Drawing("".join(parts), _SIZE, _SIZE)


def _places(angles: np.ndarray, radii: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where points lie in the picture, by the angle from the top and the distance from the middle."""
    return _SIZE / 2 + radii * np.sin(angles), _SIZE / 2 - radii * np.cos(angles)
