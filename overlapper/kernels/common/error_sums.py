"""How many errors the qualities of reads let expect.

CPU only.
"""

from __future__ import annotations

import numpy as np

from overlapper.runtime.compile.cache import njit

ONE = 1 << 32
"""A probability of 1, in the unit that they are summed in: whole numbers, so that bases of one quality have
exactly that mean. The longest read, of 2^31 - 1 bases, fits into 64 bits."""
OF_QUALITY = np.array([round(ONE * 10 ** (-quality / 10)) for quality in range(256)], np.int64)
"""Probability that a base of a Phred quality is wrong."""


@njit(nogil=True, cache=True)
def error_sums(qualities, offsets):
    """Return the error probabilities of each read, summed (int64, in units of 1 / `ONE`).

    Parameters
    ----------
    qualities : array of uint8
        Phred qualities of all reads.
    offsets : array of int64, shape (reads + 1,)
        Where those of each read start.
    """
    sums = np.zeros(len(offsets) - 1, np.int64)
    for read in range(len(sums)):
        for base in range(offsets[read], offsets[read + 1]):
            sums[read] += OF_QUALITY[qualities[base]]
    return sums
