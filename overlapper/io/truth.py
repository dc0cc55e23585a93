"""The truth table: where on the reference reads come from.

A tab-separated text with a header and one row for each place that a read comes from::

    read ref start end strand qstart qend read_len kind identity

Intervals are 0-based half-open: ``start`` and ``end`` on the forward strand of the reference, ``qstart`` and
``qend`` on the read. ``kind`` is ``normal`` (one row), ``chimera`` or ``split`` (several; of simulated reads
those that turn back at a missed adapter), or ``junk`` (``ref`` is ``*``). ``identity`` is matches over
alignment columns. On a circular reference ``end`` may exceed its length. Only the columns ``read`` to
``strand`` are required of a file.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Self

import numpy as np

from overlapper.errors import EmptyInputError, FormatError, shortened
from overlapper.io.lines import name_problem, text_lines, whole

COLUMNS = ("read", "ref", "start", "end", "strand", "qstart", "qend", "read_len", "kind", "identity")
REQUIRED = COLUMNS[:5]
_DTYPES = ("U", "U", "i8", "i8", "U", "i8", "i8", "i8", "U", "f8")
_LARGEST = 10**12
_WHERE_NONE = {"qstart": "-1", "qend": "-1", "read_len": "-1", "kind": "normal", "identity": "nan"}
"""Values of columns that a file does not have."""
UNPLACED = ("*", "", "junk", "random")
"""Values of ``ref`` that stand for no place."""


class TruthRow(NamedTuple):
    """One row; the fields are the columns of the file. What is unknown is -1, an identity NaN."""

    read: str
    ref: str
    start: int
    end: int
    strand: str
    qstart: int
    qend: int
    read_len: int
    kind: str
    identity: float

    def to_line(self) -> str:
        """Return the row as a line of the file."""
        return "\t".join(map(str, self[:-1])) + f"\t{self.identity:.5f}\n"


@dataclasses.dataclass(frozen=True, eq=False)
class Truth:
    """Placements of reads, in the order of the file.

    Attributes
    ----------
    read, ref, strand, kind : ndarray of str, shape (n,)
    start, end : ndarray of int64, shape (n,)
        On the forward strand of the reference, 0-based half-open.
    qstart, qend, read_len : ndarray of int64, shape (n,)
        On the read as it is stored; -1 where the file has no such column.
    identity : ndarray of float64, shape (n,)
        NaN where the file has no such column.
    """

    read: np.ndarray
    ref: np.ndarray
    start: np.ndarray
    end: np.ndarray
    strand: np.ndarray
    qstart: np.ndarray
    qend: np.ndarray
    read_len: np.ndarray
    kind: np.ndarray
    identity: np.ndarray

    def __len__(self) -> int:
        return len(self.read)

    @classmethod
    def from_rows(cls, rows: Iterable[TruthRow]) -> Self:
        """Build the table from rows."""
        columns = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)
        return cls(*(np.array(c, dtype) for c, dtype in zip(columns, _DTYPES, strict=True)))

    def of_reads(self, names: Iterable[str]) -> Self:
        """Return the rows of some reads."""
        kept = np.isin(self.read, np.array([*names, ""]))
        return type(self)(*(getattr(self, name)[kept] for name in COLUMNS))

    def rows(self) -> Iterable[TruthRow]:
        """Return the rows."""
        return map(TruthRow._make, zip(*(getattr(self, name).tolist() for name in COLUMNS), strict=True))


def header() -> str:
    """Return the header line."""
    return "\t".join(COLUMNS) + "\n"


def read_truth(path: str) -> Truth:
    """Read a truth table, plain or gzipped.

    Raises
    ------
    FormatError
        When a column is missing, or a line breaks the format.
    EmptyInputError
        When there are no rows.
    InputError
        When the file cannot be read.
    """
    with contextlib.closing(text_lines(path)) as lines:
        names = next(lines, "").lstrip("#").split("\t")
        missing = [name for name in REQUIRED if name not in names]
        if missing:
            raise FormatError(
                f"the header has no column {missing[0]!r}",
                file=path,
                record="on line 1",
                remedy=f"A truth table starts with a line that names its columns, {' '.join(COLUMNS)}.",
            )
        twice = [name for i, name in enumerate(names) if name in names[:i]]
        if twice:
            raise FormatError(
                f"the header names the column {shortened(twice[0])} twice", file=path, record="on line 1",
                remedy="Remove one of them.",
            )  # fmt: skip
        rows = [_parse(line, names, path, number) for number, line in enumerate(lines, 2)]
    if not rows:
        raise EmptyInputError("no rows found below the header", file=path, remedy="Give placements of reads.")
    return Truth.from_rows(rows)


def _parse(line: str, names: list[str], path: str, number: int) -> TruthRow:
    fields = line.split("\t")
    if len(fields) != len(names):
        raise _bad_line(f"{len(fields)} columns found, the header names {len(names)}", path, number)
    value = _WHERE_NONE | dict(zip(names, fields, strict=True))
    try:
        row = TruthRow._make(_READ_BY[kind](value[name]) for name, kind in zip(COLUMNS, _DTYPES, strict=True))
    except ValueError as error:
        raise _bad_line(f"not a number: {error}", path, number) from None
    problem = name_problem(row.read) or (name_problem(row.ref) if row.ref not in UNPLACED else "")
    if problem:
        raise _bad_line(problem, path, number)
    if row.ref not in UNPLACED and not (0 <= row.start < row.end and row.strand in ("+", "-")):
        raise _bad_line(
            f"{row.start} to {row.end} on strand {row.strand!r} is no place, expected start < end and + or -",
            path,
            number,
        )
    return row


def _integer(text: str) -> int:
    number = whole(text.removeprefix("-"), _LARGEST)
    if number is None:
        raise ValueError(f"{shortened(text)}, expected one of at most {_LARGEST:,}")
    return -number if text.startswith("-") else number


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1
    if share < 0 or share > 1:
        raise ValueError(f"{shortened(text)}, expected an identity from 0 to 1")
    return share


def _bad_line(problem: str, path: str, number: int) -> FormatError:
    return FormatError(problem, file=path, record=f"on line {number}", remedy="Repair or remove the line.")


_READ_BY: dict[str, Callable[[str], Any]] = {"U": str, "i8": _integer, "f8": _share}
"""How a column of a type is read."""
