"""Primary mappings of any program, from PAF."""

from __future__ import annotations

import contextlib

import numpy as np

from overlapper.errors import FormatError, shortened
from overlapper.io.lines import name_problem, text_lines, whole
from overlapper.mapping.evaluate import ReportedMappings

_COLUMNS = 12


def read_reported_mappings(path: str) -> ReportedMappings:
    """Read the primary mapping of every read: its first line that is not said to be secondary (``tp:A:S``).

    Raises
    ------
    FormatError
        When a line breaks the format.
    InputError
        When the file cannot be read.
    """
    rows: dict[str, list[str]] = {}
    with contextlib.closing(text_lines(path)) as lines:
        for number, line in enumerate(lines, 1):
            fields = line.split("\t")
            if not _is_mapping(fields):
                raise FormatError(
                    f"is no line of PAF: {shortened(line)}",
                    file=path, record=f"on line {number}",
                    remedy="Give what overlapper map or minimap2 -c wrote.",
                )  # fmt: skip
            if "tp:A:S" not in fields[_COLUMNS:]:
                rows.setdefault(fields[0], fields)
    table = list(zip(*(fields[:_COLUMNS] for fields in rows.values()), strict=True)) or [()] * _COLUMNS
    numbers = (np.array(table[i], np.int64) for i in (2, 3, 7, 8, 11))
    return ReportedMappings(
        np.array(table[0], str), np.array(table[5], str), np.array(table[4], str) == "-", *numbers
    )


def _is_mapping(fields: list[str]) -> bool:
    return (
        len(fields) >= _COLUMNS
        and not any(name_problem(fields[i]) for i in (0, 5))
        and all(whole(fields[i]) is not None for i in (2, 3, 7, 8, 11))
        and fields[4] in ("+", "-")
    )
