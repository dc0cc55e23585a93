"""From grouped minimizers to the lists of a seed index: occurrences by hash, and their numbers by read.

GPU twin: cuda/seed_lists.py.

1. `pack_entries` makes occurrences of the entries of a bucket.
2. `overlapper.kernels.seeds.deep_reads.keep_seeding` leaves out those that do not seed.
3. `list_by_block` and `sort_block` list the occurrences of each read by position. Reads are so many that
   their lists would be written all over memory; blocks of bases are few, and one fits into the cache.

Occurrences and their layout, ``width`` and ``position_bits``, are those of
`overlapper.kernels.seeds.occurrences`; of a group they ascend by read and position. A block is
``2 ** block_bits`` word-aligned bases.
"""

import numpy as np

from overlapper.kernels.common.packed import popcount
from overlapper.kernels.seeds.occurrences import base_in, occurrence_at, put_before, read_in
from overlapper.kernels.seeds.seed_groups import read_of
from overlapper.runtime.compile.cache import njit
from overlapper.tables.reads import BASES_PER_WORD

U64 = np.uint64


@njit(nogil=True, cache=True)
def pack_entries(
    entries, rest_low_bit, read_of_words, word_offsets, occurrences, width, position_bits, first, block_bits,
    per_block,
):  # fmt: skip
    """Write the entries of a bucket as occurrences, numbers ``[first, first + n)``.

    Parameters
    ----------
    entries : ndarray of uint64, shape (n,)
        By hash, then by base number.
    rest_low_bit : int
        Where the rest of the hash starts; below are base number and strand.
    read_of_words : ndarray of int32
        Read that the first word of each `WORDS_PER_ENTRY` words belongs to.
    word_offsets : ndarray of int64
        Column of the read table.
    occurrences : ndarray of uint8
        Out.
    width, position_bits, first, block_bits : int
    per_block : ndarray of int64, shape (blocks,)
        In and out: occurrences in each block.
    """
    shift, base_mask = U64(rest_low_bit), (U64(1) << U64(rest_low_bit)) - U64(1)
    read_shift, low = U64(position_bits + 1), U64(64 - 8 * width)
    for i in range(len(entries)):
        entry = entries[i]
        following = entries[i + 1] >> shift if i + 1 < len(entries) else ~(entry >> shift)
        last = following != entry >> shift
        base = np.int64((entry & base_mask) >> U64(1))
        read = read_of(base, read_of_words, word_offsets)
        position = base - word_offsets[read] * BASES_PER_WORD
        place = (U64(read) << read_shift) | (U64(position) << U64(1)) | (entry & U64(1))
        one = (U64(last) << U64(63)) | (place << low)
        put_before(occurrences, first + i, first + len(entries), width, one)
        per_block[base >> block_bits] += 1


@njit(nogil=True, cache=True)
def list_by_block(
    occurrences, width, position_bits, first, stop, word_offsets, first_read, last_read, block_bits,
    next_free, goes_on, numbers, bases,
):  # fmt: skip
    """Append occurrences to the lists of their blocks of bases, in their order.

    Parameters
    ----------
    occurrences, width, position_bits, word_offsets
        As `pack_entries` takes them.
    first, stop : int
        Range of numbers.
    first_read, last_read : int
        Occurrences in reads that are not between these are left out.
    block_bits : int
    next_free : ndarray of int64, shape (blocks,)
        In and out: where the next occurrence of each block goes.
    goes_on : ndarray of int64, shape (blocks,)
        1 for blocks that are listed; 0 for others, whose occurrences are all written to the same place.
    numbers : ndarray of uint32 or int64
        Out: numbers of occurrences; of the last of a group, which has no later one, all bits are set.
    bases : ndarray of int32
        Out: their bases, counted from the start of the block.
    """
    reads = U64(last_read - first_read)
    for i in range(first, stop):
        one = occurrence_at(occurrences, i, width)
        if read_in(one, width, position_bits) - U64(first_read) > reads:
            continue
        base = base_in(one, width, position_bits, word_offsets)
        block = base >> block_bits
        place = next_free[block]
        numbers[place] = -1 if one >> U64(63) else i
        bases[place] = base & ((1 << block_bits) - 1)
        next_free[block] = place + goes_on[block]


@njit(nogil=True, cache=True)
def sort_block(numbers, bases, marks):
    """Sort the list of a block by base, that is, by read and position; bases are distinct.

    Parameters
    ----------
    numbers : ndarray of uint32 or int64, shape (n,)
        What `list_by_block` wrote; in and out.
    bases : ndarray of int32, shape (n,)
        Likewise, unsorted.
    marks : ndarray of uint32
        Those of the words of the block, zero. Out: with a bit for each base.
    """
    for base in bases:
        marks[base >> 5] |= np.uint32(U64(1) << U64(base & 31))
    ranks = np.empty(len(marks), np.int32)
    n = np.int32(0)
    for word in range(len(marks)):
        ranks[word] = n
        n += np.int32(popcount(U64(marks[word])))
    unsorted = numbers.copy()
    for i in range(len(bases)):
        word = bases[i] >> 5
        below = U64(marks[word]) & ((U64(1) << U64(bases[i] & 31)) - U64(1))
        numbers[ranks[word] + popcount(below)] = unsorted[i]


@njit(nogil=True, cache=True)
def write_bases(occurrences, width, position_bits, first, word_offsets, bases):
    """Write the bases of occurrences, from a number on.

    Parameters
    ----------
    occurrences, width, position_bits, first, word_offsets
        As `list_by_block` takes them.
    bases : ndarray of int64, shape (n,)
        Out.
    """
    for i in range(len(bases)):
        one = occurrence_at(occurrences, first + i, width)
        bases[i] = base_in(one, width, position_bits, word_offsets)
