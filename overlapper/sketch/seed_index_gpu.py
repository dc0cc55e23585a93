"""The seed index of a read set, built and kept on a GPU; the host holds the small columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from overlapper.errors import DeviceError
from overlapper.gpu.gpus import Gpus, Slot
from overlapper.kernels.seeds.seed_groups import read_of_words
from overlapper.params.stages import SketchParams
from overlapper.sketch.deep_reads import DeepReads, unthinned
from overlapper.sketch.grouped import SPECTRUM_SIZE, chosen_limit, seed_counts
from overlapper.sketch.occurrences import Occurrences
from overlapper.sketch.page_chains import EntryLayout
from overlapper.sketch.seed_index import SeedIndex
from overlapper.sketch.seed_lists_gpu import DeviceSeedLists, IndexColumns
from overlapper.tables import Reads, Seeding
from overlapper.tables.reads import BASES_PER_WORD

if TYPE_CHECKING:
    from overlapper.kernels.common.cuda.walks import DeviceReads
    from overlapper.kernels.seeds.cuda.seed_index import Groups
    from overlapper.runtime.gpu.memory import Arena, DeviceArray

KERNELS = ("seeds", "common.radix_sort", "common.scan", "common.groups")
"""Prefixes of the names of the kernels that this module needs."""
_SHARES = 1, 2, 4, 8, 16
"""Numbers of shares in which the buckets (16 or more) may be processed."""


def build(gpus: Gpus, reads: Reads, sketch: SketchParams, threads: int) -> SeedIndex | None:
    """Build a `SeedIndex` on a GPU; return None if it does not fit, or nothing seeds.

    Parameters
    ----------
    gpus : Gpus
        That hold the reads.
    """
    layout = EntryLayout.choose(int(reads.word_offsets[-1]) * BASES_PER_WORD, sketch)
    with gpus.slot() as slot, slot.working():
        room = _room_for(slot, reads, sketch)
        if room is None:
            return None
        try:
            return _build(slot, reads, sketch, layout, threads, room)
        except DeviceError:
            return None


class _Room(NamedTuple):
    """Memory of a GPU for an index."""

    arena: Arena
    shares: int
    """In as many shares of the buckets minimizers are grouped, one after the other."""
    most: int
    """Minimizers that a share may have."""


def _room_for(slot: Slot, reads: Reads, sketch: SketchParams) -> _Room | None:
    """Return memory of a GPU that holds the reads, for the fewest shares that are expected to fit."""
    from overlapper.kernels.seeds.cuda.seed_index import room_for
    from overlapper.runtime.gpu.memory import Arena

    # A quarter more than expected, as reads of one thing or another have more.
    minimizers = 2 * reads.total_bases // (sketch.window + 1) * 5 // 4
    for shares in _SHARES if slot.reads is not None and len(reads.words) else ():
        size, most = room_for(minimizers, reads.total_bases, shares)
        if size <= slot.spare:
            # With pinned memory of its own: lists may be copied to the host while slots work.
            return _Room(Arena.allocate(size), shares, most)
    return None


class _GroupedShares:
    """Minimizers of reads, grouped by hash on a GPU, a share of the buckets at a time.

    The groups of an only share stay; those of several are made twice, to be counted and to be worked on.

    Parameters
    ----------
    reads : DeviceReads
    sketch : SketchParams
    layout : EntryLayout
    read_table : ndarray of int32
        That of `overlapper.kernels.seeds.seed_groups.read_of_words`.
    room : _Room

    Attributes
    ----------
    owners : DeviceArray
        The read of each word.
    sketched : DeviceArray
        Minimizers of each read.
    spectrum : ndarray of int64
        Of them all.
    """

    def __init__(
        self,
        reads: DeviceReads,
        sketch: SketchParams,
        layout: EntryLayout,
        read_table: np.ndarray,
        room: _Room,
    ) -> None:
        from overlapper.kernels.seeds.cuda.minimizers import read_of_words

        self._reads, self._sketch, self._layout, self._read_table = reads, sketch, layout, read_table
        self._arena, self._most = room.arena, room.most
        step = layout.n_buckets // room.shares
        self._shares = [range(first, first + step) for first in range(0, layout.n_buckets, step)]
        self.owners = read_of_words(reads, room.arena)
        self.sketched = room.arena.zeros(len(reads.lengths), np.int32)
        self.spectrum = np.zeros(SPECTRUM_SIZE, np.int64)
        self._only: Groups | None = None
        if room.shares == 1:
            self._only = self._group(self._shares[0], self.sketched, self.spectrum)
            return
        for share in self._shares:
            mark = room.arena.mark()
            self._group(share, self.sketched, self.spectrum)
            room.arena.release(mark)

    def __iter__(self) -> Iterator[tuple[range, Groups]]:
        """Yield the buckets of each share and their groups, which are valid until the next share."""
        for share in self._shares:
            mark = self._arena.mark()
            groups = self._only or self._group_again(share)
            if groups:
                yield share, groups
            self._arena.release(mark)

    def _group_again(self, share: range) -> Groups | None:
        counted = self._arena.zeros(len(self._reads.lengths), np.int32)
        return self._group(share, counted, np.zeros(SPECTRUM_SIZE, np.int64))

    def _group(self, share: range, sketched: DeviceArray, spectrum: np.ndarray) -> Groups | None:
        from overlapper.kernels.seeds.cuda.seed_index import Layout, group_by_hash

        layout = Layout(self._layout.bucket_bits, self._layout.rest_bits, self._layout.rest_low_bit)
        return group_by_hash(
            self._reads, self._sketch.kmer_length, self._sketch.window, layout, share, self._most,
            self.owners, self._read_table, sketched, spectrum, self._arena,
        )  # fmt: skip


def _build(
    slot: Slot, reads: Reads, sketch: SketchParams, layout: EntryLayout, threads: int, room: _Room
) -> SeedIndex | None:
    from overlapper.kernels.seeds.cuda.seed_index import NO_LIMIT
    from overlapper.kernels.seeds.cuda.seed_lists import frequent_occurrences, list_by_read, pack_occurrences
    from overlapper.runtime.gpu.launch import launch, named

    assert slot.reads is not None
    arena = room.arena
    grouped = _GroupedShares(slot.reads, sketch, layout, read_of_words(reads.word_offsets), room)
    sketched, spectrum = arena.download(grouped.sketched), grouped.spectrum
    limit, often, largest = chosen_limit(sketch, spectrum), unthinned(sketch.window), 0
    in_deep = not sketch.repeat_limit and spectrum[limit + 1 :].any()
    occurrences = arena.array(int(sketched.sum()) - int(spectrum[1]), np.uint64)
    n, frequent, sampled = 0, [], [np.empty(0, np.uint64)]
    for _, groups in grouped:
        if in_deep:
            above = groups, slot.reads, grouped.owners, limit
            frequent.append(frequent_occurrences(*above, NO_LIMIT, arena))
            sampled.append(frequent_occurrences(*above, often, arena))
        n += pack_occurrences(groups, slot.reads, grouped.owners, 2, limit, often, occurrences[n:], arena)
    if in_deep:
        deep = DeepReads.find(reads.lengths, spectrum, limit, _of_gpu(frequent), threads)
        added, none = _of_gpu(sampled), [np.empty(0, np.int64)]
        deep.keep_seeding(added, limit, often, none, reads.word_offsets, 1)
        largest, words = deep.most, added.packed.view(np.uint64)[: len(added)]
        mark = arena.mark()
        launch(named("common.copies", "copy_items"), len(words), arena, arena.upload(words), occurrences[n:])
        arena.release(mark)
        n += len(words)
    if not n:
        return None
    lists = list_by_read(occurrences[:n], slot.reads, grouped.owners, arena)
    there = IndexColumns(
        arena, lists.occurrences, lists.by_read, grouped.sketched, lists.marks, lists.ranks, lists.starts
    )
    counts = seed_counts(int(sketched.sum()), int(spectrum[1]), n)
    marks, ranks, starts = map(arena.download, (lists.marks, lists.ranks, lists.starts))
    seeding = Seeding.counted(sketched, marks, reads.word_offsets, ranks, starts)
    return SeedIndex(
        sketch.kmer_length, max(limit, largest), DeviceSeedLists(slot.gpu, there), starts, seeding, counts
    )


def _of_gpu(words: list[np.ndarray]) -> Occurrences:
    """Return the occurrences whose words several shares of a GPU made."""
    return Occurrences.of_gpu(np.concatenate([*words, np.zeros(1, np.uint64)]))
