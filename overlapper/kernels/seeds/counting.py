"""Canonical k-mers of packed reads, counted and listed by buckets of hashes.

CPU only.

A k-mer is an integer whose first base lies in the lowest two bits. Its hash is an invertible mix of 2k bits,
all arithmetic modulo 2^2k: ``x *= M1; x ^= x >> k; x *= M2; x ^= x >> k``. A canonical k-mer is the smaller
hash of the two strands; its strand is the one that gives it. A k-mer that is its own reverse complement gives
none, and neither does one that holds an unknown base.

Counting takes three steps: `count_buckets` counts the k-mers by the highest bits of their hash;
`fill_buckets` moves those of a range of buckets together, block by block, in the order of the reads;
`group_bucket` finds the equal ones of a bucket with a table of open addresses, as the hash is well mixed
already. An occurrence is packed: read << 32 | first base of the k-mer on the forward strand << 1 | (1 on the
reverse strand).
"""

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.inlining import always_inline
from overlapper.kernels.common.packed import bases_at, reverse_bases, trailing_zeros
from overlapper.runtime.compile.cache import njit
from overlapper.tables.reads import BASES_PER_WORD

U64 = np.uint64
NONE = np.uint64(2**64 - 1)
"""Stands for no canonical k-mer."""
ALL = NONE
"""All bits of a k-mer."""

M1 = np.uint64(0x9E3779B97F4A7C15)
M2 = np.uint64(0xD6E8FEB86659FD93)
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_THREE = np.uint64(3)


@njit(nogil=True, cache=True)
def mix(kmer, k, mask):
    """Return the hash of a k-mer; ``k`` is a uint64, ``mask`` is ``4**k - 1``."""
    kmer = (kmer * M1) & mask
    kmer ^= kmer >> k
    kmer = (kmer * M2) & mask
    return kmer ^ (kmer >> k)


@njit(nogil=True, cache=True)
def canonical_kmers(words, first_word, start, stop, k, kept, hashes, reverse):
    """Hash the k-mers of the known bases ``[start, stop)`` of a read.

    Parameters
    ----------
    words : ndarray of uint64
    first_word, start, stop : int
    k : int
        1 to 31.
    kept : uint64
        Bits of a k-mer that are hashed, the same for both strands: `ALL` of them, or all but some bases.
    hashes : ndarray of uint64
        Receives the canonical hash of each k-mer, `NONE` where there is none.
    reverse : ndarray of bool
        Receives its strand.

    Returns
    -------
    int
        How many k-mers there are.
    """
    length = np.uint64(k)
    mask = (_ONE << (_TWO * length)) - _ONE
    top = _TWO * (length - _ONE)
    forward = np.uint64(0)
    backward = np.uint64(0)
    first_end = start + k - 1
    for block in range(start // BASES_PER_WORD, (stop + BASES_PER_WORD - 1) // BASES_PER_WORD):
        low = max(start, block * BASES_PER_WORD)
        word = words[first_word + block] >> np.uint64(2 * (low - block * BASES_PER_WORD))
        for i in range(low, min(stop, (block + 1) * BASES_PER_WORD)):
            base = word & _THREE
            word >>= _TWO
            forward = (forward >> _TWO) | (base << top)
            backward = ((backward << _TWO) | (_THREE - base)) & mask
            if i >= first_end:
                one = mix(forward & kept, length, mask)
                other = mix(backward & kept, length, mask)
                hashes[i - first_end] = NONE if one == other else min(one, other)
                reverse[i - first_end] = other < one
    return max(0, stop - first_end)


@njit(nogil=True, cache=True, inline="always")
def reverse_complement_64(x, k):
    """Return the reverse complement of a k-mer, in 64 bits."""
    return ~reverse_bases(x) >> U64(64 - 2 * k)


@always_inline
def hash_at(words, position, k):
    """Return hash and strand (uint64) of a k-mer of a packed read, which must have a hash."""
    mask = (U64(1) << U64(2 * k)) - U64(1)
    forward = bases_at(words, position) & mask
    f, r = mix(forward, U64(k), mask), mix(reverse_complement_64(forward, k), U64(k), mask)
    return min(f, r), U64(r < f)


@njit(nogil=True, cache=True)
def select_marked(words, marks, k, begin, end, found, found_pos):
    """Write the marked k-mers of a read whose first bases are in ``[begin, end)``.

    Parameters
    ----------
    words : ndarray of uint64
        The packed read.
    marks : ndarray of uint32
        A bit for each base of the read, those of a word in one item.
    k, begin, end : int
    found : ndarray of uint64
        Out: hashes.
    found_pos : ndarray of uint64
        Out: ``position << 1 | strand``, ascending; strand is 1 where the reverse complement has the smaller
        hash.

    Returns
    -------
    int
        Number of k-mers.
    """
    n = 0
    for word in range(begin // BASES_PER_WORD, min((end + BASES_PER_WORD - 1) // BASES_PER_WORD, len(marks))):
        first = word * BASES_PER_WORD
        bits = U64(marks[word])
        if first < begin:
            bits &= ~U64(0) << U64(begin - first)
        if first + BASES_PER_WORD > end:
            bits &= ~(~U64(0) << U64(end - first))
        while bits:
            position = first + trailing_zeros(bits)
            found[n], strand = hash_at(words, position, k)
            found_pos[n] = (U64(position) << U64(1)) | strand
            n += 1
            bits &= bits - U64(1)
    return n


class Part(NamedTuple):
    """Which k-mers of reads count."""

    begin: int
    end: int
    """`begin`, `end`: their first bases are in ``[begin, end)``."""
    k: int
    marks: np.ndarray
    """uint32, shape (words,); a bit for the first base of each k-mer that counts; empty where all do."""


@njit(nogil=True, cache=True)
def _room_for(lengths, part):
    """Return memory for the k-mers of the longest read: hashes, places and strands."""
    longest = np.int64(0)
    for length in lengths:
        longest = max(longest, length)
    longest = min(longest, part.end - part.begin)
    return np.empty(longest, np.uint64), np.empty(longest, np.uint64), np.empty(longest, np.bool_)


@njit(nogil=True, cache=True)
def _kmers_of(reads, part, read, hashes, places, reverse):
    """Hash the k-mers of a read that count.

    Returns
    -------
    int
        How many there are; ``hashes`` has the hash of each, `NONE` where there is none, and ``places`` its
        ``position << 1 | reverse``.
    """
    words, word_offsets, lengths, unknown_start, unknown_end, unknown_offsets = reads
    begin, end, k, marks = part
    if len(marks):
        of_read = slice(word_offsets[read], word_offsets[read + 1])
        return select_marked(
            words[of_read], marks[of_read], k, begin, min(end, lengths[read]), hashes, places
        )
    start, n = np.int64(0), 0
    for run in range(unknown_offsets[read], unknown_offsets[read + 1] + 1):
        ends = run == unknown_offsets[read + 1]
        stop = lengths[read] if ends else np.int64(unknown_start[run])
        low, high = max(start, begin), min(stop, end + k - 1)
        more = canonical_kmers(words, word_offsets[read], low, high, k, ALL, hashes[n:], reverse)
        for i in range(more):
            places[n + i] = (U64(low + i) << U64(1)) | U64(reverse[i])
        n += more
        start = stop if ends else np.int64(unknown_end[run])
    return n


@njit(nogil=True, cache=True)
def count_buckets(reads, part, limit, shift, counts, of_read):
    """Count the k-mers of reads in each bucket and of each read.

    Parameters
    ----------
    reads : PackedReads
    part : Part
    limit : uint64
        Hashes from this on do not count.
    shift : uint64
        The bucket of a hash is ``hash >> shift``.
    counts : ndarray of int64, shape (buckets,)
        Is increased.
    of_read : ndarray of int32, shape (reads,)
        Receives the k-mers of each read.
    """
    hashes, places, reverse = _room_for(reads.lengths, part)
    for read in range(len(reads.lengths)):
        of_read[read] = 0
        n = _kmers_of(reads, part, read, hashes, places, reverse)
        for i in range(n):
            if hashes[i] < limit:
                counts[hashes[i] >> shift] += 1
                of_read[read] += 1


@njit(nogil=True, cache=True)
def fill_buckets(reads, part, lowest, limit, shift, first_read, cursors, entries):
    """Write the k-mers of reads whose hashes lie in ``[lowest, limit)``.

    Parameters
    ----------
    reads, part
        As `count_buckets` takes them.
    lowest, limit : uint64
        ``lowest`` begins a bucket.
    shift : uint64
        The bucket of a hash is ``hash >> shift``.
    first_read : int
        Number of the first of the reads.
    cursors : ndarray of int64
        Where the next k-mer of each bucket goes, from the bucket of ``lowest`` on; is advanced.
    entries : ndarray of uint64, shape (n, 2)
        Receives the hashes and the packed occurrences.
    """
    hashes, places, reverse = _room_for(reads.lengths, part)
    span = limit - lowest
    for read in range(len(reads.lengths)):
        n = _kmers_of(reads, part, read, hashes, places, reverse)
        number = U64(first_read + read) << U64(32)
        for i in range(n):
            above = hashes[i] - lowest
            if above < span:
                bucket = above >> shift
                at = cursors[bucket]
                cursors[bucket] = at + 1
                entries[at, 0] = hashes[i]
                entries[at, 1] = number | places[i]


@njit(nogil=True, cache=True)
def group_buckets(entries, bounds, shift, lower, upper, spectrum, column_sizes, occurrences):
    """Group equal k-mers of consecutive buckets; keep those of wanted multiplicity.

    Parameters
    ----------
    entries : ndarray of uint64, shape (n, 2)
        Hashes and packed occurrences, bucket by bucket.
    bounds : ndarray of int64, shape (buckets + 1,)
        Where the buckets start.
    shift : int
        The bucket of a hash is ``hash >> shift``.
    lower, upper : int
        Wanted multiplicities, both included.
    spectrum : ndarray of int64, shape (most + 1,)
        Is increased: distinct k-mers by multiplicity, those above ``most`` counted as that.
    column_sizes : ndarray of int64, shape (n,)
        Receives the multiplicities of the kept k-mers, by hash.
    occurrences : ndarray of int64, shape (n,)
        Receives the occurrences of the kept k-mers: by hash, within a k-mer in the order of the entries.

    Returns
    -------
    int, int
        How many k-mers and how many occurrences are kept.
    """
    largest = np.int64(1)
    for bucket in range(len(bounds) - 1):
        largest = max(largest, bounds[bucket + 1] - bounds[bucket])
    bits = 1
    while 1 << bits < 2 * largest:
        bits += 1
    unused = np.uint64(max(0, shift - bits))
    table = np.empty(1 << bits, np.uint64)
    members = np.empty(1 << bits, np.int32)
    slots = np.empty(largest, np.int32)
    kept = np.empty(largest, np.int32)
    columns = 0
    total = 0
    for bucket in range(len(bounds) - 1):
        part = entries[bounds[bucket] : bounds[bucket + 1]]
        _count_equal(part, unused, table, members, slots)
        count = _choose(table, members, lower, upper, spectrum, kept)
        for slot in range(len(members)):
            members[slot] = -1 - members[slot]
        for column in range(count):
            slot = kept[column]
            column_sizes[columns] = -1 - members[slot]
            members[slot] = total
            total += column_sizes[columns]
            columns += 1
        for i in range(len(part)):
            at = members[slots[i]]
            if at >= 0:
                occurrences[at] = part[i, 1]
                members[slots[i]] = at + 1
    return columns, total


@njit(nogil=True, cache=True)
def _count_equal(entries, unused, table, members, slots):
    """Fill an open-addressing table of k-mers and their multiplicities; note the slot of every entry.

    The slot is what the hash holds above its ``unused`` lowest bits, so that k-mers are all but in order.
    """
    table[:] = NONE
    members[:] = 0
    wrap = np.uint64(len(table) - 1)
    for i in range(len(entries)):
        key = entries[i, 0]
        slot = (key >> unused) & wrap
        while table[slot] != key and table[slot] != NONE:
            slot = (slot + _ONE) & wrap
        table[slot] = key
        members[slot] += 1
        slots[i] = slot


@njit(nogil=True, cache=True)
def _choose(table, members, lower, upper, spectrum, kept):
    """Count the multiplicities; write the slots of the wanted ones by hash and return how many there are."""
    most = len(spectrum) - 1
    count = 0
    for slot in range(len(table)):
        if members[slot] == 0:
            continue
        spectrum[min(np.int64(members[slot]), most)] += 1
        if lower <= members[slot] <= upper:
            at = count
            while at > 0 and table[kept[at - 1]] > table[slot]:
                kept[at] = kept[at - 1]
                at -= 1
            kept[at] = slot
            count += 1
    return count
