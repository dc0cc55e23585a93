"""Overlaps as Parquet, with read numbers, and beside them the names of the reads.

``out.parquet`` holds the columns of `overlapper.tables.Overlaps`, CIGARs as lists; ``out.reads.parquet``
holds ``number``, ``name`` and ``length`` of every read, in the order of their numbers. Needs pyarrow (the
extra ``parquet``).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from overlapper.errors import FormatError, MissingExtraError, OutputError, ParameterError
from overlapper.io.outputs import OutputFile
from overlapper.io.sources import open_input
from overlapper.tables import Overlaps, Reads

_GROUP_ROWS = 1 << 17
"""Rows of a row group; a fixed number, so that the file does not depend on the blocks written."""
_COMPRESSION = "zstd"
_WRITE_AGAIN = "Write the file again."
_OTHER_READS = "Give the reads that the overlaps were found on, in the same order."


def reads_path(path: str) -> str:
    """Return the file of read names that belongs to a file of overlaps."""
    return path.rstrip("/").removesuffix(".parquet") + ".reads.parquet"


def is_parquet(path: str) -> bool:
    """Tell whether a path names overlaps as Parquet, in one file or in a folder."""
    return path.rstrip("/").endswith(".parquet")


@contextlib.contextmanager
def parquet_writer(path: str | os.PathLike[str], reads: Reads, *, threads: int = 1) -> Iterator[RowGroups]:
    """Open a file for overlaps, written block by block with ``write(overlaps)``.

    Both files appear when the context is left, and do not when it is left by an error.

    Parameters
    ----------
    path : str or path
    reads : Reads
        The reads that the overlaps number.
    threads : int
        Taken as other writers take it; the work is done by pyarrow.

    Raises
    ------
    MissingExtraError
        When pyarrow is not installed.
    OutputError
        When a file cannot be written; none is left behind.
    """
    import_pyarrow()
    path = os.fspath(path)
    if path == "-":
        raise OutputError("Parquet cannot be written to standard output. Name a file, or write PAF.")
    # The names are complete before the overlaps are: one never sees overlaps of unknown reads.
    with OutputFile(path) as rows, names_file(path, reads):
        writer = RowGroups(rows, _GROUP_ROWS)
        yield writer
        writer.close()


@contextlib.contextmanager
def names_file(path: str, reads: Reads) -> Iterator[None]:
    """Write the names that belong to overlaps; they are there when the context is left without an error."""
    with OutputFile(reads_path(path)) as names:
        write_names(names, reads.names, reads.lengths)
        yield


def write_names(output: OutputFile, names: list[str], lengths: np.ndarray) -> None:
    """Write numbers, names and lengths of sequences: the numbers are what others join the names by."""
    pyarrow, parquet = import_pyarrow()
    table = {"number": np.arange(len(names), dtype=np.int32), "name": names, "length": lengths}
    with output.complaints():
        parquet.write_table(pyarrow.table(table), output.file, compression=_COMPRESSION)


class RowGroups:
    """Cuts overlaps into row groups of one size, so that the bytes do not depend on the blocks written.

    Parameters
    ----------
    output : OutputFile
    rows : int
        Rows of a group.
    """

    def __init__(self, output: OutputFile, rows: int) -> None:
        self._output, self._rows = output, rows
        self._pending = Overlaps.empty()
        self._writer: Any = None

    def write(self, overlaps: Overlaps) -> None:
        """Write the rows of a table; all tables of a file have the same optional columns."""
        if not len(overlaps):
            return
        self._pending = Overlaps.concat([self._pending, overlaps]) if len(self._pending) else overlaps
        whole = len(self._pending) // self._rows * self._rows
        for start in range(0, whole, self._rows):
            self._write_group(self._pending.take(np.arange(start, start + self._rows)))
        if whole:
            self._pending = self._pending.take(np.arange(whole, len(self._pending)))

    def close(self) -> None:
        """Write what is left and the end of the file."""
        if len(self._pending) or self._writer is None:
            self._write_group(self._pending)
        with self._output.complaints():
            self._writer.close()
            self._output.file.flush()

    def _write_group(self, rows: Overlaps) -> None:
        _, parquet = import_pyarrow()
        table = rows.to_arrow()
        with self._output.complaints():
            if self._writer is None:
                self._writer = parquet.ParquetWriter(
                    self._output.file, table.schema, compression=_COMPRESSION
                )
            self._writer.write_table(table, row_group_size=self._rows)


def read_parquet(path: str | os.PathLike[str], reads: Reads | Sequence[str], *, threads: int = 1) -> Overlaps:
    """Read what `parquet_writer` wrote.

    Parameters
    ----------
    path : str or path
        The file of overlaps; its names are found beside it.
    reads : Reads or sequence of str
        The reads that the overlaps are about, or their names, in the order they were written with.
    threads : int
        Taken as other readers take it; the work is done by pyarrow.

    Raises
    ------
    MissingExtraError
        When pyarrow is not installed.
    FormatError
        When the file is not such a file, or is one of other reads.
    InputError
        When it cannot be read.
    """
    path = os.fspath(path)
    check_names(path, reads)
    return read_rows(path)


def check_names(path: str, reads: Reads | Sequence[str]) -> None:
    """Raise a `FormatError` if the overlaps of a path are about other reads."""
    names = _read_table(reads_path(path)).column("name").to_pylist()
    if names != (reads.names if isinstance(reads, Reads) else list(reads)):
        raise FormatError("names other reads", file=reads_path(path), remedy=_OTHER_READS)


def read_rows(path: str) -> Overlaps:
    """Return the overlaps of one file, whatever reads they are about; errors are those of `read_parquet`."""
    table = _read_table(path)
    try:
        return Overlaps.from_arrow(table)
    except (TypeError, ParameterError) as error:
        raise FormatError(f"holds no overlaps: {error}", file=path, remedy=_WRITE_AGAIN) from None


def holds_overlaps(path: Path) -> bool:
    """Tell whether a path is a file with the columns of overlaps, and no others."""
    pyarrow, parquet = import_pyarrow()
    if path.is_symlink() or not path.is_file():
        return False
    try:
        columns = set(parquet.read_schema(path).names)
    except (OSError, pyarrow.ArrowException):
        return False
    needed = set(Overlaps.empty().to_arrow().column_names)
    return needed <= columns <= {field.name for field in Overlaps.fields_of("column", "ragged")}


def reads_of_parquet(path: str | os.PathLike[str]) -> Reads:
    """Return names and lengths of the reads that a file numbers; errors are those of `read_parquet`."""
    table = _read_table(reads_path(os.fspath(path)))
    return Reads.without_bases(table.column("name").to_pylist(), table.column("length").to_pylist())


def _read_table(path: str) -> Any:
    pyarrow, parquet = import_pyarrow()
    with open_input(path) as file:
        try:
            return parquet.read_table(file)
        except (OSError, pyarrow.ArrowException) as error:
            raise FormatError(f"cannot be read as Parquet: {error}", file=path, remedy=_WRITE_AGAIN) from None


def import_pyarrow() -> tuple[Any, Any]:
    """Return ``pyarrow`` and ``pyarrow.parquet``, or raise a `MissingExtraError`."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", "Parquet") from None
    return pyarrow, pyarrow.parquet
