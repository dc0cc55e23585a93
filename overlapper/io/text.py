"""Text files in and out, plain or gzipped, ``-`` for the standard streams; nothing half-written."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from overlapper.errors import FormatError, InputError, OutputError, TruncatedError

GZIP_MAGIC = b"\x1f\x8b"
GZIP_LEVEL = 1
"""Bases hardly compress below two bits each; higher levels only take longer."""


@contextlib.contextmanager
def open_input(path: str) -> Iterator[BinaryIO]:
    """Open a file for reading; whether it is gzipped is told from its first bytes.

    Raises
    ------
    InputError
        When it cannot be read; also for what goes wrong while the context reads it.
    """
    try:
        with contextlib.ExitStack() as stack:
            file = sys.stdin.buffer if path == "-" else stack.enter_context(open(path, "rb"))
            raw = cast(io.BufferedReader, file)
            packed = raw.peek(2)[:2] == GZIP_MAGIC
            yield cast(BinaryIO, stack.enter_context(gzip.open(raw))) if packed else raw
    except (gzip.BadGzipFile, zlib.error) as error:
        raise FormatError(f"damaged gzip: {error}", file=path, remedy="Fetch or write it again.") from None
    except EOFError:
        raise TruncatedError(
            "the gzip stream ends early", file=path, remedy="Fetch or write it again."
        ) from None
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror}", file=path, remedy="Check the path and its permissions."
        ) from None


@contextlib.contextmanager
def open_output(path: str) -> Iterator[BinaryIO]:
    """Open a file for writing; gzipped if its name ends in ``.gz``.

    The bytes go to a temporary name beside it, which takes the place of ``path`` when the context ends well
    and is removed when it does not. Equal content gives equal bytes: the gzip header holds no time.

    Raises
    ------
    OutputError
        When it cannot be written.
    """
    if path == "-":
        yield sys.stdout.buffer
        return
    # A device or a pipe cannot be replaced, only written to.
    in_place = os.path.exists(path) and not os.path.isfile(path)
    final = Path(path) if in_place else Path(path).resolve()
    temporary = final if in_place else final.with_name(f".{final.name}.{os.getpid()}.part")
    try:
        try:
            with open(temporary, "wb") as raw:
                if path.endswith(".gz"):
                    with gzip.GzipFile("", "wb", GZIP_LEVEL, raw, mtime=0) as packed:
                        yield cast(BinaryIO, packed)
                else:
                    yield raw
            if not in_place:
                temporary.replace(final)
        finally:
            if not in_place:
                temporary.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(
            f"file {path}: cannot be written: {error.strerror}. Check the path, its "
            f"permissions and the free space."
        ) from error
