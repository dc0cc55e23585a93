"""Elements of SVG, and the colours that all pictures share.

Colours are given by class, light ones first and dark ones under ``prefers-color-scheme``: without
variables, which many viewers of SVG do not know. Text has a contrast of at least 7
to its ground, marks one of at least 3.
"""

from __future__ import annotations

import dataclasses
from xml.sax.saxutils import escape, quoteattr

import numpy as np

_LIGHT = {"ground": "#ffffff", "ink": "#1b1f24", "grid": "#d5dae0", "axis": "#59636e"}
_LIGHT |= {"a": "#1f62ad", "b": "#b34700", "c": "#5d3a9b", "d": "#006f51", "pale": "#a9c6e6"}
_DARK = {"ground": "#14181d", "ink": "#eef1f4", "grid": "#353c45", "axis": "#9aa5b1"}
_DARK |= {"a": "#7db7f2", "b": "#ffab66", "c": "#c8a8ff", "d": "#5fd3ae", "pale": "#456f99"}
_NARROW_ENOUGH = 480
"""Pixels that a narrow drawing grows to at most."""


def _rules(colours: dict[str, str]) -> str:
    rules = [f".picture text{{fill:{colours['ink']}}}"]
    rules += [f".line-{name}{{stroke:{colour}}}" for name, colour in colours.items()]
    rules += [f".picture .fill-{name}{{fill:{colour}}}" for name, colour in colours.items()]
    return "".join(rules)


THEME = (
    ".picture path{fill:none}.picture text{font:14px system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}"
    f"{_rules(_LIGHT)}@media(prefers-color-scheme:dark){{{_rules(_DARK)}}}"
)
"""Style sheet of all pictures: classes ``line-NAME`` and ``fill-NAME`` give an element its colour."""


def element(tag: str, content: str = "", **attributes: object) -> str:
    """Return an element; ``_`` in the name of an attribute stands for ``-``, and is dropped at its end."""
    written = "".join(
        f" {name.rstrip('_').replace('_', '-')}={quoteattr(_text(value))}"
        for name, value in attributes.items()
    )
    return f"<{tag}{written}>{content}</{tag}>" if content else f"<{tag}{written}/>"


def written(text: str, x: float, y: float, **attributes: object) -> str:
    """Return a line of text."""
    return element("text", escape(text), x=x, y=y, **attributes)


@dataclasses.dataclass(frozen=True)
class Drawing:
    """Elements, and the size that they were placed for."""

    body: str
    """The elements, SVG."""
    width: float
    height: float
    """`width`, `height`: in pixels."""

    @property
    def view_box(self) -> str:
        """The attribute of that name."""
        return f"0 0 {_text(self.width)} {_text(self.height)}"


def picture(drawing: Drawing, title: str, description: str) -> str:
    """Return a picture for a page of HTML, whose style sheet holds `THEME`."""
    label = f"{title}. {description}" if description else title
    return element(
        "svg", drawing.body, class_="picture", viewBox=drawing.view_box, role="img", aria_label=label
    )


def standalone(wide: Drawing, narrow: Drawing, title: str, description: str) -> str:
    """Return a picture as a file of its own.

    Parameters
    ----------
    wide : Drawing
        What is seen where there is room for its width, and by programs that do not know ``@media``.
    narrow : Drawing
        The same for windows that are narrower, where the letters of a picture that shrinks could not be
        read, and also higher than that picture would be: within a page (``<img>``) a picture keeps its shape.
    """
    style = (
        f".standalone{{max-width:100%;height:auto;aspect-ratio:{_text(wide.width)}/{_text(wide.height)}}}"
        f"@media(max-width:{_text(wide.width - 1)}px) and (max-aspect-ratio:{_text(0.9 * wide.width)}/"
        f"{_text(wide.height)}){{.standalone{{width:100%;max-width:{_NARROW_ENOUGH}px;"
        f"aspect-ratio:{_text(narrow.width)}/{_text(narrow.height)}}}"
        ".standalone>.wide{display:none}.standalone>.narrow{display:inline}}"
    )
    parts = [
        element("title", escape(title)),
        element("desc", escape(description)),
        element("style", THEME + style),
        element("rect", class_="fill-ground", width="100%", height="100%"),
        element("svg", wide.body, class_="wide", viewBox=wide.view_box),
        element("svg", narrow.body, class_="narrow", viewBox=narrow.view_box, display="none"),
    ]
    root: dict[str, object] = {"xmlns": "http://www.w3.org/2000/svg", "class_": "picture standalone"}
    return element("svg", "".join(parts), **root, width=wide.width, height=wide.height, role="img") + "\n"


def path_of(x: np.ndarray, y: np.ndarray) -> str:
    """Return the ``d`` of a path through points."""
    return "M" + "L".join(f"{_text(float(a))} {_text(float(b))}" for a, b in zip(x, y, strict=True))


def _text(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
