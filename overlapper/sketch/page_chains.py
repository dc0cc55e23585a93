"""The minimizers of reads, partitioned into buckets by the lowest bits of their hash, in chains of pages."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np

from overlapper.errors import ParameterError
from overlapper.params.stages import SketchParams
from overlapper.runtime.threads import cut_evenly, map_in_order
from overlapper.sketch.returnable_memory import ReturnableMemory
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import BASES_PER_WORD, words_for

BLOCK_BASES = 1 << 26
"""Most bases of a block, which is sketched at once. A block wastes half a page a bucket; and if its pages of
a range of buckets are smaller than a large page of the system, none goes back before all are free."""
ENTRIES_PER_BUCKET = 1 << 16
MAX_BUCKET_BITS = 16
RANGE_BITS = 5
"""Buckets are processed in ``2 ** RANGE_BITS`` ranges, or one by one if they are fewer."""
MINIMIZERS_TOGETHER = 1 << 26
"""About the most minimizers that are in pages at a time; larger sets take several passes over ranges of
buckets."""
PAGE_BYTES = 16
"""Bytes that a minimizer in pages takes, with what is grouped of them meanwhile."""

Load = Callable[[int, int], Reads]
"""``load(start, stop)`` returns reads ``[start, stop)`` of a set, in the form in which they are sketched."""


@dataclasses.dataclass(frozen=True)
class EntryLayout:
    """How hash and place share the 64 bits of an entry (`overlapper.kernels.seeds.seed_index`)."""

    bucket_bits: int
    base_bits: int
    rest_bits: int

    @classmethod
    def choose(cls, n_bases: int, sketch: SketchParams) -> Self:
        """Choose so many buckets that each is sorted within the cache, and that entries fit 64 bits.

        Parameters
        ----------
        n_bases : int
            Word-aligned bases of all reads.
        """
        k = sketch.kmer_length
        # In a tile, a sample of the reads may come before all of them, which doubles the places.
        base_bits = n_bases.bit_length() + 1
        wanted = (2 * n_bases // (sketch.window + 1) // ENTRIES_PER_BUCKET).bit_length()
        bucket_bits = max(min(max(wanted, 4), 12), 2 * k + base_bits + 1 - 64)
        if bucket_bits > MAX_BUCKET_BITS:
            raise ParameterError(
                f"kmer_length {k} is too long for {n_bases} bases of reads, "
                f"expected at most {(64 - 1 - base_bits + MAX_BUCKET_BITS) // 2}"
            )
        return cls(bucket_bits, base_bits, 2 * k - bucket_bits)

    @property
    def rest_low_bit(self) -> int:
        """Lowest bit of the rest of the hash, above base number and strand."""
        return self.base_bits + 1

    @property
    def n_buckets(self) -> int:
        """Number of buckets."""
        return 1 << self.bucket_bits

    @property
    def range_bits(self) -> int:
        """Buckets are processed in ``2 ** range_bits`` ranges."""
        return min(self.bucket_bits, RANGE_BITS)

    def passes(self, minimizers: int, memory: int | None = None) -> list[range]:
        """Return the ranges of each pass, given the expected number of minimizers and bytes for pages."""
        n, together = 1 << self.range_bits, MINIMIZERS_TOGETHER
        if memory is not None:
            together = min(together, memory // PAGE_BYTES)
        step = -(-n // min(n, -(-minimizers // max(1, together)) or 1))
        return [range(first, min(first + step, n)) for first in range(0, n, step)]

    @property
    def bucket_ranges(self) -> list[range]:
        """The ranges of buckets."""
        step = self.n_buckets >> self.range_bits
        return [range(first, first + step) for first in range(0, self.n_buckets, step)]


def expected_minimizers(bases: int, window: int) -> int:
    """Estimate the number of minimizers of reads: two in w + 1 bases."""
    return 2 * bases // (window + 1)


def pages_for(bases: int, sketch: SketchParams, layout: EntryLayout, ranges: int) -> tuple[int, int]:
    """Return how many pages a block gets, and how many of them belong to each range of buckets.

    As many pages again are spare, for reads of a few repeated minimizers, and one for each minimizer of a
    chunk. Only pages that are written take memory.
    """
    from overlapper.kernels.seeds.minimizers import CHUNK
    from overlapper.kernels.seeds.seed_index import pages_of_range

    of_range = pages_of_range(bases, sketch.window, layout.bucket_bits, layout.range_bits)
    return 2 * of_range * ranges + CHUNK + 1, of_range


def partition(
    reads: Reads,
    sketch: SketchParams,
    layout: EntryLayout,
    sketched: np.ndarray,
    first_base: int = 0,
    pages: np.ndarray | None = None,
    ranges: range | None = None,
    marks: np.ndarray | None = None,
    marked: bool = False,
) -> tuple[np.ndarray, ...]:
    """Sketch a block of reads and partition their minimizers into buckets (`seed_index.partition`).

    All ranges of buckets are processed by default.
    """
    from overlapper.kernels.common.walks import PackedReads
    from overlapper.kernels.seeds import seed_index as kernel
    from overlapper.kernels.seeds.minimizers import lanes_for

    k, w = sketch.kmer_length, sketch.window
    ranges = ranges or range(1 << layout.range_bits)
    room, of_range = pages_for(reads.total_bases, sketch, layout, len(ranges))
    if pages is None:
        # numpy asks for large memory pages, which take less time than those of an array made in a kernel.
        pages = np.empty((room, kernel.PAGE), np.uint64)
    return kernel.partition(
        PackedReads.of(reads), first_base, k, w, layout.bucket_bits, layout.base_bits, lanes_for(k), sketched,
        pages, layout.range_bits, of_range, ranges.start, ranges.stop,
        np.empty(0, np.uint32) if marks is None else marks, marked,
    )  # fmt: skip


def _block_bases(lengths: np.ndarray, threads: int) -> int:
    """Return the bases of a block, such that all threads have equally many blocks."""
    total = int(lengths.sum())
    each = -(-total // (threads * BLOCK_BASES))
    return -(-total // (threads * max(1, each))) + int(lengths.max(initial=0))


class PageChains(NamedTuple):
    """The minimizers of all blocks of reads, by bucket, of a pass over ranges of buckets."""

    pages: np.ndarray
    """uint64, shape (pages, PAGE)."""
    previous_page: np.ndarray
    """int32, shape (pages,)."""
    first_pages: np.ndarray
    """int64, shape (blocks,); where the pages of each block start; page numbers of a block count from
    there."""
    first_range: int
    """First range of the pass."""
    range_pages: list[int]
    """Pages that each range of buckets has in each block, from its first page on."""
    memory: ReturnableMemory | None
    """Memory of the pages."""
    last_page: np.ndarray
    """int32, shape (blocks, buckets)."""
    counts: np.ndarray
    """int64, shape (blocks, buckets)."""

    @classmethod
    def of(
        cls,
        load: Load,
        lengths: np.ndarray,
        sketch: SketchParams,
        layout: EntryLayout,
        sketched: np.ndarray,
        ranges: range,
        marks: np.ndarray,
        marked: bool,
        threads: int,
    ) -> Self:
        """Sketch all reads; the pages of all blocks share an array, so that one call gathers from all."""
        from overlapper.kernels.seeds import seed_index as kernel

        bounds = cut_evenly(lengths, _block_bases(lengths, threads))
        blocks = range(len(bounds) - 1)
        bases = np.add.reduceat(lengths, bounds[:-1]) if len(lengths) else np.empty(0, np.int64)
        room = [pages_for(int(b), sketch, layout, len(ranges)) for b in bases]
        firsts = offsets_of(np.array([pages for pages, _ in room], np.int64))
        memory = ReturnableMemory(int(firsts[-1]) * kernel.PAGE * 8)
        pages = memory.array(np.uint64).reshape(-1, kernel.PAGE)
        words = offsets_of(words_for(lengths))[bounds]

        def sketch_block(block: int) -> tuple[np.ndarray, ...]:
            start, stop = int(bounds[block]), int(bounds[block + 1])
            own, of_block = pages[firsts[block] : firsts[block + 1]], marks[words[block] : words[block + 1]]
            return partition(
                load(start, stop), sketch, layout, sketched[start:stop], int(words[block]) * BASES_PER_WORD,
                own, ranges, of_block, marked,
            )  # fmt: skip

        parts = list(map_in_order(sketch_block, blocks, threads))
        used = [len(part[0]) for part in parts]
        fitting = all(np.may_share_memory(part[0], pages) for part in parts)
        if not fitting:  # What did not has pages of its own.
            pages = np.concatenate([part[0] for part in parts])
            firsts = offsets_of(np.array(used, np.int64))
        previous_page = np.empty(len(pages), np.int32)
        for block in blocks:
            previous_page[firsts[block] : firsts[block] + used[block]] = parts[block][1]
        last_page = np.array([part[2] for part in parts], np.int32).reshape(-1, layout.n_buckets)
        counts = np.array([part[3] for part in parts], np.int64).reshape(-1, layout.n_buckets)
        range_pages = [of_range for _, of_range in room]
        return cls(
            pages, previous_page, firsts[:-1], ranges.start, range_pages, memory if fitting else None,
            last_page, counts,
        )  # fmt: skip

    def give_back(self, bucket_range: int) -> None:
        """Return the pages of a finished range of buckets, but for spare ones, to the system."""
        if self.memory is None:
            return
        page_bytes = self.pages.itemsize * self.pages.shape[1]
        for first, n in zip(self.first_pages.tolist(), self.range_pages, strict=True):
            start = first + (bucket_range - self.first_range) * n
            self.memory.give_back(start * page_bytes, (start + n) * page_bytes)

    def gathered(self, buckets: slice) -> tuple[np.ndarray, np.ndarray]:
        """Return the entries of several buckets, from all blocks, and where those of each bucket start."""
        from overlapper.kernels.seeds.seed_index import gather_buckets

        counts = np.ascontiguousarray(self.counts[:, buckets])
        starts = offsets_of(counts.sum(axis=0))
        places = starts[:-1] + np.cumsum(counts, axis=0) - counts
        entries = np.empty(starts[-1], np.uint64)
        gather_buckets(
            self.pages, self.previous_page, self.first_pages,
            np.ascontiguousarray(self.last_page[:, buckets]), counts, places, entries,
        )  # fmt: skip
        return entries, starts
