"""The formats that overlaps are written in and read from, by the ending of the file's name."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from overlapper.io.given import GivenReads, reads_given
from overlapper.io.outputs import check_ending
from overlapper.io.paf import paf_writer, read_paf, reads_of_paf
from overlapper.io.parquet import parquet_writer, read_parquet, reads_of_parquet
from overlapper.runtime.streams import tells_no_format
from overlapper.tables import Overlaps, Reads


class OverlapWriter(Protocol):
    """An open file that overlaps are written to."""

    def write(self, overlaps: Overlaps) -> None:
        """Write the rows of a table."""


@dataclasses.dataclass(frozen=True)
class OverlapFormat:
    """How to write and read a format."""

    open: Callable[..., AbstractContextManager[OverlapWriter]]
    """``open(path, reads, threads=...)`` gives a context manager of an `OverlapWriter`; the file is there
    when it is left, and is not when it is left by an error."""
    read: Callable[..., Overlaps]
    """``read(path, reads, threads=...)`` gives `Overlaps`."""
    reads: Callable[[str], Reads]
    """``reads(path)`` gives names and lengths of the reads that a file is about."""


FORMATS = {
    ".paf": OverlapFormat(paf_writer, read_paf, reads_of_paf),
    ".paf.gz": OverlapFormat(paf_writer, read_paf, reads_of_paf),
    ".parquet": OverlapFormat(parquet_writer, read_parquet, reads_of_parquet),
}
"""Formats by the ending of the name. A new format is one line here and one golden file."""


def open_overlaps(
    path: str | os.PathLike[str], reads: Reads, *, threads: int = 1
) -> AbstractContextManager[OverlapWriter]:
    """Open a file for overlaps, in the format that its name ends in; ``-`` is PAF on standard output.

    Examples
    --------
    >>> with open_overlaps("out.paf.gz", reads) as writer:  # doctest: +SKIP
    ...     writer.write(overlaps)
    """
    return _format_of(os.fspath(path)).open(path, reads, threads=threads)


def write_overlaps(
    overlaps: Overlaps, reads: GivenReads, path: str | os.PathLike[str], *, threads: int = 1
) -> None:
    """Write a table to a file, in the format that its name ends in; ``-`` is PAF on standard output.

    Parameters
    ----------
    overlaps : Overlaps
    reads : Reads, path, or sequence of paths
        The reads that the overlaps number; names and lengths are enough.
    path : str or path
        One of `FORMATS`.
    threads : int
        The bytes written do not depend on it.

    Raises
    ------
    ParameterError
        When the name tells no format.
    OutputError
        When the file cannot be written; none is left behind.
    MissingExtraError
        When Parquet is asked for and pyarrow is not installed.
    """
    check_format(path)
    with open_overlaps(path, reads_given(reads, threads), threads=threads) as writer:
        writer.write(overlaps)


def read_overlaps(
    path: str | os.PathLike[str], reads: Reads | str | os.PathLike[str] | Sequence[str], *, threads: int = 1
) -> Overlaps:
    """Read a table from a file, in the format that its name ends in; ``-`` is PAF on standard input.

    Parameters
    ----------
    path : str or path
        One of `FORMATS`.
    reads : Reads, path, or sequence of str
        The reads that the overlaps are about, the file that they are in, or their names; their order numbers
        them.
    threads : int
        Changes nothing but the time.

    Raises
    ------
    ParameterError
        When the name tells no format.
    FormatError
        When a record breaks its format, or names another read.
    InputError
        When the file cannot be read to its end.
    MissingExtraError
        When the file is Parquet and pyarrow is not installed.
    """
    path = os.fspath(path)
    read = _format_of(path).read
    if isinstance(reads, str | os.PathLike):
        reads = reads_given(reads, threads)
    return read(path, reads, threads=threads)


def reads_named(path: str) -> Reads:
    """Return names and lengths of the reads that a file of overlaps names; errors are those of its format."""
    return _format_of(path).reads(path)


def check_format(path: str | os.PathLike[str]) -> None:
    """Raise a `ParameterError` if the name of a file tells no format."""
    _format_of(os.fspath(path))


def _format_of(path: str) -> OverlapFormat:
    if tells_no_format(path, FORMATS):
        return FORMATS[".paf"]
    check_ending(path, FORMATS)
    return next(entry for ending, entry in FORMATS.items() if path.endswith(ending))
