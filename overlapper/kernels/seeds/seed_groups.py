"""Groups of entries of one hash, and rules by which they seed (docs/algorithms/dsoft.md).

CPU and GPU: cuda/seed_index_kernels.py calls `is_sampled` and `is_tandem`, too.

Entries are those of `overlapper.kernels.seeds.seed_index`, ``rest of hash | base number | strand``.
"""

import numpy as np

from overlapper.kernels.common.inlining import always_inline
from overlapper.runtime.compile.cache import njit
from overlapper.tables.reads import BASES_PER_WORD

WORDS_PER_ENTRY = 64
"""Words for each entry of the table that looks up the read of a word, so that it fits into the cache."""

FEWEST_TANDEM = 17
"""Least occurrences of a tandem hash: a rarer one costs little, and in few reads it may be crowded by
chance."""
TANDEM_REACH = 2048
"""An occurrence is *crowded* if the next one in the read is within this many bases. Units of satellites are
shorter; those of gene arrays and higher-order arrays, which reads are placed by, are longer."""

U64 = np.uint64
_SCATTER = 0x9E3779B97F4A7C15


def read_of_words(word_offsets):
    """Return the read (int32) that the first of each `WORDS_PER_ENTRY` words belongs to."""
    first_words = np.arange(0, int(word_offsets[-1]), WORDS_PER_ENTRY)
    return (np.searchsorted(word_offsets, first_words, side="right") - 1).astype(np.int32)


@always_inline
def group_stop(entries, start, rest_low_bit):
    """Return the end of the entries of a bucket that have the hash of the entry at ``start``."""
    shift = U64(rest_low_bit)
    stop = start + 1
    while stop < len(entries) and (entries[start] >> shift) == (entries[stop] >> shift):
        stop += 1
    return stop


@always_inline
def read_of(base, read_of_words, word_offsets):
    """Return the read of a word-aligned base number; other arguments are those of `is_tandem`."""
    word = base // BASES_PER_WORD
    read = np.int64(read_of_words[word // WORDS_PER_ENTRY])
    while word_offsets[read + 1] <= word:
        read += 1
    return read


@njit(nogil=True, cache=True)
def is_tandem(entries, rest_low_bit, read_of_words, word_offsets):
    """Return whether a hash is tandem: at least half of its occurrences are crowded.

    An occurrence is crowded if the next one in the same read is within `TANDEM_REACH` bases. A homopolymer of
    m bases has one hash m times, and m * m hits with another such read, which do not tell where the reads
    lie.

    Parameters
    ----------
    entries : ndarray of uint64
        All entries of the hash, ascending by base number.
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
    """Return whether a hash that occurs ``size`` times stays when hashes are thinned out.

    All stay that occur up to ``unthinned`` times, and a share of ``unthinned / size`` above, so that an
    occurrence meets about ``unthinned`` others at most. The rest of the hash decides, so that all reads keep
    the same ones.
    """
    return ((U64(rest) * U64(_SCATTER)) >> U64(32)) * U64(size) < U64(unthinned) << U64(32)
