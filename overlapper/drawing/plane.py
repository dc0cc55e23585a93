"""A chart: a plane between two axes, and what is drawn on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from overlapper.drawing.axis import Axis
from overlapper.drawing.svg import Drawing, element, path_of, picture, written

_LEFT, _RIGHT, _TOP, _BOTTOM = 58.0, 14.0, 42.0, 48.0
BESIDE, AROUND = _LEFT + _RIGHT, _TOP + _BOTTOM
"""What a picture has to the left and right of its plane, and above and below it, in pixels."""
_LETTER, _DIGIT = 7.8, 8.9
"""About the width of a letter of running text, and of those of names, which digits may make up."""
_KEY_LINE = 19.0


class Plane:
    """A chart in the making; things drawn later lie above.

    Parameters
    ----------
    x, y : Axis
    width, height : float
        Of the whole picture, in pixels. The default is readable on a phone.

    Examples
    --------
    >>> plane = Plane(Axis("length, bases", 0, 10), Axis("reads", 0, 3))
    >>> plane.bars([0, 5, 10], [1, 3])
    >>> plane.inline("Lengths", "Most reads are long").startswith("<svg ")
    True
    """

    def __init__(self, x: Axis, y: Axis, *, width: float = 400.0, height: float = 290.0) -> None:
        self._x, self._y = x, y
        self._width, self._height = width, height
        self._marks: list[str] = []
        self._keys: list[tuple[str, str]] = []

    def across(self, values: np.ndarray | float) -> np.ndarray:
        """Return where values of the x axis lie, in pixels."""
        return _LEFT + self._x.place(values) * (self._width - _LEFT - _RIGHT)

    def up(self, values: np.ndarray | float) -> np.ndarray:
        """Return where values of the y axis lie, in pixels."""
        return self._height - _BOTTOM - self._y.place(values) * (self._height - _TOP - _BOTTOM)

    def draw(self, mark: str, key: str = "", colour: str = "a") -> None:
        """Add an element that was placed by `across` and `up`, named in the key."""
        self._marks.append(mark)
        if key:
            self._keys.append((key, colour))

    def bars(self, edges: np.ndarray, heights: np.ndarray, colour: str = "a") -> None:
        """Draw a histogram.

        Parameters
        ----------
        edges : array of float, shape (n + 1,)
        heights : array of float, shape (n,)
        colour : str
            A class of `svg.THEME`.
        """
        x = np.repeat(self.across(edges), 2)
        base = self.up(self._y.low)
        y = np.concatenate([[base], np.repeat(self.up(heights), 2), [base]])
        self.draw(element("path", d=path_of(x, y) + "Z", class_=f"fill-{colour}"))

    def band(self, x: np.ndarray, low: np.ndarray, high: np.ndarray, key: str, colour: str = "pale") -> None:
        """Fill the area between two lines.

        Parameters
        ----------
        x, low, high : array of float, shape (n,)
        key : str
            What it is, for the key.
        colour : str
            A class of `svg.THEME`.
        """
        around = np.concatenate([self.across(x), self.across(x)[::-1]])
        y = np.concatenate([self.up(low), self.up(high)[::-1]])
        self.draw(element("path", d=path_of(around, y) + "Z", class_=f"fill-{colour}"), key, colour)

    def line(
        self, x: np.ndarray, y: np.ndarray, key: str = "", colour: str = "b", *, width: float = 2.2
    ) -> None:
        """Draw a line through points.

        Parameters
        ----------
        x, y : array of float, shape (n,)
        key : str
            What it is, for the key; empty for a line that is not named there.
        colour : str
            A class of `svg.THEME`.
        width : float
            In pixels.
        """
        path = path_of(self.across(x), self.up(y))
        self.draw(element("path", d=path, class_=f"line-{colour}", stroke_width=width), key, colour)

    def mark(self, value: float, text: str, colour: str = "b") -> None:
        """Draw an upright line at a value of the x axis, with a word above it."""
        x = float(self.across(value))
        ends: dict[str, Any] = {"x1": x, "x2": x, "y1": _TOP, "y2": self._height - _BOTTOM}
        # The ground around it sets the line apart from what it crosses.
        self.draw(element("line", **ends, class_="line-ground", stroke_width=4))
        self.draw(element("line", **ends, class_=f"line-{colour}", stroke_width=1.8, stroke_dasharray="5 3"))
        self.draw(written(text, self._inside(x, text), _TOP - 6, text_anchor="middle"))

    def _inside(self, x: float, text: str) -> float:
        """Return where the middle of a text lies that is to be at ``x``, but not cut off by a side."""
        half = len(text) * _LETTER / 2
        return min(max(x, half + 2), self._width - half - 2)

    def drawing(self) -> Drawing:
        """Return the chart: grid, axes, what was drawn, and the key above them."""
        right, bottom = self._width - _RIGHT, self._height - _BOTTOM
        parts = []
        for value, label in self._y.ticks():
            y = float(self.up(value))
            parts.append(element("line", x1=_LEFT, x2=right, y1=y, y2=y, class_="line-grid"))
            parts.append(written(label, _LEFT - 7, y + 4.5, text_anchor="end"))
        for value, label in self._x.ticks():
            x = float(self.across(value))
            parts.append(element("line", x1=x, x2=x, y1=bottom, y2=bottom + 5, class_="line-axis"))
            parts.append(written(label, self._inside(x, label), bottom + 19, text_anchor="middle"))
        parts += self._marks
        parts.append(element("line", x1=_LEFT, x2=right, y1=bottom, y2=bottom, class_="line-axis"))
        parts.append(written(self._x.label, (_LEFT + right) / 2, self._height - 8, text_anchor="middle"))
        middle = (_TOP + bottom) / 2
        parts.append(
            written(self._y.label, 13.0, middle, text_anchor="middle", transform=f"rotate(-90 13 {middle:g})")
        )
        key, more = self._key()
        chart = "".join(parts)
        if more:
            chart = element("g", chart, transform=f"translate(0 {more:g})")
        return Drawing(chart + key, self._width, self._height + more)

    def _key(self) -> tuple[str, float]:
        """Return the key, and what the lines below its first one take."""
        parts, x, y = [], 8.0, 6.0
        for text, colour in self._keys:
            width = 20 + len(text) * _LETTER
            if x > 8.0 and x + width > self._width:
                x, y = 8.0, y + _KEY_LINE
            parts.append(element("rect", x=x, y=y, width=14, height=10, class_=f"fill-{colour}"))
            parts.append(written(text, x + 20, y + 9.5))
            x += width + 16
        return "".join(parts), y - 6.0

    def inline(self, title: str, description: str) -> str:
        """Return the chart for a page of HTML, whose style sheet holds `svg.THEME`."""
        return picture(self.drawing(), title, description)


def shortened(name: str, side: float) -> str:
    """Return the name of a read, cut to the room beside an axis of a chart with a side of so many pixels."""
    most = int((side - 44) / _DIGIT) - len(", bases")
    return name if len(name) <= most else f"{name[: most - 1]}…"
