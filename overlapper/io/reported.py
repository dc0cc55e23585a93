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
    """Read a PAF file, plain or gzipped; columns after the ninth are only counted."""
    numbers: dict[str, int] = {}
    with contextlib.closing(text_lines(path)) as lines:
        rows = (_row(line, numbers, path, number) for number, line in enumerate(lines, 1) if line)
        values = np.fromiter(itertools.chain.from_iterable(rows), np.int64)
    query, target, reverse, q_length, q_start, q_end, t_length, t_start, t_end = values.reshape(-1, 9).T
    return ReportedOverlaps(
        query, target, reverse, q_start, q_end, t_start, t_end, q_length, t_length, list(numbers)
    )


def _row(line: str, numbers: dict[str, int], path: str, number: int) -> tuple[int, ...]:
    """Return query, target, reverse and the six numbers of a line; new names are numbered."""
    fields = line.split("\t", PAF_COLUMNS)
    try:
        if len(fields) < PAF_COLUMNS:
            raise ValueError(f"{len(fields)} columns found, PAF has {PAF_COLUMNS} or more")
        for name in (fields[0], fields[5]):
            if name not in numbers and (problem := name_problem(name)):
                raise ValueError(problem)
        q_length, q_start, q_end, t_length, t_start, t_end = (_number(fields[i], i) for i in _NUMBERS)
        if fields[4] not in ("+", "-"):
            raise ValueError(f"the strand is {shortened(fields[4])}, expected + or -")
        for what, length, start, end in (
            ("query", q_length, q_start, q_end), ("target", t_length, t_start, t_end),
        ):  # fmt: skip
            if not 0 <= start <= end <= length:
                fault = f"{what} interval {start} to {end} does not fit into a read of {length} bases"
                raise ValueError(fault)
    except ValueError as problem:
        remedy = "Give a PAF file, or repair or remove the line."
        raise FormatError(str(problem), file=path, record=f"on line {number}", remedy=remedy) from None
    query, target = (numbers.setdefault(fields[i], len(numbers)) for i in (0, 5))
    return query, target, fields[4] == "-", q_length, q_start, q_end, t_length, t_start, t_end


def _number(text: str, column: int) -> int:
    number = whole(text.removeprefix("-"))
    if number is None:
        expected = f"expected a whole number from 0 to {LONGEST}"
        raise ValueError(f"column {column + 1} is {shortened(text)}, {expected}")
    return -number if text.startswith("-") else number
