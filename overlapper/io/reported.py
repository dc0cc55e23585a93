"""The columns of a PAF file that say which reads overlap where, for files whose reads are not at hand.

`overlapper.io.paf.read_paf` reads all of a file, and numbers its reads as a read set does; evaluation has no
read set, only the names in the file.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from typing import Self

import numpy as np

from overlapper.errors import FormatError, shortened
from overlapper.io.lines import LONGEST, name_problem, text_lines, whole
from overlapper.tables import Intervals, Overlaps, Reads
from overlapper.tables.base import column

PAF_COLUMNS = 12
_LINES_AT_ONCE = 1 << 14
_NUMBERS = (1, 2, 3, 6, 7, 8)
"""Columns that are lengths and positions."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ReportedOverlaps(Intervals):
    """Overlaps by read name, of whatever program: the columns of `Intervals`, reads as the program has them.

    Attributes
    ----------
    q_length, t_length : ndarray of int64, shape (n,)
        Bases of the reads.
    names : list of str
        Read names, each once, which query and target number.
    """

    q_length: np.ndarray = column("i8")
    t_length: np.ndarray = column("i8")
    names: list[str] = dataclasses.field(default_factory=list)

    @classmethod
    def from_table(cls, overlaps: Overlaps, reads: Reads) -> Self:
        """Return the overlaps of a table, whose read numbers are those of the reads."""
        columns = {field.name: getattr(overlaps, field.name) for field in Intervals.fields_of("column")}
        q_length, t_length = reads.lengths[overlaps.query], reads.lengths[overlaps.target]
        return cls(**columns, q_length=q_length, t_length=t_length, names=reads.names)


def read_reported(path: str) -> ReportedOverlaps:
    """Read a PAF file, plain or gzipped; columns after the ninth are only counted.

    Raises
    ------
    InputError
        When the file cannot be read or a line breaks the format.
    """
    numbers: dict[str, int] = {}
    blocks = []
    with contextlib.closing(text_lines(path)) as lines:
        numbered = ((number, line) for number, line in enumerate(lines, 1) if line)
        while block := list(itertools.islice(numbered, _LINES_AT_ONCE)):
            blocks.append(_parse(block, numbers, path))
    columns = np.concatenate([np.empty((9, 0), np.int64), *blocks], axis=1)
    query, target, reverse, q_length, q_start, q_end, t_length, t_start, t_end = columns
    return ReportedOverlaps(
        query, target, reverse, q_start, q_end, t_start, t_end, q_length, t_length, list(numbers)
    )


def _parse(lines: list[tuple[int, str]], numbers: dict[str, int], path: str) -> np.ndarray:
    """Return query, target, reverse and the six numbers of each line, shape (9, lines)."""
    rows = [line.split("\t", PAF_COLUMNS - 1) for _, line in lines]
    try:
        columns = list(zip(*rows, strict=True))
        if len(columns) != PAF_COLUMNS or not set(columns[4]) <= {"+", "-"}:
            raise ValueError
        intervals = [[_number(text) for text in columns[i]] for i in _NUMBERS]
        if any(name not in numbers and name_problem(name) for i in (0, 5) for name in set(columns[i])):
            raise ValueError
    except ValueError:
        raise _first_fault(lines, path) from None
    reads = [[numbers.setdefault(name, len(numbers)) for name in columns[i]] for i in (0, 5)]
    table = np.array([*reads, [strand == "-" for strand in columns[4]], *intervals], np.int64)
    q_length, q_start, q_end, t_length, t_start, t_end = table[3:]
    fits = (q_start >= 0) & (q_start <= q_end) & (q_end <= q_length)
    fits &= (t_start >= 0) & (t_start <= t_end) & (t_end <= t_length)
    if not fits.all():
        raise _first_fault(lines, path)
    return table


def _number(text: str) -> int:
    number = whole(text.removeprefix("-"))
    if number is None:
        raise ValueError
    return -number if text.startswith("-") else number


def _first_fault(lines: list[tuple[int, str]], path: str) -> FormatError:
    """Return the error of the first bad line, of which there is one."""
    for number, line in lines:
        if problem := _problem(line):
            return FormatError(
                problem,
                file=path,
                record=f"on line {number}",
                remedy="Give a PAF file, or repair or remove the line.",
            )
    raise AssertionError("no bad line found")


def _problem(line: str) -> str:
    fields = line.split("\t")
    if len(fields) < PAF_COLUMNS:
        return f"{len(fields)} columns found, PAF has {PAF_COLUMNS} or more"
    if problem := name_problem(fields[0]) or name_problem(fields[5]):
        return problem
    for i in _NUMBERS:
        if whole(fields[i].removeprefix("-")) is None:
            return f"column {i + 1} is {shortened(fields[i])}, expected a whole number from 0 to {LONGEST}"
    if fields[4] not in ("+", "-"):
        return f"the strand is {shortened(fields[4])}, expected + or -"
    for what, columns in (("query", fields[1:4]), ("target", fields[6:9])):
        length, start, end = map(int, columns)
        if not 0 <= start <= end <= length:
            return f"{what} interval {start} to {end} does not fit into a read of {length} bases"
    return ""
