"""Tables as data frames of other libraries: pandas, polars, Arrow."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from overlapper.errors import MissingExtraError

if TYPE_CHECKING:
    from overlapper.tables.base import Table
    from overlapper.tables.reads import Reads


def plain_columns(table: Table, queries: Reads | None, targets: Reads | None) -> dict[str, np.ndarray]:
    """Return the plain columns (one value a row) that are present.

    Parameters
    ----------
    table : Table
    queries, targets : Reads, optional
        Where they are given, the columns ``query`` and ``target`` hold their names instead of their numbers.
    """
    fields = [f for f in table.fields_of("column") if getattr(table, f.name) is not None]
    columns = {f.name: getattr(table, f.name) for f in fields}
    for column, reads in (("query", queries), ("target", targets)):
        if reads is not None and column in columns:
            columns[column] = np.array(reads.names, object)[columns[column]]
    return columns


def as_polars(columns: Mapping[str, np.ndarray]) -> Any:
    """Return a ``polars.DataFrame`` of columns.

    Raises
    ------
    MissingExtraError
        When polars is not installed.
    """
    polars = imported("polars", "A table as a polars data frame")
    return polars.DataFrame({k: v.tolist() if v.dtype == object else v for k, v in columns.items()})


def imported(library: str, purpose: str) -> Any:
    """Import an optional library.

    Raises
    ------
    MissingExtraError
        When it is not installed.
    """
    try:
        return importlib.import_module(library)
    except ImportError:
        raise MissingExtraError(library, purpose) from None
