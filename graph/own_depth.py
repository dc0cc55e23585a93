"""Own depth: how often the reads that are laid out in a part of a graph, and in no other, cover it.

*Own reads* of some unitigs are those of their paths and those that these contain, chains of containers
included. Reads that overlap them but are laid out elsewhere, or nowhere, are not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.graph.layout import Layout
from overlapper.graph.placement import Placements


class OwnDepth(NamedTuple):
    """Of each part of a layout.

    Attributes
    ----------
    reads : ndarray of int64, shape (parts,)
        Own reads.
    depth : ndarray of float64, shape (parts,)
        Bases of these over the bases of the unitigs.
    typical : float
        The depth of the part that has the median base, by depth.
    """

    reads: np.ndarray
    depth: np.ndarray
    typical: float


def own_depth(laid_out: Layout, contained: Placements, part: np.ndarray) -> OwnDepth:
    """Return the own depth of parts of a layout.

    Parameters
    ----------
    laid_out : Layout
        Of at least one unitig.
    contained : Placements
        Its contained reads.
    part : ndarray of int, shape (unitigs,)
        Which part each unitig is of, from 0 on.
    """
    inner = laid_out.graph.contained.take(contained.row)
    of_step, of_inner = part[laid_out.unitig_of_step], part[contained.unitig]
    reads = np.bincount(of_step)
    reads += np.bincount(of_inner, minlength=len(reads))
    own = np.bincount(of_step, laid_out.graph.lengths[laid_out.path >> 1])
    own += np.bincount(of_inner, inner.end - inner.start, len(own))
    bases = np.bincount(part, laid_out.lengths)
    depth = own / bases
    order = np.argsort(depth, kind="stable")
    below = np.cumsum(bases[order])
    return OwnDepth(reads, depth, float(depth[order[np.searchsorted(below, below[-1] / 2)]]))
