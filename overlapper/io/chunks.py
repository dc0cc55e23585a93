"""Plain files of reads, cut where records start, so that several threads parse them.

A chunk of a file is the records that start within a stretch of `CHUNK_BYTES`. Where the first of them
starts is guessed from the begin of a line: ``>``; in a file that starts as FASTQ does, ``@`` two lines before
``+``. Among wrapped qualities, or where a file holds both formats, a guess may be wrong. It was right when
the chunk before, which itself started right, ends there with a complete record. Where one does not, chunks
end, and the file is to be read on in one piece from there; what is wrong with it is told then.
"""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Generator

from overlapper.errors import InputError
from overlapper.io.reads_builder import ReadsBuilder
from overlapper.io.sources import BLOCK_BYTES, Content, content_of, is_packed
from overlapper.runtime.threads import map_in_order
from overlapper.tables import Reads

CHUNK_BYTES = 1 << 24
_LOOK_BYTES = 1 << 15
"""Bytes in which the start of a record is looked for at first."""
_FASTA_START = re.compile(rb"\n>")
_FASTQ_START = re.compile(rb"\n@[^\n]*\n[^\n]*\n\+")


def has_chunks(file: io.BufferedReader) -> bool:
    """Tell whether an open file is text of more than one chunk, on disk."""
    about = os.fstat(file.fileno())
    return (
        stat.S_ISREG(about.st_mode)
        and about.st_size > CHUNK_BYTES
        and not is_packed(file)
        and content_of(file) is Content.TEXT
    )


def parsed_chunks(
    file: io.BufferedReader, path: str, keep_qualities: bool, keep_comments: bool, threads: int
) -> Generator[Reads, None, None]:
    """Yield the reads of each chunk of a file; leave the file where it is to be read on.

    Parameters
    ----------
    file : file
        One of which `has_chunks` is true, at its start.
    """
    descriptor, size = file.fileno(), os.fstat(file.fileno()).st_size
    starts = _FASTQ_START if file.peek(1).startswith(b"@") else _FASTA_START
    bounds = [*range(0, size, CHUNK_BYTES), size]

    def first_record(chunk: int) -> int | None:
        """Return where the first record of a chunk starts; None if none does."""
        begin, end = bounds[chunk], bounds[chunk + 1]
        look = _LOOK_BYTES
        while chunk:
            text = os.pread(descriptor, min(look, end - begin) + 1, begin - 1)
            if found := starts.search(text):
                return begin + found.start()
            if look >= end - begin:
                return None
            look *= 4
        return 0

    def parse(chunk: int) -> tuple[int, Reads | None]:
        """Return where a chunk starts, and its reads; None if they do not end with the chunk."""
        start = first_record(chunk)
        if start is None:
            return bounds[chunk], ReadsBuilder(keep_qualities, keep_comments).take_closed()
        others = map(first_record, range(chunk + 1, len(bounds) - 1))
        stop = next((other for other in others if other is not None), size)
        builder = ReadsBuilder(keep_qualities, keep_comments, min(stop - start, 2 * CHUNK_BYTES))
        try:
            for begin in range(start, stop, BLOCK_BYTES):
                builder.feed(os.pread(descriptor, min(BLOCK_BYTES, stop - begin), begin), path)
            builder.end_file(path)
        except (InputError, OSError):
            return start, None
        return start, builder.take_closed()

    for start, reads in map_in_order(parse, range(len(bounds) - 1), threads):
        if reads is None:
            file.seek(start)
            return
        yield reads
    file.seek(size)
