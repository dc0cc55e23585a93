"""Homopolymer compression of packed reads.

CPU only.
"""

import numpy as np

from overlapper.kernels.common.packed import base_at
from overlapper.runtime.compile.cache import njit
from overlapper.tables.reads import BASES_PER_WORD


@njit(nogil=True, cache=True)
def count_runs(words, length, unknown_start, unknown_end):
    """Count the homopolymer runs of a read; a run of unknown bases is one."""
    return _runs(words, length, unknown_start, unknown_end, np.empty(0, np.uint64), np.empty(0, np.int32))


@njit(nogil=True, cache=True)
def compress(words, length, unknown_start, unknown_end, out_words, run_starts):
    """Write a base for every homopolymer run of a read, and where the run starts.

    Parameters
    ----------
    words : ndarray of uint64
        The packed read.
    length : int
        Its bases.
    unknown_start, unknown_end : ndarray of int32
        Its unknown runs, half open.
    out_words : ndarray of uint64
        Out: the packed compressed read; zero before.
    run_starts : ndarray of int32, shape (runs + 1,)
        Out: first base of each run, and the length of the read.

    Returns
    -------
    int
        Runs: the length of the compressed read.
    """
    runs = _runs(words, length, unknown_start, unknown_end, out_words, run_starts)
    run_starts[runs] = length
    return runs


@njit(nogil=True, cache=True)
def _runs(words, length, unknown_start, unknown_end, out_words, run_starts):
    runs, unknown, previous = 0, 0, np.int64(-1)
    for i in range(length):
        while unknown < len(unknown_start) and unknown_end[unknown] <= i:
            unknown += 1
        if unknown < len(unknown_start) and unknown_start[unknown] <= i:
            base = np.int64(4)
        else:
            base = base_at(words, i)
        if base == previous:
            continue
        if len(run_starts):
            run_starts[runs] = i
            if base < 4:
                out_words[runs // BASES_PER_WORD] |= np.uint64(base) << np.uint64(2 * (runs % BASES_PER_WORD))
        previous = base
        runs += 1
    return runs
