"""Which targets rows cover from end to end, and which of them are settled."""

from __future__ import annotations

import numpy as np

from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def are_covered(first, t_start, t_end, counts, lengths, least):
    """Tell which targets some of their rows cover, every base by so many of them.

    Parameters
    ----------
    first : ndarray of int64, shape (targets + 1,)
        Where the rows of each target start.
    t_start, t_end : ndarray of int32, shape (rows,)
    counts : ndarray of bool, shape (rows,)
        Which rows count.
    lengths : ndarray of int64, shape (targets,)
    least : int

    Returns
    -------
    ndarray of bool, shape (targets,)
    """
    covered = np.ones(len(lengths), np.bool_)
    rises = np.zeros((lengths.max() if len(lengths) else 0) + 1, np.int32)
    for target in range(len(lengths)):
        rises[: lengths[target]] = 0
        for row in range(first[target], first[target + 1]):
            if counts[row]:
                rises[t_start[row]] += 1
                rises[t_end[row]] -= 1
        depth = np.int64(0)
        for base in range(lengths[target]):
            depth += rises[base]
            if depth < least:
                covered[target] = False
                break
    return covered


@njit(nogil=True, cache=True)
def are_settled(first, t_start, t_end, exact, lengths, least, times):
    """Tell on which targets every base has enough exact rows, in themselves and for each other one.

    Parameters
    ----------
    first : ndarray of int64, shape (targets + 1,)
        Where the rows of each target start.
    t_start, t_end : ndarray of int64, shape (rows,)
    exact : ndarray of bool, shape (rows,)
    lengths : ndarray of int64, shape (targets,)
    least, times : int
        Exact rows on a base, and for each other row on it.

    Returns
    -------
    ndarray of bool, shape (targets,)
    """
    settled = np.ones(len(lengths), np.bool_)
    rises = np.zeros((2, (lengths.max() if len(lengths) else 0) + 1), np.int32)
    for target in range(len(lengths)):
        rises[:, : lengths[target]] = 0
        for row in range(first[target], first[target + 1]):
            kind = np.int64(exact[row])
            rises[kind, t_start[row]] += 1
            rises[kind, t_end[row]] -= 1
        others = alike = np.int64(0)
        for base in range(lengths[target]):
            others, alike = others + rises[0, base], alike + rises[1, base]
            if alike < max(least, times * others):
                settled[target] = False
                break
    return settled
