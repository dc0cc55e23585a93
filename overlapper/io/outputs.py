"""Output files that are complete or not there.

Bytes go to a temporary folder beside the wanted name (`overlapper.io.folders`), which is taken on success: a
run that fails leaves neither a half-written file nor a changed one. ``.gz`` in the name compresses, ``-`` is
standard output, and what exists and is not a plain file (a pipe, a device) is written to directly. So is what
is open already (``/dev/stdout``, ``/dev/fd/3``), from where its writers are on: others may have written
there before. Where nobody reads a pipe any more, that is Python's own BrokenPipeError: nothing that a user
could mend.
"""

from __future__ import annotations

import contextlib
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Self, cast

from overlapper.errors import OutputError, ParameterError
from overlapper.io.folders import temporary_folder
from overlapper.runtime import cleanup
from overlapper.runtime.streams import descriptor, is_stream, tells_no_format
from overlapper.runtime.threads import map_in_order

_MEMBER_BYTES = 1 << 20
_GZIP_LEVEL = 2
_GZIP_WBITS = 31
_PART = "part"
"""What a file is called until it is complete."""


def unwritten_output(error: OSError) -> OutputError:
    """Return what there is to say where standard output takes nothing more."""
    return OutputError(
        f"standard output cannot be written: {error.strerror or error}. Check where it goes, and the free "
        "space there; what was written is not complete"
    )


def check_ending(path: str, endings: Iterable[str]) -> None:
    """Raise a `ParameterError` if the name of a file ends in none of these, which tell its format."""
    endings = tuple(endings)
    if not path.endswith(endings):
        raise ParameterError(f"the name {path} does not end in one of {', '.join(endings)}")


def check_format(path: str, endings: Iterable[str]) -> None:
    """Do as `check_ending`, but let streams pass: without an ending they hold what ``-`` would hold."""
    if not tells_no_format(path, endings):
        check_ending(path, endings)


class OutputFile:
    """A file to write bytes to, used as a context manager: complete on success, absent after an error.

    Parameters
    ----------
    path : str
    threads : int
        For compression. The bytes do not depend on it, nor on the sizes of the chunks written.

    Raises
    ------
    OutputError
        When the file cannot be opened, written or closed.
    BrokenPipeError
        When it is a pipe that nobody reads.
    """

    def __init__(self, path: str, *, threads: int = 1) -> None:
        self.path = path
        self._threads = threads
        self._packs = path.endswith(".gz")
        self._pending = bytearray()
        self._temporary: str | None = None
        self._folder = contextlib.ExitStack()

    def __enter__(self) -> Self:
        if self.path == "-":
            self._file = cast(BinaryIO, sys.stdout.buffer)
            return self
        with self.complaints():
            if os.path.isdir(self.path):
                raise IsADirectoryError(None, "it is a directory")
            if is_stream(self.path):
                number = descriptor(self.path)
                self._file = open(self.path if number is None else os.dup(number), "wb")
                return self
            self._final = os.path.realpath(self.path)
            with contextlib.suppress(FileNotFoundError):
                os.lstat(self._final)  # a name that is too long is told now
            beside = os.path.dirname(self._final)
            folder = self._folder.enter_context(temporary_folder(beside, _PART))
            try:
                self._file = open(folder / _PART, "wb")
            except BaseException:
                self._folder.close()
                raise
            self._temporary = str(folder / _PART)
        return self

    @property
    def file(self) -> BinaryIO:
        """The open file, for libraries that write themselves, inside `complaints`."""
        return self._file

    @contextlib.contextmanager
    def complaints(self) -> Iterator[None]:
        """Turn errors of the system into an `OutputError`."""
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            if self.path == "-":
                raise unwritten_output(error) from None
            raise OutputError(
                f"file {self.path} cannot be written: {error.strerror or error}. "
                "Check the path, its rights and the free space; no incomplete file is left behind."
            ) from None

    def write(self, data: bytes | memoryview) -> None:
        """Write bytes."""
        if not self._packs:
            self._write(data)
            return
        self._pending += data
        complete = len(self._pending) // _MEMBER_BYTES * _MEMBER_BYTES
        if complete:
            self._write_members(complete)

    def write_text(self, text: str) -> None:
        """Write text as UTF-8; of names of files that are none, the bytes are spelled out."""
        self.write(text.encode(errors="backslashreplace"))

    def write_lines(self, lines: Iterable[str]) -> None:
        """Write lines that come without their line feeds."""
        for line in lines:
            self.write_text(f"{line}\n")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._discard()
            return
        try:
            if self._packs:
                self._write_members(max(1, len(self._pending)))
            with self.complaints():
                if self.path == "-":
                    self._file.flush()
                    return
                self._file.close()
                if self._temporary:
                    with cleanup.undisturbed():
                        os.replace(self._temporary, self._final)
                    self._folder.close()
        except BaseException:
            self._discard()
            raise

    def _write_members(self, size: int) -> None:
        """Compress the first `size` pending bytes, each chunk of a fixed size to a gzip member of its own."""
        chunks = (
            bytes(self._pending[i : min(i + _MEMBER_BYTES, size)]) for i in range(0, size, _MEMBER_BYTES)
        )
        for member in map_in_order(_gzip_member, chunks, self._threads):
            self._write(member)
        del self._pending[:size]

    def _write(self, data: bytes | memoryview) -> None:
        """Write all bytes, in several calls if the system takes only some of them at a time."""
        left = memoryview(data).cast("B")
        with self.complaints():
            while left:
                left = left[self._file.write(left) :]

    def _discard(self) -> None:
        if self.path == "-":
            return
        with contextlib.suppress(OSError):
            self._file.close()
        self._folder.close()


def write_text(path: str, text: str) -> None:
    """Write a text file, complete or not at all."""
    with OutputFile(path) as file:
        file.write_text(text)


def write_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    """Write lines that come without their line feeds to a text file, complete or not at all."""
    with OutputFile(os.fspath(path)) as file:
        file.write_lines(lines)


def _gzip_member(data: bytes) -> bytes:
    """Compress without a name or a time in the header, so that the same data give the same bytes."""
    return zlib.compress(data, _GZIP_LEVEL, wbits=_GZIP_WBITS)
