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
        from overlapper.kernels.seeds.long_runs import find_surplus

        ranges = even_ranges(reads.lengths, _BLOCK_BASES)

        def of_block(block: tuple[int, int]) -> np.ndarray:
            some = reads.rows(*block)
            known = np.diff(some.unknown_offsets) == 0
            return find_surplus(some.words, some.word_offsets, np.where(known, some.lengths, 0), longest)

        blocks = map_in_order(of_block, ranges, threads)
        found = [block + np.array([first, 0, 0]) for (first, _), block in zip(ranges, blocks, strict=True)]
        return cls(np.concatenate([np.empty((0, 3), np.int64), *found]))

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

        What ends with a run that was cut, or starts behind it, ends or starts behind the whole run.

        Parameters
        ----------
        overlaps : Overlaps
        threads : int
            Changes nothing but the time.
        """
        from overlapper.kernels.seeds.long_runs import with_surplus

        read, start, end = self.surplus.T
        last = max(overlaps.query.max(initial=-1), overlaps.target.max(initial=-1))
        first_cut = np.searchsorted(read, np.arange(int(last) + 2))
        missing = offsets_of(end - start)
        cut_at = start - missing[:-1] + missing[np.searchsorted(read, read)]
        blocks = [slice(i, i + _BLOCK_OVERLAPS) for i in range(0, len(overlaps), _BLOCK_OVERLAPS)]

        def places(on: np.ndarray, place: np.ndarray) -> np.ndarray:
            found = np.empty(len(place), np.int32)
            for_each(
                lambda rows: with_surplus(on[rows], place[rows], first_cut, cut_at, missing, found[rows]),
                blocks,
                threads,
            )
            return found

        return overlaps.placed(places)
