"""The seed index from grouped minimizers on a CUDA device; the twin of steps 3 and 4 of ../seed_index.py.

Occurrences are as there, without gaps. The lists of reads need no sort: a bit a base marks where occurrences
are, so that the bits before its own tell the place of each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int32, int64, uint32, uint64

from overlapper.kernels.common.cuda.copies import copy_items
from overlapper.kernels.common.cuda.scan import exclusive_sums, last_of
from overlapper.kernels.common.cuda.walks import DeviceReads
from overlapper.kernels.seeds.cuda.seed_groups import Groups, flagged
from overlapper.kernels.seeds.seed_index import LAST_OF_GROUP, POSITION_MASK, READ_SHIFT
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.gpu.memory import Arena
from overlapper.tables.reads import BASES_PER_WORD


class Lists(NamedTuple):
    """The seed index in device memory; columns as of `overlapper.sketch.seed_index.SeedIndex`.

    Attributes
    ----------
    occurrences : device array of uint64, shape (n,)
        Without gaps.
    by_read : device array of uint32 or int64, shape (n,)
    positions : device array of int32, shape (n,)
    starts : device array of int64, shape (reads + 1,)
    """

    occurrences: Any
    by_read: Any
    positions: Any
    starts: Any


def list_occurrences(
    groups: Groups, reads: DeviceReads, limit: int, unthinned: int, added: np.ndarray, arena: Arena
) -> Lists | None:
    """Pack the groups that seed as occurrences, and list these by read.

    Parameters
    ----------
    groups : Groups
    reads : DeviceReads
    limit : int
        Largest multiplicity kept.
    unthinned : int
        That of `overlapper.kernels.seeds.seed_groups.is_sampled`.
    added : ndarray of uint64
        Occurrences of frequent minimizers that seed all the same.
    arena : Arena
        Where the index lies.

    Returns
    -------
    Lists or None
        None where nothing seeds.

    Raises
    ------
    DeviceError
        When the arena is too small for them.
    """
    flags, ranks = flagged(groups, 2, limit, unthinned, arena)
    joined = last_of(ranks, arena)
    n = joined + len(added)
    if not n:
        return None
    occurrences = arena.array(n, np.uint64)
    launch(
        pack_occurrences, len(flags), arena, groups.keys, groups.places, flags, ranks, groups.owners,
        reads.word_offsets, occurrences,
    )  # fmt: skip
    if len(added):
        launch(copy_items, len(added), arena, arena.upload(added), occurrences[joined:])
    marks = arena.zeros(len(groups.owners), np.uint32)
    launch(mark_bases, n, arena, occurrences, reads.word_offsets, marks)
    counts = arena.array(len(marks), np.int32)
    launch(count_marks, len(marks), arena, marks, counts)
    before = exclusive_sums(counts, arena)
    by_read = arena.array(n, np.uint32 if n < 1 << 32 else np.int64)
    positions = arena.array(n, np.int32)
    starts = arena.array(len(reads.word_offsets), np.int64)
    launch(enter_occurrences, n, arena, occurrences, reads.word_offsets, marks, before, by_read, positions)
    launch(find_lists, len(starts), arena, reads.word_offsets, before, starts)
    return Lists(occurrences, by_read, positions, starts)


@cuda.jit
def pack_occurrences(keys, places, flags, ranks, owners, word_offsets, occurrences):
    """Write the occurrence of each minimizer that is flagged; a thread each."""
    x = cuda.grid(1)
    if x >= len(flags) or not flags[x]:
        return
    base = int64(places[x] >> uint64(1))
    read = owners[base // BASES_PER_WORD]
    position = uint64(base - word_offsets[read] * BASES_PER_WORD)
    last = x + 1 == len(keys) or keys[x + 1] != keys[x]
    place = (uint64(read) << uint64(READ_SHIFT)) | (position << uint64(1)) | (places[x] & uint64(1))
    occurrences[ranks[x]] = (uint64(last) << uint64(63)) | place


@cuda.jit(device=True, forceinline=True)
def _base_of(occurrence, word_offsets):
    read = int64((occurrence & uint64(LAST_OF_GROUP - 1)) >> uint64(READ_SHIFT))
    position = int64((occurrence >> uint64(1)) & uint64(POSITION_MASK))
    return word_offsets[read] * BASES_PER_WORD + position, position


@cuda.jit
def mark_bases(occurrences, word_offsets, marks):
    """Set the bit of each base at which an occurrence is, 32 to a word; a thread an occurrence."""
    x = cuda.grid(1)
    if x < len(occurrences):
        base, _ = _base_of(occurrences[x], word_offsets)
        cuda.atomic.or_(marks, base >> 5, uint32(uint32(1) << uint32(base & 31)))


@cuda.jit
def count_marks(marks, counts):
    """Write how many bits are set in each word."""
    x = cuda.grid(1)
    if x < len(marks):
        counts[x] = int32(cuda.popc(marks[x]))


@cuda.jit
def enter_occurrences(occurrences, word_offsets, marks, before, by_read, positions):
    """Enter number and position of each occurrence into the list of its read; a thread an occurrence.

    ``before`` are the running sums of the bits of ``marks``. The last of a group has a number that none has.
    """
    x = cuda.grid(1)
    if x >= len(occurrences):
        return
    base, position = _base_of(occurrences[x], word_offsets)
    below = marks[base >> 5] & uint32((uint32(1) << uint32(base & 31)) - uint32(1))
    place = before[base >> 5] + cuda.popc(below)
    by_read[place] = int64(-1) if occurrences[x] >> uint64(63) else int64(x)
    positions[place] = int32(position)


@cuda.jit
def find_lists(word_offsets, before, starts):
    """Write where the list of each read starts, and where the last one ends."""
    x = cuda.grid(1)
    if x < len(starts):
        starts[x] = before[word_offsets[x]]
