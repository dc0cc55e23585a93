"""Parts of packed reads as packed reads of their own.

CPU only.
"""

import numpy as np

from overlapper.kernels.common.growth import grow
from overlapper.kernels.common.oriented import unpack_bases
from overlapper.kernels.common.packed import bases_at
from overlapper.runtime.compile.cache import njit

_UNKNOWN = 4


@njit(nogil=True, cache=True)
def cut_out(reads, read, start, end, reverse):
    """Copy parts of reads.

    Parameters
    ----------
    reads : PackedReads
    read : ndarray of int64, shape (n,)
    start, end : ndarray of int64, shape (n,)
        Half open, on the forward strand.
    reverse : ndarray of bool, shape (n,)
        Copy the reverse complement.

    Returns
    -------
    words, word_offsets, unknown_start, unknown_end, unknown_offsets : ndarray
        As in `overlapper.tables.Reads`.
    """
    n = len(read)
    word_offsets, unknown_offsets = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    longest = np.int64(0)
    for i in range(n):
        length = end[i] - start[i]
        longest = max(longest, length)
        word_offsets[i + 1] = word_offsets[i] + (length + 31) // 32
    words = np.zeros(word_offsets[n], np.uint64)
    codes = np.empty(longest, np.uint8)
    run_start, run_end = np.empty(16, np.int32), np.empty(16, np.int32)
    runs = 0
    for i in range(n):
        length = end[i] - start[i]
        if not reverse[i] and reads.unknown_offsets[read[i]] == reads.unknown_offsets[read[i] + 1]:
            first = 32 * reads.word_offsets[read[i]] + start[i]
            for j in range(0, length, 32):
                words[word_offsets[i] + (j >> 5)] = bases_at(reads.words, first + j)
            if length & 31:
                words[word_offsets[i + 1] - 1] &= (np.uint64(1) << np.uint64(2 * (length & 31))) - np.uint64(
                    1
                )
            unknown_offsets[i + 1] = runs
            continue
        unpack_bases(reads, read[i], start[i], end[i], reverse[i], _UNKNOWN, codes)
        at, in_run = word_offsets[i], False
        for j in range(length):
            if codes[j] < _UNKNOWN:
                words[at + (j >> 5)] |= np.uint64(codes[j]) << np.uint64(2 * (j & 31))
                in_run = False
                continue
            if not in_run:
                if runs == len(run_start):
                    run_start, run_end = grow(run_start, 2 * runs), grow(run_end, 2 * runs)
                run_start[runs] = j
                runs, in_run = runs + 1, True
            run_end[runs - 1] = j + 1
        unknown_offsets[i + 1] = runs
    return words, word_offsets, run_start[:runs], run_end[:runs], unknown_offsets


@njit(nogil=True, cache=True)
def put_rows(values, offsets, chosen, out):
    """Copy rows of a ragged column one after the other to the front of ``out``."""
    place = 0
    for row in chosen:
        for i in range(offsets[row], offsets[row + 1]):
            out[place] = values[i]
            place += 1
