"""Trimming of ends of contigs: what too few reads have for their errors to be corrected.

Reads taper off at the end of a contig, and what one or two of them have there is true as often as reads are.
So the ends of accurate reads stay; of those that err more, one can hold more errors than all that lies
between. Where contigs are of corrected reads, these say which bases were confirmed; polished contigs do.
"""

from __future__ import annotations

import numpy as np

from overlapper.correction.uncovered import intervals_of
from overlapper.tables import Reads


def without_ends(sequences: Reads, cut: np.ndarray) -> Reads:
    """Return sequences without some bases of both ends (shape (n, 2))."""
    if not cut.any():
        return sequences
    return intervals_of(sequences, cut[:, 0], sequences.lengths - cut[:, 1], sequences.names)


def unconfirmed_ends(lengths: np.ndarray, confirmed: np.ndarray, stays: np.ndarray) -> np.ndarray:
    """Return the bases of both ends of contigs (shape (n, 2)) of which most are not confirmed.

    None are cut off ends that stay, nor off a contig that would lose most.

    Parameters
    ----------
    lengths : ndarray of int64, shape (n,)
    confirmed : ndarray of bool
        Of each base of all contigs whether enough reads confirm it.
    stays : ndarray of bool, shape (n, 2)
        Of each contig whether the first end stays, and whether the last one does.
    """
    of_contigs = np.split(confirmed, np.cumsum(lengths)[:-1])
    found = [(_mostly_unconfirmed(one), _mostly_unconfirmed(one[::-1])) for one in of_contigs]
    cut = np.where(stays, 0, np.array(found, np.int64).reshape(-1, 2))
    cut[2 * cut.sum(axis=1) > lengths] = 0
    return cut


def _mostly_unconfirmed(confirmed: np.ndarray) -> int:
    """Return how long the shortest end is that has the most unconfirmed bases more than others."""
    more = np.cumsum(np.where(confirmed, -1, 1))
    return int(more.argmax()) + 1 if more.max(initial=0) > 0 else 0
