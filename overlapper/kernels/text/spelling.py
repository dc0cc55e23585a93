"""Intervals of packed reads as letters, one after the other."""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.oriented import unpack_bases
from overlapper.runtime.compile.cache import njit

_LETTERS, _UNKNOWN = np.frombuffer(b"ACGTN", np.uint8), 4


@njit(nogil=True, cache=True)
def spell(reads, read, start, end, reverse):
    """Spell intervals of reads.

    Parameters
    ----------
    reads : PackedReads
    read, start, end : arrays of int, shape (n,)
        Reads and intervals of them, half open, on the forward strand.
    reverse : array of bool, shape (n,)
        Whether the reverse complement of an interval is meant.

    Returns
    -------
    ndarray of uint8
        Letters of all intervals in order, N where a base is not known.
    """
    letters, filled = np.empty(np.sum(end - start), np.uint8), 0
    for i in range(len(read)):
        bases = letters[filled : filled + end[i] - start[i]]
        unpack_bases(reads, read[i], start[i], end[i], reverse[i], _UNKNOWN, bases)
        for base in range(len(bases)):
            bases[base] = _LETTERS[bases[base]]
        filled += len(bases)
    return letters
