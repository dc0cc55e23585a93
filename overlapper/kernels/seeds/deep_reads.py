"""Frequent minimizers, and the reads that have them all along (`overlapper.sketch.deep_reads`).

CPU only: the host tells deep reads for GPUs, too.

Occurrences, ``width`` and ``position_bits`` are those of `overlapper.kernels.seeds.occurrences`, numbers
``[start, stop)`` of them whole groups, each of one hash. A group is frequent when it has more than ``limit``.
"""

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.seeds.occurrences import (
    LAST_OF_GROUP,
    base_in,
    occurrence_at,
    position_in,
    put,
    put_word,
    read_in,
    word_at,
)
from overlapper.runtime.compile.cache import njit

U64 = np.uint64


@inner
def _ends(occurrences, number, width):
    """Return whether an occurrence is the last one of its group."""
    return occurrence_at(occurrences, number, width) >> U64(63) != U64(0)


@njit(nogil=True, cache=True)
def _next_frequent(occurrences, width, start, stop, limit):
    """Return where the first frequent group starts and stops, from a group on; ``stop`` if there is none."""
    while start + limit < stop:
        end = start + limit - 1
        while end >= start and not _ends(occurrences, end, width):
            end -= 1
        if end < start:
            end = start + limit
            while not _ends(occurrences, end, width):
                end += 1
            return start, end + 1
        start = end + 1
    return stop, stop


@njit(nogil=True, cache=True)
def count_frequent(
    occurrences, width, position_bits, start, stop, limit, lengths, bases_per_stretch, stretch_starts,
    in_stretches, in_reads,
):  # fmt: skip
    """Count the frequent groups in each stretch, each where the read has it first, and those of reads.

    Parameters
    ----------
    occurrences : ndarray of uint8
    width, position_bits, start, stop, limit : int
    lengths : ndarray of int64, shape (reads,)
        Column of the read table.
    bases_per_stretch : int
    stretch_starts : ndarray of int64, shape (reads + 1,)
        Where the stretches of each read start; the last one of a read has what is left over as well.
    in_stretches : ndarray of uint16, shape (stretches,)
        In and out.
    in_reads : ndarray of int32, shape (reads, 2)
        In and out: the occurrences of frequent groups in each read, and how many of these are of repeated
        ones.
    """
    group, end = _next_frequent(occurrences, width, start, stop, limit)
    while group < stop:
        repeated = _is_repeated(occurrences, width, position_bits, group, end, lengths)
        last = np.int64(-1)
        for i in range(group, end):
            one = occurrence_at(occurrences, i, width)
            read = np.int64(read_in(one, width, position_bits))
            in_reads[read, 0] += np.int32(1)
            in_reads[read, 1] += np.int32(repeated)
            if read == last:
                continue
            last = read
            stretch = np.int64(position_in(one, width, position_bits)) // bases_per_stretch
            in_stretches[min(stretch_starts[read] + stretch, stretch_starts[read + 1] - 1)] += np.uint16(1)
        group, end = _next_frequent(occurrences, width, end, stop, limit)


@njit(nogil=True, cache=True)
def _is_repeated(occurrences, width, position_bits, group, end, lengths):
    """Return whether a quarter of a group are followed by another one within half of the read."""
    followed, read, position = 0, U64(0), U64(0)
    for i in range(group, end):
        one = occurrence_at(occurrences, i, width)
        next_read, following = read_in(one, width, position_bits), position_in(one, width, position_bits)
        same_read = i > group and read == next_read
        followed += same_read and 2 * (np.int64(following) - np.int64(position)) <= lengths[read]
        read, position = next_read, following
    return 4 * followed >= end - group


@njit(nogil=True, cache=True)
def count_among_deep(occurrences, width, position_bits, start, stop, limit, deep, spectrum):
    """Count frequent groups with nine tenths of their occurrences in deep reads, by the number of these.

    Parameters
    ----------
    occurrences, width, position_bits, start, stop, limit
        Those of `count_frequent`.
    deep : ndarray of bool, shape (reads,)
    spectrum : ndarray of int64
        In and out: number of groups by occurrences in deep reads; the last value also counts larger ones.
    """
    group, end = _next_frequent(occurrences, width, start, stop, limit)
    while group < stop:
        n = _among_deep(occurrences, width, position_bits, group, end, deep)
        if 10 * n >= 9 * (end - group):
            spectrum[min(n, len(spectrum) - 1)] += 1
        group, end = _next_frequent(occurrences, width, end, stop, limit)


@njit(nogil=True, cache=True)
def _among_deep(occurrences, width, position_bits, group, end, deep):
    """Return how many occurrences of a group are in deep reads."""
    n = 0
    for i in range(group, end):
        n += deep[read_in(occurrence_at(occurrences, i, width), width, position_bits)]
    return n


@njit(nogil=True, cache=True)
def keep_seeding(
    occurrences, width, position_bits, start, stop, limit, unthinned, thinned, deep, most, word_offsets,
    block_bits, per_block,
):  # fmt: skip
    """Keep the groups that seed, in place: of frequent ones what is in deep reads; return their end.

    Parameters
    ----------
    occurrences, width, position_bits, start, stop, limit
        Those of `count_frequent`.
    unthinned : int
        Groups of no more occurrences are not thinned out.
    thinned : ndarray of int64
        Where those groups start that do not seed, as they are not sampled; ascending.
    deep : ndarray of bool, shape (reads,)
    most : int
        A frequent group with more than so many occurrences in deep reads, or less than nine tenths of its
        occurrences there, does not seed.
    word_offsets : ndarray of int64
        Column of the read table.
    block_bits : int
    per_block : ndarray of int64, shape (blocks,)
        In and out: occurrences in each block of ``2 ** block_bits`` word-aligned bases.
    """
    kept, group, next_thinned, least = start, start, 0, min(limit, unthinned)
    while group < stop:
        # Most groups are short, and all that end within the next ones are kept, and moved together.
        end = min(group + least, stop)
        while end > group and not _ends(occurrences, end - 1, width):
            end -= 1
        if end > group:
            _move(occurrences, group * width, end * width, kept * width)
            kept += end - group
            group = end
            continue
        end = group + least
        while not _ends(occurrences, end, width):
            end += 1
        end += 1
        while next_thinned < len(thinned) and thinned[next_thinned] < group:
            next_thinned += 1
        size = end - group
        sampled = next_thinned == len(thinned) or thinned[next_thinned] > group
        if sampled and size <= limit:
            _move(occurrences, group * width, end * width, kept * width)
            kept += size
        else:
            n = 0
            if sampled and most > 0:
                n = _among_deep(occurrences, width, position_bits, group, end, deep)
            n = n if n <= most and 10 * n >= 9 * size else 0
            stays = kept + n
            for i in range(group, end):
                one = occurrence_at(occurrences, i, width)
                if n > 0 and deep[read_in(one, width, position_bits)]:
                    last = U64(LAST_OF_GROUP) * U64(kept + 1 == stays)
                    put(occurrences, kept, width, (one & ~U64(LAST_OF_GROUP)) | last)
                    kept += 1
                else:
                    per_block[base_in(one, width, position_bits, word_offsets) >> block_bits] -= 1
        group = end
    return kept


@inner
def _move(items, start, stop, to):
    """Move bytes ``[start, stop)`` to a place that is not behind them, eight at a time."""
    if to == start:
        return
    while start + 8 <= stop:
        put_word(items, to, word_at(items, start))
        start, to = start + 8, to + 8
    while start < stop:
        items[to] = items[start]
        start, to = start + 1, to + 1
