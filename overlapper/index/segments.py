"""Segments: maximal runs of known bases of reads, on which all matching is done."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Self

import numpy as np

from overlapper.runtime.threads import even_ranges
from overlapper.tables.base import Table, column
from overlapper.tables.reads import BASES_PER_WORD, Reads

_BASES_A_BLOCK = 1 << 20


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Segments(Table):
    """Maximal runs of known bases, by read and start; none is empty."""

    reads: np.ndarray = column("i8")
    """int64, shape (m,); read that each segment lies on."""
    starts: np.ndarray = column("i8")
    """int64, shape (m,); its first base there."""
    lengths: np.ndarray = column("i8")
    """int64, shape (m,)."""
    packed_starts: np.ndarray = column("i8")
    """int64, shape (m,); number of its first base, counted through the packed words of all reads."""

    @classmethod
    def of(cls, reads: Reads, min_length: int = 1) -> Self:
        """Return the segments of reads, without those shorter than ``min_length``."""
        n = len(reads)
        runs = np.diff(reads.unknown_offsets)
        read = np.repeat(np.arange(n), runs + 1)
        first = reads.unknown_offsets[:-1] + np.arange(n)
        is_first, is_last = np.zeros(len(read), bool), np.zeros(len(read), bool)
        is_first[first], is_last[first + runs] = True, True
        start, end = np.zeros(len(read), np.int64), np.zeros(len(read), np.int64)
        start[~is_first] = reads.unknown_end
        end[~is_last], end[is_last] = reads.unknown_start, reads.lengths
        kept = end - start >= min_length
        source = reads.word_offsets[:-1][read] * BASES_PER_WORD + start
        return cls(read[kept], start[kept], (end - start)[kept], source[kept])

    def blocks(self) -> Iterator[Self]:
        """Yield blocks of successive segments, of about equally many bases."""
        for block in even_ranges(self.lengths, _BASES_A_BLOCK):
            yield self.rows(*block)
