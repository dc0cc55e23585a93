"""Construction of the seed index: occurrences of the minimizers that occur more than once.

GPU twin: cuda/seed_index.py.

It has three steps, each linear in the number of minimizers:

1. `partition` sketches a block of reads and drops each minimizer into the page chain of its bucket, the
   lowest bits of its hash (the highest are zeros too often: minimizers are small hashes).
2. `group_bucket` sorts a bucket, gathered from the chains of all blocks, by the rest of the hash, counts how
   often each hash occurs, and keeps those that occur at least twice and are not tandem (`is_tandem`).
3. What is kept is packed as occurrences, and listed by read, as `overlapper.kernels.seeds.seed_lists` says.

An entry of the first two steps is ``rest of hash | word-aligned base number | strand``, with as many bits
each as the read set needs.
"""

import numpy as np

from overlapper.kernels.common.growth import grow, grow_rows
from overlapper.kernels.common.sorting import radix_sort
from overlapper.kernels.seeds.minimizers import CHUNK, scratch_size, select, select_marked
from overlapper.kernels.seeds.seed_groups import FEWEST_TANDEM, is_tandem
from overlapper.kernels.seeds.seed_lists import pack_entries
from overlapper.runtime.compile.cache import njit
from overlapper.tables.reads import BASES_PER_WORD

PAGE = 256
"""Entries of a page; a block wastes half a page for each bucket."""

U64 = np.uint64


def pages_of_range(bases, w, bucket_bits, range_bits):
    """Estimate the pages of a range of buckets.

    There are two minimizers in w + 1 bases, and the last page of each bucket is half full.
    """
    pages = (1 << bucket_bits) // 2 + 2 * bases // ((w + 1) * PAGE)
    return 1 + ((pages + pages // 64) >> range_bits)


@njit(nogil=True, cache=True)
def partition(
    words, word_offsets, lengths, unknown_start, unknown_end, unknown_offsets,
    read_start, read_stop, k, w, bucket_bits, base_bits, lanes, sketched, pages, range_bits, range_pages,
    first_range, stop_range, left,
):  # fmt: skip
    """Sketch reads ``[read_start, read_stop)`` and partition their minimizers by the lowest bits of the hash.

    In several passes over ranges of buckets, the first one marks the minimizers of later passes, which then
    need not select them again.

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
        Its type is the width in which k-mers are hashed.
    sketched : ndarray of int32, shape (reads,)
        Out: number of minimizers of each of these reads; set in the first pass.
    pages : ndarray of uint64, shape (n, PAGE)
        Memory: ``range_pages`` pages for each range of this pass, the rest for ranges that need more; it
        grows when it is full.
    range_bits, range_pages : int
        There are ``2 ** range_bits`` ranges.
    first_range, stop_range : int
        Ranges of this pass, half open; earlier ones are done.
    left : ndarray of uint32, shape (words,)
        In and out: a bit for the place of each minimizer of later passes. Empty if there is one pass.

    Returns
    -------
    pages : ndarray of uint64, shape (pages, PAGE)
    previous_page : ndarray of int32, shape (pages,)
        The page of the same bucket before each page, or -1.
    last_page : ndarray of int32, shape (2 ** bucket_bits,)
        The last page of each bucket, or -1.
    counts : ndarray of int64, shape (2 ** bucket_bits,)
        Entries of each bucket.
    """
    n_buckets = 1 << bucket_bits
    previous_page = np.empty(len(pages), np.int32)
    next_page = np.empty(stop_range - first_range, np.int64)
    for bucket_range in range(stop_range - first_range):
        next_page[bucket_range] = bucket_range * range_pages
    n_pages = range_pages * (stop_range - first_range)
    range_shift = bucket_bits - range_bits
    last_page = np.full(n_buckets, -1, np.int32)
    counts = np.zeros(n_buckets, np.int64)
    scratch = np.empty((3, scratch_size(w)), lanes.dtype)
    strands = np.empty(scratch_size(w), lanes.dtype)
    found, found_pos = np.empty(CHUNK + 1, np.uint64), np.empty(CHUNK + 1, np.uint64)
    bucket_mask = U64(n_buckets - 1)
    rest_shift = U64(base_bits + 1)
    for read in range(read_start, read_stop):
        length = lengths[read]
        if first_range == 0:
            sketched[read] = 0
        read_words = words[word_offsets[read] : word_offsets[read + 1]]
        unknown = slice(unknown_offsets[read], unknown_offsets[read + 1])
        first_base = U64(word_offsets[read] * BASES_PER_WORD) << U64(1)
        marks = left[word_offsets[read] : word_offsets[read + 1]]
        for begin in range(0, length - k + 1, CHUNK):
            if first_range > 0:
                n = select_marked(read_words, marks, k, begin, found, found_pos)
            else:
                n = select(
                    read_words, length, unknown_start[unknown], unknown_end[unknown], k, w, begin, scratch,
                    strands, found, found_pos,
                )  # fmt: skip
                sketched[read] += n
            if len(left):
                n = _leave(
                    found, found_pos, n, bucket_mask, first_range << range_shift, stop_range << range_shift,
                    marks,
                )  # fmt: skip
            if n_pages + n > len(pages):
                pages = grow_rows(pages, 2 * len(pages) + n)
                previous_page = grow(previous_page, len(pages))
            for i in range(n):
                bucket = np.int64(found[i] & bucket_mask)
                slot = counts[bucket] & (PAGE - 1)
                if slot == 0:
                    in_range = (bucket >> range_shift) - first_range
                    page = next_page[in_range]
                    if page < (in_range + 1) * range_pages:
                        next_page[in_range] += 1
                    else:
                        page = n_pages
                        n_pages += 1
                    previous_page[page] = last_page[bucket]
                    last_page[bucket] = page
                entry = ((found[i] >> U64(bucket_bits)) << rest_shift) | (first_base + found_pos[i])
                pages[last_page[bucket], slot] = entry
                counts[bucket] += 1
    return pages[:n_pages], previous_page[:n_pages], last_page, counts


@njit(nogil=True, cache=True)
def _leave(found, found_pos, n, bucket_mask, first_bucket, stop_bucket, left):
    """Mark minimizers of buckets of later passes; move the others to the front, and return their number."""
    kept, wanted = U64(0), U64(stop_bucket - first_bucket)
    for i in range(n):
        value, place = found[i], found_pos[i]
        stays = (value & bucket_mask) - U64(first_bucket) >= wanted
        base = place >> U64(1)
        bit = U64(1) << (base & U64(31))
        word = base >> U64(5)
        left[word] = np.uint32((U64(left[word]) & ~bit) | (bit * U64(stays)))
        found[kept], found_pos[kept] = value, place
        kept += U64(not stays)
    return np.int64(kept)


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
    """Copy the page chains of several buckets, from all blocks of reads, to given places.

    Parameters
    ----------
    pages : ndarray of uint64, shape (pages, PAGE)
    previous_page : ndarray of int32, shape (pages,)
    first_pages : ndarray of int64, shape (blocks,)
        Where the pages of each block start, as `partition` returned them; page numbers count from there.
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
def group_bucket(entries, spare, rest_low_bit, rest_bits, read_of_words, word_offsets, spectrum, out):
    """Sort a bucket by hash, count multiplicities, and keep hashes that occur twice and are not tandem.

    Parameters
    ----------
    entries, spare : ndarray of uint64, shape (n,)
        Entries of one bucket, ascending by base number; both arrays are overwritten.
    rest_low_bit, rest_bits : int
        Lowest bit and number of bits of the rest of the hash.
    read_of_words, word_offsets
        Those of `is_tandem`.
    spectrum : ndarray of int64
        In and out: number of hashes, but for tandem ones, by multiplicity; the last value also counts larger
        ones.
    out : ndarray of uint64
        Out: entries of kept hashes, by hash, then by base number; may be ``entries`` itself.

    Returns
    -------
    int
        Number of kept entries.
    """
    entries = radix_sort(entries, spare, rest_low_bit, rest_bits)
    shift, most, n = U64(rest_low_bit), len(spectrum) - 1, len(entries)
    kept, size = 0, 0
    # Ends of groups cannot be predicted: entries are written before their group is known to be kept.
    for i in range(n):
        entry = entries[i]
        following = entries[i + 1] >> shift if i + 1 < n else ~(entry >> shift)
        last = following != entry >> shift
        out[kept] = entry
        kept += 1
        size += 1
        if last & (size >= FEWEST_TANDEM):
            if is_tandem(out[kept - size : kept], rest_low_bit, read_of_words, word_offsets):
                kept -= size
                size = 0
                continue
        spectrum[min(size, most)] += last
        kept -= last & (size == 1)
        size = 0 if last else size
    return kept


@njit(nogil=True, cache=True)
def group_buckets(
    entries, starts, rest_low_bit, rest_bits, read_of_words, word_offsets, spectrum, occurrences, width,
    position_bits, first, block_bits, per_block, sizes,
):  # fmt: skip
    """Group several buckets (`group_bucket`), and pack the kept entries one bucket after the other.

    Parameters
    ----------
    entries : ndarray of uint64
        Overwritten.
    starts : ndarray of int64, shape (buckets + 1,)
        Where the entries of each bucket start.
    rest_low_bit, rest_bits, read_of_words, word_offsets, spectrum
        Those of `group_bucket`.
    occurrences, width, position_bits, first, block_bits, per_block
        Those of `pack_entries`.
    sizes : ndarray of int64, shape (buckets,)
        Out: number of kept entries of each bucket.
    """
    largest = 0
    for bucket in range(len(sizes)):
        largest = max(largest, starts[bucket + 1] - starts[bucket])
    spare = np.empty(largest, np.uint64)
    for bucket in range(len(sizes)):
        of_bucket = entries[starts[bucket] : starts[bucket + 1]]
        sizes[bucket] = group_bucket(
            of_bucket, spare[: len(of_bucket)], rest_low_bit, rest_bits, read_of_words, word_offsets,
            spectrum, of_bucket,
        )  # fmt: skip
        pack_entries(
            of_bucket[: sizes[bucket]], rest_low_bit, read_of_words, word_offsets, occurrences, width,
            position_bits, first, block_bits, per_block,
        )  # fmt: skip
        first += sizes[bucket]
