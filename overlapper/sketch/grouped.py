"""The minimizers of reads, grouped by hash: those that seed, or those that the reads of a tile share.

What takes memory is kept by the process, or in files, where there is a budget: the same in either.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import NamedTuple, Self

import numpy as np

from overlapper.io.artifacts import Artifact
from overlapper.kernels.seeds.seed_groups import read_of_words
from overlapper.params.stages import SketchParams
from overlapper.runtime.threads import map_in_order
from overlapper.sketch.deep_reads import DeepReads, unthinned
from overlapper.sketch.occurrences import Occurrences
from overlapper.sketch.page_chains import EntryLayout, Load, PageChains, expected_minimizers
from overlapper.sketch.returnable_memory import ReturnableMemory
from overlapper.sketch.spectrum import repeat_limit
from overlapper.tables import Reads, Seeding
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import BASES_PER_WORD, words_for

BUCKETS_AT_A_TIME = 4
"""Buckets that one call gathers: each call takes Python's lock, which all threads share."""
SPECTRUM_SIZE = 1 << 16
SHARES = 4
"""Parts of a range of buckets that are grouped side by side: a pass over a large set has few ranges."""
_WHOLE_SET = -1
"""In place of the base at which the targets of a tile start."""


@dataclasses.dataclass(frozen=True)
class SeedingMinimizers:
    """The minimizers of a read set that seed.

    These are not tandem (`kernels.seeds.seed_groups.is_tandem`), and occur at least twice and at most as
    often as the repeat limit, or in deep reads (`DeepReads`).
    """

    occurrences: Occurrences
    sketched: np.ndarray
    """int32, shape (reads,); minimizers of each read."""
    limit: int
    """Largest multiplicity of a seed."""
    counts: dict[str, int]
    """Counts for the funnel."""

    @classmethod
    def choose(
        cls,
        load: Load,
        lengths: np.ndarray,
        sketch: SketchParams,
        threads: int,
        memory: int | None = None,
        files: Artifact | None = None,
    ) -> Self:
        """Sketch a read set, and choose the minimizers that seed.

        Parameters
        ----------
        load : callable
            See `Load`.
        lengths : ndarray of int64, shape (reads,)
            Of the reads in that form.
        memory : int, optional
            Bytes that minimizers may take at a time.
        files : Artifact, optional
            Where occurrences are, in the file ``grouped``; without it they are in memory of the process.
        """
        word_offsets = offsets_of(words_for(lengths))
        layout = EntryLayout.choose(int(word_offsets[-1]) * BASES_PER_WORD, sketch)
        passes = layout.passes(expected_minimizers(int(lengths.sum()), sketch.window), memory)
        marks = np.empty(0, np.uint32)
        if len(passes) > 1:
            size = 4 * int(word_offsets[-1])
            memory_of_marks = ReturnableMemory(size, files.reserve("places", size) if files else None)
            marks = memory_of_marks.array(np.uint32)
        sketched = np.empty(len(lengths), np.int32)
        groups = _Groups(layout, word_offsets, _WHOLE_SET, unthinned(sketch.window))
        for number, ranges in enumerate(passes):
            chains = PageChains.of(
                load, lengths, sketch, layout, sketched, ranges, marks, number > 0, threads
            )
            if number == 0:
                room = int(sketched.sum(dtype=np.int64))
                groups.make_room(lengths, room, files)
            groups.add(chains, ranges, threads)
            del chains
        if files and len(passes) > 1:
            files.remove("places")
        occurrences, spectrum = groups.occurrences, groups.spectrum
        limit = chosen_limit(sketch, spectrum)
        deep = DeepReads(np.zeros(len(lengths), bool))
        if not sketch.repeat_limit:
            deep = DeepReads.find(lengths, spectrum, limit, occurrences, threads)
        deep.keep_seeding(occurrences, limit, groups.unthinned, groups.thinned, word_offsets, threads)
        counts = seed_counts(room, int(spectrum[1]), len(occurrences))
        return cls(occurrences, sketched, max(limit, deep.most), counts)


def shared_minimizers(
    reads: Reads, seeding: Seeding, sketch: SketchParams, first_target: int, threads: int
) -> Occurrences:
    """Return the occurrences of minimizers of a tile that queries and targets share.

    Parameters
    ----------
    reads : Reads
        In the form in which they are sketched; queries first.
    seeding : Seeding
        Of these reads, as it follows from the whole read set.
    first_target : int
        Number of the first read that is a target; 0 where each read is both.
    """
    bases = int(reads.word_offsets[-1]) * BASES_PER_WORD
    layout, room = EntryLayout.choose(bases, sketch), int(seeding.starts[-1])
    passes = layout.passes(room)
    marks = seeding.marks if len(passes) == 1 else seeding.marks.copy()
    groups = _Groups(layout, reads.word_offsets, int(reads.word_offsets[first_target]) * BASES_PER_WORD, 1)
    groups.make_room(reads.lengths, room)
    for ranges in passes:
        chains = PageChains.of(
            reads.rows, reads.lengths, sketch, layout, seeding.sketched, ranges, marks, True, threads
        )
        groups.add(chains, ranges, threads)
        del chains
    return groups.occurrences


def chosen_limit(sketch: SketchParams, spectrum: np.ndarray) -> int:
    """Return the repeat limit: the one given, else that of the spectrum."""
    limit = sketch.repeat_limit or repeat_limit(spectrum)
    largest = int(np.flatnonzero(spectrum)[-1]) if spectrum.any() else 0
    # Memory for hits goes by the limit, so that it must not exceed the largest multiplicity.
    return min(limit, largest) if largest < len(spectrum) - 1 else limit


def seed_counts(sketched: int, once: int, seeds: int) -> dict[str, int]:
    """Return the counts of minimizers for the funnel."""
    return {
        "minimizers": sketched,
        "minimizers that occur once": once,
        "minimizers that occur too often": sketched - once - seeds,
        "minimizers that seed": seeds,
    }


class _Share(NamedTuple):
    """Buckets that are grouped one after the other."""

    number: int
    """Of the share, and of the stretch of occurrences that it becomes."""
    buckets: range
    place: int
    """Number of the first occurrence."""


@dataclasses.dataclass
class _Groups:
    """Packed occurrences, by hash, of minimizers that occur at least twice, and the spectrum of all.

    Attributes
    ----------
    layout : EntryLayout
    word_offsets : ndarray of int64, shape (reads + 1,)
    first_target : int
        Base at which the targets of a tile start; `_WHOLE_SET` where it is to be seen which ones seed.
    unthinned : int
        See `overlapper.sketch.deep_reads.unthinned`.
    thinned : list of ndarray of int64
        Numbers of the first occurrences of minimizers that are not sampled, by stretch.
    """

    layout: EntryLayout
    word_offsets: np.ndarray
    first_target: int
    unthinned: int

    def __post_init__(self) -> None:
        self.thinned: list[np.ndarray] = []
        self.spectrum = np.zeros(SPECTRUM_SIZE, np.int64)
        self._read_of_words = read_of_words(self.word_offsets)
        self._shares = [_cut(buckets) for buckets in self.layout.bucket_ranges]
        self._done = 0

    def make_room(self, lengths: np.ndarray, room: int, files: Artifact | None = None) -> None:
        """Make room for so many occurrences in reads of these lengths."""
        bases, stretches = int(self.word_offsets[-1]) * BASES_PER_WORD, sum(map(len, self._shares))
        reserve = partial(files.reserve, "grouped") if files else None
        self.occurrences = Occurrences.empty(lengths, bases, room, stretches, reserve)

    def add(self, chains: PageChains, ranges: range, threads: int) -> None:
        """Group the minimizers of the next ranges of buckets."""
        before = offsets_of(chains.counts.sum(axis=0))
        first = len(self.occurrences.stretches)
        buckets = [share for number in ranges for share in self._shares[number]]
        shares = [
            _Share(first + i, share, self._done + int(before[share.start])) for i, share in enumerate(buckets)
        ]
        ends = iter(np.cumsum([len(self._shares[number]) for number in ranges]).tolist())
        end, done = next(ends), 0
        grouped = map_in_order(partial(self._group, chains), shares, threads)
        for share, (stop, thinned, spectrum) in zip(shares, grouped, strict=True):
            self.occurrences.stretches.append((share.place, stop))
            self.thinned.append(thinned)
            self.spectrum += spectrum
            if share.number + 1 - first == end:
                chains.give_back(ranges[done])
                end, done = next(ends, 0), done + 1
        self._done += int(before[-1])

    def _group(self, chains: PageChains, share: _Share) -> tuple[int, np.ndarray, np.ndarray]:
        """Return the number behind the last occurrence of a share, ``thinned``, and the spectrum."""
        from overlapper.kernels.seeds.seed_index import group_buckets

        layout, spectrum, thinned = self.layout, np.zeros(SPECTRUM_SIZE, np.int64), [np.empty(0, np.int64)]
        occurrences, place = self.occurrences, share.place
        for first in share.buckets[::BUCKETS_AT_A_TIME]:
            entries, starts = chains.gathered(
                slice(first, min(first + BUCKETS_AT_A_TIME, share.buckets.stop))
            )
            not_sampled = np.empty(len(entries) // self.unthinned + 1, np.int64)
            place, n = group_buckets(
                entries, starts, layout.rest_low_bit, layout.rest_bits, self._read_of_words,
                self.word_offsets, self.unthinned, self.first_target, spectrum, not_sampled,
                *occurrences.columns, place, occurrences.block_bits, occurrences.per_block[share.number],
            )  # fmt: skip
            thinned.append(not_sampled[:n].copy())
        occurrences.rest(share.place, place)
        return place, np.concatenate(thinned), spectrum


def _cut(buckets: range) -> list[range]:
    """Cut a range of buckets into shares."""
    step = -(-len(buckets) // SHARES)
    return [buckets[first : first + step] for first in range(0, len(buckets), step)]
