"""Subsets of packed reads, small enough for a device.

CPU only: the host makes subsets for GPUs.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.walks import PackedReads
from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def cut_by_reads(query, target, sizes, limit):
    """Cut pairs of reads into runs whose reads, each counted once, take no more than a limit.

    Parameters
    ----------
    query, target : ndarray of int32, shape (n,)
        Read numbers.
    sizes : ndarray of int64, shape (reads,)
        What each read takes.
    limit : int
        A single pair may exceed it.

    Returns
    -------
    ndarray of int64, shape (runs + 1,)
        Where runs start: run ``i`` is ``[bounds[i], bounds[i + 1])``.
    """
    bounds = np.empty(len(query) + 1, np.int64)
    run_of_read = np.full(len(sizes), -1, np.int64)
    runs, taken = -1, limit + 1
    for pair in range(len(query)):
        q, t = query[pair], target[pair]
        new = (sizes[q] if run_of_read[q] != runs else 0) + (sizes[t] if run_of_read[t] != runs else 0)
        if runs < 0 or taken + new > limit:
            runs += 1
            bounds[runs] = pair
            taken, new = 0, sizes[q] + sizes[t]
        taken += new
        run_of_read[q], run_of_read[t] = runs, runs
    bounds[runs + 1] = len(query)
    return bounds[: runs + 2]


def take_reads(reads: PackedReads, chosen: np.ndarray) -> PackedReads:
    """Return some of the reads, in the order given.

    Parameters
    ----------
    reads : PackedReads
    chosen : ndarray of int64, shape (m,)
    """
    words, word_offsets = take_ragged(reads.words, reads.word_offsets, chosen)
    starts, offsets = take_ragged(reads.unknown_start, reads.unknown_offsets, chosen)
    ends, _ = take_ragged(reads.unknown_end, reads.unknown_offsets, chosen)
    return PackedReads(words, word_offsets, reads.lengths[chosen], starts, ends, offsets)


@njit(nogil=True, cache=True)
def take_ragged(values, offsets, chosen):
    """Return rows of a ragged column one after the other, and where each starts."""
    starts = np.zeros(len(chosen) + 1, np.int64)
    for i in range(len(chosen)):
        starts[i + 1] = starts[i] + offsets[chosen[i] + 1] - offsets[chosen[i]]
    gathered = np.empty(starts[-1], values.dtype)
    put_rows(values, offsets, chosen, gathered)
    return gathered, starts


@njit(nogil=True, cache=True)
def put_rows(values, offsets, chosen, out):
    """Copy rows of a ragged column one after the other to the front of ``out``."""
    place = 0
    for row in chosen:
        for i in range(offsets[row], offsets[row + 1]):
            out[place] = values[i]
            place += 1
