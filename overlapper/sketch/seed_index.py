"""The seed index: occurrences of the minimizers that seed, by hash and by read."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Self

import numpy as np

from overlapper.params.stages import SketchParams
from overlapper.runtime.threads import map_in_order
from overlapper.sketch.deep_reads import Placing, SeedRule, unthinned
from overlapper.sketch.occurrences import Occurrences, Packer, Stretch
from overlapper.sketch.page_chains import EntryLayout, PageChains, expected_minimizers
from overlapper.sketch.seed_lists import HostSeedLists, SeedLists
from overlapper.sketch.spectrum import repeat_limit
from overlapper.tables import Reads, Seeding
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import BASES_PER_WORD

BUCKETS_AT_A_TIME = 4
"""Buckets that one call gathers: each call takes Python's lock, which all threads share."""
SPECTRUM_SIZE = 1 << 16
SHARES = 4
"""Parts of a range of buckets that are grouped side by side: a pass over a large set has few ranges."""


@dataclasses.dataclass(frozen=True)
class SeedIndex:
    """Occurrences of the minimizers that seed.

    These are not tandem (`kernels.seeds.seed_groups.is_tandem`), and occur at least twice and at most as
    often as the repeat limit, or in deep reads (`SeedRule`).

    Attributes
    ----------
    kmer_length : int
    limit : int
        Largest multiplicity of a seed.
    lists : SeedLists
        Occurrences, and their numbers by read.
    list_starts : ndarray of int64, shape (reads + 1,)
        Where the numbers of each read start.
    seeding : Seeding
        All seeding minimizers of the reads; an index of a whole read set holds their occurrences, in the same
        order.
    counts : dict of str to int
        Counts for the funnel.
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
        grouped, spectrum = group_by_hash(reads, sketch, layout, sketched, threads)
        limit, often, largest = chosen_limit(sketch, spectrum), unthinned(sketch.window), 0
        added: list[list[np.ndarray]] = []
        if not sketch.repeat_limit and spectrum[limit + 1 :].any():
            frequent = grouped.frequent(limit, threads)
            placing = Placing.of(layout, reads.word_offsets)
            largest, added = in_deep_reads(reads, frequent, placing, spectrum, limit, often, threads)
        lists = HostSeedLists(grouped.seeding(limit, often, added, threads), reads.word_offsets, threads)
        seeding = lists.seeding(sketched)
        counts = seed_counts(int(sketched.sum()), int(spectrum[1]), int(seeding.starts[-1]))
        return cls(sketch.kmer_length, max(limit, largest), lists, seeding.starts, seeding, counts)

    def among(self, queries: np.ndarray) -> SeedIndex:
        """Return an index with the seeds of a few queries (ascending) alone.

        Lists must be `HostSeedLists`.
        """
        assert isinstance(self.lists, HostSeedLists)
        sizes = np.zeros(len(self.list_starts) - 1, np.int64)
        sizes[queries] = np.diff(self.list_starts)[queries]
        starts = offsets_of(sizes)
        return dataclasses.replace(self, lists=self.lists.among(queries, int(starts[-1])), list_starts=starts)


def chosen_limit(sketch: SketchParams, spectrum: np.ndarray) -> int:
    """Return the repeat limit: the one given, else that of the spectrum."""
    limit = sketch.repeat_limit or repeat_limit(spectrum)
    largest = int(np.flatnonzero(spectrum)[-1]) if spectrum.any() else 0
    # Memory for hits goes by the limit, so that it must not exceed the largest multiplicity.
    return min(limit, largest) if largest < len(spectrum) - 1 else limit


def in_deep_reads(
    reads: Reads,
    frequent: list[list[np.ndarray]],
    placing: Placing,
    spectrum: np.ndarray,
    limit: int,
    often: int,
    threads: int,
) -> tuple[int, list[list[np.ndarray]]]:
    """Return the largest multiplicity of a seed, and the entries of frequent minimizers that seed.

    Parameters
    ----------
    reads : Reads
    frequent : list of list of ndarray of uint64
        Entries of frequent minimizers in each bucket of each share of the buckets; overwritten.
    placing, spectrum, limit, often, threads
        As `SeedRule.find` takes them.
    """
    parts: list[Callable[[], list[np.ndarray]]] = [partial(list, part) for part in frequent]
    rule = SeedRule.find(reads.lengths, placing, spectrum, limit, often, parts, threads)
    if not rule.most:
        return limit, []
    return rule.largest, [[part[: rule.keep_seeding(part, part)] for part in of_part] for of_part in frequent]


def seed_counts(sketched: int, once: int, seeds: int) -> dict[str, int]:
    """Return the counts of minimizers for the funnel."""
    return {
        "minimizers": sketched,
        "minimizers that occur once": once,
        "minimizers that occur too often": sketched - once - seeds,
        "minimizers that seed": seeds,
    }


class GroupedMinimizers(NamedTuple):
    """Occurrences, by hash, of the minimizers that occur at least twice and are not tandem.

    Attributes
    ----------
    reads : Reads
    sketch : SketchParams
    layout : EntryLayout
    packer : Packer
        Holds the packed occurrences.
    firsts : list of int
        Number at which the occurrences of each share of the buckets start.
    sizes : list of ndarray of int64
        Number of occurrences of each bucket of each share.
    """

    reads: Reads
    sketch: SketchParams
    layout: EntryLayout
    packer: Packer
    firsts: list[int]
    sizes: list[np.ndarray]

    @property
    def _hashing(self) -> tuple[np.ndarray, np.ndarray, int, int]:
        """What kernels need to hash an occurrence."""
        k, bucket_bits = self.sketch.kmer_length, self.layout.bucket_bits
        return self.reads.words, self.reads.word_offsets, k, bucket_bits

    def frequent(self, limit: int, threads: int) -> list[list[np.ndarray]]:
        """Return the entries of frequent minimizers in each bucket of each share."""
        from overlapper.kernels.seeds.seed_lists import frequent_entries

        def of_share(number: int) -> list[np.ndarray]:
            ends = (self.firsts[number] + offsets_of(self.sizes[number])).tolist()
            return [
                frequent_entries(
                    self.packer.packed, *self.packer.layout, start, stop, limit, *self._hashing,
                    self.layout.rest_low_bit,
                )
                for start, stop in itertools.pairwise(ends)
            ]  # fmt: skip

        return list(map_in_order(of_share, range(len(self.firsts)), threads))

    def seeding(self, limit: int, unthinned: int, added: list[list[np.ndarray]], threads: int) -> Occurrences:
        """Return the occurrences of the minimizers that seed; the others are dropped.

        Parameters
        ----------
        limit : int
            Largest multiplicity kept.
        unthinned : int
            As in `SeedRule`.
        threads : int
        added : list of list of ndarray of uint64
            Entries of frequent minimizers that seed in deep reads, of each bucket of each share; or empty.
        """
        from overlapper.kernels.seeds.seed_lists import drop_groups

        def keep(number: int) -> Stretch:
            first, stop = self.firsts[number], self.firsts[number] + int(self.sizes[number].sum())
            end = drop_groups(
                self.packer.packed, *self.packer.layout, first, stop, limit, unthinned, *self._hashing,
                self.packer.block_bits, self.packer.per_block[number],
            )  # fmt: skip
            for entries in added[number] if added else ():
                # There is room: all occurrences above the limit were dropped.
                end = self.packer.pack(entries, end, number)
            self.packer.give_back(end, stop)
            return first, end

        stretches = list(map_in_order(keep, range(len(self.firsts)), threads))
        return self.packer.packed_in(stretches)


def group_by_hash(
    reads: Reads, sketch: SketchParams, layout: EntryLayout, sketched: np.ndarray, threads: int
) -> tuple[GroupedMinimizers, np.ndarray]:
    """Sketch reads; return the minimizers that occur at least twice, and the spectrum of all.

    Tandem minimizers are left out of both. ``sketched`` (int32) is set to the number of minimizers of each
    read.
    """
    passes = layout.passes(expected_minimizers(reads.total_bases, sketch.window))
    left = np.zeros(int(reads.word_offsets[-1]) if len(passes) > 1 else 0, np.uint32)
    placing, spectrum = Placing.of(layout, reads.word_offsets), np.zeros(SPECTRUM_SIZE, np.int64)
    shares = [share for buckets in layout.bucket_ranges for share in _shares(buckets)]
    of_range = len(shares) // len(layout.bucket_ranges)
    firsts: list[int] = []
    sizes: list[np.ndarray] = []
    packer, done = None, 0
    for ranges in passes:
        chains = PageChains.of(reads, sketch, layout, sketched, ranges, left, threads)
        if packer is None:
            room = int(sketched.sum(dtype=np.int64))
            packer = Packer(placing, reads.lengths, room, len(shares))
        before = offsets_of(chains.counts.sum(axis=0))
        given = [
            _Share(number, shares[number], done + int(before[shares[number].start]))
            for number in range(ranges.start * of_range, ranges.stop * of_range)
        ]
        done += int(before[-1])
        firsts += [share.place for share in given]
        group = partial(_group_share, chains, packer, placing, layout)
        for share, (of_share, of_spectrum) in zip(given, map_in_order(group, given, threads), strict=True):
            sizes.append(of_share)
            spectrum += of_spectrum
            if (share.number + 1) % of_range == 0:
                chains.give_back(share.number // of_range)
        del chains, group
    assert packer
    return GroupedMinimizers(reads, sketch, layout, packer, firsts, sizes), spectrum


def _shares(buckets: range) -> list[range]:
    """Cut a range of buckets into shares."""
    step = -(-len(buckets) // SHARES)
    return [buckets[first : first + step] for first in range(0, len(buckets), step)]


class _Share(NamedTuple):
    """Buckets that are grouped one after the other.

    Attributes
    ----------
    number : int
        Of the share, and of the stretch of occurrences that it becomes.
    buckets : range
    place : int
        Number of the first occurrence.
    """

    number: int
    buckets: range
    place: int


def _group_share(
    chains: PageChains, packer: Packer, placing: Placing, layout: EntryLayout, share: _Share
) -> tuple[np.ndarray, np.ndarray]:
    """Group the minimizers of some buckets by hash, and pack those that occur at least twice.

    Returns
    -------
    sizes : ndarray of int64, shape (buckets,)
        Number of packed occurrences.
    spectrum : ndarray of int64
    """
    from overlapper.kernels.seeds import seed_index as kernel

    number, buckets, place = share
    spectrum, sizes = np.zeros(SPECTRUM_SIZE, np.int64), np.empty(len(buckets), np.int64)
    for first in buckets[::BUCKETS_AT_A_TIME]:
        some = slice(first, min(first + BUCKETS_AT_A_TIME, buckets.stop))
        entries, starts = chains.gathered(some)
        own = sizes[some.start - buckets.start : some.stop - buckets.start]
        kernel.group_buckets(
            entries, starts, layout.rest_low_bit, layout.rest_bits,
            placing.read_of_words, placing.word_offsets, spectrum,
            packer.packed, *packer.layout, place, packer.block_bits, packer.per_block[number], own,
        )  # fmt: skip
        place += int(own.sum())
    return sizes, spectrum
