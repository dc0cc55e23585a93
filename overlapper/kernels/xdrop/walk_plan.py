"""Planning extensions for GPUs, in CPU kernels that do not hold Python's lock.

CPU only: the host plans extensions for GPUs.

Extensions come in twos: ``2 * seed`` lies before a seed along the query, ``2 * seed + 1`` after it.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.sorting import order_by_number
from overlapper.runtime.compile.cache import njit

KEYS = 1 << 12
"""Lengths that an order tells apart."""


@njit(nogil=True, cache=True)
def walk_lengths(lengths, query, target, reverse, query_pos, target_pos, seed_length):
    """Return how many query and target bases each extension has before it.

    Parameters
    ----------
    lengths : ndarray of int64
        Of reads.
    query, target, reverse, query_pos, target_pos : ndarray, shape (n,)
    seed_length : int
        As in `Seeds`.

    Returns
    -------
    q_steps, t_steps : ndarray of int64, shape (2 n,)
    """
    q_steps, t_steps = np.empty(2 * len(query), np.int64), np.empty(2 * len(query), np.int64)
    for seed in range(len(query)):
        before, below = np.int64(query_pos[seed]), np.int64(target_pos[seed])
        above = lengths[target[seed]] - below - seed_length
        q_steps[2 * seed], q_steps[2 * seed + 1] = before, lengths[query[seed]] - before - seed_length
        t_steps[2 * seed] = above if reverse[seed] else below
        t_steps[2 * seed + 1] = below if reverse[seed] else above
    return q_steps, t_steps


@njit(nogil=True, cache=True)
def longest_first(q_steps, t_steps, classes, count):
    """Return extensions by class, and of each class the longest first, so that none is left alone at the end.

    Parameters
    ----------
    q_steps, t_steps : ndarray of int64, shape (m,)
        Bases before each; its length is the smaller of them, and `KEYS` lengths are told apart.
    classes : ndarray of int64, shape (m,)
        Below ``count``.
    count : int

    Returns
    -------
    order : ndarray of int64, shape (m,)
    bounds : ndarray of int64, shape (count + 1,)
        Class ``c`` is ``order[bounds[c]:bounds[c + 1]]``.
    """
    longest = np.int64(1)
    for item in range(len(q_steps)):
        longest = max(longest, min(q_steps[item], t_steps[item]))
    keys = np.empty(len(q_steps), np.int64)
    for item in range(len(q_steps)):
        rank = KEYS - 1 - min(q_steps[item], t_steps[item]) * (KEYS - 1) // longest
        keys[item] = classes[item] * KEYS + rank
    order, starts = order_by_number(keys, count * KEYS)
    return order, starts[::KEYS].copy()
