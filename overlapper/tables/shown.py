"""How tables are printed, in a session and in a notebook."""

from __future__ import annotations

import html
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from overlapper.tables.base import Table

_ROWS = 10
_LETTERS = 40


def as_line(table: Table) -> str:
    """Return one line: the kind of table, how many rows it has, and its columns."""
    columns = (f.name for f in table.fields_of("column", "ragged") if getattr(table, f.name) is not None)
    return f"{type(table).__name__}({len(table):,} rows: {', '.join(columns)})"


def as_html(table: Table) -> str:
    """Return the first rows as HTML, under the line that says what they are."""
    shown = list(itertools.islice(table, _ROWS))
    names = shown[0]._fields if shown else ()
    used = [i for i in range(len(names)) if any(row[i] is not None for row in shown)]
    head = "".join(f"<th>{names[i]}</th>" for i in used)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(row[i])}</td>' for i in used)}</tr>" for row in shown)
    more = "<p>…</p>" if len(table) > _ROWS else ""
    rows = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<p>{html.escape(repr(table))}</p>{rows}{more}"


def _cell(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{len(value):,} values"
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return html.escape(text if len(text) <= _LETTERS else f"{text[:_LETTERS]}…")
