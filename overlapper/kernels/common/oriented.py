"""Bases of packed reads one a byte, as they are or as the reverse complement."""

from overlapper.kernels.common.packed import unpack
from overlapper.runtime.compile.cache import njit


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
    n = stop - start
    unpack(reads.words[reads.word_offsets[read] :], start, n, codes)
    for run in range(reads.unknown_offsets[read], reads.unknown_offsets[read + 1]):
        for i in range(max(start, reads.unknown_start[run]), min(stop, reads.unknown_end[run])):
            codes[i - start] = unknown
    if reverse:
        for i in range((n + 1) >> 1):
            low, high = codes[i], codes[n - 1 - i]
            codes[i] = 3 - high if high < 4 else high
            codes[n - 1 - i] = 3 - low if low < 4 else low
