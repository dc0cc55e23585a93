"""The seed index of a tile: a block of queries against a block of targets, or all reads."""

from __future__ import annotations

import numpy as np

from overlapper.params.stages import SketchParams
from overlapper.runtime.threads import map_in_order
from overlapper.sketch.deep_reads import Placing
from overlapper.sketch.occurrences import Occurrences, Packer, Stretch
from overlapper.sketch.page_chains import EntryLayout, partition
from overlapper.sketch.seed_index import SeedIndex
from overlapper.sketch.seed_lists import HostSeedLists
from overlapper.sketch.seed_store import BlockSeeds, SeedStore
from overlapper.tables import Reads, Seeding
from overlapper.tables.ragged import offsets_of
from overlapper.tables.reads import BASES_PER_WORD


def whole_index(store: SeedStore, reads: Reads, threads: int) -> SeedIndex:
    """Index the seeds of all reads, when they are one block.

    Parameters
    ----------
    store : SeedStore
        With one block.
    reads : Reads
        The reads that were sketched.
    threads : int
    """
    starts = store.starts(0)
    packer = _packer(store, reads, int(starts[-1]))

    def pack(number: int) -> Stretch:
        buckets = store.layout.bucket_ranges[number]
        first = starts[buckets.start]
        entries = np.array(store.entries(0, buckets.start, buckets.stop))
        for bucket in buckets:
            of_bucket = entries[starts[bucket] - first : starts[bucket + 1] - first]
            packer.pack(of_bucket, int(starts[bucket]), number)
        return int(first), int(starts[buckets.stop])

    stretches = list(map_in_order(pack, range(len(store.layout.bucket_ranges)), threads))
    store.release(0)
    lists, seeding = _listed(packer.packed_in(stretches), reads, store.sketched(), threads)
    return SeedIndex(store.kmer_length, store.limit, lists, seeding.starts, seeding, store.counts)


def _packer(store: SeedStore, reads: Reads, room: int) -> Packer:
    placing = Placing.of(store.layout, reads.word_offsets)
    return Packer(placing, reads.lengths, room, len(store.layout.bucket_ranges))


def _listed(
    occurrences: Occurrences, reads: Reads, sketched: np.ndarray, threads: int
) -> tuple[HostSeedLists, Seeding]:
    """Return lists of occurrences, and `Seeding` of their places."""
    lists = HostSeedLists(occurrences, reads.word_offsets, threads)
    return lists, lists.seeding(sketched)


def tile_index(
    store: SeedStore, queries: BlockSeeds, targets: BlockSeeds | None, reads: Reads, threads: int
) -> SeedIndex:
    """Index the seeds that two blocks share, or that one block has several times.

    Parameters
    ----------
    store : SeedStore
    queries : BlockSeeds
    targets : BlockSeeds or None
        None if the queries are the targets, too.
    reads : Reads
        The reads that were sketched, queries first.
    threads : int

    Returns
    -------
    SeedIndex
        Of these minimizers; ``seeding`` is of all seeds of the reads, ``counts`` of the whole read set.
    """
    from overlapper.kernels.seeds.tile_seeds import join_blocks, keep_repeated

    layout = store.layout
    first_target_base = queries.n_words * BASES_PER_WORD
    starts = queries.starts if targets is None else queries.starts + targets.starts
    packer = _packer(store, reads, int(starts[-1]))

    def join(number: int) -> Stretch:
        buckets = layout.bucket_ranges[number]
        first, last = buckets.start, buckets.stop
        of_queries = queries.read(first, last)
        of_targets = None if targets is None else targets.read(first, last)
        room = np.empty(np.diff(starts[first : last + 1]).max(), np.uint64)
        place = int(starts[first])
        for bucket in buckets:
            own = _of_bucket(of_queries, queries.starts, first, bucket)
            if targets is None or of_targets is None:
                n = keep_repeated(own, layout.rest_low_bit, room)
            else:
                others = _of_bucket(of_targets, targets.starts, first, bucket)
                n = join_blocks(own, others, layout.rest_low_bit, first_target_base, room)
            place = packer.pack(room[:n], place, number)
        return int(starts[first]), place

    stretches = list(map_in_order(join, range(len(layout.bucket_ranges)), threads))
    seeding = Seeding.concat([queries.seeding] if targets is None else [queries.seeding, targets.seeding])
    lists, joined = _listed(packer.packed_in(stretches), reads, seeding.sketched, threads)
    return SeedIndex(store.kmer_length, store.limit, lists, joined.starts, seeding, store.counts)


def _of_bucket(entries: np.ndarray, starts: np.ndarray, first: int, bucket: int) -> np.ndarray:
    return entries[starts[bucket] - starts[first] : starts[bucket + 1] - starts[first]]


def sample_seeds(reads: Reads, seeding: Seeding, sketch: SketchParams, layout: EntryLayout) -> BlockSeeds:
    """Return the seeds of some reads as a block, which can be joined with stored blocks alone.

    Parameters
    ----------
    reads : Reads
        Few; in the form in which they are sketched.
    seeding : Seeding
        Theirs.
    sketch : SketchParams
    layout : EntryLayout
        Of the store.
    """
    from overlapper.kernels.common.sorting import radix_sort
    from overlapper.kernels.seeds.tile_seeds import gather_buckets

    pages, previous_page, last_page, counts = partition(
        reads, 0, len(reads), sketch, layout, np.empty(len(reads), np.int32)
    )
    entries = np.empty(counts.sum(), np.uint64)
    gather_buckets(pages, previous_page, last_page, counts, 0, entries)
    first_bases = np.repeat(reads.word_offsets[:-1] * BASES_PER_WORD, np.diff(seeding.starts))
    bases = (entries & np.uint64((1 << layout.rest_low_bit) - 1)) >> np.uint64(1)
    seeds = np.isin(bases, (first_bases + seeding.positions).astype(np.uint64))
    of_bucket = np.repeat(np.arange(layout.n_buckets), counts)
    entries, counts = entries[seeds], np.bincount(of_bucket[seeds], minlength=layout.n_buckets)
    starts = offsets_of(counts)
    for bucket in np.flatnonzero(counts):
        part = slice(starts[bucket], starts[bucket + 1])
        entries[part] = radix_sort(
            entries[part].copy(), np.empty(counts[bucket], np.uint64), layout.rest_low_bit, layout.rest_bits
        )
    return BlockSeeds(
        lambda first, last: entries[starts[first] : starts[last]],
        starts,
        seeding,
        int(reads.word_offsets[-1]),
    )
