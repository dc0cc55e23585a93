"""Occurrences by hash and by read: the kernels that `seed_lists` launches."""

from __future__ import annotations

from numba import cuda, int32, int64, uint32, uint64

from overlapper.kernels.seeds.occurrences import LAST_OF_GROUP, POSITION_MASK, READ_SHIFT
from overlapper.tables.reads import BASES_PER_WORD


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
    return word_offsets[read] * BASES_PER_WORD + position


@cuda.jit
def mark_bases(occurrences, word_offsets, marks):
    """Set the bit of each base at which an occurrence is, 32 to a word; a thread an occurrence."""
    x = cuda.grid(1)
    if x < len(occurrences):
        base = _base_of(occurrences[x], word_offsets)
        cuda.atomic.or_(marks, base >> 5, uint32(uint32(1) << uint32(base & 31)))


@cuda.jit
def count_marks(marks, counts):
    """Write how many bits are set in each word."""
    x = cuda.grid(1)
    if x < len(marks):
        counts[x] = int32(cuda.popc(marks[x]))


@cuda.jit
def enter_occurrences(occurrences, word_offsets, marks, before, by_read):
    """Enter the number of each occurrence into the list of its read; a thread an occurrence.

    ``before`` are the running sums of the bits of ``marks``. For the last occurrence of a group, which
    meets no later one, -1 is entered.
    """
    x = cuda.grid(1)
    if x >= len(occurrences):
        return
    base = _base_of(occurrences[x], word_offsets)
    below = marks[base >> 5] & uint32((uint32(1) << uint32(base & 31)) - uint32(1))
    place = before[base >> 5] + cuda.popc(below)
    by_read[place] = int64(-1) if occurrences[x] >> uint64(63) else int64(x)


@cuda.jit
def find_lists(word_offsets, before, starts):
    """Write where the list of each read starts, and where the last one ends."""
    x = cuda.grid(1)
    if x < len(starts):
        starts[x] = before[word_offsets[x]]
