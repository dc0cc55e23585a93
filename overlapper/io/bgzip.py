"""Files that bgzip wrote: gzip in blocks that say how long they are (SAM specification, 4.1).

Each block is unpacked by itself, so that several threads take part.
"""

from __future__ import annotations

import io
import os
import stat
import zlib
from collections.abc import Iterator

from overlapper.errors import TruncatedError
from overlapper.runtime.threads import map_in_order

_FLAG = b"\x1f\x8b\x08\x04"
_END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
"""The empty block that ends a complete file (SAM specification, 4.1.2)."""
_HEAD_BYTES = 18
_STRETCH_BYTES = 1 << 18
"""Packed bytes that a thread unpacks at a time, about; a block has at most 64 kB."""


def check_end(file: io.BufferedReader, path: str) -> None:
    """Complain of a bgzip file cut between two blocks, which unpacks without an error.

    Other gzip files may carry extra fields too, so the block's own mark is asked for; a pipe cannot be
    checked.
    """
    head = file.peek(14)
    if not head.startswith(_FLAG) or head[12:14] != b"BC" or not _on_disk(file):
        return
    size = os.fstat(file.fileno()).st_size
    if os.pread(file.fileno(), len(_END), max(0, size - len(_END))) != _END:
        raise TruncatedError(
            "the bgzip file lacks its closing block, so its end is missing",
            file=path,
            remedy="Copy or download the file again; if it is complete, unpack it with gzip first.",
        )


def is_bgzip(file: io.BufferedReader) -> bool:
    """Tell whether what follows in an open file is a block of bgzip, on disk; nothing is taken from it."""
    return _starts_block(file.peek(_HEAD_BYTES)) and _on_disk(file)


def unpacked(file: io.BufferedReader, threads: int) -> Iterator[bytes]:
    """Yield what blocks hold, a stretch of them at a time; leave the file where something else follows."""
    for text in map_in_order(_unpack, _stretches(file), threads):
        if text:
            yield text


def _on_disk(file: io.BufferedReader) -> bool:
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def _starts_block(head: bytes) -> bool:
    return len(head) >= _HEAD_BYTES and head[:4] == _FLAG and head[10:16] == b"\x06\x00BC\x02\x00"


def _block_bytes(packed: bytes, start: int) -> int:
    """Return the size of the block that starts there; 0 if none does, or it does not end within the bytes."""
    if not _starts_block(packed[start : start + _HEAD_BYTES]):
        return 0
    size = 1 + int.from_bytes(packed[start + 16 : start + 18], "little")
    return size if start + size <= len(packed) else 0


def _stretches(file: io.BufferedReader) -> Iterator[bytes]:
    """Yield whole blocks, some at a time."""
    place, rest = file.tell(), b""
    while packed := file.read(_STRETCH_BYTES):
        packed = rest + packed
        stop = 0
        while size := _block_bytes(packed, stop):
            stop += size
        if not stop:
            break
        yield packed[:stop]
        place, rest = place + stop, packed[stop:]
    file.seek(place)


def _unpack(blocks: bytes) -> bytes:
    texts, start, view = [], 0, memoryview(blocks)
    while size := _block_bytes(blocks, start):
        block = zlib.decompressobj(wbits=31)
        texts.append(block.decompress(view[start : start + size]))
        if not block.eof or block.unused_data:
            raise zlib.error("a block does not end where it says")
        start += size
    return b"".join(texts)
