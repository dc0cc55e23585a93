"""What all tables share: frozen dataclasses of equal-length numpy columns, plain or ragged."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Self

import numpy as np

from overlapper.errors import MissingExtraError, ParameterError
from overlapper.threads import map_in_order

_LARGE = 1 << 24
"""Bytes from which copying takes longer than starting threads."""


def column(dtype: str, *, optional: bool = False) -> Any:
    """Declare a column: one value a row, of a fixed numpy type."""
    meta = {"kind": "column", "dtype": np.dtype(dtype), "optional": optional}
    return dataclasses.field(metadata=meta, default=None) if optional else dataclasses.field(metadata=meta)


def offsets() -> Any:
    """Declare the optional ``int64[n + 1]`` offsets that the ragged columns of a table share."""
    return dataclasses.field(metadata={"kind": "offsets", "dtype": np.dtype("i8")}, default=None)


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


def offsets_of(counts: np.ndarray) -> np.ndarray:
    """Return where the values of each row of a ragged column start, and where those of the last one end.

    Parameters
    ----------
    counts : ndarray of int, shape (n,)
        Values of each row.

    Returns
    -------
    ndarray of int64, shape (n + 1,)
    """
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def gather_ragged(values: np.ndarray, starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Concatenate ``values[starts[i] : starts[i] + counts[i]]`` over all ``i``.

    Parameters
    ----------
    values : ndarray, shape (v,)
    starts, counts : ndarray of int64, shape (n,)

    Returns
    -------
    ndarray, shape (counts.sum(),)
    """
    ends = starts + counts
    total = int(counts.sum())
    # Rows that follow each other in the values are copied as one piece.
    breaks = np.flatnonzero(starts[1:] != ends[:-1]) + 1
    if len(breaks) * 64 < total:
        begins, stops = starts[np.r_[0, breaks]], ends[np.r_[breaks - 1, -1]]
        return np.concatenate([values[b:e] for b, e in zip(begins.tolist(), stops.tolist(), strict=True)])
    before = np.cumsum(counts) - counts
    return values[np.arange(total) + np.repeat(starts - before, counts)]


def _joined(values: list[np.ndarray], threads: int) -> np.ndarray:
    """Return what `numpy.concatenate` does, copied by several threads."""
    bounds = np.cumsum([0, *map(len, values)])
    joined = np.empty(bounds[-1], values[0].dtype)
    if joined.nbytes < _LARGE:
        return np.concatenate(values, out=joined)

    def copy(number: int) -> None:
        joined[bounds[number] : bounds[number + 1]] = values[number]

    for _ in map_in_order(copy, range(len(values)), threads):
        pass
    return joined


@dataclasses.dataclass(frozen=True, eq=False)
class Table:
    """Base of the tables; a subclass declares its columns with `column`, `offsets` and `ragged`.

    The first columns named in ``SORT_KEYS`` define the canonical order.
    """

    SORT_KEYS: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for f in self.fields_of("column", "offsets", "ragged"):
            value = getattr(self, f.name)
            if value is not None:
                object.__setattr__(self, f.name, np.ascontiguousarray(value, dtype=f.metadata["dtype"]))

    @classmethod
    def fields_of(cls, *kinds: str) -> list[dataclasses.Field]:
        """Return the fields of some kinds: ``column``, ``offsets``, ``ragged``."""
        return [f for f in dataclasses.fields(cls) if f.metadata.get("kind") in kinds]

    @classmethod
    def empty(cls) -> Self:
        """Return a table without rows; optional columns are absent."""
        required = [f for f in cls.fields_of("column") if not f.metadata["optional"]]
        return cls(**{f.name: np.empty(0, f.metadata["dtype"]) for f in required})

    def __len__(self) -> int:
        return len(getattr(self, self.fields_of("column")[0].name))

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
        """Return rows ``[start, stop)``, which share their memory with these."""
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
            That copy the columns; memory is touched for the first time then, which takes longer than copying.
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
                new[f.name] = _joined(values, threads)
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
        pa = _pyarrow()
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

    def to_pandas(self) -> Any:
        """Return a ``pandas.DataFrame`` of the plain columns.

        Raises
        ------
        MissingExtraError
            When pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("pandas", "test", "A table as a pandas data frame") from None
        fields = [f for f in self.fields_of("column") if getattr(self, f.name) is not None]
        return pd.DataFrame({f.name: getattr(self, f.name) for f in fields})


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", "Arrow and Parquet") from None
    return pyarrow
