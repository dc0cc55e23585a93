"""The occurrences of a seed index, and their numbers by read, which are listed in parts.

The numbers of all occurrences would take almost as much memory as the occurrences. Queries are processed in
order, so that a part is listed when it is first asked for, in one pass over all occurrences.
"""

from __future__ import annotations

import threading
from typing import NamedTuple, Protocol

import numpy as np

from overlapper.runtime.threads import cut_evenly, for_each
from overlapper.sketch.occurrences import Occurrences
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import BASES_PER_WORD
from overlapper.tables.seeding import WORDS_PER_RANK, Seeding

LISTED_TOGETHER, LISTED_PARTS = 1 << 24, 16
"""A part has this many numbers, or one in this many of all, whichever is more."""
PARTS_KEPT = 2
"""Parts that are kept: while some threads go on to the next one, others still need the last."""


class SeedLists(Protocol):
    """The occurrences of an index, in memory of the host or of a GPU."""

    @property
    def occurrences(self) -> Occurrences:
        """Occurrences, in memory of the host."""

    def numbers(self, start: int, stop: int) -> np.ndarray:
        """Return the numbers (uint32 or int64) of occurrences ``[start, stop)`` by read and position.

        The last occurrence of a hash, which has no hits with later ones, has a number beyond all others.
        """

    def hits(self, step: int) -> int:
        """Count the hits of every ``step``-th occurrence with later ones of its hash."""


class WholeLists(NamedTuple):
    """`SeedLists` with all numbers in memory."""

    occurrences: Occurrences
    by_read: np.ndarray
    """uint32 or int64; the numbers."""

    def numbers(self, start: int, stop: int) -> np.ndarray:
        """As that of `SeedLists`."""
        return self.by_read[start:stop]

    def hits(self, step: int) -> int:
        """As that of `SeedLists`."""
        return self.occurrences.hits(step)


class HostSeedLists:
    """`SeedLists` with numbers listed in parts, on the host.

    Parameters
    ----------
    occurrences : Occurrences
    word_offsets : ndarray of int64, shape (reads + 1,)
        Column of the read table.
    threads : int
        Threads that list a part together.

    Attributes
    ----------
    occurrences : Occurrences
    marks : ndarray of uint32, shape (words,)
        Places of the occurrences: a bit for each base of the reads, one item for each word.
    """

    def __init__(self, occurrences: Occurrences, word_offsets: np.ndarray, threads: int) -> None:
        self.occurrences, self._word_offsets, self._threads = occurrences, word_offsets, threads
        of_blocks = occurrences.per_block.sum(axis=0)
        self._block_starts = offsets_of(of_blocks)
        n = int(self._block_starts[-1])
        self._blocks = cut_evenly(of_blocks, max(LISTED_TOGETHER, n // LISTED_PARTS))
        self._bounds = self._block_starts[self._blocks]
        self._type = np.uint32 if occurrences.room < 1 << 32 else np.int64
        self._parts: dict[int, np.ndarray] = {}
        self._listing = threading.Lock()
        self.marks = np.zeros(int(word_offsets[-1]), np.uint32)
        # In reverse, so that the first parts, which are needed first, are kept.
        for part in reversed(range(len(self._blocks) - 1)):
            self._part(part)

    def seeding(self, sketched: np.ndarray) -> Seeding:
        """Return the places of the occurrences, counted; ``sketched`` is as in `Seeding`."""
        from overlapper.kernels.seeds.seed_marks import count_marks

        ranks = np.empty(len(self.marks) // WORDS_PER_RANK + 1, np.uint32)
        starts = np.empty(len(self._word_offsets), np.int64)
        count_marks(self.marks, self._word_offsets, ranks, starts)
        return Seeding.counted(sketched, self.marks, self._word_offsets, ranks, starts)

    def numbers(self, start: int, stop: int) -> np.ndarray:
        """See `SeedLists`; may be called from several threads."""
        first = max(0, int(np.searchsorted(self._bounds, start, side="right")) - 1)
        last = int(np.searchsorted(self._bounds, stop))
        if last - first == 1:
            return self._part(first)[start - self._bounds[first] : stop - self._bounds[first]]
        numbers = np.empty(stop - start, self._type)
        for part in range(first, last):
            begin, end = max(start, self._bounds[part]), min(stop, self._bounds[part + 1])
            within = self._part(part)[begin - self._bounds[part] : end - self._bounds[part]]
            numbers[begin - start : end - start] = within
        return numbers

    def hits(self, step: int) -> int:
        """As that of `SeedLists`."""
        return self.occurrences.hits(step)

    def _part(self, part: int) -> np.ndarray:
        """Return the numbers of a part."""
        with self._listing:
            if part not in self._parts:
                if len(self._parts) == PARTS_KEPT:
                    del self._parts[next(iter(self._parts))]
                self._parts[part] = self._list(*self._blocks[part : part + 2].tolist())
            return self._parts[part]

    def _list(self, first: int, last: int) -> np.ndarray:
        """List the numbers of occurrences in blocks ``[first, last)``, by read, and mark their bases."""
        from overlapper.kernels.seeds.seed_lists import list_by_block, sort_block

        occurrences, starts = self.occurrences, self._block_starts
        per_block, words = occurrences.per_block, (1 << occurrences.block_bits) // BASES_PER_WORD
        start, n = int(starts[first]), int(starts[last] - starts[first])
        first_read = int(np.searchsorted(self._word_offsets, first * words, side="right")) - 1
        last_read = int(np.searchsorted(self._word_offsets, last * words))
        goes_on = np.zeros(len(starts) - 1, np.int64)
        goes_on[first:last] = 1
        next_free = starts[:-1] - start + np.cumsum(per_block, axis=0) - per_block
        next_free[:, goes_on == 0] = n
        # Occurrences in other blocks all go to one more place.
        numbers, bases = np.empty(n + 1, self._type), np.empty(n + 1, np.int32)

        def enter(stretch: int) -> None:
            list_by_block(
                *occurrences.columns, *occurrences.stretches[stretch], self._word_offsets, first_read,
                last_read, occurrences.block_bits, next_free[stretch], goes_on, numbers, bases,
            )  # fmt: skip

        def sort(block: int) -> None:
            own = slice(int(starts[block]) - start, int(starts[block + 1]) - start)
            sort_block(numbers[own], bases[own], self.marks[block * words : (block + 1) * words])

        for_each(enter, range(len(occurrences.stretches)), self._threads)
        for_each(sort, range(first, last), self._threads)
        return numbers[:n]
