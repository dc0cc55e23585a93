"""The seeding table: places of the k-mers that seed in each read."""

from __future__ import annotations

import dataclasses
import functools
from typing import Self

import numpy as np

from overlapper.tables.base import Table, column, offsets, ragged
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import BASES_PER_WORD

WORDS_PER_RANK = 4
"""Items of marks for each rank: as many as a cache line holds."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Seeding(Table):
    """The seeding k-mers of each read: those that another place of the read set shares, repeats masked.

    What share of its k-mers seed tells how accurate a read is; where none seed, an overlap cannot show.

    Attributes
    ----------
    sketched : ndarray of int32, shape (reads,)
        k-mers of each read that were considered (its minimizers, say).
    marks : ndarray of uint32
        The first bases of the k-mers that seed: a bit for each base of the reads, those of a word of the
        reads in one item, the first base in the lowest bit.
    word_offsets : ndarray of int64, shape (reads + 1,)
        Where the words of each read start.
    """

    sketched: np.ndarray = column("i4")
    marks: np.ndarray = ragged("u4", by="word_offsets")
    word_offsets: np.ndarray = offsets()

    @classmethod
    def counted(
        cls,
        sketched: np.ndarray,
        marks: np.ndarray,
        word_offsets: np.ndarray,
        ranks: np.ndarray,
        starts: np.ndarray,
    ) -> Self:
        """Make a table of marks whose `ranks` and `starts` are already known."""
        table = cls(sketched, marks, word_offsets)
        vars(table)["_counted"] = ranks, starts
        return table

    @property
    def starts(self) -> np.ndarray:
        """Number of seeds before each read, and in all (int64, shape (reads + 1,))."""
        return self._counted[1]

    @property
    def ranks(self) -> np.ndarray:
        """Number of seeds before each `WORDS_PER_RANK` words of the reads, modulo 2^32 (uint32)."""
        return self._counted[0]

    @property
    def positions(self) -> np.ndarray:
        """First bases of the seeds, ascending within a read (int32); computed at each access.

        Those of each read start where `starts` says.
        """
        first_bases = np.repeat(BASES_PER_WORD * self.word_offsets[:-1], np.diff(self.starts))
        bits = np.unpackbits(self.marks.view(np.uint8), bitorder="little")
        return (np.flatnonzero(bits) - first_bases).astype(np.int32)

    @functools.cached_property
    def _counted(self) -> tuple[np.ndarray, np.ndarray]:
        ones = np.zeros(WORDS_PER_RANK * (len(self.marks) // WORDS_PER_RANK + 1), np.uint8)
        halves = _ones_of_halves()[self.marks.view(np.uint16)]
        np.add(halves[::2], halves[1::2], out=ones[: len(self.marks)])
        of_rank = ones.reshape(-1, WORDS_PER_RANK).sum(axis=1, dtype=np.uint8)
        before = offsets_of(of_rank)
        # A read starts within the words of a rank: those between them are counted one by one.
        rank, within = np.divmod(self.word_offsets, WORDS_PER_RANK)
        starts = before[rank]
        for word in range(WORDS_PER_RANK - 1):
            starts += np.where(within > word, ones[WORDS_PER_RANK * rank + word], 0)
        return before[:-1].astype(np.uint32), starts


@functools.cache
def _ones_of_halves() -> np.ndarray:
    """Return a table of the set bits of each 16-bit number (uint8), made when first needed."""
    numbers = np.arange(1 << 16, dtype=np.uint16).view(np.uint8)
    return np.unpackbits(numbers.reshape(-1, 2), axis=1).sum(axis=1, dtype=np.uint8)
