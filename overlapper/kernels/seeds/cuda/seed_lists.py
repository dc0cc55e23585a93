"""The seed index from grouped minimizers on a CUDA device; the twin of ../seed_lists.py.

Occurrences are as there, without gaps. The lists of reads need no sort: a bit a base marks where occurrences
are, so that the bits before its own tell the place of each.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from overlapper.kernels.common.cuda.scan import exclusive_sums, last_of
from overlapper.kernels.common.cuda.walks import DeviceReads
from overlapper.kernels.seeds.cuda.seed_index import NO_LIMIT, Groups, flagged
from overlapper.runtime.gpu.launch import launch, named
from overlapper.runtime.gpu.memory import Arena
from overlapper.tables.seeding import WORDS_PER_RANK

_kernel = partial(named, "seeds.seed_list_kernels")


class Lists(NamedTuple):
    """The seed index in device memory; columns as of `overlapper.sketch.seed_index.SeedIndex`."""

    occurrences: Any
    """Device array of uint64, shape (n,); without gaps."""
    by_read: Any
    """device array of uint32 or int64, shape (n,)."""
    marks: Any
    """device array of uint32, shape (words,)."""
    ranks: Any
    """Device array of uint32, shape (words // WORDS_PER_RANK + 1,); those of `overlapper.tables.Seeding`."""
    starts: Any
    """device array of int64, shape (reads + 1,)."""


def pack_occurrences(
    groups: Groups, reads: DeviceReads, owners: Any, least: int, most: int, unthinned: int, occurrences: Any,
    arena: Arena,
) -> int:  # fmt: skip
    """Write the occurrences of the groups that seed, and return how many they are.

    Parameters
    ----------
    groups : Groups
    reads : DeviceReads
    owners : device array of int32
        The read of each word.
    least, most : int
        Multiplicities kept, both included.
    unthinned : int
        That of `overlapper.kernels.seeds.seed_groups.is_sampled`.
    occurrences : device array of uint64
        Out; with room for all minimizers that occur at least twice.
    arena : Arena

    Raises
    ------
    DeviceError
        When the arena is too small for it.
    """
    return _pack(groups, reads, owners, *flagged(groups, least, most, unthinned, arena), occurrences, arena)


def frequent_occurrences(
    groups: Groups, reads: DeviceReads, owners: Any, limit: int, unthinned: int, arena: Arena
) -> np.ndarray:
    """Return the occurrences (uint64) of sampled groups that occur more often than ``limit``.

    Other arguments are those of `pack_occurrences`.
    """
    mark = arena.mark()
    flags, ranks = flagged(groups, limit + 1, NO_LIMIT, unthinned, arena)
    occurrences = arena.array(last_of(ranks, arena), np.uint64)
    n = _pack(groups, reads, owners, flags, ranks, occurrences, arena)
    found = arena.download(occurrences)[:n]
    arena.release(mark)
    return found


def _pack(
    groups: Groups, reads: DeviceReads, owners: Any, flags: Any, ranks: Any, occurrences: Any, arena: Arena
) -> int:
    """Write the occurrences of flagged minimizers, and return how many they are."""
    launch(
        _kernel("pack_occurrences"), len(flags), arena, groups.keys, groups.places, flags, ranks,
        owners, reads.word_offsets, occurrences,
    )  # fmt: skip
    return last_of(ranks, arena)


def list_by_read(occurrences: Any, reads: DeviceReads, owners: Any, arena: Arena) -> Lists:
    """Return an index of these occurrences, one or more, which lists them by read.

    Raises
    ------
    DeviceError
        When the arena is too small for it.
    """
    n = len(occurrences)
    marks = arena.zeros(len(owners), np.uint32)
    launch(_kernel("mark_bases"), n, arena, occurrences, reads.word_offsets, marks)
    counts = arena.array(len(marks), np.int32)
    launch(_kernel("count_marks"), len(marks), arena, marks, counts)
    before = exclusive_sums(counts, arena)
    by_read = arena.array(n, np.uint32 if n < 1 << 32 else np.int64)
    ranks = arena.array(len(marks) // WORDS_PER_RANK + 1, np.uint32)
    launch(named("common.copies", "take_every"), len(ranks), arena, before, WORDS_PER_RANK, ranks)
    starts = arena.array(len(reads.word_offsets), np.int64)
    launch(_kernel("enter_occurrences"), n, arena, occurrences, reads.word_offsets, marks, before, by_read)
    launch(_kernel("find_lists"), len(starts), arena, reads.word_offsets, before, starts)
    return Lists(occurrences, by_read, marks, ranks, starts)
