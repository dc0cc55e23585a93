"""The minimizers of a read set that seed, by hash and by read."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple, Self

import numpy as np

from overlapper.errors import ParameterError
from overlapper.params import SketchParams
from overlapper.sketch.spectrum import repeat_limit
from overlapper.tables import Reads, Seeding
from overlapper.tables.reads import BASES_PER_WORD
from overlapper.threads import cut_evenly, map_in_order

BLOCK_BASES = 1 << 24
LISTED_BASES = 1 << 20
"""Bases of reads whose occurrences are sorted at a time: their list fits into the cache."""
ENTRIES_PER_BUCKET = 1 << 16
BUCKET_RANGES = 32
BUCKETS_AT_A_TIME = 8
"""Buckets that are gathered in one call: calls take the lock, of which all threads have one."""
SPECTRUM_SIZE = 1 << 16
MAX_BUCKET_BITS = 16

Stretches = list[tuple[int, int]]
"""Stretches ``[start, stop)`` of an array."""


@dataclasses.dataclass(frozen=True)
class SeedIndex:
    """Occurrences of the minimizers that occur at least twice and at most as often as the repeat limit.

    Attributes
    ----------
    kmer_length : int
    limit : int
        Multiplicity that no seed exceeds.
    occurrences : ndarray of uint64
        By hash, read and position, packed as `overlapper.kernels.cpu.seed_index` says, with gaps that hold
        nothing.
    by_read : ndarray of uint32 or int64
        Numbers of the occurrences of each read, ascending by position; of the last one of a group, which has
        no later one, a number that none has.
    list_starts : ndarray of int64, shape (reads + 1,)
        Where the numbers of each read start.
    seeding : Seeding
        All seeding minimizers of the reads; an index of a whole read set holds their occurrences, in the same
        order.
    counts : dict of str to int
        What the funnel shows.
    """

    kmer_length: int
    limit: int
    occurrences: np.ndarray
    by_read: np.ndarray
    list_starts: np.ndarray
    seeding: Seeding
    counts: dict[str, int]

    @classmethod
    def build(cls, reads: Reads, sketch: SketchParams, threads: int) -> Self:
        """Sketch and index a read set.

        Parameters
        ----------
        reads : Reads
        sketch : SketchParams
        threads : int

        Raises
        ------
        ParameterError
            When k is too long for a word to hold hash and place together.
        """
        layout = EntryLayout.choose(int(reads.word_offsets[-1]) * BASES_PER_WORD, sketch)
        sketched = np.empty(len(reads), np.int32)
        entries, buckets, spectrum = group_by_hash(reads, sketch, layout, sketched, threads)
        limit = chosen_limit(sketch, spectrum)
        by_read, positions, starts = list_occurrences(reads, entries, buckets, layout, limit, threads)
        counts = seed_counts(int(sketched.sum()), int(spectrum[1]), len(positions))
        seeding = Seeding(sketched=sketched, positions=positions, starts=starts)
        return cls(sketch.kmer_length, limit, entries, by_read, starts, seeding, counts)


def chosen_limit(sketch: SketchParams, spectrum: np.ndarray) -> int:
    """Return the repeat limit: the one given, else that of the spectrum."""
    limit = sketch.repeat_limit or repeat_limit(spectrum)
    largest = int(np.flatnonzero(spectrum)[-1]) if spectrum.any() else 0
    # Room for hits is made by the limit, so it must not exceed what there is.
    return min(limit, largest) if largest < len(spectrum) - 1 else limit


def seed_counts(sketched: int, once: int, seeds: int) -> dict[str, int]:
    """Return what the funnel shows of minimizers, of which some occur once and some seed."""
    return {
        "minimizers": sketched,
        "minimizers that occur once": once,
        "minimizers that occur too often": sketched - once - seeds,
        "minimizers that seed": seeds,
    }


@dataclasses.dataclass(frozen=True)
class EntryLayout:
    """How hash and place share the 64 bits of an entry; see `overlapper.kernels.cpu.seed_index`."""

    bucket_bits: int
    base_bits: int
    rest_bits: int

    @classmethod
    def choose(cls, n_bases: int, sketch: SketchParams) -> Self:
        """Choose enough buckets for each to be sorted in the cache, and for entries to fit.

        Parameters
        ----------
        n_bases : int
            Word-aligned bases of all reads.
        sketch : SketchParams
        """
        k = sketch.kmer_length
        # In a tile a sample of the reads may lie before all of them: places are up to twice as many.
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
        """Lowest bit of the rest of the hash; base number and strand are below."""
        return self.base_bits + 1

    @property
    def n_buckets(self) -> int:
        """Number of buckets."""
        return 1 << self.bucket_bits


def partition(
    reads: Reads,
    start: int,
    stop: int,
    sketch: SketchParams,
    layout: EntryLayout,
    sketched: np.ndarray,
    pages: np.ndarray | None = None,
) -> tuple[np.ndarray, ...]:
    """Sketch reads ``[start, stop)`` and partition their minimizers into buckets, as the kernel says."""
    from overlapper.kernels.cpu import seed_index as kernel
    from overlapper.kernels.cpu.minimizers import lanes_for

    k, w = sketch.kmer_length, sketch.window
    if pages is None:
        bases = int(reads.lengths[start:stop].sum())
        # numpy asks for large memory pages, which take less time to get than those of a kernel's array.
        pages = np.empty((kernel.pages_for(bases, w, layout.bucket_bits), kernel.PAGE), np.uint64)
    return kernel.partition(
        reads.words, reads.word_offsets, reads.lengths,
        reads.unknown_start, reads.unknown_end, reads.unknown_offsets,
        start, stop, k, w, layout.bucket_bits, layout.base_bits, lanes_for(k), sketched, pages,
    )  # fmt: skip


def group_by_hash(
    reads: Reads, sketch: SketchParams, layout: EntryLayout, sketched: np.ndarray, threads: int
) -> tuple[np.ndarray, list[Stretches], np.ndarray]:
    """Return the entries of minimizers that occur at least twice, and the spectrum of all minimizers.

    The array has room for all minimizers; what is not written to takes no memory. The entries of each range
    of buckets lie in stretches of it, one a bucket.
    """
    from overlapper.kernels.cpu import seed_index as kernel

    chains = _PageChains.of(reads, sketch, layout, sketched, threads)
    counts = chains.counts
    firsts = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    kept = np.empty(firsts[-1], np.uint64)

    def group_range(buckets: range) -> tuple[Stretches, np.ndarray]:
        spectrum = np.zeros(SPECTRUM_SIZE, np.int64)
        stretches = []
        place = int(firsts[buckets.start])
        for first in buckets[::BUCKETS_AT_A_TIME]:
            some = slice(first, min(first + BUCKETS_AT_A_TIME, buckets.stop))
            entries, starts = chains.gathered(some)
            sizes = np.empty(len(starts) - 1, np.int64)
            kernel.group_buckets(
                entries, starts, layout.rest_low_bit, layout.rest_bits, spectrum, kept[place:], sizes
            )
            for size in sizes.tolist():
                stretches.append((place, place + size))
                place += size
        return stretches, spectrum

    step = -(-layout.n_buckets // BUCKET_RANGES)
    ranges = [range(i, min(i + step, layout.n_buckets)) for i in range(0, layout.n_buckets, step)]
    spectrum = np.zeros(SPECTRUM_SIZE, np.int64)
    stretches = []
    for range_stretches, range_spectrum in map_in_order(group_range, ranges, threads):
        stretches.append(range_stretches)
        spectrum += range_spectrum
    return kept, stretches, spectrum


def _block_bases(reads: Reads, threads: int) -> int:
    """Return how many bases make a block: all threads have one where there are few."""
    return min(BLOCK_BASES, -(-reads.total_bases // threads)) or 1


class _PageChains(NamedTuple):
    """The minimizers of all blocks of reads, by bucket, as `partition` returns them of a block.

    Attributes
    ----------
    pages : ndarray of uint64, shape (pages, PAGE)
    previous_page : ndarray of int32, shape (pages,)
    first_pages : ndarray of int64, shape (blocks,)
        Where the pages of each block start; their numbers count from there.
    last_page : ndarray of int32, shape (blocks, buckets)
    counts : ndarray of int64, shape (blocks, buckets)
    """

    pages: np.ndarray
    previous_page: np.ndarray
    first_pages: np.ndarray
    last_page: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(
        cls, reads: Reads, sketch: SketchParams, layout: EntryLayout, sketched: np.ndarray, threads: int
    ) -> Self:
        """Sketch all reads; all blocks have their pages in one array, so that one call reads them all."""
        from overlapper.kernels.cpu import seed_index as kernel

        bounds = cut_evenly(reads.lengths, _block_bases(reads, threads))
        blocks = range(len(bounds) - 1)
        bases = np.add.reduceat(reads.lengths, bounds[:-1]) if len(reads) else np.empty(0, np.int64)
        room = [kernel.pages_for(int(b), sketch.window, layout.bucket_bits) for b in bases]
        firsts = np.concatenate([[0], np.cumsum(room, dtype=np.int64)])
        # numpy asks for large memory pages, which take less time to get than those of a kernel's array.
        pages = np.empty((firsts[-1], kernel.PAGE), np.uint64)

        def sketch_block(block: int) -> tuple[np.ndarray, ...]:
            start, stop = int(bounds[block]), int(bounds[block + 1])
            own = pages[firsts[block] : firsts[block + 1]]
            return partition(reads, start, stop, sketch, layout, sketched, own)

        parts = list(map_in_order(sketch_block, blocks, threads))
        used = [len(part[0]) for part in parts]
        if any(len(part[0]) and not np.may_share_memory(part[0], pages) for part in parts):
            # What did not fit has pages of its own.
            pages = np.concatenate([part[0] for part in parts])
            firsts = np.concatenate([[0], np.cumsum(used, dtype=np.int64)])
        previous_page = np.empty(len(pages), np.int32)
        for block in blocks:
            previous_page[firsts[block] : firsts[block] + used[block]] = parts[block][1]
        last_page = np.array([part[2] for part in parts], np.int32).reshape(-1, layout.n_buckets)
        counts = np.array([part[3] for part in parts], np.int64).reshape(-1, layout.n_buckets)
        return cls(pages, previous_page, firsts[:-1], last_page, counts)

    def gathered(self, buckets: slice) -> tuple[np.ndarray, np.ndarray]:
        """Return the entries of some buckets of all blocks, and where those of each bucket start."""
        from overlapper.kernels.cpu.seed_index import gather_buckets

        counts = np.ascontiguousarray(self.counts[:, buckets])
        starts = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
        places = starts[:-1] + np.cumsum(counts, axis=0) - counts
        entries = np.empty(starts[-1], np.uint64)
        gather_buckets(
            self.pages, self.previous_page, self.first_pages,
            np.ascontiguousarray(self.last_page[:, buckets]), counts, places, entries,
        )  # fmt: skip
        return entries, starts


def list_occurrences(
    reads: Reads,
    entries: np.ndarray,
    stretches: list[Stretches],
    layout: EntryLayout,
    limit: int,
    threads: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Turn grouped entries into occurrences, in place, and list them by read.

    Parameters
    ----------
    reads : Reads
    entries : ndarray of uint64
    stretches : list of list of tuple of int
        Where the buckets of each range of buckets lie in the entries.
    layout : EntryLayout
    limit : int
        Largest multiplicity kept.
    threads : int

    Returns
    -------
    by_read : ndarray of uint32 or int64
        Numbers of the occurrences of each read, ascending by position; of the last one of a group, which has
        no later one, a number that none has.
    positions : ndarray of int32
        Their positions.
    starts : ndarray of int64, shape (reads + 1,)
        Where the lists of each read start.
    """
    bounds = cut_evenly(reads.lengths, LISTED_BASES)
    joined, per_block = _join(reads, entries, stretches, layout, limit, bounds, threads)
    return _list_by_read(reads, entries, joined, bounds, per_block, threads)


def _join(
    reads: Reads,
    entries: np.ndarray,
    stretches: list[Stretches],
    layout: EntryLayout,
    limit: int,
    bounds: np.ndarray,
    threads: int,
) -> tuple[Stretches, np.ndarray]:
    """Turn entries into occurrences, in place.

    Returns the stretch of occurrences that each range of buckets has, and how many each block of reads, which
    start at ``bounds``, has in each.
    """
    from overlapper.kernels.cpu.seed_index import WORDS_PER_ENTRY, join_groups

    first_words = np.arange(0, int(reads.word_offsets[-1]), WORDS_PER_ENTRY)
    read_of_words = (np.searchsorted(reads.word_offsets, first_words, side="right") - 1).astype(np.int32)
    block_of_read = _block_numbers(bounds)
    per_block = np.zeros((len(stretches), len(bounds) - 1), np.int64)

    def join(part: int) -> tuple[int, int]:
        first = place = stretches[part][0][0]
        for start, stop in stretches[part]:
            joined = join_groups(
                entries[start:stop], layout.rest_low_bit, limit,
                read_of_words, reads.word_offsets, block_of_read, per_block[part],
            )  # fmt: skip
            entries[place : place + joined] = entries[start : start + joined]
            place += joined
        return first, place

    return list(map_in_order(join, range(len(stretches)), threads)), per_block


def _block_numbers(bounds: np.ndarray) -> np.ndarray:
    """Return the number of the block of each read, of blocks that start at ``bounds``."""
    return np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))


def _list_by_read(
    reads: Reads,
    occurrences: np.ndarray,
    stretches: Stretches,
    bounds: np.ndarray,
    per_block: np.ndarray,
    threads: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return numbers and positions of the occurrences of each read, and where those of each start."""
    from overlapper.kernels.cpu.seed_index import list_by_block, sort_block

    block_starts = np.concatenate([[0], np.cumsum(per_block.sum(axis=0))])
    next_free = block_starts[:-1] + np.cumsum(per_block, axis=0) - per_block
    block_of_read, base_offsets = _block_numbers(bounds), np.concatenate([[0], np.cumsum(reads.lengths)])
    first_bases = base_offsets[:-1] - base_offsets[bounds[block_of_read]]
    n = int(block_starts[-1])
    numbers = np.empty(n, np.uint32 if len(occurrences) < 1 << 32 else np.int64)
    positions = np.empty(n, np.int32)
    starts = np.full(len(reads) + 1, n)

    def enter(part: int) -> None:
        start, stop = stretches[part]
        list_by_block(
            occurrences[start:stop], start, block_of_read, first_bases, next_free[part], numbers, positions
        )

    def sort(block: int) -> None:
        first, last = int(bounds[block]), int(bounds[block + 1])
        own = slice(block_starts[block], block_starts[block + 1])
        in_block = base_offsets[first : last + 1] - base_offsets[first]
        sort_block(numbers[own], positions[own], in_block, starts[first:last])
        starts[first:last] += block_starts[block]

    for _ in map_in_order(enter, range(len(stretches)), threads):
        pass
    for _ in map_in_order(sort, range(len(bounds) - 1), threads):
        pass
    return numbers, positions, starts
