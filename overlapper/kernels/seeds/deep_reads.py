"""Frequent minimizers, and the reads that have them all along (`overlapper.sketch.deep_reads`).

CPU only: the host tells deep reads for GPUs, too.

Entries are those of `overlapper.kernels.seeds.seed_index`, ``rest of hash | base number | strand``, of one
bucket, by hash. A group is the entries of one hash; it is frequent when it has more than ``limit``.
"""

import numpy as np

from overlapper.kernels.seeds.seed_groups import group_stop, is_sampled, read_of
from overlapper.runtime.compile.cache import njit
from overlapper.tables.reads import BASES_PER_WORD

U64 = np.uint64


@njit(nogil=True, cache=True)
def count_frequent(
    entries, rest_low_bit, limit, read_of_words, word_offsets, lengths, bases_per_stretch, stretch_starts,
    in_stretches, in_reads,
):  # fmt: skip
    """Count the frequent groups in each stretch, each where the read has its first entry, and those of reads.

    Parameters
    ----------
    entries : ndarray of uint64
    rest_low_bit : int
        Where the rest of the hash starts; below are base number and strand.
    limit : int
    read_of_words : ndarray of int32
        Read that the first word of each `WORDS_PER_ENTRY` words belongs to.
    word_offsets : ndarray of int64, shape (reads + 1,)
        Column of the read table.
    lengths : ndarray of int64, shape (reads,)
        Column of the read table.
    bases_per_stretch : int
    stretch_starts : ndarray of int64, shape (reads + 1,)
        Where the stretches of each read start; the last one of a read has what is left over as well.
    in_stretches : ndarray of uint16, shape (stretches,)
        In and out.
    in_reads : ndarray of int32, shape (reads, 2)
        In and out: the entries of frequent groups in each read, and how many of these are of repeated ones.
    """
    start = 0
    while start < len(entries):
        stop = group_stop(entries, start, rest_low_bit)
        if stop - start > limit:
            repeated = _is_repeated(entries[start:stop], rest_low_bit, read_of_words, word_offsets, lengths)
            last = -1
            for i in range(start, stop):
                base = _base(entries[i], rest_low_bit)
                read = read_of(base, read_of_words, word_offsets)
                in_reads[read, 0] += np.int32(1)
                in_reads[read, 1] += np.int32(repeated)
                if read == last:
                    continue
                last = read
                stretch = (base - word_offsets[read] * BASES_PER_WORD) // bases_per_stretch
                of_read = min(stretch_starts[read] + stretch, stretch_starts[read + 1] - 1)
                in_stretches[of_read] += np.uint16(1)
        start = stop


@njit(nogil=True, cache=True)
def _is_repeated(group, rest_low_bit, read_of_words, word_offsets, lengths):
    """Return whether a quarter of the entries of a group are followed by another within half of the read."""
    followed = 0
    for i in range(len(group) - 1):
        base, following = _base(group[i], rest_low_bit), _base(group[i + 1], rest_low_bit)
        read = read_of(base, read_of_words, word_offsets)
        same_read = following < word_offsets[read + 1] * BASES_PER_WORD
        followed += same_read & (2 * (following - base) <= lengths[read])
    return 4 * followed >= len(group)


@njit(nogil=True, cache=True)
def count_among_deep(entries, rest_low_bit, limit, read_of_words, word_offsets, deep, spectrum):
    """Count frequent groups with nine tenths of their entries in deep reads, by the number of these.

    Parameters
    ----------
    entries, rest_low_bit, limit, read_of_words, word_offsets
        Those of `count_frequent`.
    deep : ndarray of bool, shape (reads,)
    spectrum : ndarray of int64
        In and out: number of groups by their entries in deep reads; the last value also counts larger ones.
    """
    start = 0
    while start < len(entries):
        stop = group_stop(entries, start, rest_low_bit)
        if stop - start > limit:
            n = 0
            for i in range(start, stop):
                n += deep[read_of(_base(entries[i], rest_low_bit), read_of_words, word_offsets)]
            if 10 * n >= 9 * (stop - start):
                spectrum[min(n, len(spectrum) - 1)] += 1
        start = stop


@njit(nogil=True, cache=True)
def keep_seeding(entries, rest_low_bit, limit, unthinned, read_of_words, word_offsets, deep, most, out):
    """Write the entries that seed: of frequent groups those in deep reads; groups are thinned out.

    Parameters
    ----------
    entries, rest_low_bit, limit, read_of_words, word_offsets
        Those of `count_frequent`.
    unthinned : int
        That of `overlapper.kernels.seeds.seed_groups.is_sampled`.
    deep : ndarray of bool, shape (reads,)
    most : int
        A frequent group with more than so many entries in deep reads, or less than nine tenths of its
        entries there, does not seed.
    out : ndarray of uint64
        Room for all; may be the entries themselves.

    Returns
    -------
    int
        How many entries seed.
    """
    kept, start = 0, 0
    while start < len(entries):
        stop = group_stop(entries, start, rest_low_bit)
        first = kept
        if not is_sampled(entries[start] >> U64(rest_low_bit), stop - start, unthinned):
            start = stop
            continue
        if stop - start <= limit:
            for i in range(start, stop):
                out[kept] = entries[i]
                kept += 1
        elif most:
            for i in range(start, stop):
                if deep[read_of(_base(entries[i], rest_low_bit), read_of_words, word_offsets)]:
                    out[kept] = entries[i]
                    kept += 1
            if kept - first > most or 10 * (kept - first) < 9 * (stop - start):
                kept = first
        start = stop
    return kept


@njit(nogil=True, cache=True)
def _base(entry, rest_low_bit):
    return np.int64((entry & ((U64(1) << U64(rest_low_bit)) - U64(1))) >> U64(1))
