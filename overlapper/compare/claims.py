"""Primary mappings of any program, from PAF."""

from __future__ import annotations

import numpy as np

from overlapper.errors import FormatError
from overlapper.io.sources import line_blocks
from overlapper.mapping.evaluate import Claims

_COLUMNS = 12


def read_claims(path: str) -> Claims:
    """Read the primary mapping of every read: its first line that is not said to be secondary (``tp:A:S``).

    Raises
    ------
    FormatError
        When a line breaks the format.
    InputError
        When the file cannot be read.
    """
    rows: dict[str, list[str]] = {}
    lines = (line for block in line_blocks(path) for line in block.splitlines())
    for number, line in enumerate(lines, 1):
        fields = line.decode(errors="replace").split("\t")
        columns = [2, 3, 7, 8, 11]
        if len(fields) < _COLUMNS or not all(fields[i].isdigit() for i in columns) or fields[4] not in "+-":
            raise FormatError(
                f"is no line of PAF: {line.decode(errors='replace')[:60]!r}",
                file=path, record=f"line {number}",
                remedy="Give what overlapper map or minimap2 -c wrote.",
            )  # fmt: skip
        if "tp:A:S" not in fields[_COLUMNS:]:
            rows.setdefault(fields[0], fields)
    table = list(zip(*(fields[:_COLUMNS] for fields in rows.values()), strict=True)) or [()] * _COLUMNS
    numbers = (np.array(table[i], np.int64) for i in (2, 3, 7, 8, 11))
    return Claims(np.array(table[0], str), np.array(table[5], str), np.array(table[4], str) == "-", *numbers)
