"""A hash of the bases of every read."""

from __future__ import annotations

import numpy as np
from numba import njit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@njit(nogil=True, cache=True)
def hash_reads(words, word_offsets):
    """Hash the packed bases of every read (uint64), the same on every machine.

    Each word is added, multiplied and folded with the finaliser of SplitMix64 (Steele 2014).
    """
    hashes = np.zeros(len(word_offsets) - 1, np.uint64)
    for read in range(len(hashes)):
        value = _GOLDEN
        for i in range(word_offsets[read], word_offsets[read + 1]):
            value = (value ^ words[i]) * _GOLDEN
            value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            value ^= value >> np.uint64(31)
        hashes[read] = value
    return hashes
