"""The index file: written once, checked, and mapped into memory.

::

    0      OVLINDEX       what kind of file it is
    8      version        uint32, little endian, as all that follows
    12     header bytes   uint32
    16     header digest  16 bytes
    32     header         JSON: settings, text digest, and name, type, shape, offset and digests of the arrays
    ...    arrays         each from a multiple of 4096 on

Every 16 MiB of an array have a digest, all of which are checked when an index is loaded. The table of k-mer
intervals is not stored: computing it takes about as long as reading it would.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import struct
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np

from overlapper.errors import FormatError, InputError, ParameterError, TruncatedError
from overlapper.index.build import with_kmer_table
from overlapper.index.bwt import row_type
from overlapper.io.outputs import OutputFile
from overlapper.io.sources import check_rereadable
from overlapper.kernels.index.fm_index import FmIndex
from overlapper.runtime.streams import is_stream
from overlapper.runtime.threads import map_in_order
from overlapper.tables import Reads

MAGIC = b"OVLINDEX"
VERSION = 1
_FIXED = struct.Struct("<8sII16s")
_PAGE = 4096
_CHUNK = 1 << 24
_FM_ARRAYS = ("bins", "borders", "samples", "text", "segments")
_LABEL_ARRAYS = ("lengths", "name_bytes", "name_offsets")
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


def save(path: str | os.PathLike, fm: FmIndex, text: TextLabel) -> None:
    """Write an index file, which gets its name when it is complete.

    Raises
    ------
    OutputError
        When the file cannot be written.
    ParameterError
        When it could not be mapped into memory: standard output, or a name that asks for compression.
    """
    with open_index(os.fspath(path)) as file:
        write(file, fm, text)


def open_index(path: str) -> OutputFile:
    """Open a file for an index, which `write` writes; a context manager.

    Raises
    ------
    ParameterError
        When it could not be mapped into memory: standard output, or a name that asks for compression.
    """
    if path == "-" or path.endswith(".gz"):
        raise ParameterError(
            f"the output is {path}, expected the name of an uncompressed file: an index is mapped into memory"
        )
    return OutputFile(path)


def write(file: OutputFile, fm: FmIndex, text: TextLabel) -> None:
    """Write an index to an open file.

    Raises
    ------
    OutputError
        When it cannot be written.
    """
    arrays = {name: getattr(fm, name) for name in _FM_ARRAYS}
    arrays |= {name: getattr(text, name) for name in _LABEL_ARRAYS}
    described = [
        {
            "name": name,
            "type": array.dtype.str,
            "shape": array.shape,
            "digests": _digests(_bytes_of(array), 1),
        }
        for name, array in arrays.items()
    ]
    settings = {"sample_shift": fm.sample_shift, "kmer_length": fm.kmer_length}
    header = json.dumps({"settings": settings, "text": text.digest, "arrays": described}).encode()
    file.write(_FIXED.pack(MAGIC, VERSION, len(header), _digest(header)) + header)
    position = _FIXED.size + len(header)
    for array in arrays.values():
        padding = -position % _PAGE
        file.write(bytes(padding))
        file.write(_bytes_of(array).data)
        position += padding + array.nbytes


def is_index(path: str) -> bool:
    """Return whether a file starts as an index does; False for unreadable files and pipes."""
    if is_stream(path):
        return False
    try:
        with Path(path).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def load(path: str | os.PathLike, text: Reads | None, threads: int) -> tuple[FmIndex, TextLabel]:
    """Map an index file into memory and check it.

    Parameters
    ----------
    path : path
    text : Reads or None
        What the index must have been built of, if given.
    threads : int

    Raises
    ------
    InputError
        When the file is missing, not an index, of another version, truncated, corrupt or followed by
        something, or when it is the index of another text.
    """
    check_rereadable(os.fspath(path), "an index is mapped into memory")
    try:
        with Path(path).open("rb") as file:
            header, position = _read_header(file, str(path))
        mapped = np.memmap(path, np.uint8, "c").view(np.ndarray)
    except OSError as error:
        raise InputError(f"the index cannot be read: {error.strerror}", file=str(path)) from None
    if text is not None and TextLabel.of(text).digest != header["text"]:
        raise InputError("this is the index of another text", file=str(path), remedy=_BUILD_AGAIN)
    arrays = {}
    for described in header["arrays"]:
        position += -position % _PAGE
        shape, dtype = tuple(described["shape"]), np.dtype(described["type"])
        size = int(np.prod(shape)) * dtype.itemsize
        if position + size > len(mapped):
            raise _truncated(path)
        stored = mapped[position : position + size]
        if _digests(stored, threads) != described["digests"]:
            raise FormatError(
                "the index is corrupt: its content does not have the digest it was written with",
                file=str(path),
                record=described["name"],
                remedy=_BUILD_AGAIN,
            )
        arrays[described["name"]] = stored.view(dtype).reshape(shape)
        position += size
    if position < len(mapped):
        raise FormatError(
            f"{len(mapped) - position} bytes come after the end of the index",
            file=str(path),
            remedy=_BUILD_AGAIN,
        )
    rows = 2 * int(arrays["segments"][-1, 0])
    fm = FmIndex(
        **{name: arrays[name] for name in _FM_ARRAYS},
        table=np.array([[0, rows]], row_type(rows)),
        sample_shift=header["settings"]["sample_shift"],
        kmer_length=0,
    )
    label = TextLabel(**{name: arrays[name] for name in _LABEL_ARRAYS}, digest=header["text"])
    return with_kmer_table(fm, header["settings"]["kmer_length"], threads), label


def _read_header(file: BinaryIO, path: str) -> tuple[dict[str, Any], int]:
    """Return the header and where it ends."""
    fixed = file.read(_FIXED.size)
    if fixed[: len(MAGIC)] != MAGIC[: len(fixed)] or not fixed:
        raise FormatError(
            f"this is not an index of overlapper: it starts with {fixed[:8]!r}, expected {MAGIC!r}",
            file=path,
            remedy="Build an index of it with Index.build, or name another file",
        )
    if len(fixed) < _FIXED.size:
        raise _truncated(path)
    _, version, size, digest = _FIXED.unpack(fixed)
    if version != VERSION:
        raise FormatError(
            f"the index has version {version}, expected {VERSION}", file=path, remedy=_BUILD_AGAIN
        )
    header = file.read(size)
    if len(header) < size:
        raise _truncated(path)
    if _digest(header) != digest:
        raise FormatError("the header of the index is corrupt", file=path, remedy=_BUILD_AGAIN)
    return json.loads(header), file.tell()


def _truncated(path: str | os.PathLike) -> TruncatedError:
    return TruncatedError("the index ends too early", file=str(path), remedy=_BUILD_AGAIN)


def _bytes_of(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1).view(np.uint8)


def _digest(data: Any) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def _digests(data: np.ndarray, threads: int) -> list[str]:
    chunks = (data[start : start + _CHUNK] for start in range(0, len(data), _CHUNK))
    return [digest.hex() for digest in map_in_order(_digest, chunks, threads)]
