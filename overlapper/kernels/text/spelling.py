"""Intervals of packed reads as letters, one after the other."""

from __future__ import annotations

import numpy as np

from overlapper.runtime.compile.cache import njit

_LETTERS = np.frombuffer(b"ACGT", np.uint8)
_COMPLEMENTS = np.frombuffer(b"TGCA", np.uint8)
_UNKNOWN = ord("N")


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
    words = reads.words
    letters = np.empty(np.sum(end - start), np.uint8)
    filled = 0
    for interval in range(len(read)):
        first, last = start[interval], end[interval]
        alphabet = _COMPLEMENTS if reverse[interval] else _LETTERS
        step = -1 if reverse[interval] else 1
        at = filled + last - first - 1 if reverse[interval] else filled
        word_start = reads.word_offsets[read[interval]]
        for base in range(first, last):
            pair = words[word_start + base // 32] >> np.uint64(2 * (base % 32))
            letters[at + step * (base - first)] = alphabet[pair & np.uint64(3)]
        for run in range(reads.unknown_offsets[read[interval]], reads.unknown_offsets[read[interval] + 1]):
            for base in range(max(reads.unknown_start[run], first), min(reads.unknown_end[run], last)):
                letters[at + step * (base - first)] = _UNKNOWN
        filled += last - first
    return letters
