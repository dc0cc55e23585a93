"""Reads whose long runs of one base are cut short, so that they are equal if nothing else differs.

How long a run of many equal bases is, reads tell badly, and a vote of corrected reads may leave it at two
lengths. Of every run the first ``longest`` bases on the read's forward strand are kept. Reads with unknown
bases stay as they are.
"""

from __future__ import annotations

import dataclasses
from typing import Self

import numpy as np

from overlapper.runtime.threads import even_ranges, for_each, map_in_order
from overlapper.tables import Overlaps, Reads
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import words_for

_BLOCK_BASES = 1 << 24
_BLOCK_OVERLAPS = 1 << 16


@dataclasses.dataclass(frozen=True)
class LongRuns:
    """The bases that are cut from runs of reads, and the way back from cut reads to the reads themselves."""

    surplus: np.ndarray
    """int64, shape (n, 3); read, and start and end of what is cut from it, half open; by read and start."""
    longest: int
    """Bases that are kept of a run."""
    lengths: np.ndarray
    """int64, shape (reads,); of the reads themselves."""
    ends: np.ndarray
    """int64, shape (reads, 2); how many equal bases each read begins and ends with."""

    @classmethod
    def of(cls, reads: Reads, longest: int, threads: int) -> Self:
        """Find the bases of runs beyond their first ones.

        Parameters
        ----------
        reads : Reads
        longest : int
            Bases that are kept of a run, at least 1.
        threads : int
            Changes nothing but the time.
        """
        from overlapper.kernels.seeds.long_runs import find_surplus, runs_at_ends

        def of_block(block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
            some = reads.rows(*block)
            lengths = np.where(np.diff(some.unknown_offsets) == 0, some.lengths, 0)
            surplus = find_surplus(some.words, some.word_offsets, lengths, longest)
            return surplus + np.array([block[0], 0, 0]), runs_at_ends(some.words, some.word_offsets, lengths)

        blocks = map_in_order(of_block, even_ranges(reads.lengths, _BLOCK_BASES), threads)
        none = np.empty((0, 3), np.int64), np.empty((0, 2), np.int64)
        surplus, ends = map(np.concatenate, zip(none, *blocks, strict=True))
        return cls(surplus, longest, reads.lengths, ends)

    def cut(self, reads: Reads, first: int, threads: int) -> Reads:
        """Return reads without the surplus of their runs, without names and qualities.

        Parameters
        ----------
        reads : Reads
            Successive ones of those whose runs these are.
        first : int
            Number of the first of them.
        threads : int
            Changes nothing but the time.
        """
        blocks = map_in_order(
            lambda block: self._cut(reads.rows(*block), first + block[0]),
            even_ranges(reads.lengths, _BLOCK_BASES),
            threads,
        )
        return Reads.concat([reads.rows(0, 0).bases_alone(), *blocks], threads)

    def _cut(self, reads: Reads, first: int) -> Reads:
        from overlapper.kernels.seeds.long_runs import without_surplus

        low, high = np.searchsorted(self.surplus[:, 0], [first, first + len(reads)])
        surplus = self.surplus[low:high] - np.array([first, 0, 0])
        missing = np.bincount(surplus[:, 0], surplus[:, 2] - surplus[:, 1], len(reads)).astype(np.int64)
        lengths = reads.lengths - missing
        word_offsets = offsets_of(words_for(lengths))
        words = np.zeros(word_offsets[-1], np.uint64)
        without_surplus(reads.words, reads.word_offsets, reads.lengths, surplus, words, word_offsets)
        return dataclasses.replace(
            reads.bases_alone(), lengths=lengths, words=words, word_offsets=word_offsets
        )

    def restore(self, overlaps: Overlaps, threads: int) -> Overlaps:
        """Convert the intervals of overlaps from cut reads to the reads themselves.

        What ends with a run that was cut, or starts behind it, ends or starts behind the whole run. But where
        one read ends within a run of the other, which goes on, the overlap has as many bases of the run on
        both, or all that there are.

        Parameters
        ----------
        overlaps : Overlaps
        threads : int
            Changes nothing but the time.
        """
        from overlapper.kernels.seeds.long_runs import CutRuns, restore_intervals

        read, start, end = self.surplus.T
        missing = offsets_of(end - start)
        first = np.searchsorted(read, np.arange(len(self.lengths) + 1))
        at = start - missing[:-1] + missing[np.searchsorted(read, read)]
        runs = CutRuns(self.surplus, self.longest, self.lengths, self.ends, first, at, missing)
        on_query = np.stack([overlaps.q_start, overlaps.q_end], axis=1)
        on_target = np.stack([overlaps.t_start, overlaps.t_end], axis=1)

        def restore(i: int) -> None:
            some = slice(i, i + _BLOCK_OVERLAPS)
            of = overlaps.query[some], overlaps.target[some], overlaps.reverse[some]
            restore_intervals(*of, on_query[some], on_target[some], runs)

        for_each(restore, range(0, len(overlaps), _BLOCK_OVERLAPS), threads)
        return overlaps.placed(on_query, on_target)
