"""Tables of texts and numbers, as tab-separated files of results have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

import numpy as np

from overlapper.tables import frames

_PARSED: dict[type, Any] = {
    int: lambda text: 0 if text == "*" else int(text),
    float: float,
    bool: lambda text: text == "yes",
}


class Columns(Mapping[str, np.ndarray]):
    """Named columns of equal length: ``table["length"]`` is an array.

    Parameters
    ----------
    columns : mapping of str to ndarray
    """

    def __init__(self, columns: Mapping[str, np.ndarray]) -> None:
        self._columns = dict(columns)

    @classmethod
    def of_lines(
        cls, lines: Iterable[str], kinds: Mapping[str, type], header: Iterable[str] | None = None
    ) -> Self:
        """Return the table of tab-separated lines.

        Parameters
        ----------
        lines : iterable of str
        kinds : mapping of str to type
            ``int``, where ``*`` is 0; ``float``; ``bool``, of yes and no. Others are texts.
        header : iterable of str, optional
            Names of the columns; by default the first line has them.
        """
        rows = iter(line.split("\t") for line in lines)
        names = list(next(rows) if header is None else header)
        values = list(zip(*rows, strict=True)) or [()] * len(names)
        made: dict[str, np.ndarray] = {}
        for name, texts in zip(names, values, strict=True):
            kind = kinds.get(name, object)
            parse = _PARSED.get(kind, str)
            made[name] = np.array([parse(text) for text in texts], kind)
        return cls(made)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        rows = len(next(iter(self.values()), ()))
        return f"Columns({rows:,} rows: {', '.join(self)})"

    def to_pandas(self) -> Any:
        """Return a ``pandas.DataFrame``."""
        return frames.imported("pandas", "A table as a pandas data frame").DataFrame(self._columns)

    def to_polars(self) -> Any:
        """Return a ``polars.DataFrame``."""
        return frames.as_polars(self)

    def to_arrow(self) -> Any:
        """Return a ``pyarrow.Table``."""
        return frames.imported("pyarrow", "Arrow and Parquet").table(self._columns)
