"""Construction of the seed index: occurrences of the minimizers that occur more than once.

GPU twin: cuda/seed_index.py.

It has three steps, each linear in the number of minimizers:

1. `partition` sketches a block of reads and drops each minimizer into the page chain of its bucket, the
   lowest bits of its hash (the highest are zeros too often: minimizers are small hashes).
2. `group_bucket` sorts a bucket, gathered from the chains of all blocks, by the rest of the hash, counts how
   often each hash occurs, and keeps those that occur at least twice and are not tandem (`is_tandem`). In a
   tile of a larger read set, which of its minimizers seed is known: `share_bucket` keeps what queries and
   targets share.
3. What is kept is packed as occurrences, and listed by read, as `overlapper.kernels.seeds.seed_lists` says.

An entry of the first two steps is ``rest of hash | word-aligned base number | strand``, with as many bits
each as the read set needs.
"""

import numpy as np

from overlapper.kernels.common.growth import grow, grow_rows
from overlapper.kernels.common.sorting import radix_sort
from overlapper.kernels.seeds.counting import select_marked
from overlapper.kernels.seeds.minimizers import CHUNK, scratch_size, select
from overlapper.kernels.seeds.seed_groups import FEWEST_TANDEM, is_sampled, is_tandem
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
    reads, first_base, k, w, bucket_bits, base_bits, lanes, sketched, pages, range_bits, range_pages,
    first_range, stop_range, marks, marked,
):  # fmt: skip
    """Sketch a block of reads and partition their minimizers by the lowest bits of the hash.

    In several passes over ranges of buckets, the first one marks the minimizers of later passes, which then
    need not select them again.

    Parameters
    ----------
    reads : PackedReads
        These reads.
    first_base : int
        Word-aligned number of their first base.
    k, w : int
    bucket_bits : int
        There are ``2 ** bucket_bits`` buckets.
    base_bits : int
        Bits for a word-aligned base number; ``2k - bucket_bits + base_bits + 1`` is at most 64.
    lanes : ndarray of uint32 (k <= 15) or uint64, shape (0,)
        Its type is the width in which k-mers are hashed.
    sketched : ndarray of int32, shape (reads,)
        Out: number of minimizers of each of these reads, unless they are marked.
    pages : ndarray of uint64, shape (n, PAGE)
        Memory: ``range_pages`` pages for each range of this pass, the rest for ranges that need more; it
        grows when it is full.
    range_bits, range_pages : int
        There are ``2 ** range_bits`` ranges.
    first_range, stop_range : int
        Ranges of this pass, half open.
    marks : ndarray of uint32, shape (words,)
        A bit for the place of each minimizer. Unless all ranges are of this pass: out, those of other ranges.
    marked : bool
        Whether ``marks`` has the minimizers to take already.

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
    words, word_offsets, lengths, unknown_start, unknown_end, unknown_offsets = reads
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
    all_ranges = stop_range - first_range == 1 << range_bits
    for read in range(len(lengths)):
        length = lengths[read]
        if not marked:
            sketched[read] = 0
        read_words = words[word_offsets[read] : word_offsets[read + 1]]
        unknown = slice(unknown_offsets[read], unknown_offsets[read + 1])
        start = U64(first_base + word_offsets[read] * BASES_PER_WORD) << U64(1)
        of_read = marks[word_offsets[read] : word_offsets[read + 1]]
        for begin in range(0, length - k + 1, CHUNK):
            if marked:
                n = select_marked(read_words, of_read, k, begin, begin + CHUNK, found, found_pos)
            else:
                n = select(
                    read_words, length, unknown_start[unknown], unknown_end[unknown], k, w, begin, scratch,
                    strands, found, found_pos,
                )  # fmt: skip
                sketched[read] += n
            if not all_ranges:
                n = _leave(
                    found, found_pos, n, bucket_mask, first_range << range_shift, stop_range << range_shift,
                    of_read,
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
                entry = ((found[i] >> U64(bucket_bits)) << rest_shift) | (start + found_pos[i])
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
def group_bucket(
    entries, spare, rest_low_bit, rest_bits, read_of_words, word_offsets, unthinned, spectrum, thinned, out
):
    """Sort a bucket by hash, count multiplicities, and keep hashes that occur twice and are not tandem.

    Parameters
    ----------
    entries, spare : ndarray of uint64, shape (n,)
        Entries of one bucket, ascending by base number; both arrays are overwritten.
    rest_low_bit, rest_bits : int
        Lowest bit and number of bits of the rest of the hash.
    read_of_words, word_offsets
        Those of `is_tandem`.
    unthinned : int
        That of `is_sampled`.
    spectrum : ndarray of int64
        In and out: number of hashes, but for tandem ones, by multiplicity; the last value also counts larger
        ones.
    thinned : ndarray of int64, shape (n // unthinned + 1,)
        Out: where those kept hashes start in ``out`` that will not seed, as they are not sampled.
    out : ndarray of uint64
        Out: entries of kept hashes, by hash, then by base number; may be ``entries`` itself.

    Returns
    -------
    int, int
        Number of kept entries, and of hashes that are not sampled.
    """
    entries = radix_sort(entries, spare, rest_low_bit, rest_bits)
    shift, most, n = U64(rest_low_bit), len(spectrum) - 1, len(entries)
    kept, size, n_thinned, large = 0, 0, 0, min(FEWEST_TANDEM, unthinned + 1)
    # Ends of groups cannot be predicted: entries are written before their group is known to be kept.
    for i in range(n):
        entry = entries[i]
        following = entries[i + 1] >> shift if i + 1 < n else ~(entry >> shift)
        last = following != entry >> shift
        out[kept] = entry
        kept += 1
        size += 1
        if last & (size >= large):
            if is_tandem(out[kept - size : kept], rest_low_bit, read_of_words, word_offsets):
                kept -= size
                size = 0
                continue
            if not is_sampled(entry >> shift, size, unthinned):
                thinned[n_thinned] = kept - size
                n_thinned += 1
        spectrum[min(size, most)] += last
        kept -= last & (size == 1)
        size = 0 if last else size
    return kept, n_thinned


@njit(nogil=True, cache=True)
def share_bucket(entries, spare, rest_low_bit, rest_bits, first_target, out):
    """Sort a bucket of a tile by hash, and keep the hashes that queries and targets share.

    Parameters
    ----------
    entries, spare, rest_low_bit, rest_bits, out
        As `group_bucket` takes them.
    first_target : int
        Base number at which the targets start; 0 if they are the queries, too, where a hash is kept that
        occurs at least twice.

    Returns
    -------
    int
        Number of kept entries.
    """
    entries = radix_sort(entries, spare, rest_low_bit, rest_bits)
    shift, mask, n = U64(rest_low_bit), (U64(1) << U64(rest_low_bit)) - U64(1), len(entries)
    target, kept, size, first = U64(first_target) << U64(1), 0, 0, U64(0)
    for i in range(n):
        entry = entries[i]
        following = entries[i + 1] >> shift if i + 1 < n else ~(entry >> shift)
        last = following != entry >> shift
        first = first if size else entry & mask
        out[kept] = entry
        kept += 1
        size += 1
        shared = (size > 1) & ((entry & mask) >= target) & ((first < target) | (target == U64(0)))
        kept -= size if last & (not shared) else 0
        size = 0 if last else size
    return kept


@njit(nogil=True, cache=True)
def group_buckets(
    entries, starts, rest_low_bit, rest_bits, read_of_words, word_offsets, unthinned, first_target, spectrum,
    thinned, occurrences, width, position_bits, first, block_bits, per_block,
):  # fmt: skip
    """Group several buckets, and pack the kept entries one bucket after the other.

    Parameters
    ----------
    entries : ndarray of uint64
        Overwritten.
    starts : ndarray of int64, shape (buckets + 1,)
        Where the entries of each bucket start.
    rest_low_bit, rest_bits, read_of_words, word_offsets, unthinned, spectrum
        Those of `group_bucket`, which groups the reads of a whole set.
    first_target : int
        That of `share_bucket`, which groups those of a tile; -1 for a whole set.
    thinned : ndarray of int64, shape (n // unthinned + 1,)
        Out: numbers of the first occurrences of the hashes that are not sampled.
    occurrences, width, position_bits, first, block_bits, per_block
        Those of `pack_entries`.

    Returns
    -------
    int, int
        Number behind the last occurrence, and how many hashes are not sampled.
    """
    largest, n_thinned = 0, 0
    for bucket in range(len(starts) - 1):
        largest = max(largest, starts[bucket + 1] - starts[bucket])
    spare = np.empty(largest, np.uint64)
    for bucket in range(len(starts) - 1):
        of_bucket = entries[starts[bucket] : starts[bucket + 1]]
        room = spare[: len(of_bucket)]
        if first_target < 0:
            kept, more = group_bucket(
                of_bucket, room, rest_low_bit, rest_bits, read_of_words, word_offsets, unthinned, spectrum,
                thinned[n_thinned:], of_bucket,
            )  # fmt: skip
            thinned[n_thinned : n_thinned + more] += first
            n_thinned += more
        else:
            kept = share_bucket(of_bucket, room, rest_low_bit, rest_bits, first_target, of_bucket)
        pack_entries(
            of_bucket[:kept], rest_low_bit, read_of_words, word_offsets, occurrences, width, position_bits,
            first, block_bits, per_block,
        )  # fmt: skip
        first += kept
    return first, n_thinned
