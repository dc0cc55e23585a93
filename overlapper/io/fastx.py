"""Reads from FASTA, FASTQ, SAM, BAM and CRAM files, plain or compressed, into one table.

What is read from text:

- A line ends at a line feed or a carriage return; lines without a visible letter count for nothing, and
  blanks (spaces and tabs) within lines of bases or qualities are skipped.
- A record starts with ``>`` (FASTA) or ``@`` (FASTQ); one file may hold both. Its name goes up to the first
  blank; the rest of the line is dropped.
- The bases follow, on any number of lines: A, C, G, T, U (read as T), in either case; the IUPAC codes
  RYSWKMBDHVN and X are unknown bases. Any other letter is an error. A FASTA record ends where a line starts
  with ``>`` or ``@``.
- In FASTQ, a line that starts with ``+`` ends the bases, and as many qualities follow as there are bases
  (``!`` to ``~``, Phred + 33). Qualities stand on one line if the bases do. A record without bases needs no
  line of qualities.

A read without bases is kept. Two reads of one name are an error, whichever files they are in.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from overlapper.errors import DuplicateNameError, EmptyInputError, FormatError, InputError, TruncatedError
from overlapper.io.growth import grow, resize
from overlapper.io.sources import Content, content_of, open_input, unpacked_blocks
from overlapper.tables import Reads
from overlapper.tables.reads import BASES_PER_WORD, words_for

if TYPE_CHECKING:
    from overlapper.kernels.cpu import packing

_RECORD_REMEDY = "Repair the record or leave it out."
_FIRST_ROOM = 1024
PART_BASES = 1 << 26
"""Bases that `FastxParts` holds at a time, if nothing else is asked for."""
LONGEST_READ = 2**31 - 1


def read_fastx(
    *paths: str | os.PathLike[str],
    keep_qualities: bool = False,
    reference: str | os.PathLike[str] | None = None,
) -> Reads:
    """Read sets of reads; several files make one set, in the order given.

    Memory: the packed bases (a quarter of a byte each) and at most a quarter more, the names, and a byte a
    base for qualities that are kept.

    Parameters
    ----------
    *paths : str or path
        FASTA, FASTQ, SAM, BAM or CRAM, plain, gzip or bgzip, told apart by content; ``-`` is standard input.
        From alignments the primary records are taken, each read on the strand it was sequenced on.
    keep_qualities : bool
        Keep Phred qualities where the files have them.
    reference : str or path, optional
        FASTA file that CRAM files were written against.

    Returns
    -------
    Reads

    Raises
    ------
    EmptyInputError
        When a file holds no reads.
    TruncatedError, FormatError, InputError
        When a file cannot be read to its end.
    DuplicateNameError
        When two reads share a name.

    Examples
    --------
    >>> reads = read_fastx("reads.fastq.gz")  # doctest: +SKIP
    """
    builder = _ReadsBuilder(keep_qualities)
    parts = FastxParts(*paths, reference=reference)
    for _ in parts.fed(builder):
        pass
    reads = builder.take_closed()
    parts.check(reads)
    return reads


class FastxParts:
    """Files of reads, read as `read_fastx` does, but a part at a time, for who does not hold them all.

    Parameters
    ----------
    *paths, keep_qualities, reference
        As `read_fastx` takes them.
    part_bases : int
        Bases that are held at a time, `PART_BASES` by default; a longer read is held whole.
    """

    def __init__(
        self,
        *paths: str | os.PathLike[str],
        keep_qualities: bool = False,
        reference: str | os.PathLike[str] | None = None,
        part_bases: int | None = None,
    ) -> None:
        if not paths:
            raise EmptyInputError("no files of reads are given", remedy="Name at least one.")
        self._files = [os.fspath(path) for path in paths]
        self._reference = None if reference is None else os.fspath(reference)
        self._first_reads: list[int] = []
        self._keep_qualities = keep_qualities
        self._part_bases = part_bases or PART_BASES

    def __iter__(self) -> Iterator[Reads]:
        """Yield the reads in order, a part and somewhat more at a time.

        Reads of different parts are not compared: `check` does, when all parts have come.
        """
        builder = _ReadsBuilder(self._keep_qualities)
        for bases in self.fed(builder):
            if bases >= self._part_bases:
                yield builder.take_closed()
        yield builder.take_closed()

    def fed(self, builder: _ReadsBuilder) -> Iterator[int]:
        """Feed a builder with all files; yield how many bases it holds, now and then."""
        for path in self._files:
            self._first_reads.append(builder.reads)
            for block in _text_blocks(path, self._reference):
                builder.feed(block, path)
                yield builder.bases
            builder.end_file(path)

    def check(self, reads: Reads) -> None:
        """Check names and lengths of all reads, which come without their bases if need be.

        Raises
        ------
        DuplicateNameError, FormatError
            See `read_fastx`.
        """
        first_reads = np.array(self._first_reads)
        _check_lengths(reads, self._files, first_reads)
        _check_names(reads, self._files, first_reads)


def _text_blocks(path: str, reference: str | None) -> Iterator[bytes]:
    with open_input(path) as file:
        if content_of(file) is Content.ALIGNMENTS:
            from overlapper.io.alignments import fastq_blocks

            yield from fastq_blocks(file, path, reference)
        else:
            yield from unpacked_blocks(file, path)


def _empty_columns() -> packing.Columns:
    from overlapper.kernels.cpu import packing

    return packing.Columns(
        lengths=np.zeros(_FIRST_ROOM, np.int64),
        words=np.zeros(_FIRST_ROOM, np.uint64),
        unknown_start=np.zeros(_FIRST_ROOM, np.int32),
        unknown_end=np.zeros(_FIRST_ROOM, np.int32),
        unknown_offsets=np.zeros(_FIRST_ROOM + 1, np.int64),
        name_bytes=np.zeros(_FIRST_ROOM, np.uint8),
        name_offsets=np.zeros(_FIRST_ROOM + 1, np.int64),
        qualities=np.zeros(0, np.uint8),
        quality_offsets=np.zeros(_FIRST_ROOM + 1, np.int64),
    )


class _ReadsBuilder:
    """Grows the columns of `Reads` from blocks of text."""

    def __init__(self, keep_qualities: bool) -> None:
        from overlapper.kernels.cpu import packing

        self._kernel = packing
        self._keep_qualities = keep_qualities
        self._state = packing.new_state()
        self._taken = 0
        self._file_start = 0
        self._columns = _empty_columns()

    @property
    def reads(self) -> int:
        """Reads so far, those taken included."""
        return self._taken + self._held

    @property
    def bases(self) -> int:
        """About how many bases are held."""
        return int(self._state[self._kernel.WORDS]) * BASES_PER_WORD

    @property
    def _held(self) -> int:
        return int(self._state[self._kernel.READS])

    def feed(self, block: bytes, path: str) -> None:
        """Parse a block."""
        text = np.frombuffer(block, np.uint8)
        position = 0
        while position < len(text):
            self._make_room(len(text) - position)
            position = self._kernel.parse(text, position, self._state, self._columns, self._keep_qualities)
            problem = int(self._state[self._kernel.PROBLEM])
            if problem not in (self._kernel.NONE, self._kernel.FULL):
                raise self._error(problem, text[position], path)

    def end_file(self, path: str) -> None:
        """Close the last record of a file."""
        kernel, state = self._kernel, self._state
        place, bases = state[kernel.PLACE], state[kernel.LENGTH]
        if place != kernel.BETWEEN:
            if state[kernel.FASTQ]:
                complete = (place == kernel.QUALITY and state[kernel.SCORED] == bases) or (
                    place == kernel.PLUS and bases == 0
                )
            else:
                complete = state[kernel.NAME_LENGTH] > 0
            if not complete:
                raise TruncatedError(
                    "the file ends in the middle of this record",
                    file=path,
                    record=self._record(),
                    remedy="Copy or download the file again, or leave the record out.",
                )
            kernel.close_read(state, self._columns)
        if self.reads == self._file_start:
            raise EmptyInputError("holds no reads", file=path, remedy="Check what wrote it, or leave it out.")
        self._file_start = self.reads

    def take_closed(self) -> Reads:
        """Return the complete reads that are held; what there is of an open one is kept."""
        kernel, state, columns = self._kernel, self._state, self._columns
        n = self._held
        for name in ("lengths", "unknown_offsets", "name_offsets", "quality_offsets"):
            resize(getattr(columns, name), n + (name != "lengths"))
        word_offsets = np.zeros(n + 1, np.int64)
        np.cumsum(words_for(columns.lengths), out=word_offsets[1:])
        self._columns = _empty_columns()
        for names, field, end in (
            (["words"], kernel.WORDS, word_offsets[n]),
            (["unknown_start", "unknown_end"], kernel.RUNS, columns.unknown_offsets[n]),
            (["name_bytes"], kernel.NAME_BYTES, columns.name_offsets[n]),
            (["qualities"], kernel.QUALITIES, columns.quality_offsets[n]),
        ):
            for name in names:
                column, kept = getattr(columns, name), getattr(self._columns, name)
                grow(kept, state[field] - end)
                kept[: state[field] - end] = column[end : state[field]]
                resize(column, end)
            state[field] -= end
        self._taken += n
        state[kernel.READS] = 0
        return Reads(
            lengths=columns.lengths,
            words=columns.words,
            word_offsets=word_offsets,
            unknown_start=columns.unknown_start,
            unknown_end=columns.unknown_end,
            unknown_offsets=columns.unknown_offsets,
            name_bytes=columns.name_bytes,
            name_offsets=columns.name_offsets,
            qualities=columns.qualities if self._keep_qualities else None,
            quality_offsets=columns.quality_offsets if self._keep_qualities else None,
        )

    def _make_room(self, size: int) -> None:
        """See to it that `size` more bytes of text, and one more read, find room (see `packing.Columns`)."""
        kernel, state, columns = self._kernel, self._state, self._columns
        if self._held == len(columns.lengths):
            reads = self._held + max(_FIRST_ROOM, self._held // 4)
            resize(columns.lengths, reads)
            for offsets in (columns.unknown_offsets, columns.name_offsets, columns.quality_offsets):
                resize(offsets, reads + 1)
        grow(columns.words, state[kernel.WORDS] + size // 32 + 2 + len(columns.lengths) - self._held)
        grow(columns.unknown_start, state[kernel.RUNS] + size // 2 + 1)
        grow(columns.unknown_end, state[kernel.RUNS] + size // 2 + 1)
        grow(columns.name_bytes, state[kernel.NAME_BYTES] + size)
        if self._keep_qualities:
            grow(columns.qualities, state[kernel.QUALITIES] + size)

    def _record(self) -> str:
        number = self.reads - self._file_start + 1
        end = int(self._state[self._kernel.NAME_BYTES])
        start = end - int(self._state[self._kernel.NAME_LENGTH])
        name = self._columns.name_bytes[start:end].tobytes().decode(errors="replace")
        return f"{number} ({name})" if name else str(number)

    def _error(self, problem: int, byte: int, path: str) -> InputError:
        kernel = self._kernel
        letter = repr(chr(byte)) if 32 < byte < 127 else f"byte {byte}"
        if problem == kernel.NO_HEADER and self.reads == self._file_start:
            return FormatError(
                f"starts with {letter}: neither FASTA, FASTQ, SAM, BAM nor CRAM, plain or gzip",
                file=path,
                remedy="Give a file of reads; unpack other compressions than gzip.",
            )
        what = {
            kernel.NO_HEADER: f"starts with {letter}, expected > or @ (is the record before it complete?)",
            kernel.NO_NAME: "has no name",
            kernel.BAD_NAME: f"has {letter} in its name",
            kernel.BAD_LETTER: f"has {letter} among its bases, expected letters of nucleotides (IUPAC)",
            kernel.NO_PLUS: "has no + line before the next record starts",
            kernel.SHORT_QUALITY: "has fewer qualities than bases",
            kernel.LONG_QUALITY: "has more qualities than bases",
            kernel.BAD_QUALITY: f"has {letter} among its qualities, expected ! to ~",
        }[problem]
        return FormatError(what, file=path, record=self._record(), remedy=_RECORD_REMEDY)


def _check_lengths(reads: Reads, files: list[str], first_reads: np.ndarray) -> None:
    if reads.lengths.max(initial=0) > LONGEST_READ:
        file, record = _place(int(reads.lengths.argmax()), files, first_reads)
        raise FormatError(
            f"has {reads.lengths.max()} bases, expected at most {LONGEST_READ} (positions are 32-bit)",
            file=file,
            record=str(record),
            remedy="Is it a read? If so, cut it.",
        )


def _check_names(reads: Reads, files: list[str], first_reads: np.ndarray) -> None:
    if len(reads.name_bytes) and reads.name_bytes.max() > 127:
        _check_utf8(reads, files, first_reads)
    pair = _equal_names(reads)
    if pair is not None:
        (file, record), (other_file, other_record) = (_place(i, files, first_reads) for i in pair)
        raise DuplicateNameError(
            f"has the name of record {record} in file {file}",
            file=other_file,
            record=f"{other_record} ({reads.name(pair[1])})",
            remedy="Rename one of them (seqkit rename does); if a file was given twice, give it once.",
        )


def _check_utf8(reads: Reads, files: list[str], first_reads: np.ndarray) -> None:
    for i in range(len(reads)):
        try:
            reads.name(i)
        except UnicodeDecodeError:
            file, record = _place(i, files, first_reads)
            raise FormatError(
                "has a name that is not UTF-8 text", file=file, record=str(record), remedy=_RECORD_REMEDY
            ) from None


def _place(read: int, files: list[str], first_reads: np.ndarray) -> tuple[str, int]:
    """Return the file of a read, and its number in it, from 1."""
    file = int(np.searchsorted(first_reads, read, side="right")) - 1
    return files[file], read - int(first_reads[file]) + 1


def _equal_names(reads: Reads) -> tuple[int, int] | None:
    """Return the first two reads that share a name."""
    from overlapper.kernels.cpu.packing import hash_names

    hashes = hash_names(reads.name_bytes, reads.name_offsets)
    order = np.argsort(hashes, kind="stable")
    same = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]])
    pairs = [(int(order[i]), int(order[i + 1])) for i in same]
    equal = [(b, a) for a, b in pairs if reads.name(a) == reads.name(b)]
    if not equal:
        return None
    second, first = min(equal)
    return first, second
