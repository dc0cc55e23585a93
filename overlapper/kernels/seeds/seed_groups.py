"""Groups of entries: those of one hash, and which of them seed (docs/algorithms/dsoft.md).

Entries are those of `overlapper.kernels.seeds.seed_index`, ``rest of hash | base number | strand``.
"""

import numpy as np

from overlapper.kernels.common.inlining import always_inline
from overlapper.runtime.compile.cache import njit
from overlapper.tables.reads import BASES_PER_WORD

WORDS_PER_ENTRY = 64
"""Words from one entry to the next of the table that finds the read of a word, small enough for the cache."""

FEWEST_TANDEM = 17
"""A hash that occurs less often is not looked at: it costs little, and in few reads chance may crowd it."""
TANDEM_REACH = 2048
"""Bases within which the read has the next occurrence of a crowded one. Satellites
have shorter units; genes and arrays of higher order, which reads are placed by, have longer ones."""

U64 = np.uint64
_SCATTER = 0x9E3779B97F4A7C15


@always_inline
def group_stop(entries, start, rest_low_bit):
    """Return where the entries end that have the hash of the one at ``start``; they are those of a bucket."""
    shift = U64(rest_low_bit)
    stop = start + 1
    while stop < len(entries) and (entries[start] >> shift) == (entries[stop] >> shift):
        stop += 1
    return stop


@always_inline
def read_of(base, read_of_words, word_offsets):
    """Return the read of a word-aligned base number; other arguments are as of `is_tandem`."""
    word = base // BASES_PER_WORD
    read = np.int64(read_of_words[word // WORDS_PER_ENTRY])
    while word_offsets[read + 1] <= word:
        read += 1
    return read


@njit(nogil=True, cache=True)
def is_tandem(entries, rest_low_bit, read_of_words, word_offsets):
    """Return whether a hash repeats within reads: most of its occurrences are crowded.

    One is crowded when the same read has the next within `TANDEM_REACH` bases. A homopolymer of m bases has
    one hash m times, and m * m hits with another such read, which do not say where the reads lie.

    Parameters
    ----------
    entries : ndarray of uint64
        All that have the hash, ascending by base number.
    rest_low_bit : int
        Where the rest of the hash starts; below are base number and strand.
    read_of_words : ndarray of int32
        Read that the first word of each `WORDS_PER_ENTRY` words belongs to.
    word_offsets : ndarray of int64
        Column of the read table.
    """
    if len(entries) < FEWEST_TANDEM:
        return False
    base_mask, crowded = (U64(1) << U64(rest_low_bit)) - U64(1), 0
    for i in range(len(entries) - 1):
        base = np.int64((entries[i] & base_mask) >> U64(1))
        following = np.int64((entries[i + 1] & base_mask) >> U64(1))
        if following - base <= TANDEM_REACH:
            read = read_of(base, read_of_words, word_offsets)
            crowded += following < word_offsets[read + 1] * BASES_PER_WORD
    return 2 * crowded >= len(entries)


@always_inline
def is_sampled(rest, size, unthinned):
    """Return whether a hash that occurs ``size`` times is one of those that seed.

    All do up to ``unthinned`` times, and a share of ``unthinned / size`` above, so that an occurrence meets
    about as many others at most, however often the bases repeat. The rest of the hash decides, so that all
    reads have the same ones.
    """
    return ((U64(rest) * U64(_SCATTER)) >> U64(32)) * U64(size) < U64(unthinned) << U64(32)
