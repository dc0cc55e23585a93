"""Hits of queries in the seed index: the kernels that `hits` launches."""

from __future__ import annotations

from numba import cuda, int32, int64, uint64

from overlapper.kernels.seeds.occurrences import LAST_OF_GROUP, POSITION_MASK, READ_SHIFT


@cuda.jit(device=True, forceinline=True)
def _read_of(occurrence):
    return int64((occurrence & uint64(LAST_OF_GROUP - 1)) >> uint64(READ_SHIFT))


@cuda.jit(device=True, forceinline=True)
def _position_of(occurrence):
    return (occurrence >> uint64(1)) & uint64(POSITION_MASK)


@cuda.jit
def count_hits(occurrences, numbers, first_target, counts):
    """Count the hits of each seed of the queries: later ones of its group, in reads after the query."""
    x = cuda.grid(1)
    if x >= len(counts):
        return
    number, last = uint64(numbers[x]), uint64(len(occurrences) - 1)
    count = int32(0)
    if number < last:
        here = occurrences[number]
        skipped = max(_read_of(here), int64(first_target) - 1)
        while (here >> uint64(63)) == uint64(0):
            number += uint64(1)
            here = occurrences[number]
            if _read_of(here) > skipped:
                count += int32(1)
    counts[x] = count


@cuda.jit
def write_hits(occurrences, numbers, first_target, offsets, first_query, target_bits, keys, places):
    """Write the hits of each seed of the queries, in the order of the seeds and of their groups."""
    x = cuda.grid(1)
    if x >= len(offsets) - 1:
        return
    at, end = offsets[x], offsets[x + 1]
    if at == end:
        return
    number = uint64(numbers[x])
    own = occurrences[number]
    skipped = max(_read_of(own), int64(first_target) - 1)
    query = uint64(_read_of(own) - int64(first_query)) << uint64(target_bits + 1)
    position = _position_of(own) << uint64(32)
    while at < end:
        number += uint64(1)
        here = occurrences[number]
        target = _read_of(here)
        if target > skipped:
            keys[at] = query | (uint64(target) << uint64(1)) | ((own ^ here) & uint64(1))
            places[at] = position | _position_of(here)
            at += 1


@cuda.jit(device=True, forceinline=True)
def target_of(key, target_bits):
    """Return the target of a key."""
    return int64((key >> uint64(1)) & ((uint64(1) << uint64(target_bits)) - uint64(1)))


@cuda.jit(device=True, forceinline=True)
def query_position(place):
    """Return the query position of a place."""
    return int32(place >> uint64(32))


@cuda.jit(device=True, forceinline=True)
def target_position(place):
    """Return the target position of a place."""
    return int32(place & uint64(0xFFFFFFFF))


@cuda.jit(device=True, forceinline=True)
def diagonal(key, place, lengths, target_bits, k):
    """Return the diagonal of a hit, its target being on the query's strand."""
    t = int64(target_position(place))
    if key & uint64(1):
        t = lengths[target_of(key, target_bits)] - k - t
    return int32(t - int64(query_position(place)))
