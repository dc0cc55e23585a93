"""A hash of each read's bases."""

import numpy as np
from numba import njit

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@njit(nogil=True, cache=True)
def content_hashes(words, word_offsets):
    """Hash the packed bases of every read.

    Parameters
    ----------
    words, word_offsets
        Columns of the read table.

    Returns
    -------
    ndarray of uint64, shape (reads,)
    """
    hashes = np.empty(len(word_offsets) - 1, np.uint64)
    for read in range(len(hashes)):
        value = np.uint64(0)
        for i in range(word_offsets[read], word_offsets[read + 1]):
            value = (value ^ words[i]) * _MULTIPLIER
            value ^= value >> np.uint64(32)
        hashes[read] = value
    return hashes
