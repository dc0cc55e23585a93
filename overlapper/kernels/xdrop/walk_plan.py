"""Planning and collecting extensions on GPUs, in CPU kernels that do not hold Python's lock.

Extensions come in twos: ``2 * seed`` lies before a seed along the query, ``2 * seed + 1`` after it.
"""

from __future__ import annotations

import numpy as np

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
    starts = np.zeros(count * KEYS + 1, np.int64)
    keys = np.empty(len(q_steps), np.int64)
    for item in range(len(q_steps)):
        rank = KEYS - 1 - min(q_steps[item], t_steps[item]) * (KEYS - 1) // longest
        keys[item] = classes[item] * KEYS + rank
        starts[keys[item] + 1] += 1
    for key in range(count * KEYS):
        starts[key + 1] += starts[key]
    bounds = starts[::KEYS].copy()
    order = np.empty(len(q_steps), np.int64)
    for item in range(len(q_steps)):
        order[starts[keys[item]]] = item
        starts[keys[item]] += 1
    return order, bounds


@njit(nogil=True, cache=True)
def smallest_fitting(q_steps, t_steps, rows, usable, longest):
    """Return the first of several rooms that holds each extension.

    Parameters
    ----------
    q_steps, t_steps : ndarray of int64, shape (m,)
        Bases before each.
    rows : int
        Rows that extensions usually need; none needs more than its shorter side has bases, and one.
    usable : ndarray of int64, shape (rooms,)
        Rows that each room holds, rising.
    longest : int
        No room holds an extension with this many bases before it on both sides together.

    Returns
    -------
    ndarray of int64, shape (m,)
        ``len(usable)`` for what none holds.
    """
    rooms = np.empty(len(q_steps), np.int64)
    for item in range(len(q_steps)):
        needed = min(rows, q_steps[item] + 1, t_steps[item] + 1)
        room = 0
        while room < len(usable) and usable[room] < needed:
            room += 1
        rooms[item] = room if q_steps[item] + t_steps[item] < longest else len(usable)
    return rooms


@njit(nogil=True, cache=True)
def collect(found, items, outgrown_score, extensions, state_of):
    """Copy what was found to the rows of its items.

    Parameters
    ----------
    found : ndarray of int32, shape (m, 3)
        What outgrew its room has this score, and then the number of its state.
    items : ndarray of int64, shape (m,)
    outgrown_score : int
    extensions : ndarray of int32, shape (n, 3)
        Written.
    state_of : ndarray of int32, shape (n,)
        Written for the items that outgrew their room.

    Returns
    -------
    ndarray of int64
        These items.
    """
    outgrown, count = np.empty(len(items), np.int64), 0
    for k in range(len(items)):
        item = items[k]
        for column in range(3):
            extensions[item, column] = found[k, column]
        if found[k, 0] == outgrown_score:
            outgrown[count], state_of[item] = item, found[k, 1]
            count += 1
    return outgrown[:count].copy()
