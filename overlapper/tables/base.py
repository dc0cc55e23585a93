"""The base of all tables: frozen dataclasses of equal-length numpy columns, plain or ragged."""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, overload

import numpy as np

from overlapper.errors import ParameterError
from overlapper.runtime.threads import for_each
from overlapper.tables import frames, shown
from overlapper.tables.ragged import gather_ragged, offsets_of

if TYPE_CHECKING:
    from overlapper.tables.reads import Reads

_LARGE = 1 << 24
"""Bytes above which copying takes longer than starting threads."""
_ROWS_AT_A_TIME = 1 << 12


def column(dtype: str, *, optional: bool = False) -> Any:
    """Declare a column: one value a row, of a fixed numpy type."""
    meta = {"kind": "column", "dtype": np.dtype(dtype), "optional": optional}
    return dataclasses.field(metadata=meta, default=None) if optional else dataclasses.field(metadata=meta)


def offsets(*, optional: bool = False) -> Any:
    """Declare ``int64[n + 1]`` offsets that ragged columns of a table share, which are optional with them."""
    meta = {"kind": "offsets", "dtype": np.dtype("i8"), "optional": optional}
    return dataclasses.field(metadata=meta, default=None)


def ragged(dtype: str, by: str) -> Any:
    """Declare a ragged column: row ``i`` holds ``values[offsets[i]:offsets[i + 1]]``.

    Parameters
    ----------
    dtype : str
        numpy type of the values.
    by : str
        Name of the offsets field; the values are present exactly when the offsets are.
    """
    return dataclasses.field(metadata={"kind": "ragged", "dtype": np.dtype(dtype), "by": by}, default=None)


def concatenate(values: list[np.ndarray], threads: int) -> np.ndarray:
    """As `numpy.concatenate`, with several threads."""
    bounds = np.cumsum([0, *map(len, values)])
    joined = np.empty(bounds[-1], values[0].dtype)
    if joined.nbytes < _LARGE:
        return np.concatenate(values, out=joined)

    def copy(number: int) -> None:
        joined[bounds[number] : bounds[number + 1]] = values[number]

    for_each(copy, range(len(values)), threads)
    return joined


def _fields_of(table: type[Table], kinds: tuple[str, ...]) -> tuple[dataclasses.Field, ...]:
    return tuple(f for f in dataclasses.fields(table) if f.metadata.get("kind") in kinds)


_fields: Callable[..., tuple[dataclasses.Field, ...]] = functools.cache(_fields_of)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Base of the tables; a subclass declares its columns with `column`, `offsets` and `ragged`.

    The columns named in `SORT_KEYS`, most significant first, define the canonical order. ``table[3]`` is a
    row, a named tuple of Python's own numbers; ``table[:10]``, ``table[[2, 5]]`` and
    ``table[table.score > 500]`` are tables; a loop goes through the rows.
    """

    SORT_KEYS: ClassVar[tuple[str, ...]] = ()
    TARGETS_ARE_READS: ClassVar[bool] = False
    """Whether targets are numbered as queries are."""

    def __post_init__(self) -> None:
        for f in _fields(type(self), ("column", "offsets", "ragged")):
            value, dtype = getattr(self, f.name), f.metadata["dtype"]
            # Tables are made of parts of tables by the thousand: most arrays are as they should be.
            if value is not None and not (
                type(value) is np.ndarray and value.dtype is dtype and value.flags.c_contiguous
            ):
                object.__setattr__(self, f.name, np.ascontiguousarray(value, dtype=dtype))

    @classmethod
    def fields_of(cls, *kinds: str) -> list[dataclasses.Field]:
        """Return the fields of some kinds: ``column``, ``offsets``, ``ragged``."""
        return list(_fields(cls, kinds))

    @classmethod
    def empty(cls) -> Self:
        """Return a table without rows; optional columns are absent."""
        known = [f for f in cls.fields_of("column", "offsets") if not f.metadata["optional"]]
        new = {f.name: np.zeros(int(f.metadata["kind"] == "offsets"), f.metadata["dtype"]) for f in known}
        of_ragged = [f for f in cls.fields_of("ragged") if f.metadata["by"] in new]
        return cls(**new, **{f.name: np.empty(0, f.metadata["dtype"]) for f in of_ragged})

    def __len__(self) -> int:
        return len(getattr(self, _fields(type(self), ("column",))[0].name))

    def __repr__(self) -> str:
        return shown.as_line(self)

    def _repr_html_(self) -> str:
        return shown.as_html(self)

    def __iter__(self) -> Iterator[Any]:
        row = _row_type(tuple(f.name for f in self.fields_of("column", "ragged")))
        for start in range(0, len(self), _ROWS_AT_A_TIME):
            part = self.rows(start, min(len(self), start + _ROWS_AT_A_TIME))
            yield from map(row, *(part._values(f) for f in self.fields_of("column", "ragged")))

    @overload
    def __getitem__(self, rows: int) -> Any: ...
    @overload
    def __getitem__(self, rows: slice | Sequence[int] | np.ndarray) -> Self: ...
    def __getitem__(self, rows: int | slice | Sequence[int] | np.ndarray) -> Any:
        if isinstance(rows, slice):
            return self.take(np.arange(*rows.indices(len(self))))
        if isinstance(rows, Sequence | np.ndarray):
            return self.take(np.asarray(rows, None if len(rows) else np.int64))
        number = operator.index(rows)
        if not -len(self) <= number < len(self):
            raise IndexError(f"row {number} of {len(self)}")
        number %= len(self)
        return next(iter(self.rows(number, number + 1)))

    def _values(self, field: dataclasses.Field) -> Iterator[Any]:
        """Yield the values of a column by row; None if it is absent."""
        values = getattr(self, field.name)
        if values is None:
            return itertools.repeat(None, len(self))
        if field.metadata["kind"] == "column":
            return iter(values.tolist())
        ends = getattr(self, field.metadata["by"]).tolist()
        return (values[start:end] for start, end in itertools.pairwise(ends))

    @property
    def nbytes(self) -> int:
        """Bytes that the columns take."""
        columns = (getattr(self, f.name) for f in self.fields_of("column", "offsets", "ragged"))
        return sum(column.nbytes for column in columns if column is not None)

    def validate(self) -> Self:
        """Check that columns fit each other and return the table.

        Raises
        ------
        ParameterError
            When lengths differ, or offsets do not rise from 0 to the number of values.
        """
        n = len(self)
        for f in self.fields_of("column"):
            value = getattr(self, f.name)
            if value is not None and value.shape != (n,):
                raise ParameterError(
                    f"{type(self).__name__}.{f.name} has shape {value.shape}, expected ({n},)"
                )
        for f in self.fields_of("offsets"):
            offs = getattr(self, f.name)
            if offs is not None and (len(offs) != n + 1 or offs[0] != 0 or np.any(np.diff(offs) < 0)):
                raise ParameterError(
                    f"{type(self).__name__}.{f.name} must hold {n + 1} values that start at 0 and never fall"
                )
        for f in self.fields_of("ragged"):
            offs, values = getattr(self, f.metadata["by"]), getattr(self, f.name)
            if (offs is None) != (values is None) or (offs is not None and offs[-1] != len(values)):
                raise ParameterError(
                    f"{type(self).__name__}.{f.name} does not hold as many values as {f.metadata['by']} says"
                )
        return self

    def take(self, rows: np.ndarray) -> Self:
        """Return the given rows, in the given order.

        Parameters
        ----------
        rows : ndarray of int or of bool
            Row numbers, or a mask as long as the table.
        """
        rows = np.asarray(rows)
        if rows.dtype == bool:
            if rows.all():
                return self
            rows = np.flatnonzero(rows)
        new: dict[str, Any] = {}
        for f in dataclasses.fields(self):
            value, kind = getattr(self, f.name), f.metadata.get("kind")
            if value is None or kind is None:
                new[f.name] = value
            elif kind == "column":
                new[f.name] = value[rows]
            elif kind == "offsets":
                counts = (value[1:] - value[:-1])[rows]
                new[f.name] = offsets_of(counts)
            else:
                offs = getattr(self, f.metadata["by"])
                new[f.name] = gather_ragged(value, offs[:-1][rows], (offs[1:] - offs[:-1])[rows])
        return type(self)(**new)

    def rows(self, start: int, stop: int) -> Self:
        """Return a view of rows ``[start, stop)``."""
        new: dict[str, Any] = {}
        for f in dataclasses.fields(self):
            value, kind = getattr(self, f.name), f.metadata.get("kind")
            if value is None or kind is None:
                new[f.name] = value
            elif kind == "column":
                new[f.name] = value[start:stop]
            elif kind == "offsets":
                new[f.name] = value[start : stop + 1] - value[start]
            else:
                offs = getattr(self, f.metadata["by"])
                new[f.name] = value[offs[start] : offs[stop]]
        return type(self)(**new)

    @classmethod
    def concat(cls, tables: list[Self], threads: int = 1) -> Self:
        """Return the rows of all tables, in order; an optional column stays only if all have it.

        Parameters
        ----------
        tables : list of Table
        threads : int
            Threads that copy: most of the time goes to the first access to new memory.
        """
        if not tables:
            return cls.empty()
        if len(tables) == 1:
            return tables[0]
        new: dict[str, Any] = {}
        for f in dataclasses.fields(cls):
            values = [getattr(t, f.name) for t in tables]
            kind = f.metadata.get("kind")
            if kind is None:
                new[f.name] = values[0]
            elif any(v is None for v in values):
                new[f.name] = None
            elif kind == "offsets":
                shifts = np.cumsum([0] + [int(v[-1]) for v in values[:-1]])
                new[f.name] = np.concatenate([[0]] + [v[1:] + s for v, s in zip(values, shifts, strict=True)])
            else:
                new[f.name] = concatenate(values, threads)
        return cls(**new)

    def sort_canonical(self) -> Self:
        """Return the rows in canonical order: by ``SORT_KEYS``, the first one foremost."""
        return self.take(np.lexsort([getattr(self, key) for key in reversed(self.SORT_KEYS)]))

    def to_arrow(self) -> Any:
        """Return a ``pyarrow.Table``; ragged columns become lists.

        Raises
        ------
        MissingExtraError
            When pyarrow is not installed.
        """
        pa = frames.imported("pyarrow", "Arrow and Parquet")
        arrays = {}
        for f in self.fields_of("column", "ragged"):
            value = getattr(self, f.name)
            if value is None:
                continue
            if f.metadata["kind"] == "ragged":
                offs = getattr(self, f.metadata["by"])
                arrays[f.name] = pa.LargeListArray.from_arrays(pa.array(offs), pa.array(value))
            else:
                arrays[f.name] = pa.array(value)
        return pa.table(arrays)

    @classmethod
    def from_arrow(cls, table: Any) -> Self:
        """Return the table that `to_arrow` wrote; columns it does not know are ignored."""
        new: dict[str, Any] = {}
        for f in cls.fields_of("column", "ragged"):
            if f.name not in table.column_names:
                continue
            array = table.column(f.name).combine_chunks()
            if f.metadata["kind"] == "ragged":
                new[f.metadata["by"]] = array.offsets.to_numpy()
                new[f.name] = array.values.to_numpy()
            else:
                new[f.name] = array.to_numpy(zero_copy_only=False)
        return cls(**new).validate()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        """Give the table to any library that takes Arrow's stream of columns."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self, reads: Reads | None = None, targets: Reads | None = None) -> Any:
        """Return a ``pandas.DataFrame`` of the plain columns.

        Parameters
        ----------
        reads : Reads, optional
            Put their names in place of the numbers in ``query`` (and in ``target``, where that is a read,
            too).
        targets : Reads, optional
            Likewise for ``target``: of mappings, the reference.

        Raises
        ------
        MissingExtraError
            When pandas is not installed.
        """
        pandas = frames.imported("pandas", "A table as a pandas data frame")
        return pandas.DataFrame(self._plain_columns(reads, targets))

    def to_polars(self, reads: Reads | None = None, targets: Reads | None = None) -> Any:
        """Return a ``polars.DataFrame`` of the plain columns; as `to_pandas`, of which polars is needed."""
        return frames.as_polars(self._plain_columns(reads, targets))

    def _plain_columns(self, reads: Reads | None, targets: Reads | None) -> dict[str, np.ndarray]:
        if targets is None and self.TARGETS_ARE_READS:
            targets = reads
        return frames.plain_columns(self, reads, targets)


@functools.cache
def _row_type(names: tuple[str, ...]) -> Any:
    """Return a named tuple type for rows of these columns."""
    return collections.namedtuple("Row", names)
