"""Input files as blocks of bytes, whatever they are packed in.

What a file is, its first bytes tell, never its name: gzip, bgzip (which is gzip in blocks), zstd, BAM, CRAM,
SAM or text. ``-`` is standard input. A byte-order mark, which some editors put before text, is passed over.
"""

from __future__ import annotations

import codecs
import contextlib
import enum
import gzip
import importlib
import io
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO, cast

from overlapper.errors import FormatError, InputError, MissingExtraError, TruncatedError
from overlapper.io import bgzip
from overlapper.runtime.streams import is_stream

BLOCK_BYTES = 1 << 19
_GZIP_MAGIC, _ZSTD_MAGIC = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_HEAD_BYTES = 600
"""Bytes that tell what a file holds: a SAM record goes as far as its CIGAR, if that is not long."""
_SAM_RECORD = re.compile(rb"[!-=?A-~][!-~]{0,253}\t[0-9]{1,5}\t[!-~]+\t[0-9]+\t[0-9]{1,3}\t[*0-9]")
_SAM_HEADERS = (b"@HD\t", b"@SQ\t", b"@RG\t", b"@PG\t", b"@CO\t")


class Content(enum.Enum):
    """What a file holds, once it is unpacked."""

    TEXT = "text"
    SAM = "SAM"
    BAM = "BAM"
    CRAM = "CRAM"


_STARTS = {Content.SAM: _SAM_HEADERS, Content.BAM: (b"BAM\x01",), Content.CRAM: (b"CRAM",)}


def check_rereadable(path: str, why: str) -> None:
    """Raise an `InputError` if a file that will be opened several times is a stream.

    Parameters
    ----------
    why : str
        What it is read for, behind "is a pipe, and ".
    """
    if is_stream(path):
        raise InputError(
            f"is a pipe or a device, and {why}", file=path, remedy="Write it to a file, and name that."
        )


@contextlib.contextmanager
def open_input(path: str) -> Iterator[io.BufferedReader]:
    """Open a file for reading, ``-`` being standard input.

    Raises
    ------
    InputError
        When there is no such file, or it is a directory, or may or can not be read.
    """
    if path == "-":
        yield cast(io.BufferedReader, sys.stdin.buffer)
        return
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed below; only opening it may raise these errors
    except FileNotFoundError:
        raise InputError("there is no such file", file=path, remedy="Check the path.") from None
    except IsADirectoryError:
        raise InputError("is a directory", file=path, remedy="Name the files in it.") from None
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror}", file=path, remedy="Check its path and rights."
        ) from None
    with file:
        try:
            file.peek(1)  # what cannot be read at all is told before anybody looks at its first bytes
        except OSError as error:
            raise _failed(path, error) from None
        yield file


def content_of(file: io.BufferedReader) -> Content:
    """Tell what an open file holds; nothing is taken from it."""
    head = file.peek()
    if head.startswith(_GZIP_MAGIC):
        # The first member may be cut off here; what it begins with is enough.
        with contextlib.suppress(zlib.error):
            head = zlib.decompressobj(wbits=31).decompress(head, _HEAD_BYTES)
    elif head.startswith(_ZSTD_MAGIC):
        zstd = _zstd()
        with contextlib.suppress(zstd.ZstdError):
            head = zstd.ZstdDecompressor().decompress(head, _HEAD_BYTES)
    head = head.removeprefix(codecs.BOM_UTF8)
    for content, starts in _STARTS.items():
        if head.startswith(starts):
            return content
    return Content.SAM if _SAM_RECORD.match(head) else Content.TEXT


def is_packed(file: io.BufferedReader) -> bool:
    """Tell whether what follows in an open file is compressed; nothing is taken from it."""
    return file.peek(4).startswith((_GZIP_MAGIC, _ZSTD_MAGIC))


def unpacked_blocks(file: io.BufferedReader, path: str, threads: int = 1) -> Iterator[bytes]:
    """Yield the unpacked bytes of an open file in blocks; the next one is unpacked while the caller works.

    Parameters
    ----------
    path : str
        For messages.
    threads : int
        That unpack what bgzip wrote; everything else is unpacked by one.
    """
    bgzip.check_end(file, path)
    blocks = _blocks(file, threads)
    reader = ThreadPoolExecutor(1)
    try:
        following = reader.submit(_next_block, blocks, path)
        mark = codecs.BOM_UTF8
        while block := following.result():
            following = reader.submit(_next_block, blocks, path)
            yield block.removeprefix(mark)
            mark = b""
    finally:
        # Without waiting: this may run in the reader's own thread, when it collects a generator left behind.
        reader.shutdown(wait=False)


def _blocks(file: io.BufferedReader, threads: int) -> Iterator[bytes]:
    source: BinaryIO = file
    if file.peek(4).startswith(_ZSTD_MAGIC):
        source = cast(BinaryIO, _zstd().ZstdFile(file))
    elif is_packed(file):
        if bgzip.is_bgzip(file):
            yield from bgzip.unpacked(file, threads)
            if not file.peek(1):
                return
        source = cast(BinaryIO, gzip.GzipFile(fileobj=file, mode="rb"))
    while block := source.read(BLOCK_BYTES):
        yield block


def line_blocks(path: str) -> Iterator[bytes]:
    """Yield the unpacked text of a file in blocks of whole lines, each line with its line feed."""
    with open_input(path) as file:
        yield from whole_lines(unpacked_blocks(file, path))


def whole_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut text anew, behind line feeds; the last line gets one if it has none."""
    unfinished: list[bytes] = []
    for block in blocks:
        lines, newline, rest = block.rpartition(b"\n")
        if newline:
            yield b"".join([*unfinished, lines, newline])
            unfinished = []
        unfinished.append(rest)
    if last := b"".join(unfinished):
        yield last + b"\n"


def _next_block(blocks: Iterator[bytes], path: str) -> bytes:
    try:
        return next(blocks, b"")
    except EOFError:
        raise TruncatedError(
            "the compressed data end too early", file=path, remedy="Copy or download the file again."
        ) from None
    except (gzip.BadGzipFile, zlib.error):
        raise _damaged(path, "gzip -t") from None
    except OSError as error:
        raise _failed(path, error) from None
    except Exception as error:
        if type(error).__name__ == "ZstdError":
            raise _damaged(path, "zstd -t") from None
        raise


def _damaged(path: str, test: str) -> FormatError:
    return FormatError(
        "the compressed data are damaged, or something else follows them",
        file=path,
        remedy=f"Copy or download the file again; {test} tests it.",
    )


def _zstd() -> Any:
    """Return what unpacks zstd: Python's own module from 3.14 on, before that a package that is the same."""
    for name in ("compression.zstd", "backports.zstd"):
        with contextlib.suppress(ImportError):
            return importlib.import_module(name)
    raise MissingExtraError("backports.zstd", "Reading files that zstd compressed")


def _failed(path: str, error: OSError) -> InputError:
    return InputError(f"reading fails: {error.strerror}", file=path, remedy="Check the disk.")
