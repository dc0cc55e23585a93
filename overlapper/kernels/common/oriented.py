"""Bases of packed reads one a byte, as they are or as the reverse complement.

CPU only.
"""

from overlapper.kernels.common.packed import unpack, unpack_backwards
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
    words = reads.words[reads.word_offsets[read] : reads.word_offsets[read + 1]]
    if reverse:
        unpack_backwards(words, start, stop - start, codes)
    else:
        unpack(words, start, stop - start, codes)
    for run in range(reads.unknown_offsets[read], reads.unknown_offsets[read + 1]):
        for i in range(max(start, reads.unknown_start[run]), min(stop, reads.unknown_end[run])):
            codes[stop - 1 - i if reverse else i - start] = unknown
