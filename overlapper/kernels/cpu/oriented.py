"""Bases of packed reads one a byte, as they are or as the reverse complement."""

import numpy as np
from numba import njit

_THREE = np.uint64(3)


@njit(nogil=True, cache=True)
def unpack_bases(reads, read, start, stop, reverse, unknown, codes):
    """Write codes of bases ``[start, stop)`` of a read to the front of an array.

    Parameters
    ----------
    reads : PackedReads
    read : int
    start, stop : int
        On the forward strand.
    reverse : bool
        Write the reverse complement.
    unknown : int
        Code of unknown bases.
    codes : ndarray of uint8
    """
    first_word = reads.word_offsets[read]
    n = stop - start
    at, word = start, np.uint64(0)
    for i in range(n):
        if i == 0 or at & 31 == 0:
            word = reads.words[first_word + (at >> 5)] >> np.uint64(2 * (at & 31))
        codes[i] = np.uint8(word & _THREE)
        word >>= np.uint64(2)
        at += 1
    for run in range(reads.unknown_offsets[read], reads.unknown_offsets[read + 1]):
        for i in range(max(start, reads.unknown_start[run]), min(stop, reads.unknown_end[run])):
            codes[i - start] = unknown
    if reverse:
        for i in range((n + 1) >> 1):
            low, high = codes[i], codes[n - 1 - i]
            codes[i] = 3 - high if high < 4 else high
            codes[n - 1 - i] = 3 - low if low < 4 else low
