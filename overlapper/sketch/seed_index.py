"""The minimizers of a read set that seed, by hash and by read."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Protocol, Self

import numpy as np

from overlapper.params.stages import SketchParams
from overlapper.runtime.threads import cut_evenly, map_in_order
from overlapper.sketch.deep_reads import Placing, SeedRule, unthinned
from overlapper.sketch.page_chains import EntryLayout, PageChains
from overlapper.sketch.spectrum import repeat_limit
from overlapper.tables import Reads, Seeding
from overlapper.tables.base import offsets_of
from overlapper.tables.reads import BASES_PER_WORD

LISTED_BITS = 20
"""``2 ** LISTED_BITS`` bases have their occurrences sorted at a time: their list fits into the cache."""
LISTED_TOGETHER, LISTED_PARTS = 1 << 23, 8
"""Occurrences that are listed together, or this part of all: for each part all are gone through once."""
BUCKETS_AT_A_TIME = 4
"""Buckets that are gathered in one call: calls take the lock, of which all threads have one."""
SPECTRUM_SIZE = 1 << 16

Stretches = list[tuple[int, int]]
"""Stretches ``[start, stop)`` of an array."""


class SeedLists(Protocol):
    """The occurrences of an index, in memory of the host or of a GPU."""

    @property
    def occurrences(self) -> np.ndarray:
        """By hash, read and position (uint64), packed as `overlapper.kernels.seeds.seed_index` says.

        There may be gaps that hold nothing.
        """

    @property
    def by_read(self) -> np.ndarray:
        """Numbers of the occurrences of each read (uint32 or int64), ascending by position.

        Of the last one of a group, which has no later one, it is a number that none has.
        """

    def hits(self, step: int) -> int:
        """Return how many hits every ``step``-th occurrence, by read, has with later ones of its group."""


class ListsHere(NamedTuple):
    """`SeedLists` in memory of the host."""

    occurrences: np.ndarray
    by_read: np.ndarray

    def hits(self, step: int) -> int:
        """As that of `SeedLists`."""
        from overlapper.kernels.candidates.dsoft import count_hits

        return int(count_hits(self.occurrences, np.ascontiguousarray(self.by_read[::step])))


@dataclasses.dataclass(frozen=True)
class SeedIndex:
    """Occurrences of the minimizers that seed.

    They are not tandem (`kernels.seeds.seed_groups.is_tandem`), and occur at least twice and at most as often
    as the repeat limit, or in deep reads (`SeedRule`).

    Attributes
    ----------
    kmer_length : int
    limit : int
        Multiplicity that no seed exceeds.
    lists : SeedLists
        Occurrences, and the numbers of those of each read.
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
    lists: SeedLists
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
        limit, often, largest = chosen_limit(sketch, spectrum), unthinned(sketch.window), 0
        added: list[list[np.ndarray]] = []
        if not sketch.repeat_limit and spectrum[limit + 1 :].any():
            frequent = _frequent(entries, buckets, layout, limit, threads)
            placing = Placing.of(layout, reads.word_offsets)
            largest, added = in_deep_reads(reads, frequent, placing, spectrum, limit, often, threads)
        by_read, marks = list_occurrences(reads, entries, buckets, layout, limit, often, threads, added)
        counts = seed_counts(int(sketched.sum()), int(spectrum[1]), len(by_read))
        seeding = Seeding(sketched=sketched, marks=marks, word_offsets=reads.word_offsets)
        lists = ListsHere(entries, by_read)
        return cls(sketch.kmer_length, max(limit, largest), lists, seeding.starts, seeding, counts)


def chosen_limit(sketch: SketchParams, spectrum: np.ndarray) -> int:
    """Return the repeat limit: the one given, else that of the spectrum."""
    limit = sketch.repeat_limit or repeat_limit(spectrum)
    largest = int(np.flatnonzero(spectrum)[-1]) if spectrum.any() else 0
    # Room for hits is made by the limit, so it must not exceed what there is.
    return min(limit, largest) if largest < len(spectrum) - 1 else limit


def _frequent(
    entries: np.ndarray, stretches: list[Stretches], layout: EntryLayout, limit: int, threads: int
) -> list[list[np.ndarray]]:
    """Return the entries of frequent minimizers in each bucket of each range of buckets."""
    from overlapper.kernels.seeds.deep_reads import frequent_groups

    def of_range(buckets: Stretches) -> list[np.ndarray]:
        return [frequent_groups(entries[start:stop], layout.rest_low_bit, limit) for start, stop in buckets]

    return list(map_in_order(of_range, stretches, threads))


def in_deep_reads(
    reads: Reads,
    frequent: list[list[np.ndarray]],
    placing: Placing,
    spectrum: np.ndarray,
    limit: int,
    often: int,
    threads: int,
) -> tuple[int, list[list[np.ndarray]]]:
    """Return what seeds of frequent minimizers, each bucket of each range; and before it, how often at most.

    Parameters
    ----------
    reads : Reads
    frequent : list of list of ndarray of uint64
        Their entries in each bucket of each range of buckets; overwritten.
    placing, spectrum, limit, often, threads
        As `SeedRule.find` takes them.
    """
    parts: list[Callable[[], list[np.ndarray]]] = [partial(list, part) for part in frequent]
    rule = SeedRule.find(reads.lengths, placing, spectrum, limit, often, parts, threads)
    if not rule.most:
        return limit, []
    return rule.largest, [[part[: rule.keep_seeding(part, part)] for part in of_part] for of_part in frequent]


def seed_counts(sketched: int, once: int, seeds: int) -> dict[str, int]:
    """Return what the funnel shows of minimizers, of which some occur once and some seed."""
    return {
        "minimizers": sketched,
        "minimizers that occur once": once,
        "minimizers that occur too often": sketched - once - seeds,
        "minimizers that seed": seeds,
    }


def group_by_hash(
    reads: Reads, sketch: SketchParams, layout: EntryLayout, sketched: np.ndarray, threads: int
) -> tuple[np.ndarray, list[Stretches], np.ndarray]:
    """Return the entries of minimizers that occur at least twice, and the spectrum, both without tandem ones.

    The array has room for all minimizers; what is not written to takes no memory. The entries of each range
    of buckets lie in stretches of it, one a bucket.
    """
    from overlapper.kernels.seeds import seed_index as kernel

    chains = PageChains.of(reads, sketch, layout, sketched, threads)
    counts = chains.counts
    firsts = offsets_of(counts.sum(axis=0))
    kept = np.empty(firsts[-1], np.uint64)
    placing = Placing.of(layout, reads.word_offsets)

    def group_range(number: int) -> tuple[Stretches, np.ndarray]:
        buckets = layout.bucket_ranges[number]
        spectrum = np.zeros(SPECTRUM_SIZE, np.int64)
        stretches = []
        place = int(firsts[buckets.start])
        for first in buckets[::BUCKETS_AT_A_TIME]:
            some = slice(first, min(first + BUCKETS_AT_A_TIME, buckets.stop))
            entries, starts = chains.gathered(some)
            sizes = np.empty(len(starts) - 1, np.int64)
            kernel.group_buckets(
                entries, starts, layout.rest_low_bit, layout.rest_bits,
                placing.read_of_words, placing.word_offsets, spectrum, kept[place:], sizes,
            )  # fmt: skip
            for size in sizes.tolist():
                stretches.append((place, place + size))
                place += size
        chains.give_back(number)
        return stretches, spectrum

    spectrum = np.zeros(SPECTRUM_SIZE, np.int64)
    stretches = []
    for range_stretches, range_spectrum in map_in_order(group_range, range(1 << layout.range_bits), threads):
        stretches.append(range_stretches)
        spectrum += range_spectrum
    return kept, stretches, spectrum


def list_occurrences(
    reads: Reads,
    entries: np.ndarray,
    stretches: list[Stretches],
    layout: EntryLayout,
    limit: int,
    unthinned: int,
    threads: int,
    added: list[list[np.ndarray]],
) -> tuple[np.ndarray, np.ndarray]:
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
    unthinned : int
        That of `SeedRule`.
    threads : int
    added : list of list of ndarray of uint64
        Entries of minimizers above the limit that seed all the same, of each bucket; or empty.

    Returns
    -------
    by_read : ndarray of uint32 or int64
        Numbers of the occurrences of each read, ascending by position; of the last one of a group, which has
        no later one, a number that none has.
    marks : ndarray of uint32, shape (words,)
        A bit for each base at which one is, those of a word of the reads in one item.
    """
    joined, per_block = _join(reads, entries, stretches, layout, limit, unthinned, threads, added)
    return _list_by_read(reads, entries, joined, per_block, threads)


def _join(
    reads: Reads,
    entries: np.ndarray,
    stretches: list[Stretches],
    layout: EntryLayout,
    limit: int,
    unthinned: int,
    threads: int,
    added: list[list[np.ndarray]],
) -> tuple[Stretches, np.ndarray]:
    """Turn entries into occurrences, in place.

    Returns the stretch of occurrences that each range of buckets has, and how many each block of bases has in
    each.
    """
    from overlapper.kernels.seeds.seed_index import join_groups

    n_words = int(reads.word_offsets[-1])
    read_of_words = Placing.of(layout, reads.word_offsets).read_of_words
    per_block = np.zeros((len(stretches), (n_words * BASES_PER_WORD >> LISTED_BITS) + 1), np.int64)

    def pack(grouped: np.ndarray, most: int, part: int) -> int:
        return join_groups(
            grouped, layout.rest_low_bit, most, unthinned,
            read_of_words, reads.word_offsets, LISTED_BITS, per_block[part],
        )  # fmt: skip

    def join(part: int) -> tuple[int, int]:
        first = place = stretches[part][0][0]
        for bucket, (start, stop) in enumerate(stretches[part]):
            joined = pack(entries[start:stop], limit, part)
            if added:
                # What is above the limit was dropped, so that there is room.
                above = entries[start + joined :][: len(added[part][bucket])]
                above[:] = added[part][bucket]
                joined += pack(above, len(above), part)
            entries[place : place + joined] = entries[start : start + joined]
            place += joined
        return first, place

    return list(map_in_order(join, range(len(stretches)), threads)), per_block


def _list_by_read(
    reads: Reads, occurrences: np.ndarray, stretches: Stretches, per_block: np.ndarray, threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers and marks of the occurrences, as `list_occurrences` does.

    Blocks of bases are listed some at a time, as their unsorted bases take as much memory as their numbers.
    """
    from overlapper.kernels.seeds.seed_index import list_by_block, sort_block

    block_starts = offsets_of(per_block.sum(axis=0))
    n, words = int(block_starts[-1]), (1 << LISTED_BITS) // BASES_PER_WORD
    # One more, to which goes what is not listed yet.
    numbers = np.empty(n + 1, np.uint32 if len(occurrences) < 1 << 32 else np.int64)
    marks = np.zeros(int(reads.word_offsets[-1]), np.uint32)

    def list_blocks(first: int, last: int) -> None:
        start, stop = int(block_starts[first]), int(block_starts[last])
        first_read = int(np.searchsorted(reads.word_offsets, first * words, side="right")) - 1
        last_read = int(np.searchsorted(reads.word_offsets, last * words))
        goes_on = np.zeros(len(block_starts) - 1, np.int64)
        goes_on[first:last] = 1
        next_free = block_starts[:-1] - start + np.cumsum(per_block, axis=0) - per_block
        next_free[:, goes_on == 0] = stop - start
        bases = np.empty(stop - start + 1, np.int32)

        def enter(part: int) -> None:
            here = slice(*stretches[part])
            list_by_block(
                occurrences[here], here.start, reads.word_offsets, LISTED_BITS, first_read, last_read,
                next_free[part], goes_on, numbers[start:], bases,
            )  # fmt: skip

        def sort(block: int) -> None:
            own = slice(int(block_starts[block]), int(block_starts[block + 1]))
            of_block = slice(block * words, (block + 1) * words)
            sort_block(numbers[own], bases[own.start - start : own.stop - start], marks[of_block])

        for _ in map_in_order(enter, range(len(stretches)), threads):
            pass
        for _ in map_in_order(sort, range(first, last), threads):
            pass

    together = max(LISTED_TOGETHER, n // LISTED_PARTS)
    for first, last in itertools.pairwise(cut_evenly(np.diff(block_starts), together).tolist()):
        list_blocks(first, last)
    return numbers[:n], marks
