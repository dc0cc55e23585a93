"""The read table: packed bases, lengths, unknown runs, names and qualities."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from overlapper.errors import ParameterError
from overlapper.runtime.messages import counted
from overlapper.tables.base import Table, column, offsets, ragged
from overlapper.tables.ragged import offsets_of

BASES_PER_WORD = 32
UNKNOWN = 4
"""Code of a base that is not one of ACGT, in unpacked sequences only."""

_LETTER_OF_CODE = b"ACGTN".ljust(256)
_BYTES = np.arange(256, dtype=np.uint32)
_CODES_OF_BYTE = (_BYTES | _BYTES << 6 | _BYTES << 12 | _BYTES << 18) & 0x03030303
"""The codes of the four bases that a byte of a word holds, one in each byte."""
CODE_OF_BYTE = np.full(256, UNKNOWN, np.uint8)
"""Code of a letter: A0 C1 G2 T3 (U as T), either case; everything else is `UNKNOWN`."""
for _code, _letters in enumerate((b"Aa", b"Cc", b"Gg", b"TtUu")):
    CODE_OF_BYTE[np.frombuffer(_letters, np.uint8)] = _code
_CODE_TABLE = CODE_OF_BYTE.tobytes()


class Read(NamedTuple):
    """One read of a table."""

    name: str
    sequence: str
    """`name`, `sequence`: the sequence is in upper case, N where a base is not ACGT."""
    qualities: np.ndarray | None
    """uint8, shape (bases,); Phred qualities; None where the read has none."""

    def __repr__(self) -> str:
        bases = f"{self.sequence[:20]}..." if len(self.sequence) > 20 else self.sequence
        qualities = "no qualities" if self.qualities is None else "qualities"
        return f"Read({self.name!r}, {len(self.sequence):,} bases: {bases}, {qualities})"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Reads(Table):
    """A set of reads; ``reads[3]`` is a `Read`, ``reads[:10]`` a smaller set.

    Attributes
    ----------
    lengths : ndarray of int64, shape (n,)
        Bases of each read.
    words : ndarray of uint64
        Bases packed two bits each (A0 C1 G2 T3): base ``i`` of a read is in bits ``2 * (i % 32)`` and up of
        its word ``i // 32``. Every read starts on a word boundary. Unused bits are 0, and so are bases that
        are not ACGT.
    word_offsets : ndarray of int64, shape (n + 1,)
        Where the words of each read start.
    unknown_start, unknown_end : ndarray of int32
        Runs of bases that are not ACGT, half open, ascending within a read.
    unknown_offsets : ndarray of int64, shape (n + 1,)
        Where the runs of each read start.
    name_bytes : ndarray of uint8
        UTF-8 names, one after the other.
    name_offsets : ndarray of int64, shape (n + 1,)
        Where each name starts.
    qualities : ndarray of uint8, optional
        Phred qualities (not ASCII), one a base.
    quality_offsets : ndarray of int64, shape (n + 1,), optional
        Where the qualities of each read start; a read without qualities has none.
    tag_bytes : ndarray of uint8, optional
        What records say of reads besides, as text (`overlapper.io.tags`).
    tag_offsets : ndarray of int64, shape (n + 1,), optional
        Where the tags of each read start.
    letters : ndarray of uint8, optional
        What stands for the bases that are not ACGT, in upper case, one after the other.
    letter_offsets : ndarray of int64, shape (n + 1,), optional
        Where the letters of each read start.
    """

    lengths: np.ndarray = column("i8")
    words: np.ndarray = ragged("u8", by="word_offsets")
    word_offsets: np.ndarray = offsets()
    unknown_start: np.ndarray = ragged("i4", by="unknown_offsets")
    unknown_end: np.ndarray = ragged("i4", by="unknown_offsets")
    unknown_offsets: np.ndarray = offsets()
    name_bytes: np.ndarray = ragged("u1", by="name_offsets")
    name_offsets: np.ndarray = offsets()
    qualities: np.ndarray | None = ragged("u1", by="quality_offsets")
    quality_offsets: np.ndarray | None = offsets(optional=True)
    tag_bytes: np.ndarray | None = ragged("u1", by="tag_offsets")
    tag_offsets: np.ndarray | None = offsets(optional=True)
    letters: np.ndarray | None = ragged("u1", by="letter_offsets")
    letter_offsets: np.ndarray | None = offsets(optional=True)

    @classmethod
    def from_sequences(cls, names: Iterable[str], sequences: Iterable[str]) -> Self:
        """Build a table from text; for whole files use `overlapper.read_fastx`, which is faster.

        Parameters
        ----------
        names : iterable of str
        sequences : iterable of str
            Letters of either case; everything but ACGTU is an unknown base.

        Raises
        ------
        ParameterError
            When there are not as many names as sequences.

        Examples
        --------
        >>> reads = Reads.from_sequences(["a", "b"], ["ACGTN", "GG"])
        >>> reads.lengths
        array([5, 2])
        >>> reads.sequence(0)
        'ACGTN'
        """
        codes = [np.frombuffer(s.encode().translate(_CODE_TABLE), np.uint8) for s in sequences]
        packed = [pack(c) for c in codes]
        runs = [unknown_runs(c) for c in codes]
        encoded = [np.frombuffer(name.encode(), np.uint8) for name in names]
        if len(encoded) != len(codes):
            raise ParameterError(f"{len(encoded)} names for {len(codes)} sequences")
        return cls(
            lengths=np.array([len(c) for c in codes], np.int64),
            words=_join(packed, np.uint64),
            word_offsets=_starts_of(packed),
            unknown_start=_join([r[0] for r in runs], np.int32),
            unknown_end=_join([r[1] for r in runs], np.int32),
            unknown_offsets=_starts_of([r[0] for r in runs]),
            name_bytes=_join(encoded, np.uint8),
            name_offsets=_starts_of(encoded),
        )

    @classmethod
    def without_bases(cls, names: Sequence[str], lengths: Sequence[int] | np.ndarray) -> Self:
        """Build a table of names and lengths alone, for code that needs no bases."""
        table = cls.from_sequences(names, [""] * len(names))
        return dataclasses.replace(table, lengths=np.asarray(lengths, np.int64))

    @classmethod
    def without_names(
        cls,
        *columns: np.ndarray,
        qualities: np.ndarray | None = None,
        quality_offsets: np.ndarray | None = None,
    ) -> Self:
        """Build a table of all columns before the names, in their order, for code that needs no names."""
        no_names = np.empty(0, np.uint8), np.zeros(len(columns[0]) + 1, np.int64)
        values: list[Any] = [*columns, *no_names, qualities, quality_offsets]
        return cls(*values)

    def heads(self) -> Self:
        """Return names and lengths alone (see `without_bases`), to be kept when the bases are freed."""
        none, no_runs = np.zeros_like(self.name_offsets), np.empty(0, np.int32)
        return type(self)(
            self.lengths, np.empty(0, np.uint64), none, no_runs, no_runs, none,
            self.name_bytes, self.name_offsets,
        )  # fmt: skip

    def bases_alone(self) -> Self:
        """Return a view of the reads without names, qualities and tags."""
        return self.without_names(
            self.lengths, self.words, self.word_offsets, self.unknown_start, self.unknown_end,
            self.unknown_offsets,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"Reads({counted(len(self), 'read')}, {counted(self.total_bases, 'base')})"

    def __iter__(self) -> Iterator[Read]:
        return (Read(self.name(i), self.sequence(i), self.qualities_of(i)) for i in range(len(self)))

    @property
    def total_bases(self) -> int:
        """Bases of all reads together."""
        return int(self.lengths.sum())

    @property
    def names(self) -> list[str]:
        """All names."""
        return [self.name(i) for i in range(len(self))]

    def name(self, read: int) -> str:
        """Return the name of one read."""
        return self.name_bytes[self.name_offsets[read] : self.name_offsets[read + 1]].tobytes().decode()

    def codes(self, read: int) -> np.ndarray:
        """Return the bases of one read as uint8 codes, `UNKNOWN` where the base is not ACGT."""
        words = self.words[self.word_offsets[read] : self.word_offsets[read + 1]]
        codes = unpack(words, int(self.lengths[read]))
        for run in range(self.unknown_offsets[read], self.unknown_offsets[read + 1]):
            codes[self.unknown_start[run] : self.unknown_end[run]] = UNKNOWN
        return codes

    def sequence(self, read: int) -> str:
        """Return the bases of one read as upper-case text, N where the base is not ACGT."""
        return self.codes(read).tobytes().translate(_LETTER_OF_CODE).decode()

    def qualities_of(self, read: int) -> np.ndarray | None:
        """Return the Phred qualities of one read, or None."""
        if self.qualities is None or self.quality_offsets is None:
            return None
        values = self.qualities[self.quality_offsets[read] : self.quality_offsets[read + 1]]
        return values if len(values) == self.lengths[read] else None

    def tags_of(self, read: int) -> bytes:
        """Return the tags of one read, with tabs between them; nothing where they were not read."""
        if self.tag_bytes is None or self.tag_offsets is None:
            return b""
        return self.tag_bytes[self.tag_offsets[read] : self.tag_offsets[read + 1]].tobytes()

    def _plain_columns(self, reads: Reads | None, targets: Reads | None) -> dict[str, np.ndarray]:
        return {"name": np.array(self.names, object), "length": self.lengths}

    def validate(self) -> Self:
        """Check the columns against each other and return the table.

        Raises
        ------
        ParameterError
            When columns do not fit each other.
        """
        super().validate()
        if np.any(self.lengths < 0):
            raise ParameterError("Reads.lengths holds a negative length")
        if not np.array_equal(np.diff(self.word_offsets), words_for(self.lengths)):
            raise ParameterError("Reads.word_offsets does not give every read ceil(length / 32) words")
        return self


def content_order(lengths: np.ndarray, hashes: np.ndarray) -> np.ndarray:
    """Return reads by length, longest first, then by hash of their bases, then by number (int64)."""
    return np.lexsort((hashes, -lengths))


def words_for(lengths: np.ndarray) -> np.ndarray:
    """Return how many words hold reads of the given lengths."""
    return (lengths + (BASES_PER_WORD - 1)) // BASES_PER_WORD


def pack(codes: np.ndarray) -> np.ndarray:
    """Pack base codes two bits each; unknown bases become 0.

    Parameters
    ----------
    codes : ndarray of uint8, shape (n,)

    Returns
    -------
    ndarray of uint64, shape (ceil(n / 32),)
    """
    padded = np.zeros(-(-len(codes) // BASES_PER_WORD) * BASES_PER_WORD, np.uint8)
    padded[: len(codes)] = np.where(codes < UNKNOWN, codes, 0)
    four = padded.view(np.uint32)
    return (four | four >> 6 | four >> 12 | four >> 18).astype(np.uint8).view(np.uint64)


def unpack(words: np.ndarray, length: int) -> np.ndarray:
    """Return the first ``length`` base codes (uint8) of packed words."""
    return _CODES_OF_BYTE[words.view(np.uint8)].view(np.uint8)[:length]


def unknown_runs(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return starts and ends (int32, half open) of the runs of `UNKNOWN` codes."""
    unknown = codes == UNKNOWN
    if not unknown.any():
        return np.empty(0, np.int32), np.empty(0, np.int32)
    edges = np.diff(np.concatenate([[False], unknown, [False]]).astype(np.int8))
    return np.flatnonzero(edges == 1).astype(np.int32), np.flatnonzero(edges == -1).astype(np.int32)


def _join(parts: list[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate(parts) if parts else np.empty(0, dtype)


def _starts_of(parts: list[np.ndarray]) -> np.ndarray:
    return offsets_of(np.array([len(part) for part in parts], np.int64))
