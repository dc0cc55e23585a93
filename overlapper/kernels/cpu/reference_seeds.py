"""Minimizers of a reference by hash, and the places of those of a read.

An entry is ``rest of hash | word-aligned base number | strand`` in the bucket of the lowest bits of the hash,
as `seed_index.partition` makes it; entries ascend within a bucket. `slots` tell where the entries of each
value of the highest bits of the rest start, so few are looked through.

An anchor is a seed of a read and a place that equals it: strand, first base ``y`` on the reference and ``x``
on the read, which is turned to the strand that matches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.cpu.cache import njit
from overlapper.kernels.cpu.minimizers import CHUNK, scratch_size, select
from overlapper.kernels.cpu.seed_groups import group_stop
from overlapper.kernels.cpu.seed_index import grow
from overlapper.kernels.cpu.sorting import sort_few

U64 = np.uint64
X_BITS, Y_BITS = 30, 33
"""Bits of the positions of an anchor while anchors are sorted, the strand above them."""
_X_MASK, _Y_MASK = (1 << X_BITS) - 1, (1 << Y_BITS) - 1


class Lookup(NamedTuple):
    """Minimizers of a reference.

    Attributes
    ----------
    entries : ndarray of uint64, shape (n,)
    slots : ndarray of int64, shape (2 ** (bucket_bits + slot_bits) + 1,)
        Where the entries of every slot start.
    bucket_bits, base_bits, rest_bits, slot_bits : int
        How many bits of a hash are the bucket, of an entry the base number and the rest, and of the rest the
        slot.
    """

    entries: np.ndarray
    slots: np.ndarray
    bucket_bits: int
    base_bits: int
    rest_bits: int
    slot_bits: int


@njit(nogil=True, cache=True)
def fill_slots(entries, bucket, lookup):
    """Count the sorted entries of a bucket into its slots, one slot late, for sums to turn into starts."""
    shift = U64(lookup.base_bits + 1 + lookup.rest_bits - lookup.slot_bits)
    first = (np.int64(bucket) << lookup.slot_bits) + 1
    for i in range(len(entries)):
        lookup.slots[first + np.int64(entries[i] >> shift)] += 1


@njit(nogil=True, cache=True)
def count_places(entries, base_bits, spectrum):
    """Add to ``spectrum[m]`` the hashes of a sorted bucket with m places; the last one takes all more."""
    start = 0
    while start < len(entries):
        stop = group_stop(entries, start, base_bits + 1)
        spectrum[min(stop - start, len(spectrum) - 1)] += 1
        start = stop


@njit(nogil=True, cache=True)
def find_anchors(reads, first, last, k, w, lookup, limit, lanes):
    """Find the anchors of reads ``[first, last)``.

    Parameters
    ----------
    reads : PackedReads
    first, last : int
    k, w : int
    lookup : Lookup
    limit : int
        A minimizer with more places has no anchors.
    lanes : ndarray of uint32 (k <= 15) or uint64, shape (0,)
        Only its type counts: the width in which k-mers are hashed.

    Returns
    -------
    starts : ndarray of int64, shape (last - first + 1,)
        Where the anchors of each read start.
    x : ndarray of int32, shape (n,)
    y : ndarray of int64, shape (n,)
    reverse : ndarray of bool, shape (n,)
        Anchors of a read ascend by strand, then by y, then by x.
    n_seeds, n_dropped : int
        Minimizers that have places, and of those the ones with too many.
    """
    scratch = np.empty((3, scratch_size(w)), lanes.dtype)
    strands = np.empty(scratch_size(w), np.uint8)
    found, found_pos = np.empty(CHUNK + 1, np.uint64), np.empty(CHUNK + 1, np.uint64)
    keys = np.empty(1 << 12, np.uint64)
    starts = np.zeros(last - first + 1, np.int64)
    n = n_seeds = n_dropped = 0
    bucket_mask = (1 << lookup.bucket_bits) - 1
    slot_shift = U64(lookup.rest_bits - lookup.slot_bits)
    rest_shift = U64(lookup.base_bits + 1)
    base_mask = (1 << lookup.base_bits) - 1
    for read in range(first, last):
        length = reads.lengths[read]
        words = reads.words[reads.word_offsets[read] : reads.word_offsets[read + 1]]
        unknown = slice(reads.unknown_offsets[read], reads.unknown_offsets[read + 1])
        unknown_start, unknown_end = reads.unknown_start[unknown], reads.unknown_end[unknown]
        for begin in range(0, length - k + 1, CHUNK):
            n_found = select(
                words, length, unknown_start, unknown_end, k, w, begin, scratch, strands, found, found_pos
            )
            for i in range(n_found):
                rest = found[i] >> U64(lookup.bucket_bits)
                slot = (np.int64(found[i]) & bucket_mask) << lookup.slot_bits | np.int64(rest >> slot_shift)
                low, stop = lookup.slots[slot], lookup.slots[slot + 1]
                while low < stop and lookup.entries[low] >> rest_shift < rest:
                    low += 1
                high = low
                while high < stop and lookup.entries[high] >> rest_shift == rest:
                    high += 1
                if high == low:
                    continue
                n_seeds += 1
                if high - low > limit:
                    n_dropped += 1
                    continue
                if n + high - low > len(keys):
                    keys = grow(keys, 2 * len(keys) + high - low)
                position, strand = np.int64(found_pos[i] >> U64(1)), np.int64(found_pos[i] & U64(1))
                for place in range(low, high):
                    entry = lookup.entries[place]
                    turned = strand ^ np.int64(entry & U64(1))
                    on_read = length - k - position if turned else position
                    base = np.int64(entry >> U64(1)) & base_mask
                    keys[n] = U64(turned << (X_BITS + Y_BITS) | base << X_BITS | on_read)
                    n += 1
        sort_few(keys[starts[read - first] : n])
        starts[read - first + 1] = n
    x, y, reverse = np.empty(n, np.int32), np.empty(n, np.int64), np.empty(n, np.bool_)
    for i in range(n):
        key = np.int64(keys[i] & U64(0x7FFFFFFFFFFFFFFF))
        x[i], y[i] = key & _X_MASK, key >> X_BITS
        reverse[i] = keys[i] >> U64(63) != U64(0)
    return starts, x, y, reverse, n_seeds, n_dropped
