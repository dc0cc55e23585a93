"""Minimizers grouped by hash on a CUDA device; the twin of ../seed_index.py.

The minimizers of some buckets are found, in the order of their places, and sorted by hash; a thread judges
each group. A key is ``bucket << rest_bits | rest of the hash``, a place ``base number << 1 | strand``.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from overlapper.errors import DeviceError
from overlapper.kernels.common.cuda.radix_sort import sort_pairs
from overlapper.kernels.common.cuda.scan import exclusive_sums, last_of
from overlapper.kernels.common.cuda.walks import DeviceReads
from overlapper.kernels.seeds.cuda.minimizers import BYTES_OF_BASE, THREADS, find_minimizers
from overlapper.runtime.gpu.launch import launch, named
from overlapper.runtime.gpu.memory import Arena
from overlapper.runtime.threads import cut_evenly
from overlapper.tables.reads import BASES_PER_WORD

_BYTES_OF_ENTRY = 44
"""Device memory of a minimizer in its group, at most."""
_BYTES_OF_OCCURRENCE = 16
"""Device memory of a minimizer in the finished index, at most."""
_CHUNK_BASES = 1 << 26
_BYTES_OF_BASE = BYTES_OF_BASE + 9
"""With its running sum, and what making it takes besides."""
NO_LIMIT = 1 << 31
_kernel = partial(named, "seeds.seed_index_kernels")


class Layout(NamedTuple):
    """``bucket_bits``, ``rest_bits`` and ``rest_low_bit`` of `overlapper.sketch.page_chains.EntryLayout`."""

    bucket_bits: int
    rest_bits: int
    rest_low_bit: int


class Groups(NamedTuple):
    """Minimizers in device memory, those of a hash together."""

    layout: Layout
    keys: Any
    places: Any
    """`keys`, `places`: device array of uint64, shape (n,); by key, then by place."""
    ranks: Any
    """Device array of int64, shape (n + 1,); groups that start before each minimizer."""
    starts: Any
    """Device array of int64, shape (groups,); where each group starts."""
    kept: Any
    """Device array of int32, shape (groups,); 1 for groups that occur at least twice and are not tandem, else
    0."""


def room_for(minimizers: int, bases: int, shares: int) -> tuple[int, int]:
    """Return the device memory that an index of about so many minimizers takes, a share of buckets at a time.

    Returns
    -------
    size : int
        In bytes, at most.
    most : int
        Minimizers that a share may have then.
    """
    of_share = -(-minimizers // shares) * _BYTES_OF_ENTRY + min(bases, 2 * _CHUNK_BASES) * _BYTES_OF_BASE
    return minimizers * _BYTES_OF_OCCURRENCE + of_share + bases, of_share // _BYTES_OF_ENTRY


def group_by_hash(
    reads: DeviceReads, k: int, w: int, layout: Layout, buckets: range, most: int, owners: Any,
    read_table: np.ndarray, sketched: Any, spectrum: np.ndarray, arena: Arena,
) -> Groups | None:  # fmt: skip
    """Group the minimizers of reads that are in some buckets, and tell which groups may seed.

    Parameters
    ----------
    reads : DeviceReads
    k, w : int
    layout : Layout
    buckets : range
        In steps of 1.
    most : int
        Minimizers that there is room for.
    owners : device array of int32
        The read of each word.
    read_table : ndarray of int32
        ``read_of_words`` of `is_tandem`.
    sketched : device array of int32, shape (reads,)
        In and out: the minimizers of each read are added.
    spectrum : ndarray of int64
        In and out: as of the CPU's `group_bucket`.
    arena : Arena
        Where the groups lie.

    Returns
    -------
    Groups or None
        None where there are no minimizers.

    Raises
    ------
    DeviceError
        When there are more, or the arena is too small for them.
    """
    keys, places = _minimizers(reads, k, w, layout, buckets, most, owners, sketched, arena)
    if not len(keys):
        return None
    mark = arena.mark()
    by_hash = sort_pairs(keys, places, layout.rest_bits + layout.bucket_bits, arena)
    if by_hash[0] is not keys:
        for items, own in zip(by_hash, (keys, places), strict=True):
            launch(named("common.copies", "copy_items"), len(own), arena, items, own)
    arena.release(mark)
    heads = arena.array(len(keys), np.int32)
    launch(named("common.groups", "flag_starts"), len(keys), arena, keys, heads)
    ranks = exclusive_sums(heads, arena)
    groups = last_of(ranks, arena)
    starts, kept = arena.array(groups, np.int64), arena.array(groups, np.int32)
    launch(named("common.groups", "list_flagged"), len(keys), arena, heads, ranks, starts)
    counted = arena.zeros(len(spectrum), np.int64)
    _kernel("judge_groups").launch(
        -(-groups // THREADS), THREADS, arena.stream, places, starts, arena.upload(read_table),
        reads.word_offsets, counted, kept,
    )  # fmt: skip
    spectrum += arena.download(counted)
    return Groups(layout, keys, places, ranks, starts, kept)


def flagged(groups: Groups, least: int, most: int, unthinned: int, arena: Arena) -> tuple[Any, Any]:
    """Flag the minimizers of sampled groups of ``least`` to ``most``; return flags and running sums."""
    flags = arena.array(len(groups.keys), np.int32)
    launch(
        _kernel("flag_groups"), len(flags), arena, groups.keys, groups.ranks, groups.starts, groups.kept,
        least, most, unthinned, groups.layout.rest_bits, flags,
    )  # fmt: skip
    return flags, exclusive_sums(flags, arena)


def _minimizers(
    reads: DeviceReads, k: int, w: int, layout: Layout, buckets: range, most: int, owners: Any, sketched: Any,
    arena: Arena,
) -> tuple[Any, Any]:  # fmt: skip
    """Return keys and places of the minimizers of buckets, by place; count those of each read."""
    offsets = reads.host.word_offsets
    keys, places = arena.array(most, np.uint64), arena.array(most, np.uint64)
    chunk = min(_CHUNK_BASES, arena.free // _BYTES_OF_BASE - BASES_PER_WORD)
    n, mark = 0, arena.mark()
    bounds = cut_evenly(np.diff(offsets), max(1, chunk // BASES_PER_WORD))
    for first, last in itertools.pairwise(bounds.tolist()):
        first_word, words = int(offsets[first]), int(offsets[last] - offsets[first])
        if not words:
            continue
        hashes, flags = find_minimizers(reads, owners, first_word, words, k, w, arena)
        if len(buckets) < 1 << layout.bucket_bits:
            launch(
                _kernel("keep_buckets"), len(flags), arena, hashes, layout.bucket_bits,
                buckets.start, buckets.stop, flags,
            )  # fmt: skip
        ranks = exclusive_sums(flags, arena)
        launch(
            _kernel("count_minimizers"), last - first, arena, ranks, reads.word_offsets, first, last, sketched
        )
        found = last_of(ranks, arena)
        if n + found > most:
            raise DeviceError("there are more minimizers than there is room for")
        if found:
            launch(
                _kernel("write_minimizers"), len(flags), arena, hashes, flags, ranks, first_word, *layout[:2],
                keys[n : n + found], places[n : n + found],
            )  # fmt: skip
        n += found
        arena.release(mark)
    return keys[:n], places[:n]
