"""Look-up of the minimizers of a read among those of a reference: anchors.

CPU only.

An entry is ``rest of hash | word-aligned base number | strand`` in the bucket of the lowest bits of the hash,
as `seed_index.partition` makes it; entries ascend within a bucket. `slots` tell where the entries of each
value of the highest bits of the rest start, so few are looked through.

An anchor is a seed of a read and a place that equals it: strand, first base ``y`` on the reference and ``x``
on the read, which is turned to the strand that matches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.growth import grow
from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.sorting import sort_few
from overlapper.kernels.seeds.minimizers import CHUNK, scratch_size, select
from overlapper.kernels.seeds.seed_groups import group_stop
from overlapper.runtime.compile.cache import njit

U64 = np.uint64
X_BITS, Y_BITS = 30, 33
"""Bits of the two positions of an anchor in its sort key, below its strand."""
STRETCH = 512
"""Bases of a stretch of a read, whose minimizers together have a limited number of anchors."""
_POSITION, _STRAND, _LOW, _HIGH = range(4)
"""Columns of a seed: position and strand on the read, and the range of its entries."""
_X_MASK = (1 << X_BITS) - 1


class Lookup(NamedTuple):
    """Minimizers of a reference."""

    entries: np.ndarray
    """uint64, shape (n,)."""
    slots: np.ndarray
    """int64, shape (2 ** (bucket_bits + slot_bits) + 1,); where the entries of every slot start."""
    bucket_bits: int
    base_bits: int
    rest_bits: int
    slot_bits: int
    """`bucket_bits`, `base_bits`, `rest_bits`, `slot_bits`: how many bits of a hash are the bucket, of an
    entry the base number and the rest, and of the rest the slot."""


@njit(nogil=True, cache=True)
def fill_slots(entries, bucket, lookup):
    """Count the sorted entries of a bucket by slot, one slot late, so that running sums are starts."""
    shift = U64(lookup.base_bits + 1 + lookup.rest_bits - lookup.slot_bits)
    first = (np.int64(bucket) << lookup.slot_bits) + 1
    for i in range(len(entries)):
        lookup.slots[first + np.int64(entries[i] >> shift)] += 1


@njit(nogil=True, cache=True)
def count_places(entries, base_bits, spectrum):
    """Add to ``spectrum[m]`` the number of hashes of a sorted bucket with m places (the last: or more)."""
    start = 0
    while start < len(entries):
        stop = group_stop(entries, start, base_bits + 1)
        spectrum[min(stop - start, len(spectrum) - 1)] += 1
        start = stop


@njit(nogil=True, cache=True)
def find_anchors(reads, first, last, k, w, lookup, limit, most, lanes):
    """Find the anchors of reads ``[first, last)``.

    Parameters
    ----------
    reads : PackedReads
    first, last : int
    k, w : int
    lookup : Lookup
    limit : int
        A minimizer with more places has no anchors.
    most : int
        Anchors of the minimizers that begin in a stretch of `STRETCH` bases of a read, at most.
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
    strands = np.empty(scratch_size(w), lanes.dtype)
    found, found_pos = np.empty(CHUNK + 1, np.uint64), np.empty(CHUNK + 1, np.uint64)
    keys = np.empty(1 << 12, np.uint64)
    seeds, order = np.empty((STRETCH, 4), np.int64), np.empty(STRETCH, np.int64)
    starts = np.zeros(last - first + 1, np.int64)
    n = n_seeds = n_dropped = 0
    for read in range(first, last):
        length = reads.lengths[read]
        words = reads.words[reads.word_offsets[read] : reads.word_offsets[read + 1]]
        unknown = slice(reads.unknown_offsets[read], reads.unknown_offsets[read + 1])
        unknown_start, unknown_end = reads.unknown_start[unknown], reads.unknown_end[unknown]
        n_waiting = 0
        for begin in range(0, length - k + 1, CHUNK):
            n_found = select(
                words, length, unknown_start, unknown_end, k, w, begin, scratch, strands, found, found_pos
            )
            for i in range(n_found):
                low, high = _places(lookup, found[i], limit)
                n_seeds += high > low
                if high - low > limit:
                    n_dropped += 1
                    continue
                position = np.int64(found_pos[i] >> U64(1))
                if n_waiting and position // STRETCH != seeds[0, _POSITION] // STRETCH:
                    keys, n, left_out = _add_anchors(
                        seeds[:n_waiting], order, lookup, length - k, most, keys, n
                    )
                    n_dropped += left_out
                    n_waiting = 0
                if high > low:
                    seed = seeds[n_waiting]
                    seed[_POSITION], seed[_STRAND] = position, np.int64(found_pos[i] & U64(1))
                    seed[_LOW], seed[_HIGH] = low, high
                    n_waiting += 1
        keys, n, left_out = _add_anchors(seeds[:n_waiting], order, lookup, length - k, most, keys, n)
        n_dropped += left_out
        sort_few(keys[starts[read - first] : n])
        starts[read - first + 1] = n
    x, y, reverse = np.empty(n, np.int32), np.empty(n, np.int64), np.empty(n, np.bool_)
    for i in range(n):
        key = np.int64(keys[i] & U64(0x7FFFFFFFFFFFFFFF))
        x[i], y[i] = key & _X_MASK, key >> X_BITS
        reverse[i] = keys[i] >> U64(63) != U64(0)
    return starts, x, y, reverse, n_seeds, n_dropped


@inner
def _places(lookup, hashed, limit):
    """Return the range of the entries of a hash; of more than ``limit`` entries, one more than that."""
    entries, shift = lookup.entries, U64(lookup.base_bits + 1)
    rest = hashed >> U64(lookup.bucket_bits)
    bucket = np.int64(hashed) & ((1 << lookup.bucket_bits) - 1)
    slot_shift = U64(lookup.rest_bits - lookup.slot_bits)
    slot = bucket << lookup.slot_bits | np.int64(rest >> slot_shift)
    low, stop = lookup.slots[slot], lookup.slots[slot + 1]
    if low == stop:
        return low, low
    low = _first_at_least(entries, low, stop, shift, rest)
    return low, _first_at_least(entries, low, min(stop, low + limit + 1), shift, rest + U64(1))


@inner
def _first_at_least(entries, low, stop, shift, rest):
    """Return the first of ascending entries ``[low, stop)`` with at least this rest; it is mostly near."""
    step = 1
    while low + step <= stop and entries[low + step - 1] >> shift < rest:
        low += step
        step *= 2
    stop = min(stop, low + step)
    while low < stop:
        middle = (low + stop) // 2
        if entries[middle] >> shift < rest:
            low = middle + 1
        else:
            stop = middle
    return low


@njit(nogil=True, cache=True)
def _add_anchors(seeds, order, lookup, last, most, keys, n):
    """Add the anchors of the seeds of a stretch; beyond ``most``, those of the seeds with fewest places.

    Returns the keys, which may have grown, how many there are, and how many seeds were left out.
    """
    total = 0
    for i in range(len(seeds)):
        order[i] = (seeds[i, _HIGH] - seeds[i, _LOW]) * STRETCH + i
        total += seeds[i, _HIGH] - seeds[i, _LOW]
    taken = len(seeds)
    if total > most:
        sort_few(order[:taken])
        while total > most:
            taken -= 1
            total -= order[taken] // STRETCH
    if n + total > len(keys):
        keys = grow(keys, 2 * len(keys) + total)
    base_mask = (1 << lookup.base_bits) - 1
    for number in order[:taken]:
        seed = seeds[number % STRETCH]
        for place in range(seed[_LOW], seed[_HIGH]):
            entry = lookup.entries[place]
            turned = seed[_STRAND] ^ np.int64(entry & U64(1))
            on_read = last - seed[_POSITION] if turned else seed[_POSITION]
            base = np.int64(entry >> U64(1)) & base_mask
            keys[n] = U64(turned << (X_BITS + Y_BITS) | base << X_BITS | on_read)
            n += 1
    return keys, n, len(seeds) - taken
