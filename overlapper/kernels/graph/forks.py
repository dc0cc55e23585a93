"""Forks of two haplotypes. Definitions are in `overlapper.graph.forks`.

The edges of node ``v`` are ``first[v]`` to ``first[v + 1]``; the reverse complement of a node is ``v ^ 1``.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.graph.graph_edges import longest_edge
from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def add_up(first, source, target, overlap, rows):
    """Find edges that share as many bases, with one of another source, as the two that cross them.

    Parameters
    ----------
    first, source, target, overlap : arrays of int
        The graph.
    rows : ndarray of int64, shape (n,)
        The edges in question.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    found = np.zeros(len(rows), np.bool_)
    for i in range(len(rows)):
        v, back = source[rows[i]], target[rows[i]] ^ 1
        longest = longest_edge(first, overlap, v)
        surplus = overlap[longest] - overlap[rows[i]]
        for e in range(first[back], first[back + 1]):
            u = target[e] ^ 1
            for f in range(first[u], first[u + 1]):
                if u != v and target[f] == target[longest] and overlap[f] - overlap[e] == surplus:
                    found[i] = True
    return found
