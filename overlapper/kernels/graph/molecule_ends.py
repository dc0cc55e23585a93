"""Reads that end with a molecule. Definitions are in `overlapper.graph.molecule_ends`."""

from __future__ import annotations

import numpy as np

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
    together = np.zeros((reads, 2), np.int64)
    longest_beyond = np.zeros((reads, 2), np.int32)
    for counting in (False, True):
        for row in range(len(query)):
            shared = min(extents[2, row], extents[3, row])
            for strand in range(2):
                query_goes_on = extents[1 - strand, row]
                for of_target in (False, True):
                    read = target[row] if of_target else query[row]
                    end = strand ^ reverse[row] if of_target else strand
                    beyond = query_goes_on if of_target else -query_goes_on
                    if not counting:
                        if beyond > ragged:
                            longest_beyond[read, end] = max(longest_beyond[read, end], shared)
                    elif abs(beyond) <= ragged and shared > longest_beyond[read, end]:
                        together[read, end] += 1
    return together
