"""Targets that enough rows cover on every base."""

from __future__ import annotations

import numpy as np

from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def are_covered(first, t_start, t_end, counts, lengths, least, others_of_each):
    """Return a mask of the targets on whose every base enough of the counted rows lie.

    Parameters
    ----------
    first : ndarray of int64, shape (targets + 1,)
        Where the rows of each target start.
    t_start, t_end : ndarray of int32 or int64, shape (rows,)
    counts : ndarray of bool, shape (rows,)
        Which rows count.
    lengths : ndarray of int64, shape (targets,)
    least : int
        Least rows that count on a base.
    others_of_each : int
        Most other rows on a base, for each row that counts.

    Returns
    -------
    ndarray of bool, shape (targets,)
    """
    covered = np.ones(len(lengths), np.bool_)
    longest = np.int64(0)
    for target in range(len(lengths)):
        longest = max(longest, lengths[target])
    rises = np.zeros((2, longest + 1), np.int32)
    for target in range(len(lengths)):
        rises[:, : lengths[target]] = 0
        for row in range(first[target], first[target + 1]):
            kind = np.int64(counts[row])
            rises[kind, t_start[row]] += 1
            rises[kind, t_end[row]] -= 1
        others = depth = np.int64(0)
        for base in range(lengths[target]):
            others, depth = others + rises[0, base], depth + rises[1, base]
            if depth < least or others > others_of_each * depth:
                covered[target] = False
                break
    return covered
