"""Writes the seeds of a read set to disk, by block of reads, within a memory budget.

Which minimizers seed is decided from all reads, as in `overlapper.sketch.seed_index`, in three steps that
pass over the disk:

1. Reads are sketched a chunk at a time, and minimizers appended to the file of their range of hashes.
2. Range by range they are grouped by hash and counted, and what occurs once, or is tandem, is dropped. With
   the last range the spectrum is complete, and from it follow the repeat limit and deep reads.
3. Range by range, what does not seed is dropped, and the rest appended to the file of its block of reads.

The seeds of a block are in the order of their hashes, so that those of two blocks are joined by reading both
once. Where the reads of a block seed is marked as well, unless there is but one block, whose tile marks its
own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial

import numpy as np

from overlapper.io.artifacts import Artifact
from overlapper.params.stages import SketchParams
from overlapper.runtime.threads import cut_evenly, map_in_order
from overlapper.sketch.deep_reads import Placing, SeedRule, unthinned
from overlapper.sketch.page_chains import RANGE_BITS, EntryLayout, expected_minimizers, partition
from overlapper.sketch.seed_index import SPECTRUM_SIZE, chosen_limit, seed_counts
from overlapper.tables import Reads
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import BASES_PER_WORD, words_for

CHUNK_MINIMIZERS = 1 << 21
"""Minimizers of a chunk, which a thread sketches at a time."""
GROUPING_BYTES = 32
"""Bytes of memory for each minimizer while its range is grouped or cut by block."""
FEWEST_RANGES = 8
"""Least number of ranges. The file of a range is removed once it is read, so that the next one reuses its
memory: new pages for the contents of files take the system as long as sorting them."""

LoadReads = Callable[[int, int], Reads]
"""``load(start, stop)`` returns reads ``[start, stop)``, as they are sketched."""


class SeedWriter:
    """Sketches a read set to disk within a memory budget; `cut` then writes the seeds by block of reads.

    Parameters
    ----------
    artifact : Artifact
        Where to write.
    load : callable
        See `LoadReads`.
    lengths : ndarray of int64, shape (reads,)
        Of the reads that are sketched.
    sketch : SketchParams
    memory : int
        Bytes that a range of hashes may take.
    threads : int

    Attributes
    ----------
    seeds : int
        How many minimizers seed.
    """

    def __init__(
        self,
        artifact: Artifact,
        load: LoadReads,
        lengths: np.ndarray,
        sketch: SketchParams,
        memory: int,
        threads: int,
    ) -> None:
        self._artifact, self._load, self._threads = artifact, load, threads
        self._lengths, self._sketch = lengths, sketch
        self._word_offsets = offsets_of(words_for(lengths))
        self._layout = EntryLayout.choose(int(self._word_offsets[-1]) * BASES_PER_WORD, sketch)
        self._placing = Placing.of(self._layout, self._word_offsets)
        wanted = expected_minimizers(int(lengths.sum()), sketch.window) * GROUPING_BYTES // max(1, memory)
        n_buckets = self._layout.n_buckets
        share = max(1, n_buckets // max(FEWEST_RANGES, wanted + 1))
        self._ranges = [(i, min(i + share, n_buckets)) for i in range(0, n_buckets, share)]
        counts = self._spill()
        spectrum = self._group(counts)
        self._rule = self._seed_rule(spectrum)
        self._once = int(spectrum[1])
        usual = min(self._rule.limit + 1, SPECTRUM_SIZE)
        self.seeds = int(spectrum[2:usual] @ np.arange(2, usual)) + self._rule.added

    def _spill(self) -> np.ndarray:
        """Append minimizers to the file of their range; return the number of each chunk in each bucket."""
        from overlapper.kernels.seeds.tile_seeds import gather_buckets

        chunks = cut_evenly(self._lengths, CHUNK_MINIMIZERS * (self._sketch.window + 1) // 2)
        counts = np.zeros((len(chunks) - 1, self._layout.n_buckets), np.int64)
        sketched = np.empty(len(self._lengths), np.int32)

        def sketch_chunk(chunk: int) -> list[np.ndarray]:
            start, stop = int(chunks[chunk]), int(chunks[chunk + 1])
            reads = self._load(start, stop)
            pages, previous_page, last_page, counts[chunk] = partition(
                reads, 0, len(reads), self._sketch, self._layout, sketched[start:stop]
            )
            first_base = int(self._word_offsets[start]) * BASES_PER_WORD
            parts = []
            for first, last in self._ranges:
                out = np.empty(counts[chunk, first:last].sum(), np.uint64)
                gather_buckets(
                    pages, previous_page, last_page[first:last], counts[chunk, first:last], first_base, out
                )
                parts.append(out)
            return parts

        for number in range(len(self._ranges)):
            self._artifact.save(f"range-{number}", np.empty(0, np.uint64))
        for parts in map_in_order(sketch_chunk, range(len(chunks) - 1), self._threads):
            for number, entries in enumerate(parts):
                self._artifact.append(f"range-{number}", entries)
        self._artifact.save("sketched", sketched)
        self._sketched = int(sketched.sum(dtype=np.int64))
        return counts

    def _group(self, counts: np.ndarray) -> np.ndarray:
        """Keep minimizers of each range that occur at least twice, by hash; return the spectrum of all."""
        spectrum = np.zeros(SPECTRUM_SIZE, np.int64)
        self._grouped = np.zeros(self._layout.n_buckets, np.int64)
        for number, (first, last) in enumerate(self._ranges):
            entries = self._artifact.mapped(f"range-{number}", np.uint64)
            self._artifact.save(f"grouped-{number}", np.empty(0, np.uint64))
            of_range = counts[:, first:last]
            places = (np.cumsum(of_range) - of_range.ravel()).reshape(of_range.shape)
            group = _Grouping(entries, places, of_range, self._layout, self._placing)
            done = first
            for grouped, sizes, counted in map_in_order(group, _parts(last - first), self._threads):
                self._artifact.append(f"grouped-{number}", grouped)
                self._grouped[done : done + len(sizes)] = sizes
                done += len(sizes)
                spectrum += counted
            self._artifact.remove(f"range-{number}")
        return spectrum

    def _seed_rule(self, spectrum: np.ndarray) -> SeedRule:
        limit = chosen_limit(self._sketch, spectrum)
        placing, often = self._placing, unthinned(self._sketch.window)
        if self._sketch.repeat_limit:
            return SeedRule(limit, often, placing, np.zeros(len(self._lengths), bool))
        parts = [
            partial(self._grouped_buckets, number, part)
            for number, (first, last) in enumerate(self._ranges)
            for part in _parts(last - first)
        ]
        return SeedRule.find(self._lengths, placing, spectrum, limit, often, parts, self._threads)

    def _grouped_buckets(self, number: int, part: range) -> list[np.ndarray]:
        """Return the grouped entries of several buckets of a range."""
        first, last = self._ranges[number]
        ends = offsets_of(self._grouped[first:last])
        start, stop = int(ends[part.start]), int(ends[part.stop])
        entries = self._artifact.mapped(f"grouped-{number}", np.uint64, start, stop)
        return [entries[ends[bucket] - start : ends[bucket + 1] - start] for bucket in part]

    def cut(self, bounds: np.ndarray) -> None:
        """Write the seeds by block of reads, as `overlapper.sketch.seed_store` reads them.

        Parameters
        ----------
        bounds : ndarray of int64, shape (blocks + 1,)
            Reads at which blocks start.
        """
        n_blocks = len(bounds) - 1
        first_bases = self._word_offsets[bounds] * BASES_PER_WORD
        counts = np.zeros((self._layout.n_buckets, n_blocks), np.int64)
        for block in range(n_blocks):
            self._artifact.save(f"seeds-{block}", np.empty(0, np.uint64))
        for number, (first, last) in enumerate(self._ranges):
            entries = self._artifact.mapped(f"grouped-{number}", np.uint64)
            cut = _Cutting(entries, self._grouped[first:last], self._rule, first_bases)
            done = first
            for seeds, of_part in map_in_order(cut, _parts(last - first), self._threads):
                counts[done : done + len(of_part)] = of_part
                done += len(of_part)
                ends = np.cumsum(of_part.sum(axis=0))
                for block in range(n_blocks):
                    self._artifact.append(
                        f"seeds-{block}", seeds[ends[block] - of_part[:, block].sum() : ends[block]]
                    )
            self._artifact.remove(f"grouped-{number}")
        if n_blocks > 1:
            for block in range(n_blocks):
                self._mark_seeds(block, int(bounds[block]), int(bounds[block + 1]))
        self._artifact.save("counts", counts)
        self._artifact.save("bounds", bounds.astype(np.int64))
        self._artifact.save("sketched_lengths", self._lengths)
        self._artifact.facts |= {
            "layout": dataclasses.asdict(self._layout),
            "kmer_length": self._sketch.kmer_length,
            "limit": self._rule.largest,
            "counts": seed_counts(self._sketched, self._once, int(counts.sum())),
        }

    def _mark_seeds(self, block: int, start: int, stop: int) -> None:
        """Write the places of seeds in the reads of a block, a bit for each base."""
        from overlapper.kernels.seeds.tile_seeds import mark_bases

        marks = np.zeros(int(words_for(self._lengths[start:stop]).sum()), np.uint32)
        mark_bases(self._artifact.mapped(f"seeds-{block}", np.uint64), self._layout.rest_low_bit, marks)
        self._artifact.save(f"marks-{block}", marks)


def _parts(n_buckets: int) -> list[range]:
    step = -(-n_buckets // (1 << RANGE_BITS))
    return [range(i, min(i + step, n_buckets)) for i in range(0, n_buckets, step)]


@dataclasses.dataclass
class _Grouping:
    """Groups the minimizers of several buckets of a range, which each chunk left at another place."""

    entries: np.ndarray
    places: np.ndarray
    counts: np.ndarray
    layout: EntryLayout
    placing: Placing

    def __call__(self, buckets: range) -> tuple[np.ndarray, list[int], np.ndarray]:
        """Return the grouped entries, their number in each bucket, and the spectrum."""
        from overlapper.kernels.seeds.seed_index import group_bucket

        spectrum = np.zeros(SPECTRUM_SIZE, np.int64)
        grouped = np.empty(self.counts[:, buckets.start : buckets.stop].sum(), np.uint64)
        totals = self.counts.sum(axis=0)
        room, spare = np.empty((2, totals[buckets.start : buckets.stop].max()), np.uint64)
        sizes: list[int] = []
        place = 0
        for bucket in buckets:
            starts, stops = self.places[:, bucket], self.places[:, bucket] + self.counts[:, bucket]
            gathered = [self.entries[a:b] for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]
            bucket_entries = room[: totals[bucket]]
            if gathered:
                np.concatenate(gathered, out=bucket_entries)
            n = group_bucket(
                bucket_entries, spare[: totals[bucket]],
                self.layout.rest_low_bit, self.layout.rest_bits,
                self.placing.read_of_words, self.placing.word_offsets, spectrum, grouped[place:],
            )  # fmt: skip
            sizes.append(n)
            place += n
        return grouped[:place], sizes, spectrum


@dataclasses.dataclass
class _Cutting:
    """Selects the entries of several buckets of a range that seed, and cuts them by block of reads."""

    entries: np.ndarray
    sizes: np.ndarray
    rule: SeedRule
    first_bases: np.ndarray

    def __call__(self, buckets: range) -> tuple[np.ndarray, np.ndarray]:
        """Return the seeds by block, then by bucket, and the number of each bucket in each block."""
        from overlapper.kernels.seeds.tile_seeds import count_blocks, scatter_blocks

        low_bit, n_blocks = self.rule.placing.rest_low_bit, len(self.first_bases) - 1
        counts = np.zeros((len(buckets), n_blocks), np.int64)
        ends = np.cumsum(self.sizes)
        kept, place = [], 0
        # Not in place: the system would copy every page of the file that is written to.
        room = np.empty(self.sizes[buckets.start : buckets.stop].sum(), np.uint64)
        for i, bucket in enumerate(buckets):
            grouped = self.entries[ends[bucket] - self.sizes[bucket] : ends[bucket]]
            n = self.rule.keep_seeding(grouped, room[place:])
            kept.append(room[place : place + n])
            place += n
            count_blocks(kept[i], low_bit, self.first_bases, counts[i])
        next_free = np.ascontiguousarray((np.cumsum(counts.T) - counts.T.ravel()).reshape(n_blocks, -1).T)
        seeds = np.empty(counts.sum(), np.uint64)
        for i, entries in enumerate(kept):
            scatter_blocks(entries, low_bit, self.first_bases, next_free[i], seeds)
        return seeds, counts
