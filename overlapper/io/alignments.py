"""The reads of SAM, BAM and CRAM files as FASTQ text."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import stat
import threading
from collections.abc import Iterator
from typing import Any

from overlapper.errors import FormatError, TruncatedError
from overlapper.io.sources import BLOCK_BYTES, check_rereadable

_SECONDARY_OR_SUPPLEMENTARY = 0x900


def fastq_blocks(file: io.BufferedReader, path: str, reference: str | None) -> Iterator[bytes]:
    """Yield the primary records as FASTQ, or FASTA where they have no qualities.

    A read that was aligned to the reverse strand is put back on the strand it was sequenced on.

    Parameters
    ----------
    file : file
        Open at its start; `sources.content_of` may have peeked into it.
    path : str
        For messages.
    reference : str or None
        FASTA file for CRAM.

    Raises
    ------
    TruncatedError
        When the file ends too early or is damaged.
    FormatError
        When an aligned record has no bases.
    """
    pieces: list[bytes] = []
    size = 0
    for number, record in enumerate(_records(file, path, reference), start=1):
        if record.flag & _SECONDARY_OR_SUPPLEMENTARY:
            continue
        bases = record.get_forward_sequence() or ""
        if not bases and not record.is_unmapped:
            raise FormatError(
                "is aligned but has no bases",
                file=path,
                record=f"{number} ({record.query_name})",
                remedy="Write the file with the bases of its primary records, or leave the record out.",
            )
        text = _fastq(record.query_name, bases, record.get_forward_qualities())
        pieces.append(text)
        size += len(text)
        if size >= BLOCK_BYTES:
            yield b"".join(pieces)
            pieces, size = [], 0
    yield b"".join(pieces)


def _fastq(name: str, bases: str, qualities: Any) -> bytes:
    if qualities is None:
        return f">{name}\n{bases}\n".encode()
    scores = bytes(min(quality, 93) + 33 for quality in qualities).decode()
    return f"@{name}\n{bases}\n+\n{scores}\n".encode()


def _records(file: io.BufferedReader, path: str, reference: str | None) -> Iterator[Any]:
    import pysam

    is_cram = file.peek(4).startswith(b"CRAM")
    if is_cram and reference is not None:
        check_rereadable(reference, "a reference is read again and again")
    previous = pysam.set_verbosity(0)  # else htslib writes complaints of its own to standard error
    try:
        with (
            _whole(file, path) as source,
            pysam.AlignmentFile(source, check_sq=False, reference_filename=reference) as alignments,
        ):
            yield from alignments.fetch(until_eof=True)
    except (OSError, ValueError):
        # pysam says no more than "truncated file", also where a reference is missing.
        if is_cram and reference is None:
            problem = "cannot be read to its end: it is cut off or damaged, or its reference is not found"
            remedy = "Name the reference that it was written against, or copy or download the file again."
        else:
            problem = "cannot be read to its end: it is cut off or damaged"
            remedy = "Copy or download the file again."
        raise TruncatedError(problem, file=path, remedy=remedy) from None
    finally:
        pysam.set_verbosity(previous)


@contextlib.contextmanager
def _whole(file: io.BufferedReader, path: str) -> Iterator[Any]:
    """Yield what pysam can open to read the file from its start, though its first bytes were peeked at."""
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode) and path != "-":
        yield path
        return
    read_end, write_end = os.pipe()

    def copy() -> None:
        with contextlib.suppress(BrokenPipeError), open(write_end, "wb") as pipe:
            shutil.copyfileobj(file, pipe)

    copier = threading.Thread(target=copy)
    copier.start()
    try:
        with open(read_end, "rb") as pipe:
            yield pipe
    finally:
        copier.join()
