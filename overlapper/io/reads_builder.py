"""The columns of a read table while they grow from blocks of text, as `overlapper.io.fastx` defines it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from overlapper.errors import EmptyInputError, FormatError, InputError, TruncatedError
from overlapper.tables import Reads
from overlapper.tables.growing import reserve, resize
from overlapper.tables.reads import BASES_PER_WORD, words_for

if TYPE_CHECKING:
    from overlapper.kernels.text import packing

RECORD_REMEDY = "Repair the record or leave it out."
_FIRST_ROOM = 1024
_OFFSETS = "unknown_offsets", "name_offsets", "quality_offsets", "comment_offsets", "letter_offsets"


def _empty_columns(text: int = 0) -> packing.Columns:
    """Return columns with room for some bytes of text; what of it is not used takes no memory."""
    from overlapper.kernels.text import packing

    return packing.Columns(
        lengths=np.zeros(_FIRST_ROOM, np.int64),
        words=np.empty(2 * _FIRST_ROOM + text // BASES_PER_WORD, np.uint64),
        unknown_start=np.empty(_FIRST_ROOM + text // 2, np.int32),
        unknown_end=np.empty(_FIRST_ROOM + text // 2, np.int32),
        unknown_offsets=np.zeros(_FIRST_ROOM + 1, np.int64),
        name_bytes=np.empty(_FIRST_ROOM + text, np.uint8),
        name_offsets=np.zeros(_FIRST_ROOM + 1, np.int64),
        qualities=np.zeros(0, np.uint8),
        quality_offsets=np.zeros(_FIRST_ROOM + 1, np.int64),
        comment_bytes=np.zeros(0, np.uint8),
        comment_offsets=np.zeros(_FIRST_ROOM + 1, np.int64),
        letters=np.zeros(0, np.uint8),
        letter_offsets=np.zeros(_FIRST_ROOM + 1, np.int64),
    )


class ReadsBuilder:
    """Grows the columns of `Reads` from blocks of text.

    Parameters
    ----------
    keep_qualities : bool
    keep_comments : bool
        The tags of the reads are then all that follows their names, to be chosen from (`overlapper.io.tags`).
    text : int
        Bytes of text that there is room for from the start: columns that grow are written to, which threads
        cannot do side by side.
    """

    def __init__(self, keep_qualities: bool, keep_comments: bool = False, text: int = 0) -> None:
        from overlapper.kernels.text import packing

        self._kernel = packing
        self._keep_qualities, self._keep_comments = keep_qualities, keep_comments
        self._state = packing.new_state()
        self._taken = 0
        self._file_start = 0
        self._columns = _empty_columns(text)

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

    def count(self, reads: int) -> None:
        """Count reads that are not parsed here, between files or before the first block of one."""
        self._taken += reads

    def feed(self, block: bytes, path: str) -> None:
        """Parse a block."""
        text = np.frombuffer(block, np.uint8)
        position = 0
        while position < len(text):
            self._make_room(len(text) - position)
            position = self._kernel.parse(
                text, position, self._state, self._columns, self._keep_qualities, self._keep_comments
            )
            problem = int(self._state[self._kernel.PROBLEM])
            if problem not in (self._kernel.NONE, self._kernel.FULL):
                raise self._error(problem, text[position], path)

    def end_file(self, path: str) -> None:
        """Close the last record of a file.

        Raises
        ------
        TruncatedError
            When the record is not complete.
        EmptyInputError
            When the file held no reads.
        """
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
        for name in ("lengths", *_OFFSETS):
            resize(getattr(columns, name), n + (name != "lengths"))
        word_offsets = np.zeros(n + 1, np.int64)
        np.cumsum(words_for(columns.lengths), out=word_offsets[1:])
        self._columns = _empty_columns()
        for names, field, end in (
            (["words"], kernel.WORDS, word_offsets[n]),
            (["unknown_start", "unknown_end"], kernel.RUNS, columns.unknown_offsets[n]),
            (["name_bytes"], kernel.NAME_BYTES, columns.name_offsets[n]),
            (["qualities"], kernel.QUALITIES, columns.quality_offsets[n]),
            (["comment_bytes"], kernel.COMMENT_BYTES, columns.comment_offsets[n]),
            (["letters"], kernel.LETTERS, columns.letter_offsets[n]),
        ):
            for name in names:
                column, kept = getattr(columns, name), getattr(self._columns, name)
                reserve(kept, state[field] - end)
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
            tag_bytes=columns.comment_bytes if self._keep_comments else None,
            tag_offsets=columns.comment_offsets if self._keep_comments else None,
            letters=columns.letters if self._keep_qualities else None,
            letter_offsets=columns.letter_offsets if self._keep_qualities else None,
        )

    def _make_room(self, size: int) -> None:
        """Make room for `size` more bytes of text and one more read (see `packing.Columns`)."""
        kernel, state, columns = self._kernel, self._state, self._columns
        if self._held == len(columns.lengths):
            reads = self._held + max(_FIRST_ROOM, self._held // 4)
            resize(columns.lengths, reads)
            for name in _OFFSETS:
                resize(getattr(columns, name), reads + 1)
        reserve(columns.words, state[kernel.WORDS] + size // 32 + 2 + len(columns.lengths) - self._held)
        reserve(columns.unknown_start, state[kernel.RUNS] + size // 2 + 1)
        reserve(columns.unknown_end, state[kernel.RUNS] + size // 2 + 1)
        reserve(columns.name_bytes, state[kernel.NAME_BYTES] + size)
        if self._keep_qualities:
            reserve(columns.qualities, state[kernel.QUALITIES] + size)
            reserve(columns.letters, state[kernel.LETTERS] + size)
        if self._keep_comments:
            reserve(columns.comment_bytes, state[kernel.COMMENT_BYTES] + size)

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
                f"starts with {letter}: neither FASTA, FASTQ, SAM, BAM nor CRAM, plain, gzip or zstd",
                file=path,
                remedy="Give a file of reads; unpack other compressions.",
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
        return FormatError(what, file=path, record=self._record(), remedy=RECORD_REMEDY)
