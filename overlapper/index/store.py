"""The index file: the arrays of an index as `numpy.savez` keeps them, in a zip file, uncompressed.

The first one, `FIRST`, says that it is an index, and of which version. When an index is loaded, all of it is
compared with the checksums of the zip file. The table of k-mer intervals is not stored: computing it takes
about as long as reading it would.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any, Self

import numpy as np

from overlapper.errors import FormatError, InputError, ParameterError
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
_LABEL_ARRAYS = ("lengths", "name_bytes", "name_offsets")
_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, LookupError, RuntimeError)
_BUILD_AGAIN = "Build the index again"


@dataclasses.dataclass(frozen=True)
class TextLabel:
    """Names and lengths of the sequences of an indexed text."""

    lengths: np.ndarray
    """int64, shape (n,); of its sequences."""
    name_bytes: np.ndarray
    name_offsets: np.ndarray
    """`name_bytes`, `name_offsets`: as in `Reads`."""
    digest: str
    """Of names and bases."""

    @classmethod
    def of(cls, text: Reads) -> Self:
        """Return the label of a text."""
        digest = hashlib.blake2b(digest_size=16)
        for part in (
            text.lengths, text.words, text.unknown_start, text.unknown_end, text.unknown_offsets,
            text.name_bytes, text.name_offsets,
        ):  # fmt: skip
            digest.update(part.data)
        return cls(text.lengths, text.name_bytes, text.name_offsets, digest.hexdigest())

    def name(self, sequence: int) -> str:
        """Return the name of a sequence."""
        return (
            self.name_bytes[self.name_offsets[sequence] : self.name_offsets[sequence + 1]].tobytes().decode()
        )


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


def write(file: OutputFile, fm: FmIndex, text: TextLabel) -> None:
    """Write an index to an open file."""
    arrays: dict[str, Any] = {FIRST: VERSION, "digest": text.digest}
    arrays |= {name: getattr(fm, name) for name in (*_FM_ARRAYS, "sample_shift", "kmer_length")}
    arrays |= {f"text_{name}": getattr(text, name) for name in _LABEL_ARRAYS}
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


def load(path: str | os.PathLike, text: Reads | None, threads: int) -> tuple[FmIndex, TextLabel]:
    """Read an index file and check it.

    Parameters
    ----------
    path : path
    text : Reads or None
        What the index must have been built of, if given.
    threads : int

    Raises
    ------
    InputError
        When the file is missing, not an index, of another version or damaged, or when it is the index of
        another text.
    """
    name = os.fspath(path)
    check_rereadable(name, "an index is read from several places")
    arrays = _arrays_of(name)
    if (version := int(arrays[FIRST])) != VERSION:
        raise FormatError(
            f"the index has version {version}, expected {VERSION}", file=name, remedy=_BUILD_AGAIN
        )
    digest = str(arrays["digest"])
    if text is not None and TextLabel.of(text).digest != digest:
        raise InputError("this is the index of another text", file=name, remedy=_BUILD_AGAIN)
    rows = 2 * int(arrays["segments"][-1, 0])
    fm = FmIndex(
        **{field: arrays[field] for field in _FM_ARRAYS},
        table=np.array([[0, rows]], row_type(rows)),
        sample_shift=int(arrays["sample_shift"]),
        kmer_length=0,
    )
    label = TextLabel(**{field: arrays[f"text_{field}"] for field in _LABEL_ARRAYS}, digest=digest)
    return with_kmer_table(fm, int(arrays["kmer_length"]), threads), label


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
