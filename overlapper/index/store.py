"""The index file: the arrays of an index as `numpy.savez` keeps them, in a zip file, uncompressed.

The first one, `FIRST`, says that it is an index, and of which version. When an index is loaded, all of it is
compared with the checksums of the zip file. The table of k-mer intervals is not stored: computing it takes
about as long as reading it would.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from overlapper.errors import FormatError, ParameterError
from overlapper.index.build import with_kmer_table
from overlapper.index.bwt import row_type
from overlapper.io.outputs import OutputFile
from overlapper.io.sources import check_rereadable, open_input
from overlapper.kernels.index.fm_index import FmIndex
from overlapper.runtime.streams import is_stream
from overlapper.tables import Reads

FIRST, VERSION = "overlapper_index", 2
_NAME = f"{FIRST}.npy".encode()
_NAME_AT = 30
"""Where a zip file has the name of what it holds first."""
_FM_ARRAYS = ("bins", "borders", "samples", "text", "segments")
_TEXT_ARRAYS = ("lengths", "name_bytes", "name_offsets")
_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, LookupError, RuntimeError)
_BUILD_AGAIN = "Build the index again"


def open_index(path: str) -> OutputFile:
    """Open a file for an index, which `write` writes; a context manager.

    Raises
    ------
    ParameterError
        When it is standard output, or a name that asks for compression.
    """
    if path == "-" or path.endswith(".gz"):
        raise ParameterError(f"the output is {path}, expected the name of an uncompressed file for an index")
    return OutputFile(path)


def write(file: OutputFile, fm: FmIndex, text: Reads) -> None:
    """Write an index, and names and lengths of the sequences of its text, to an open file."""
    arrays: dict[str, Any] = {FIRST: VERSION}
    arrays |= {name: getattr(fm, name) for name in (*_FM_ARRAYS, "sample_shift", "kmer_length")}
    arrays |= {f"text_{name}": getattr(text, name) for name in _TEXT_ARRAYS}
    with file.complaints():
        np.savez(file.file, **arrays)


def is_index(path: str) -> bool:
    """Return whether a file starts as an index does; False for unreadable files and pipes."""
    if is_stream(path):
        return False
    try:
        with Path(path).open("rb") as file:
            return file.read(_NAME_AT + len(_NAME))[_NAME_AT:] == _NAME
    except OSError:
        return False


def load(path: str | os.PathLike, threads: int) -> tuple[FmIndex, Reads]:
    """Read an index file and check it; return the index, and names and lengths of the sequences of its text.

    Raises
    ------
    InputError
        When the file is missing, not an index, of another version or damaged.
    """
    name = os.fspath(path)
    check_rereadable(name, "an index is read from several places")
    arrays = _arrays_of(name)
    if (version := int(arrays[FIRST])) != VERSION:
        raise FormatError(
            f"the index has version {version}, expected {VERSION}", file=name, remedy=_BUILD_AGAIN
        )
    rows = 2 * int(arrays["segments"][-1, 0])
    fm = FmIndex(
        **{field: arrays[field] for field in _FM_ARRAYS},
        table=np.array([[0, rows]], row_type(rows)),
        sample_shift=int(arrays["sample_shift"]),
        kmer_length=0,
    )
    lengths, name_bytes, name_offsets = (arrays[f"text_{field}"] for field in _TEXT_ARRAYS)
    no_words, no_runs, none = np.empty(0, np.uint64), np.empty(0, np.int32), np.zeros_like(name_offsets)
    text = Reads(lengths, no_words, none, no_runs, no_runs, none, name_bytes, name_offsets)
    return with_kmer_table(fm, int(arrays["kmer_length"]), threads), text


def _arrays_of(path: str) -> dict[str, np.ndarray]:
    with open_input(path) as file:
        if not is_index(path):
            raise FormatError(
                f"this is not an index of overlapper: it starts with {file.read(8)!r}",
                file=path,
                remedy="Build an index of it with overlapper index, or name another file",
            )
        try:
            with np.load(file) as stored:
                if (damaged := stored.zip.testzip()) is not None:
                    raise ValueError(damaged)
                return dict(stored)
        except _DAMAGES:
            raise FormatError(
                "the index is damaged, or its end is missing", file=path, remedy=_BUILD_AGAIN
            ) from None
