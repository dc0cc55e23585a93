"""Overlaps as Parquet, with read numbers, and beside them the names of the reads.

``out.parquet`` holds the columns of `overlapper.tables.Overlaps`, CIGARs as lists; ``out.reads.parquet``
holds ``number``, ``name`` and ``length`` of every read, in the order of their numbers. Needs pyarrow (the
extra ``parquet``).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from overlapper.errors import FormatError, MissingExtraError, OutputError
from overlapper.io.lines import LONGEST, name_problem
from overlapper.io.outputs import OutputFile
from overlapper.io.sources import open_input
from overlapper.tables import OverlapClass, Overlaps, Reads
from overlapper.tables.cigars import DELETION, INSERTION
from overlapper.tables.overlaps import CIGAR_OPERATIONS
from overlapper.tables.ragged import offsets_of

_GROUP_ROWS = 1 << 17
"""Rows of a row group; a fixed number, so that the file does not depend on the blocks written."""
_COMPRESSION = "zstd"
_WRITE_AGAIN = "Write the file again."
_OTHER_READS = "Give the reads that the overlaps were found on, in the same order."


def names_path(path: str) -> str:
    """Return the file of the names of reads that belongs to a file of overlaps."""
    return path.removesuffix(".parquet") + ".reads.parquet"


@contextlib.contextmanager
def parquet_writer(path: str | os.PathLike[str], reads: Reads, *, threads: int = 1) -> Iterator[_RowGroups]:
    """Open a file for overlaps, written block by block with ``write(overlaps)``.

    Both files appear when the context is left, and do not when it is left by an error.

    Parameters
    ----------
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
    with OutputFile(path) as rows, OutputFile(names_path(path)) as names:
        _write_names(names, reads)
        writer = _RowGroups(rows)
        yield writer
        writer.close()


def _write_names(output: OutputFile, reads: Reads) -> None:
    """Write numbers, names and lengths of reads: the numbers are what others join the names by."""
    pyarrow, parquet = import_pyarrow()
    table = {"number": np.arange(len(reads), dtype=np.int32), "name": reads.names, "length": reads.lengths}
    with output.complaints():
        parquet.write_table(pyarrow.table(table), output.file, compression=_COMPRESSION)


class _RowGroups:
    """Cuts overlaps into row groups of one size, so that the bytes do not depend on the blocks written."""

    def __init__(self, output: OutputFile) -> None:
        self._output = output
        self._pending = Overlaps.empty()
        self._writer: Any = None

    def write(self, overlaps: Overlaps) -> None:
        """Write the rows of a table; all tables of a file have the same optional columns."""
        if not len(overlaps):
            return
        self._pending = Overlaps.concat([self._pending, overlaps]) if len(self._pending) else overlaps
        whole = len(self._pending) // _GROUP_ROWS * _GROUP_ROWS
        for start in range(0, whole, _GROUP_ROWS):
            self._write_group(self._pending.take(np.arange(start, start + _GROUP_ROWS)))
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
            self._writer.write_table(table, row_group_size=_GROUP_ROWS)


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
    lengths = _check_names(path, reads)
    fields = Overlaps.fields_of("column", "ragged")
    types = {f.name: f.metadata["dtype"] for f in fields}
    needed = [f.name for f in fields if f.metadata["kind"] == "column" and not f.metadata["optional"]]
    table = _read_table(path, types, needed)
    try:
        overlaps = Overlaps.from_arrow(table)
    except (TypeError, ValueError) as error:
        raise FormatError(f"holds no overlaps: {error}", file=path, remedy=_WRITE_AGAIN) from None
    if problem := _misplaced(overlaps, lengths):
        raise FormatError(problem, file=path, remedy=_WRITE_AGAIN)
    return overlaps


def _check_names(path: str, reads: Reads | Sequence[str]) -> np.ndarray:
    """Return the lengths of the reads that the overlaps of a path are about, which must be these."""
    named = reads_of_parquet(path)
    if named.names != (reads.names if isinstance(reads, Reads) else list(reads)):
        raise FormatError("names other reads", file=names_path(path), remedy=_OTHER_READS)
    if isinstance(reads, Reads) and not np.array_equal(named.lengths, reads.lengths):
        raise FormatError("names reads of other lengths", file=names_path(path), remedy=_OTHER_READS)
    return named.lengths


def _misplaced(overlaps: Overlaps, lengths: np.ndarray) -> str:
    """Return which overlap does not lie within its reads; nothing where all do."""
    bad = (overlaps.query < 0) | (overlaps.query >= overlaps.target) | (overlaps.target >= len(lengths))
    if not bad.any():
        for read, _, start, end in overlaps.sides():
            bad |= (start < 0) | (start > end) | (end > lengths[read])
        bad |= overlaps.kind > max(OverlapClass)
        if overlaps.cigar is not None and overlaps.cigar_offsets is not None:
            bad |= _unaligned(overlaps, overlaps.cigar, overlaps.cigar_offsets)
    if not bad.any():
        return ""
    row = int(bad.argmax())
    return f"overlap {row + 1} does not lie within reads {overlaps.query[row]} and {overlaps.target[row]}"


def _unaligned(overlaps: Overlaps, cigar: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Tell which overlaps have a CIGAR that does not fit their intervals; one without operations fits."""
    operation, length = cigar & 15, (cigar >> 4).astype(np.int64)
    bad = np.zeros(len(overlaps), np.bool_)
    known = offsets_of(~np.isin(operation, CIGAR_OPERATIONS))
    for other, start, end in (
        (DELETION, overlaps.q_start, overlaps.q_end),
        (INSERTION, overlaps.t_start, overlaps.t_end),
    ):
        before = offsets_of(np.where(operation == other, 0, length))
        bad |= before[offsets[1:]] - before[offsets[:-1]] != end - start
    bad |= known[offsets[1:]] != known[offsets[:-1]]
    return bad & (offsets[1:] != offsets[:-1])


def reads_of_parquet(path: str | os.PathLike[str]) -> Reads:
    """Return names and lengths of the reads that a file numbers; errors are those of `read_parquet`."""
    path = names_path(os.fspath(path))
    table = _read_table(path, {"name": np.dtype(str), "length": np.dtype("i8")}, ["name", "length"])
    names, lengths = table.column("name").to_pylist(), table.column("length").to_numpy()
    for number, name in enumerate(names):
        if problem := name_problem(name):
            raise FormatError(problem, file=path, record=str(number), remedy=_WRITE_AGAIN)
    if len(set(names)) < len(names):
        raise FormatError("names a read twice", file=path, remedy=_WRITE_AGAIN)
    if len(lengths) and not 0 <= lengths.min() <= lengths.max() <= LONGEST:
        raise FormatError(f"has a length beyond 0 to {LONGEST}", file=path, remedy=_WRITE_AGAIN)
    return Reads.without_bases(names, lengths)


def _read_table(path: str, types: Mapping[str, np.dtype], needed: Sequence[str]) -> Any:
    """Return the columns of some names as what they must be; the others are left out."""
    pyarrow, parquet = import_pyarrow()
    with open_input(path) as file:
        try:
            table = parquet.read_table(file)
            present = [name for name in types if name in table.column_names]
            columns = [_cast(table.column(name), types[name]) for name in present]
        except (OSError, ValueError, MemoryError, pyarrow.ArrowException) as error:
            raise FormatError(
                f"cannot be read as Parquet: {' '.join(str(error).split())}", file=path, remedy=_WRITE_AGAIN
            ) from None
    missing = [name for name in needed if name not in present]
    if missing:
        raise FormatError(f"has no column {missing[0]}", file=path, remedy=_WRITE_AGAIN)
    return pyarrow.table(columns, names=present)


def _cast(column: Any, dtype: np.dtype) -> Any:
    """Return a column as one of a type, none of its values changed."""
    pyarrow, _ = import_pyarrow()
    wanted = pyarrow.string() if dtype.kind == "U" else pyarrow.from_numpy_dtype(dtype)
    is_list = pyarrow.types.is_list(column.type) or pyarrow.types.is_large_list(column.type)
    if column.null_count:
        raise ValueError("values are missing")
    column = column.cast(pyarrow.large_list(wanted) if is_list else wanted)
    column.validate(full=True)
    return column


def import_pyarrow() -> tuple[Any, Any]:
    """Return ``pyarrow`` and ``pyarrow.parquet``, or raise a `MissingExtraError`."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "Parquet") from None
    return pyarrow, pyarrow.parquet
