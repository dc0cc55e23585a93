"""Suffix array bounds of patterns by binary search (Manber & Myers 1993; on GPUs: Liao 2013).

GPU twin: cuda/bounds.py.

The k-mer table gives the rows that share the first k bases. The search goes on within them, comparing the
rest of the pattern with the text 32 bases at a time, so that the length of a pattern hardly matters.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.inlining import always_inline
from overlapper.kernels.common.packed import base_at, kmer_rank
from overlapper.kernels.index.fm_index import (
    bases_to_segment_end,
    common_length,
    extended_row,
    locate,
    strand_bases,
    text_position,
)
from overlapper.runtime.compile.cache import njit


@always_inline
def _compare(fm, position, words, start, length):
    """Return 0 where the text at a position starts with the pattern, else -1 or 1 as it is below or above."""
    common = common_length(fm, position, words, start, length)
    if common == length:
        return 0
    if common == bases_to_segment_end(fm, position):
        return -1
    base = np.int64(strand_bases(fm, position + common) & np.uint64(3))
    return -1 if base < base_at(words, start + common) else 1


@always_inline
def pattern_bounds(fm, words, source, length):
    """Return how many rows are below a pattern, and that plus the rows that start with it.

    Parameters
    ----------
    fm : FmIndex
    words : ndarray of uint64
        Packed patterns.
    source, length : int
        First base in ``words`` and bases of the pattern.
    """
    if length < fm.kmer_length:
        first, last = np.int64(0), 2 * fm.segments[-1, 0]
        for start in range(source + length - 1, source - 1, -1):
            base = base_at(words, start)
            first = extended_row(fm, base, first)
            last = extended_row(fm, base, last)
        return first, last
    rank = kmer_rank(words, source, fm.kmer_length)
    first, last = np.int64(fm.table[rank, 0]), np.int64(fm.table[rank, 1])
    rest_source, rest = source + fm.kmer_length, length - fm.kmer_length
    below = first
    for side in range(2):
        low, high = first, last
        while low < high:
            middle = (low + high) >> 1
            if _compare(fm, locate(fm, middle) + fm.kmer_length, words, rest_source, rest) < side:
                low = middle + 1
            else:
                high = middle
        if side == 0:
            below = low
        first = low
    return below, first


@njit(nogil=True, cache=True)
def find_bounds(fm, words, sources, lengths, bounds):
    """Find the rows that start with each pattern.

    Parameters
    ----------
    fm : FmIndex
    words : ndarray of uint64
        Packed patterns.
    sources, lengths : ndarray of int64, shape (n,)
        First base in ``words`` and bases of each pattern.
    bounds : ndarray of int64, shape (n, 2)
        Written, as `pattern_bounds`.
    """
    for pattern in range(len(sources)):
        bounds[pattern, 0], bounds[pattern, 1] = pattern_bounds(fm, words, sources[pattern], lengths[pattern])


@njit(nogil=True, cache=True)
def locate_rows(fm, rows, length):
    """Return where the suffixes of rows start in the text, and whether on its reverse strand.

    Parameters
    ----------
    fm : FmIndex
    rows : ndarray of int64, shape (n,)
    length : int
        Of the match that starts there.

    Returns
    -------
    positions : ndarray of int64, shape (n,)
    reverse : ndarray of bool, shape (n,)
    """
    positions, reverse = np.empty(len(rows), np.int64), np.empty(len(rows), np.bool_)
    for i in range(len(rows)):
        positions[i], reverse[i] = text_position(fm, locate(fm, rows[i]), length)
    return positions, reverse
