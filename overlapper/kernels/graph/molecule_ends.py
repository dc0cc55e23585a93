"""Reads that end with a molecule. Definitions are in `overlapper.graph.molecule_ends`."""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def count_together(query, target, reverse, extents, reads, ragged):
    """Count the reads that end with each read, and share more with it than any that goes on.

    Parameters
    ----------
    query, target : ndarray of int, shape (n,)
        Overlaps, on kept intervals.
    reverse : ndarray of bool, shape (n,)
    extents : ndarray of int32, shape (4, n)
        As `overlapper.kernels.graph.graph_edges.extents` returns them.
    reads : int
    ragged : int
        Most bases between the ends of reads that end together.

    Returns
    -------
    ndarray of int64, shape (reads, 2)
        At the end of the forward strand, and of the reverse complement, of each read.
    """
    together, longest_beyond = np.zeros((reads, 2), np.int64), np.zeros((reads, 2), np.int32)
    for row in range(len(query)):
        for side in range(4):
            read, end, beyond, shared = _at(query, target, reverse, extents, row, side)
            if beyond > ragged:
                longest_beyond[read, end] = max(longest_beyond[read, end], shared)
    for row in range(len(query)):
        for side in range(4):
            read, end, beyond, shared = _at(query, target, reverse, extents, row, side)
            together[read, end] += abs(beyond) <= ragged and shared > longest_beyond[read, end]
    return together


@inner
def _at(query, target, reverse, extents, row, side):
    """Return a read, one of its ends, how much further the other read goes there, and what both share."""
    strand, shared = side & 1, min(extents[2, row], extents[3, row])
    further = extents[1 - strand, row]
    if side < 2:
        return query[row], strand, -further, shared
    return target[row], strand ^ reverse[row], further, shared
