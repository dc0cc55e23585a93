"""Diagonals on which candidates have seeds.

CPU only.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.sorting import sort_few
from overlapper.runtime.compile.cache import njit

_COUNT_BITS = 31
_ZERO = 1 << 31
"""Added to a diagonal, so that a sort key of diagonal and number of seeds is positive."""


@njit(nogil=True, cache=True)
def seed_diagonals(hit_offsets, hit_query_pos, hit_target_pos, reverse, last):
    """Count the seeds of every candidate on each of its diagonals.

    Parameters
    ----------
    hit_offsets : ndarray of int64, shape (n + 1,)
    hit_query_pos, hit_target_pos : ndarray of int32
    reverse : ndarray of bool, shape (n,)
        Of the candidates.
    last : ndarray of int64, shape (n,)
        Where the last seed that a target could have begins.

    Returns
    -------
    candidate, diagonal, seeds : ndarray of int64
        Of each diagonal with a seed; by candidate, then by diagonal.
    """
    # Most seeds are on the diagonal of the one before.
    runs = np.empty(_count_runs(hit_offsets, hit_query_pos, hit_target_pos, reverse, last), np.int64)
    of_run = np.empty(len(runs), np.int64)
    size = 0
    for c in range(len(reverse)):
        first, before = size, np.int64(0)
        for h in range(hit_offsets[c], hit_offsets[c + 1]):
            diagonal = _diagonal(hit_query_pos[h], hit_target_pos[h], reverse[c], last[c])
            if h == hit_offsets[c] or diagonal != before:
                runs[size], of_run[size] = (diagonal + _ZERO) << _COUNT_BITS, c
                size += 1
            runs[size - 1] += 1
            before = diagonal
        sort_few(runs[first:size])
    candidate, diagonals, seeds = (
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
    )
    found = 0
    for r in range(size):
        diagonal = (runs[r] >> _COUNT_BITS) - _ZERO
        if not (found and candidate[found - 1] == of_run[r] and diagonals[found - 1] == diagonal):
            candidate[found], diagonals[found], seeds[found] = of_run[r], diagonal, 0
            found += 1
        seeds[found - 1] += runs[r] & ((1 << _COUNT_BITS) - 1)
    return candidate[:found], diagonals[:found], seeds[:found]


@njit(nogil=True, cache=True)
def _count_runs(hit_offsets, hit_query_pos, hit_target_pos, reverse, last):
    """Return how many seeds are not on the diagonal of the one before."""
    count = 0
    for c in range(len(reverse)):
        before = np.int64(0)
        for h in range(hit_offsets[c], hit_offsets[c + 1]):
            diagonal = _diagonal(hit_query_pos[h], hit_target_pos[h], reverse[c], last[c])
            count += h == hit_offsets[c] or diagonal != before
            before = diagonal
    return count


@njit(nogil=True, cache=True)
def _diagonal(query_pos, target_pos, reverse, last):
    """Return target minus query base of a seed, with the target on the query's strand."""
    return (last - target_pos if reverse else np.int64(target_pos)) - query_pos
