"""How far the tandem arrays at the ends of packed reads reach.

CPU only.
"""

import numpy as np

from overlapper.kernels.common.packed import base_at
from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def tandem_ends(words, word_offsets, lengths, longest, span, sites):
    """Measure the arrays at both ends of reads, as `overlapper.sketch.tandem_ends` defines them.

    Parameters
    ----------
    words : ndarray of uint64
    word_offsets : ndarray of int64, shape (reads + 1,)
    lengths : ndarray of int64, shape (reads,)
    longest, span, sites : int
        Longest unit; shortest array; how many bases that differ from the unit before are too many.

    Returns
    -------
    ndarray of int64, shape (reads, 2)
        Bases of the array at the beginning and at the end; 0 for none.
    """
    found = np.zeros((len(lengths), 2), np.int64)
    for read in range(len(lengths)):
        own, length = words[word_offsets[read] : word_offsets[read + 1]], lengths[read]
        if length < span:
            continue
        for side in range(2):
            first, step = side * (length - 1), 1 - 2 * side
            unit, fewest = 0, sites
            for period in range(1, longest + 1):
                differ, i = 0, period
                while i < span and differ < fewest:
                    differ += base_at(own, first + step * i) != base_at(own, first + step * (i - period))
                    i += 1
                if differ < fewest:
                    unit, fewest = period, differ
            if unit == 0:
                continue
            differ, i = 0, unit
            while i < length:
                differ += base_at(own, first + step * i) != base_at(own, first + step * (i - unit))
                if differ == sites:
                    break
                i += 1
            found[read, side] = i
    return found
