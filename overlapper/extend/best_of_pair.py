"""The best of several overlaps of a pair of reads, which comes of several candidates."""

from __future__ import annotations

import numpy as np

from overlapper.tables import Overlaps


def best_of_pair(overlaps: Overlaps, among: np.ndarray) -> np.ndarray:
    """Return the best-scoring row of each read pair; of equal ones the forward strand's, then the first.

    Parameters
    ----------
    overlaps : Overlaps
    among : ndarray of bool, shape (n,)
        The rows to choose from.

    Returns
    -------
    ndarray of int64
        By query and target.
    """
    rows = np.flatnonzero(among)
    pair = (overlaps.query[rows].astype(np.int64) << 32) | overlaps.target[rows]
    # They come by pair as a rule, and then this sort has little to do.
    by_pair = np.argsort(pair, kind="stable")
    rows, pair = rows[by_pair], pair[by_pair]
    starts = np.flatnonzero(np.diff(pair, prepend=-1))
    worth = 2 * overlaps.score[rows].astype(np.int64) - overlaps.reverse[rows]
    most = np.maximum.reduceat(worth, starts)
    best = np.flatnonzero(worth == np.repeat(most, np.diff(starts, append=len(rows))))
    return rows[best[np.diff(pair[best], prepend=-1) > 0]]
