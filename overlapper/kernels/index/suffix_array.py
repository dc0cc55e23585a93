"""From a suffix array to the arrays of an FM-index (`overlapper.kernels.index.fm_index` draws them).

CPU only.

Symbols are bytes here: 0 for ``$``, 1 to 4 for A, C, G and T.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.packed import base_at
from overlapper.kernels.index.fm_index import BIN_ROWS, HAS_BORDERS, extended_row
from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def write_symbols(words, sources, segments, symbols):
    """Write both strands of the segments, a ``$`` after each.

    Parameters
    ----------
    words : ndarray of uint64
        Packed bases.
    sources : ndarray of int64, shape (m,)
        First base of each segment in ``words``.
    segments : ndarray of int64, shape (m + 1, 2)
        Of the `FmIndex`.
    symbols : ndarray of uint8, shape (2 * H,)
        Written.
    """
    last = len(symbols) - 2
    for segment in range(len(sources)):
        start, end = segments[segment, 0], segments[segment + 1, 0] - 1
        for position in range(start, end):
            base = base_at(words, sources[segment] + position - start)
            symbols[position] = base + 1
            symbols[last - position] = 4 - base
        symbols[end] = 0
        symbols[last - end] = 0
    symbols[last + 1] = 0


@njit(nogil=True, cache=True)
def pack_symbols(symbols, words):
    """Pack symbols two bits each, 32 to a word, ``$`` as 0."""
    for word in range(len(words)):
        packed = np.uint64(0)
        for position in range(32 * word, min(32 * word + 32, len(symbols))):
            if symbols[position]:
                packed |= np.uint64(symbols[position] - 1) << np.uint64(2 * (position & 31))
        words[word] = packed


@njit(nogil=True, cache=True)
def write_bwt(symbols, suffix_array, bwt, first, last):
    """Write the symbols that precede the suffixes of the rows ``[first, last)``."""
    for row in range(first, last):
        position = suffix_array[row]
        bwt[row] = symbols[position - 1] if position else 0


@njit(nogil=True, cache=True)
def write_bins(bwt, superblock_shift, bins):
    """Write the bins of a BWT.

    Parameters
    ----------
    bwt : ndarray of uint8, shape (N,)
    superblock_shift : int
        Binary logarithm of the bins a superblock, 25 at most.
    bins : ndarray of uint64, shape (1 + superblocks + N // 64 + 1, 4)
        Written.
    """
    bins[0, 0] = superblock_shift
    counts, totals = np.zeros(5, np.int64), np.zeros(5, np.int64)
    place, superblocks = 1, 0
    for number in range(len(bwt) // BIN_ROWS + 1):
        if number & ((1 << superblock_shift) - 1) == 0:
            for base in range(4):
                bins[place, base] = totals[base + 1]
            counts = np.zeros(5, np.int64)
            place, superblocks = place + 1, superblocks + 1
        bins[place, 0] = np.uint64(counts[1]) | np.uint64(counts[2]) << np.uint64(32)
        bins[place, 1] = np.uint64(counts[3]) | np.uint64(counts[4]) << np.uint64(32)
        low = high = np.uint64(0)
        first = number * BIN_ROWS
        for row in range(first, min(first + BIN_ROWS, len(bwt))):
            symbol = bwt[row]
            counts[symbol] += 1
            totals[symbol] += 1
            if symbol == 0:
                bins[place, 0] |= np.uint64(HAS_BORDERS)
            else:
                base_bits, bit = np.uint64(symbol - 1), np.uint64(row & 63)
                low |= (base_bits & np.uint64(1)) << bit
                high |= (base_bits >> np.uint64(1)) << bit
        bins[place, 2], bins[place, 3] = low, high
        place += 1
    smaller = totals[0]
    for base in range(4):
        for superblock in range(superblocks):
            bins[1 + superblock + (superblock << superblock_shift), base] += np.uint64(smaller)
        smaller += totals[base + 1]


@njit(nogil=True, cache=True)
def write_longer_kmers(fm, shorter, table, first, last):
    """Write the rows of all k-mers that end in the (k-1)-mers of the ranks ``[first, last)``.

    Parameters
    ----------
    fm : FmIndex
        Whose table is not looked at.
    shorter : ndarray, shape (4 ** (k - 1), 2)
        First row and end of every (k-1)-mer.
    table : ndarray, shape (4 ** k, 2)
        Written in part.
    first, last : int
    """
    for base in range(4):
        for rank in range(first, last):
            longer = base * len(shorter) + rank
            table[longer, 0] = extended_row(fm, base, np.int64(shorter[rank, 0]))
            table[longer, 1] = extended_row(fm, base, np.int64(shorter[rank, 1]))
