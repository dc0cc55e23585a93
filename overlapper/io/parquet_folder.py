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
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from overlapper.errors import FormatError, OutputError
from overlapper.io.folders import temporary_folder
from overlapper.io.outputs import OutputFile
from overlapper.io.parquet import (
    RowGroups,
    check_names,
    holds_overlaps,
    import_pyarrow,
    names_file,
    read_rows,
)
from overlapper.runtime import cleanup
from overlapper.runtime.threads import cut_evenly
from overlapper.tables import Overlaps, Reads

RANGE_BASES = 1 << 28
"""Bases of the targets of a range, at least."""
MOST_RANGES = 32
_GROUP_ROWS = 1 << 15
"""Rows of a row group; those of all ranges wait in memory."""
_RANGE, _FILE = "first_target=", "overlaps.parquet"
_NEW, _OLD = "new", "old"
"""In the temporary folder: what is written, and what it takes the place of."""


@contextlib.contextmanager
def parquet_folder_writer(
    path: str | os.PathLike[str], reads: Reads, *, threads: int = 1
) -> Iterator[_Ranges]:
    """Open a folder for overlaps, written block by block with ``write(overlaps)``.

    The folder appears when the context is left, in place of one like it, and does not when it is left by an
    error.

    Parameters, and what is raised, are those of `overlapper.io.parquet.parquet_writer`; nor does it take the
    place of what is not a folder of overlaps.
    """
    import_pyarrow()
    path = os.fspath(path)
    final = Path(os.path.realpath(path))
    written = [f"{folder}/{_RANGE}*/{_FILE}" for folder in (_NEW, _OLD)]
    with contextlib.ExitStack() as temporary:
        with _complaints(path):
            _check_place(final)
            folder = temporary.enter_context(temporary_folder(final.parent, *written))
            (folder / _NEW).mkdir()
        with contextlib.ExitStack() as files:
            files.enter_context(names_file(path, reads))
            ranges = _Ranges(path, folder / _NEW, reads.lengths, files)
            yield ranges
            ranges.close()
        with _complaints(path):
            _check_place(final)  # once more: what was put there meanwhile is not removed
            _replace(final, folder)


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


def _replace(final: Path, folder: Path) -> None:
    """Replace a folder by a new one; the old one stays if that fails."""
    old = folder / _OLD
    with cleanup.undisturbed():
        if final.exists():
            os.rename(final, old)
        try:
            os.rename(folder / _NEW, final)
        except OSError:
            if old.exists():
                os.rename(old, final)
            raise


def _check_place(final: Path) -> None:
    """Raise an OSError if something other than a folder of overlaps, or an empty one, is there."""
    if not os.path.lexists(final):
        return
    if not final.is_dir():
        raise FileExistsError(None, "it is a file")
    if (other := next(_others(final), None)) is not None:
        name = other.relative_to(final)
        raise FileExistsError(None, f"it is a directory that holds {name}, so no folder of overlaps")


def _others(folder: Path) -> Iterator[Path]:
    """Yield what is in a folder and is not what we write there."""
    for part in sorted(folder.iterdir()):
        if not part.name.startswith(_RANGE) or part.is_symlink() or not part.is_dir():
            yield part
            continue
        for file in sorted(part.iterdir()):
            if file.name != _FILE or not holds_overlaps(file):
                yield file


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
