"""The seed index: which minimizers occur where, kept for those that occur more than once.

Built in four steps, each linear in the minimizers:

1. `partition` sketches a block of reads and drops each minimizer into the page chain of its bucket, the
   lowest bits of its hash (the highest are zeros too often: minimizers are small hashes).
2. `group_bucket` sorts a bucket, gathered from the chains of all blocks, by the rest of the hash, counts how
   often each hash occurs, and keeps those that occur at least twice.
3. `join_groups` drops what occurs too often and packs each occurrence as one word.
4. `list_by_block` and `sort_block` list the occurrences of each read by position. Reads are so many that
   their lists would be written all over memory; blocks of reads are few, and one fits into the cache.

An entry of the first two steps is ``rest of hash | word-aligned base number | strand``, as many bits each as
the read set asks for; an occurrence of the finished index is ``last of its group (1 bit) | read (31) |
position (31) | strand (1)``. Occurrences of a group ascend by read and position.
"""

import numpy as np
from numba import njit

from overlapper.kernels.cpu.minimizers import CHUNK, scratch_size, select
from overlapper.tables.reads import BASES_PER_WORD

PAGE = 256
"""Entries a page; a block wastes half a page a bucket."""

WORDS_PER_ENTRY = 64
"""Words from one entry to the next of the table that finds the read of a word, small enough for the cache."""

U64 = np.uint64
LAST_OF_GROUP = 1 << 63
READ_SHIFT = 32
POSITION_MASK = (1 << 31) - 1


def pages_for(bases, w, bucket_bits):
    """Return how many pages `partition` needs as a rule, minimizers being fewer than 2.25 in w + 1 bases."""
    return (1 << bucket_bits) + bases * 9 // (4 * (w + 1) * PAGE) + 16


@njit(nogil=True, cache=True)
def partition(
    words, word_offsets, lengths, unknown_start, unknown_end, unknown_offsets,
    read_start, read_stop, k, w, bucket_bits, base_bits, lanes, sketched, pages,
):  # fmt: skip
    """Sketch reads ``[read_start, read_stop)`` and partition their minimizers by the lowest bits of the hash.

    Parameters
    ----------
    words, word_offsets, lengths, unknown_start, unknown_end, unknown_offsets
        Columns of the read table.
    read_start, read_stop : int
    k, w : int
    bucket_bits : int
        There are ``2 ** bucket_bits`` buckets.
    base_bits : int
        Bits for a word-aligned base number; ``2k - bucket_bits + base_bits + 1`` is at most 64.
    lanes : ndarray of uint32 (k <= 15) or uint64, shape (0,)
        Only its type counts: the width in which k-mers are hashed.
    sketched : ndarray of int32, shape (reads,)
        Out: minimizers of each of these reads.
    pages : ndarray of uint64, shape (n, PAGE)
        Room; more is made when it is not enough (`pages_for`).

    Returns
    -------
    pages : ndarray of uint64, shape (pages, PAGE)
    previous_page : ndarray of int32, shape (pages,)
        The page of the same bucket that was filled before, or -1.
    last_page : ndarray of int32, shape (2 ** bucket_bits,)
        The page of each bucket that was begun last, or -1.
    counts : ndarray of int64, shape (2 ** bucket_bits,)
        Entries of each bucket.
    """
    n_buckets = 1 << bucket_bits
    previous_page = np.empty(len(pages), np.int32)
    n_pages = np.int64(0)  # a literal would have what it is handed to compiled for it, too
    last_page = np.full(n_buckets, -1, np.int32)
    counts = np.zeros(n_buckets, np.int64)
    scratch = np.empty((3, scratch_size(w)), lanes.dtype)
    strands = np.empty(scratch_size(w), np.uint8)
    found, found_pos = np.empty(CHUNK + 1, np.uint64), np.empty(CHUNK + 1, np.uint64)
    bucket_mask = U64(n_buckets - 1)
    rest_shift = U64(base_bits + 1)
    for read in range(read_start, read_stop):
        length = lengths[read]
        sketched[read] = 0
        read_words = words[word_offsets[read] : word_offsets[read + 1]]
        unknown = slice(unknown_offsets[read], unknown_offsets[read + 1])
        first_base = U64(word_offsets[read] * BASES_PER_WORD) << U64(1)
        for begin in range(0, length - k + 1, CHUNK):
            n = select(
                read_words, length, unknown_start[unknown], unknown_end[unknown], k, w, begin, scratch,
                strands, found, found_pos,
            )  # fmt: skip
            if n_pages + n + 1 > len(pages):
                pages = _grow_pages(pages, n_pages, n)
                previous_page = grow(previous_page, len(pages))
            sketched[read] += n
            for i in range(n):
                bucket = np.int64(found[i] & bucket_mask)
                slot = counts[bucket] & (PAGE - 1)
                if slot == 0:
                    previous_page[n_pages] = last_page[bucket]
                    last_page[bucket] = n_pages
                    n_pages += 1
                entry = ((found[i] >> U64(bucket_bits)) << rest_shift) | (first_base + found_pos[i])
                pages[last_page[bucket], slot] = entry
                counts[bucket] += 1
    return pages[:n_pages], previous_page[:n_pages], last_page, counts


@njit(nogil=True, cache=True)
def grow(values, size):
    """Return an array of ``size`` values that starts with the given ones."""
    grown = np.empty(size, values.dtype)
    # Not an assignment of arrays, whose error messages take numba seconds to compile.
    for i in range(len(values)):
        grown[i] = values[i]
    return grown


@njit(nogil=True, cache=True)
def _grow_pages(pages, used, more):
    grown = np.empty((2 * len(pages) + more, PAGE), np.uint64)
    for page in range(used):
        for slot in range(PAGE):
            grown[page, slot] = pages[page, slot]
    return grown


@njit(nogil=True, cache=True)
def gather_bucket(pages, previous_page, page, count, out):
    """Copy the ``count`` entries of a page chain, oldest first, to the front of ``out``."""
    stop = count
    while page >= 0:
        start = int((stop - 1) // PAGE * PAGE)
        for i in range(start, stop):
            out[i] = pages[page, i - start]
        stop = start
        page = previous_page[page]


@njit(nogil=True, cache=True)
def gather_buckets(pages, previous_page, first_pages, last_page, counts, places, out):
    """Copy the page chains that blocks of reads have of some buckets to where each is to be.

    Parameters
    ----------
    pages : ndarray of uint64, shape (pages, PAGE)
    previous_page : ndarray of int32, shape (pages,)
    first_pages : ndarray of int64, shape (blocks,)
        Where the pages of each block start; `partition` returned them, and their numbers count from there.
    last_page : ndarray of int32, shape (blocks, buckets)
    counts, places : ndarray of int64, shape (blocks, buckets)
    out : ndarray of uint64
    """
    for block in range(len(first_pages)):
        first = first_pages[block]
        for bucket in range(counts.shape[1]):
            gather_bucket(
                pages[first:], previous_page[first:], last_page[block, bucket], counts[block, bucket],
                out[places[block, bucket] :],
            )  # fmt: skip


@njit(nogil=True, cache=True)
def _radix_pass(source, target, n, shift, bits, starts):
    """Move ``source[:n]`` to ``target``, stably ordered by ``bits`` bits from bit ``shift`` up."""
    mask = U64((1 << bits) - 1)
    shift = U64(shift)
    starts[: (1 << bits) + 1] = 0
    for i in range(n):
        starts[np.int64((source[i] >> shift) & mask) + 1] += 1
    for digit in range(1 << bits):
        starts[digit + 1] += starts[digit]
    for i in range(n):
        value = np.int64((source[i] >> shift) & mask)
        target[starts[value]] = source[i]
        starts[value] += 1


MAX_DIGIT_BITS = 11


@njit(nogil=True, cache=True)
def radix_sort(values, spare, low_bit, bits):
    """Sort stably by ``bits`` bits from bit ``low_bit`` up; return the sorted one of the two arrays given.

    Parameters
    ----------
    values, spare : ndarray of uint64, shape (n,)
        Both are overwritten.
    low_bit, bits : int
    """
    passes = max(1, (bits + MAX_DIGIT_BITS - 1) // MAX_DIGIT_BITS)
    starts = np.empty((1 << MAX_DIGIT_BITS) + 1, np.int64)
    done = 0
    for i in range(passes):
        digit_bits = (bits - done) // (passes - i)
        _radix_pass(values, spare, len(values), low_bit + done, digit_bits, starts)
        values, spare = spare, values
        done += digit_bits
    return values


@njit(nogil=True, cache=True)
def group_bucket(entries, spare, rest_low_bit, rest_bits, spectrum, out):
    """Sort a bucket by hash, count multiplicities, and keep hashes that occur at least twice.

    Parameters
    ----------
    entries, spare : ndarray of uint64, shape (n,)
        Entries of one bucket, ascending by base number; both arrays are overwritten.
    rest_low_bit, rest_bits : int
        Where the rest of the hash is.
    spectrum : ndarray of int64
        In and out: how many hashes occur so often; the last value also counts those above.
    out : ndarray of uint64
        Out: entries of the hashes that are kept, by hash, then by base number.

    Returns
    -------
    int
        How many entries are kept.
    """
    entries = radix_sort(entries, spare, rest_low_bit, rest_bits)
    shift, n, kept = U64(rest_low_bit), len(entries), 0
    start = 0
    while start < n:
        stop = start + 1
        while stop < n and (entries[start] >> shift) == (entries[stop] >> shift):
            stop += 1
        spectrum[min(stop - start, len(spectrum) - 1)] += 1
        if stop - start > 1:
            for i in range(start, stop):
                out[kept] = entries[i]
                kept += 1
        start = stop
    return kept


@njit(nogil=True, cache=True)
def group_buckets(entries, starts, rest_low_bit, rest_bits, spectrum, out, sizes):
    """Group several buckets, one behind the other; see `group_bucket`.

    Parameters
    ----------
    entries : ndarray of uint64
    starts : ndarray of int64, shape (buckets + 1,)
        Where the entries of each bucket start.
    rest_low_bit, rest_bits, spectrum, out
        Those of `group_bucket`.
    sizes : ndarray of int64, shape (buckets,)
        Out: how many entries of each bucket are kept.
    """
    largest, place = 0, 0
    for bucket in range(len(sizes)):
        largest = max(largest, starts[bucket + 1] - starts[bucket])
    spare = np.empty(largest, np.uint64)
    for bucket in range(len(sizes)):
        of_bucket = entries[starts[bucket] : starts[bucket + 1]]
        sizes[bucket] = group_bucket(
            of_bucket, spare[: len(of_bucket)], rest_low_bit, rest_bits, spectrum, out[place:]
        )
        place += sizes[bucket]


@njit(nogil=True, cache=True)
def join_groups(entries, rest_low_bit, limit, read_of_words, word_offsets, block_of_read, per_block):
    """Pack the groups that occur at most ``limit`` times as occurrences, in place.

    Parameters
    ----------
    entries : ndarray of uint64, shape (n,)
        What `group_bucket` wrote, of one bucket; overwritten from the front by occurrences.
    rest_low_bit : int
        Where the rest of the hash starts; below are base number and strand.
    limit : int
        Largest multiplicity kept.
    read_of_words : ndarray of int32
        Read that the first word of each `WORDS_PER_ENTRY` words belongs to.
    word_offsets : ndarray of int64
        Column of the read table.
    block_of_read : ndarray of int32, shape (reads,)
    per_block : ndarray of int64, shape (blocks,)
        In and out: occurrences in each block of reads.

    Returns
    -------
    int
        How many occurrences there are.
    """
    shift, base_mask = U64(rest_low_bit), (U64(1) << U64(rest_low_bit)) - U64(1)
    n, kept, start = len(entries), 0, 0
    while start < n:
        stop = start + 1
        while stop < n and (entries[start] >> shift) == (entries[stop] >> shift):
            stop += 1
        if stop - start <= limit:
            for i in range(start, stop):
                base = np.int64((entries[i] & base_mask) >> U64(1))
                word = base // BASES_PER_WORD
                read = read_of_words[word // WORDS_PER_ENTRY]
                while word_offsets[read + 1] <= word:
                    read += 1
                position = base - word_offsets[read] * BASES_PER_WORD
                entries[kept] = (
                    (U64(read) << U64(READ_SHIFT)) | (U64(position) << U64(1)) | (entries[i] & U64(1))
                )
                per_block[block_of_read[read]] += 1
                kept += 1
            entries[kept - 1] |= U64(LAST_OF_GROUP)
        start = stop
    return kept


@njit(nogil=True, cache=True)
def list_by_block(occurrences, first, block_of_read, first_bases, next_free, numbers, bases):
    """Enter occurrences into the lists of their blocks of reads, in the order they come.

    Parameters
    ----------
    occurrences : ndarray of uint64
        A stretch of the index.
    first : int
        Number of the first of them.
    block_of_read : ndarray of int32, shape (reads,)
    first_bases : ndarray of int64, shape (reads,)
        Where each read starts among the bases of its block.
    next_free : ndarray of int64, shape (blocks,)
        In and out: where the next occurrence of each block goes.
    numbers : ndarray of uint32 or int64
        Out: numbers of occurrences; of the last of a group, which has no later one, all bits are set.
    bases : ndarray of int32
        Out: their bases in the block.
    """
    for i in range(len(occurrences)):
        read = np.int64((occurrences[i] & ~U64(LAST_OF_GROUP)) >> U64(READ_SHIFT))
        block = block_of_read[read]
        place = next_free[block]
        numbers[place] = -1 if occurrences[i] >> U64(63) else first + i
        bases[place] = first_bases[read] + np.int64((occurrences[i] >> U64(1)) & U64(POSITION_MASK))
        next_free[block] = place + 1


@njit(nogil=True, cache=True)
def sort_block(numbers, positions, first_bases, starts):
    """Sort the list of a block of reads by read and position.

    Parameters
    ----------
    numbers : ndarray of uint32 or int64, shape (n,)
        What `list_by_block` wrote; in and out.
    positions : ndarray of int32, shape (n,)
        In: bases in the block. Out: positions in the reads.
    first_bases : ndarray of int64, shape (reads + 1,)
        Where each read of the block starts among its bases, and how many bases it has.
    starts : ndarray of int64, shape (reads,)
        Out: where the list of each read starts.
    """
    n = len(numbers)
    keyed, spare = np.empty(n, np.uint64), np.empty(n, np.uint64)
    unsorted = np.empty(n, numbers.dtype)
    for i in range(n):
        keyed[i] = (U64(positions[i]) << U64(32)) | U64(i)
        unsorted[i] = numbers[i]
    bits = 1
    while first_bases[-1] >> bits:
        bits += 1
    ordered = radix_sort(keyed, spare, np.int64(32), bits)
    i = 0
    for read in range(len(starts)):
        starts[read] = i
        while i < n and np.int64(ordered[i] >> U64(32)) < first_bases[read + 1]:
            numbers[i] = unsorted[ordered[i] & U64(0xFFFFFFFF)]
            positions[i] = np.int64(ordered[i] >> U64(32)) - first_bases[read]
            i += 1
