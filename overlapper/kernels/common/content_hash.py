"""A hash of each read's bases.

CPU only.
"""

import numpy as np

from overlapper.runtime.compile.cache import njit

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@njit(nogil=True, cache=True)
def content_hashes(reads):
    """Hash the bases of every read, the places of unknown ones included.

    Parameters
    ----------
    reads : PackedReads

    Returns
    -------
    ndarray of uint64, shape (reads,)
    """
    words, word_offsets, _, unknown_start, unknown_end, unknown_offsets = reads
    hashes = np.empty(len(word_offsets) - 1, np.uint64)
    for read in range(len(hashes)):
        value = np.uint64(0)
        for i in range(word_offsets[read], word_offsets[read + 1]):
            value = _mixed(value, words[i])
        for run in range(unknown_offsets[read], unknown_offsets[read + 1]):
            value = _mixed(value, np.uint64(unknown_start[run]))
            value = _mixed(value, np.uint64(unknown_end[run]))
        hashes[read] = value
    return hashes


@njit(nogil=True, cache=True)
def _mixed(value, more):
    value = (value ^ more) * _MULTIPLIER
    return value ^ (value >> np.uint64(32))
