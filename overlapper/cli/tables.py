"""Tables of text."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for title, *cells in rows:
        to_the_right = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        lines.append("  ".join([title.ljust(widths[0]), *to_the_right]).rstrip() + "\n")
    return "".join(lines)


def number(value: float | None, form: str = "{:,}") -> str:
    """Return a number as text, ``-`` for none."""
    return "-" if value is None else form.format(value)
