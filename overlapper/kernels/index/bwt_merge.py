"""Merging the BWT of one part of a text into that of the parts before it (Sirén 2009).

CPU only.

Strings end with ``$``; the ``$`` of a later part is above that of an earlier one. Then the rows of a part
keep their order in the merged BWT, and the place of a row is its own number plus its rank: the rows of the
parts before that are below its suffix. Ranks follow from the right to the left of a string, by one extension
each.

Symbols are bytes, as in `overlapper.kernels.index.suffix_array`.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.index.fm_index import Bwt, extended_row, first_at_least, preceding_base
from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def rank_suffixes(bins, borders, symbols, strings, ranks, first, last):
    """Write the ranks of the suffixes of ``symbols[first:last]``.

    Parameters
    ----------
    bins, borders : ndarray
        Of the parts before, as in `FmIndex`; only the rows of the borders are used.
    symbols : ndarray of uint8, shape (n,)
        A part; ``symbols[last - 1]`` is a ``$``.
    strings : int
        Of the parts before.
    ranks : ndarray of uint32 or int64, shape (n,)
        Written in part.
    first, last : int
    """
    before = Bwt(bins, borders)
    rank = np.int64(strings)
    for position in range(last - 1, first - 1, -1):
        symbol = np.int64(symbols[position])
        rank = extended_row(before, symbol - 1, rank) if symbol else np.int64(strings)
        ranks[position] = rank


@njit(nogil=True, cache=True)
def merge_bwt(bwt, part_bwt, suffix_array, ranks, merged):
    """Write the merged BWT.

    Parameters
    ----------
    bwt : ndarray of uint8
        Of the parts before.
    part_bwt : ndarray of uint8, shape (n,)
    suffix_array : ndarray of int, shape (n,)
        Of the part.
    ranks : ndarray of uint32 or int64, shape (n,)
        Of the suffixes of the part, by position.
    merged : ndarray of uint8, shape (len(bwt) + n,)
        Written.
    """
    taken = 0
    for row in range(len(part_bwt)):
        rank = np.int64(ranks[suffix_array[row]])
        while taken < rank:
            merged[taken + row] = bwt[taken]
            taken += 1
        merged[taken + row] = part_bwt[row]
    while taken < len(bwt):
        merged[taken + len(part_bwt)] = bwt[taken]
        taken += 1


@njit(nogil=True, cache=True)
def walk_strings(bins, borders, samples, sample_shift, string_ends, first, last):
    """Write samples and borders of some strings, walking each from its end to its start.

    Parameters
    ----------
    bins : ndarray
    borders : ndarray of int64, shape (strings, 2)
        Rows of the borders; their positions are written.
    samples : ndarray
        Written.
    sample_shift : int
    string_ends : ndarray of int64, shape (strings,)
        Position of the ``$`` of every row that starts with one.
    first, last : int
        Rows to start from.
    """
    bwt = Bwt(bins, borders)
    between_samples = (1 << sample_shift) - 1
    for string in range(first, last):
        row, position = np.int64(string), string_ends[string]
        while True:
            if row & between_samples == 0:
                samples[row >> sample_shift] = position
            base = preceding_base(bwt, row)
            if base < 0:
                borders[first_at_least(borders, row), 1] = position
                break
            row, position = extended_row(bwt, base, row), position - 1
