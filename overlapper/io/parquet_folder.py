"""Overlaps as a folder of Parquet files, one for each range of targets.

``out.parquet/first_target=N/overlaps.parquet`` holds the overlaps whose targets are the reads from number
``N`` up to the ``N`` of the next folder, by query, then by target; ``out.reads.parquet`` beside the folder
names the reads (`overlapper.io.parquet`). What reads such folders (pandas, Polars, DuckDB, Spark, Arrow)
takes ``first_target`` for a column, and leaves out files by it. The ranges follow from the lengths of the
reads alone, about as many bases in each.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from overlapper.errors import FormatError, OutputError
from overlapper.io.outputs import OutputFile
from overlapper.io.parquet import RowGroups, check_names, import_pyarrow, names_file, read_rows
from overlapper.tables import Overlaps, Reads
from overlapper.threads import cut_evenly

RANGE_BASES = 1 << 28
"""Bases of the targets of a range, at least."""
MOST_RANGES = 32
_GROUP_ROWS = 1 << 15
"""Rows of a row group; those of all ranges wait in memory."""
_RANGE, _FILE = "first_target=", "overlaps.parquet"


@contextlib.contextmanager
def parquet_folder_writer(
    path: str | os.PathLike[str], reads: Reads, *, threads: int = 1
) -> Iterator[_Ranges]:
    """Open a folder for overlaps, written block by block with ``write(overlaps)``.

    The folder appears when the context is left, in place of one like it, and does not when it is left by an
    error.

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
        When something cannot be written, or would take the place of what is not a folder of overlaps.
    """
    import_pyarrow()
    path = os.fspath(path)
    final = Path(os.path.realpath(path))
    part = final.with_name(f".{final.name}.{os.getpid()}.part")
    with _complaints(path):
        if final.exists() and not _is_ours(final):
            raise FileExistsError(None, "it is a directory or a file that holds something else")
        part.mkdir()
    try:
        with contextlib.ExitStack() as files:
            files.enter_context(names_file(path, reads))
            ranges = _Ranges(path, part, reads.lengths, files)
            yield ranges
            ranges.close()
        with _complaints(path):
            _replace(final, part)
    finally:
        shutil.rmtree(part, ignore_errors=True)


class _Ranges:
    """The files of all ranges, opened when there is something to write to them."""

    def __init__(self, path: str, folder: Path, lengths: np.ndarray, files: contextlib.ExitStack) -> None:
        share = max(RANGE_BASES, -(-int(lengths.sum()) // MOST_RANGES))
        self._first_targets = cut_evenly(lengths, share)[:-1] if len(lengths) else np.zeros(1, np.int64)
        self._path, self._folder, self._files = path, folder, files
        self._open: dict[int, RowGroups] = {}

    def write(self, overlaps: Overlaps) -> None:
        """Write the rows of a table, in their order; all tables have the same optional columns."""
        range_of = np.searchsorted(self._first_targets, overlaps.target, side="right") - 1
        for number in np.unique(range_of).tolist():
            self._range(number).write(overlaps.take(range_of == number))

    def close(self) -> None:
        """Write what is left; without any overlaps a file that has none, as no file could not be read."""
        if not self._open:
            self._range(0)
        for rows in self._open.values():
            rows.close()

    def _range(self, number: int) -> RowGroups:
        if number not in self._open:
            folder = self._folder / f"{_RANGE}{self._first_targets[number]}"
            with _complaints(self._path):
                folder.mkdir()
            file = self._files.enter_context(OutputFile(str(folder / _FILE)))
            self._open[number] = RowGroups(file, _GROUP_ROWS)
        return self._open[number]


@contextlib.contextmanager
def _complaints(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"folder {path} cannot be written: {error.strerror or error}. "
            "Check the path, its rights and the free space; nothing incomplete is left behind."
        ) from None


def _replace(final: Path, part: Path) -> None:
    """Put a new folder in the place of the old one, which stays where that fails."""
    old = part.with_suffix(".old")
    if final.exists():
        os.rename(final, old)
    try:
        os.rename(part, final)
    except OSError:
        if old.exists():
            os.rename(old, final)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _is_ours(path: Path) -> bool:
    """Tell whether a path is a folder of overlaps, or an empty one."""
    return path.is_dir() and all(part.name.startswith(_RANGE) for part in path.iterdir())


def read_parquet_folder(
    path: str | os.PathLike[str], reads: Reads | Sequence[str], *, threads: int = 1
) -> Overlaps:
    """Read what `parquet_folder_writer` wrote, in canonical order.

    Parameters, and what is raised, are those of `overlapper.io.parquet.read_parquet`.
    """
    path = os.fspath(path)
    lengths = check_names(path, reads)
    files = sorted(Path(path).glob(f"{_RANGE}*/{_FILE}"))
    if not files:
        raise FormatError(
            f"holds no {_RANGE}N/{_FILE}",
            file=path,
            remedy="Give a folder that was written with a / at its end.",
        )
    tables = [read_rows(str(file), lengths) for file in files]
    return Overlaps.concat([table for table in tables if len(table)]).sort_canonical()
