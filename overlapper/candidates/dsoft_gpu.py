"""D-SOFT on GPUs: each GPU holds a copy of the seed index, and finds the candidates of blocks of queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import numpy as np

from overlapper.candidates.dsoft import DsoftFinder
from overlapper.errors import DeviceError
from overlapper.gpu.gpus import Gpus, Slot
from overlapper.runtime.threads import cut_evenly
from overlapper.sketch.seed_index import SeedIndex
from overlapper.sketch.seed_lists_gpu import DeviceSeedLists, IndexCopies
from overlapper.tables import Candidates
from overlapper.tables.ragged import offsets_of

if TYPE_CHECKING:
    from overlapper.kernels.candidates.cuda.dsoft import Found
    from overlapper.kernels.candidates.cuda.hits import Index
    from overlapper.kernels.common.cuda.walks import DeviceReads
    from overlapper.runtime.gpu.memory import Arena, DeviceArray

KERNELS = ("candidates", "common.radix_sort", "common.scan")
"""Prefixes of the names of the kernels that this module needs."""
_BLOCKS_A_SLOT = 4
"""Least blocks for each slot, if they have hits enough. A launch costs the same for a block of any size, and
one of X-drop lasts as long as its longest extension."""
_LEAST_HITS = 1 << 21
"""Least hits of a block: with fewer, launches take longer than the kernels."""

Made = TypeVar("Made", covariant=True)


class Make(Protocol[Made]):
    """A step that works on the candidates of D-SOFT while they are on a GPU."""

    def __call__(self, found: Found | None, there: DeviceSeedIndex, arena: Arena) -> Made:
        """Process candidates in this arena; ``found`` is None if there are none."""


class DeviceSeedIndex(NamedTuple):
    """The seed index on a GPU."""

    arena: Arena
    """The device memory that holds the index."""
    seeds: Index
    seeding: tuple[DeviceArray, ...]
    """The columns of `Seeding` that `overlapper.kernels.chain.cuda.chain.SeededReads` takes."""
    reads: DeviceReads


class DsoftOnGpus:
    """Finds candidates on GPUs.

    Parameters
    ----------
    gpus : Gpus
        Those that hold the reads also get the index, where it fits.
    finder : DsoftFinder
        Finds on the CPU what does not fit any GPU.
    block_hits : int
        Most hits of a block of queries, as estimated; each takes some 80 bytes.
    """

    def __init__(self, gpus: Gpus, finder: DsoftFinder, block_hits: int) -> None:
        self._gpus, self._finder, self._block_hits = gpus, finder, block_hits
        self._fewest = _BLOCKS_A_SLOT * gpus.slots
        self._columns = _on_gpus(finder.index)
        self._longest = 2 * int(finder.lengths.max(initial=0))

    def blocks(self, start: int, stop: int) -> np.ndarray:
        """Return the bounds of blocks of the queries ``[start, stop)``."""
        lengths = self._finder.lengths[start:stop]
        most, least = (
            int(hits / max(self._finder.hits_per_base(), 1e-9)) for hits in (self._block_hits, _LEAST_HITS)
        )
        share = max(least, int(lengths.sum()) // self._fewest)
        return start + cut_evenly(lengths, max(1, min(most, share)))

    def find(self, start: int, stop: int) -> Candidates:
        """Return the candidates of queries ``[start, stop)``, without hits."""
        from overlapper.kernels.candidates.cuda.dsoft import rows_of

        index, nothing = self._finder.index, np.empty(0, np.int32)
        parts = []
        for first, last, rows in self.made(start, stop, lambda found, there, arena: rows_of(found, arena)):
            if rows is None:
                parts.append(self._finder.find(first, last).without_hits())
            else:
                hit_counts = np.zeros(len(rows), np.int64)
                found = Candidates.of_rows(rows, hit_counts, nothing, nothing, index.kmer_length, None)
                parts.append(found.without_hits())
        return Candidates.concat(parts)

    def find_each(self, queries: np.ndarray) -> list[Candidates]:
        """Return the candidates, with hits, of each of a few queries (ascending), found in one pass."""
        from overlapper.kernels.candidates.cuda.dsoft import rows_of, seeds_of

        index = self._finder.index
        found, _ = self.work(
            0, len(self._finder.lengths),
            lambda found, there, arena: (rows_of(found, arena), *seeds_of(found, arena)), queries,
        )  # fmt: skip
        if found is None:
            return [self._finder.find(query, query + 1) for query in queries.tolist()]
        rows, counts, query_pos, target_pos = found
        ends = offsets_of(counts)

        def part(first: int, stop: int) -> Candidates:
            hits = slice(ends[first], ends[stop])
            return Candidates.of_rows(
                rows[first:stop], counts[first:stop], query_pos[hits], target_pos[hits],
                index.kmer_length, index.seeding,
            )  # fmt: skip

        bounds = np.column_stack([np.searchsorted(rows[:, 0], queries + after) for after in range(2)])
        return [part(first, stop) for first, stop in bounds.tolist()]

    def made(self, start: int, stop: int, make: Make[Made]) -> Iterator[tuple[int, int, Made | None]]:
        """Yield the results of `work`, with the range of queries halved until it fits the memory of a GPU.

        Yields
        ------
        tuple
            Queries ``[first, last)``, in order, and the result for their candidates; None where the CPU has
            to find these.
        """
        made, fits = self.work(start, stop, make)
        if made is not None or not fits or stop - start < 2:
            yield start, stop, made
            return
        middle = (start + stop) // 2
        yield from self.made(start, middle, make)
        yield from self.made(middle, stop, make)

    def work(
        self,
        start: int,
        stop: int,
        make: Make[Made],
        among: np.ndarray | None = None,
    ) -> tuple[Made | None, bool]:
        """Find the candidates of queries on a GPU, and process them there.

        Parameters
        ----------
        make : callable
            See `Make`; its result is returned.
        among : ndarray of int64, optional
            The queries to find candidates of, ascending; all by default.

        Returns
        -------
        made : object or None
            None if the queries do not fit the arena, or the index does not fit the GPU.
        fits : bool
            Whether the index fits the GPU.
        """
        from overlapper.kernels.candidates.cuda.dsoft import find_candidates
        from overlapper.kernels.candidates.cuda.hits import of_queries

        finder, bands = self._finder, self._finder.bands()
        # Blocks have about the same size, so that first come, first served keeps their order.
        with self._gpus.slot() as slot, slot.working():
            there, arena = self._on(slot), slot.arena
            if there is None:
                return None, False
            try:
                seeds = there.seeds if among is None else of_queries(there.seeds, among, arena)
                found = find_candidates(seeds, start, stop, finder.first_target, self._longest, bands, arena)
                return make(found, there, arena), True
            except DeviceError:
                return None, True

    def _on(self, slot: Slot) -> DeviceSeedIndex | None:
        """Return the index on the GPU of a slot; None if it does not fit."""
        from overlapper.kernels.candidates.cuda.hits import Index

        columns = self._columns.on(slot)
        if columns is None:
            return None
        list_starts = self._finder.index.list_starts
        seeds = Index(columns.occurrences, columns.by_read, list_starts, slot.reads.lengths)
        seeding = columns.sketched, columns.marks, slot.reads.word_offsets, columns.ranks, columns.starts
        return DeviceSeedIndex(columns.arena, seeds, seeding, slot.reads)


def _on_gpus(index: SeedIndex) -> IndexCopies:
    """Return an object that copies an index to GPUs on demand, from the GPU that made it or from the host."""
    lists, seeding = index.lists, index.seeding
    if isinstance(lists, DeviceSeedLists):
        return lists.on_gpus
    occurrences, n = lists.occurrences, int(index.list_starts[-1])
    others = seeding.sketched, seeding.marks, seeding.ranks, seeding.starts
    numbers_type = lists.numbers(0, 0).dtype

    def list_numbers(first: int, part: np.ndarray) -> None:
        part[:] = lists.numbers(first, first + len(part))

    def copy(arena: Arena) -> list[DeviceArray]:
        # A part at a time, so that the host never holds all of them widened and listed.
        widened = arena.written(occurrences.room, np.uint64, occurrences.widen)
        numbers = arena.written(n, numbers_type, list_numbers)
        return [widened, numbers, *map(arena.upload, others)]

    size = 8 * occurrences.room + numbers_type.itemsize * n + sum(column.nbytes for column in others)
    return IndexCopies(size if n else 0, copy)
