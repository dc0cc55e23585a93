"""The seed index of a read set, made on a GPU, which keeps it; the host has what it needs of it."""

from __future__ import annotations

import functools
import itertools
import threading
from typing import TYPE_CHECKING

import numpy as np

from overlapper.errors import DeviceError
from overlapper.gpu.gpus import Gpus, Slot
from overlapper.params.stages import SketchParams
from overlapper.sketch.deep_reads import Placing, unthinned
from overlapper.sketch.page_chains import EntryLayout
from overlapper.sketch.seed_index import (
    LISTED_BITS,
    SPECTRUM_SIZE,
    SeedIndex,
    chosen_limit,
    in_deep_reads,
    seed_counts,
)
from overlapper.tables import Reads, Seeding
from overlapper.tables.reads import BASES_PER_WORD

if TYPE_CHECKING:
    from overlapper.kernels.seeds.cuda.seed_groups import Groups
    from overlapper.kernels.seeds.cuda.seed_lists import Lists
    from overlapper.runtime.gpu.memory import Arena, DeviceArray

KERNELS = ("seeds", "common.radix_sort", "common.scan", "common.groups")
"""How the names of the kernels begin that are needed."""


class ListsThere:
    """`SeedLists` in memory of a GPU; copied to the host when that asks for them.

    Parameters
    ----------
    gpu : int
        Its number.
    arena : Arena
        That they lie in.
    lists : Lists
    sketched : DeviceArray
        Minimizers of each read.

    Attributes
    ----------
    gpu, arena, lists, sketched
    """

    def __init__(self, gpu: int, arena: Arena, lists: Lists, sketched: DeviceArray) -> None:
        self.gpu, self.arena, self.lists, self.sketched = gpu, arena, lists, sketched
        self._copying = threading.Lock()

    @functools.cached_property
    def _here(self) -> tuple[np.ndarray, np.ndarray]:
        return self._download(self.lists.occurrences), self._download(self.lists.by_read)

    @property
    def occurrences(self) -> np.ndarray:
        """As that of `SeedLists`."""
        with self._copying:
            return self._here[0]

    @property
    def by_read(self) -> np.ndarray:
        """As that of `SeedLists`."""
        with self._copying:
            return self._here[1]

    def hits(self, step: int) -> int:
        """As that of `SeedLists`."""
        from overlapper.kernels.candidates.cuda.hits import count_sampled
        from overlapper.runtime.gpu import driver

        with driver.use(self.gpu):
            return count_sampled(self.lists.occurrences, self.lists.by_read, step, self.arena)

    def _download(self, array: DeviceArray) -> np.ndarray:
        from overlapper.runtime.gpu import driver

        with driver.use(self.gpu):
            return self.arena.download(array)


def build(gpus: Gpus, reads: Reads, sketch: SketchParams, threads: int) -> SeedIndex | None:
    """Return what `SeedIndex.build` does, made on a GPU; None where it has no room, or nothing seeds.

    Parameters
    ----------
    gpus : Gpus
        That hold the reads.
    reads : Reads
    sketch : SketchParams
    threads : int
    """
    layout = EntryLayout.choose(int(reads.word_offsets[-1]) * BASES_PER_WORD, sketch)
    with gpus.slot() as slot, slot.working():
        arena = _arena_for(slot, reads, sketch)
        if arena is None:
            return None
        try:
            return _build(slot, reads, sketch, layout, threads, arena)
        except DeviceError:
            return None


def _arena_for(slot: Slot, reads: Reads, sketch: SketchParams) -> Arena | None:
    """Return memory for the index of a GPU that holds the reads, where it has as much as is expected."""
    from overlapper.kernels.seeds.cuda.seed_groups import bytes_for
    from overlapper.runtime.gpu.memory import Arena

    size = bytes_for(2 * reads.total_bases // (sketch.window + 1), reads.total_bases)
    if slot.reads is None or size > slot.spare or not len(reads.words):
        return None
    # With pinned memory of its own: lists may be copied to the host while slots work.
    return Arena.allocate(size)


def _build(
    slot: Slot, reads: Reads, sketch: SketchParams, layout: EntryLayout, threads: int, arena: Arena
) -> SeedIndex | None:
    from overlapper.kernels.seeds.cuda.seed_groups import Layout, group_by_hash
    from overlapper.kernels.seeds.cuda.seed_lists import list_occurrences

    assert slot.reads is not None
    placing = Placing.of(layout, reads.word_offsets)
    spectrum = np.zeros(SPECTRUM_SIZE, np.int64)
    of_device = Layout(layout.bucket_bits, layout.rest_bits, layout.rest_low_bit)
    groups = group_by_hash(
        slot.reads, sketch.kmer_length, sketch.window, of_device, placing.read_of_words, spectrum, arena
    )
    if groups is None:
        return None
    limit, often, largest = chosen_limit(sketch, spectrum), unthinned(sketch.window), 0
    added = np.empty(0, np.uint64)
    if not sketch.repeat_limit and spectrum[limit + 1 :].any():
        frequent = _frequent(groups, layout, limit, arena)
        largest, seeding = in_deep_reads(reads, frequent, placing, spectrum, limit, often, threads)
        added = _packed(seeding, placing, often)
    lists = list_occurrences(groups, slot.reads, limit, often, added, arena)
    if lists is None:
        return None
    sketched, positions, starts = map(arena.download, (groups.sketched, lists.positions, lists.starts))
    counts = seed_counts(int(sketched.sum()), int(spectrum[1]), len(positions))
    return SeedIndex(
        sketch.kmer_length, max(limit, largest), ListsThere(slot.gpu, arena, lists, groups.sketched), starts,
        Seeding(sketched=sketched, positions=positions, starts=starts), counts,
    )  # fmt: skip


def _frequent(groups: Groups, layout: EntryLayout, limit: int, arena: Arena) -> list[list[np.ndarray]]:
    """Return the entries of frequent minimizers in each bucket of each range of buckets."""
    from overlapper.kernels.seeds.cuda.seed_groups import frequent_entries

    mark = arena.mark()
    entries, bounds = frequent_entries(groups, limit, arena)
    arena.release(mark)
    buckets = [entries[start:stop] for start, stop in itertools.pairwise(bounds.tolist())]
    return [buckets[some.start : some.stop] for some in layout.bucket_ranges]


def _packed(added: list[list[np.ndarray]], placing: Placing, often: int) -> np.ndarray:
    """Return entries of all buckets as occurrences."""
    from overlapper.kernels.seeds.seed_index import join_groups

    blocks = np.empty((int(placing.word_offsets[-1]) * BASES_PER_WORD >> LISTED_BITS) + 1, np.int64)
    parts = [np.empty(0, np.uint64)]
    for entries in itertools.chain.from_iterable(added):
        n = join_groups(
            entries, placing.rest_low_bit, len(entries), often,
            placing.read_of_words, placing.word_offsets, LISTED_BITS, blocks,
        )  # fmt: skip
        parts.append(entries[:n])
    return np.concatenate(parts)
