"""Elements of SVG, and the colours that all pictures share.

Colours are given by class, light ones first and dark ones under ``prefers-color-scheme``: without
variables, which many viewers of SVG do not know. Text has a contrast of at least 7
to its ground, marks one of at least 3.
"""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

import numpy as np

_LIGHT = {"ground": "#ffffff", "ink": "#1b1f24", "grid": "#d5dae0", "axis": "#59636e"}
_LIGHT |= {"a": "#1f62ad", "b": "#b34700", "c": "#5d3a9b", "d": "#006f51", "pale": "#a9c6e6"}
_DARK = {"ground": "#14181d", "ink": "#eef1f4", "grid": "#353c45", "axis": "#9aa5b1"}
_DARK |= {"a": "#7db7f2", "b": "#ffab66", "c": "#c8a8ff", "d": "#5fd3ae", "pale": "#456f99"}


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


def picture(body: str, width: float, height: float, title: str, description: str) -> str:
    """Return a picture for a page of HTML, whose style sheet holds `THEME`."""
    label = f"{title}. {description}" if description else title
    return element(
        "svg",
        body,
        class_="picture",
        viewBox=f"0 0 {_text(width)} {_text(height)}",
        role="img",
        aria_label=label,
    )


def standalone(body: str, width: float, height: float, title: str, description: str) -> str:
    """Return a picture as a file of its own, which shrinks to a narrower window."""
    head = element("title", escape(title)) + element("desc", escape(description))
    head += element("style", f"{THEME}svg{{max-width:100%;height:auto}}") + element(
        "rect", class_="fill-ground", width=width, height=height
    )
    attributes = {
        "xmlns": "http://www.w3.org/2000/svg",
        "class_": "picture",
        "width": width,
        "height": height,
    }
    return (
        element("svg", head + body, **attributes, viewBox=f"0 0 {_text(width)} {_text(height)}", role="img")
        + "\n"
    )


def path_of(x: np.ndarray, y: np.ndarray) -> str:
    """Return the ``d`` of a path through points."""
    return "M" + "L".join(f"{_text(float(a))} {_text(float(b))}" for a, b in zip(x, y, strict=True))


def _text(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
