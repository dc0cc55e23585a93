"""Where bases of targets are in their consensus."""

from __future__ import annotations

import numpy as np

from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def places_of_bases(origin, offsets, target, base):
    """Return where bases of targets are in the consensus of these.

    That is at the first base with as many bases of the target before it, or at the end.

    Parameters
    ----------
    origin : ndarray of int32
        How many bases of the target come before each base of the consensus.
    offsets : ndarray of int64, shape (targets + 1,)
        Where the consensus of each target starts.
    target : ndarray of int32, shape (n,)
    base : ndarray of int32, shape (n,)

    Returns
    -------
    ndarray of int64, shape (n,)
    """
    places = np.empty(len(target), np.int64)
    for row in range(len(target)):
        of_target = origin[offsets[target[row]] : offsets[target[row] + 1]]
        places[row] = np.searchsorted(of_target, base[row])
    return places
