"""Remnants: parts of a cleaned graph whose reads err, and are laid out elsewhere but for their errors.

Reads in which correction left an error do not fit the unitig of their place, and go on among themselves::

    unitig     ──────────────────────────────────────
    remnant         ─────x──────                          overlaps that match to the last base
                         ─x──────────                     reach up to the errors on either side
                              ────x──────

In tandem copies they may even close a circle. Overlaps say that as many reads cover them as any other place,
but hardly any of these reads is their own.

**Component.** Unitigs that links join. *Its depth* is the mean of the depths of its path's reads, as overlaps
say (`overlapper.graph.model.GraphReads`); *its own reads* are those of its paths and those that they contain,
and its *own depth* is the bases of these over the bases of its unitigs.

**Remnant.** A component whose own depth is less than a quarter of its depth, and less than a quarter of the
own depth of the component of the median base. So small plasmids stay, however few reads they have: all that
overlap them are their own. Copies of a repeat stay, which many reads of others overlap, where as many reads
are their own as anywhere.
"""

from __future__ import annotations

import numpy as np

from overlapper.graph.layout import Layout, layout
from overlapper.graph.model import Graph
from overlapper.graph.placement import contained_in_unitigs

SHARE = 4
"""One in so many of the reads that cover a component are its own, if it is no remnant. Of four LPA
haplotypes, R10 reads at 40x, remnants had .05 to .18 of them, all else .41 and more."""


def find_remnants(graph: Graph) -> np.ndarray:
    """Return which reads of a graph are of remnants (bool)."""
    laid_out, _ = layout(graph)
    component = _components(laid_out)
    doomed = np.zeros(len(graph.reads), np.bool_)
    if component.max(initial=0) > 0:
        bases, covering, own = (
            np.bincount(component, of_unitig)
            for of_unitig in (laid_out.lengths, laid_out.depth * laid_out.lengths, _own_bases(laid_out))
        )
        order = np.argsort(own / bases, kind="stable")
        below = np.cumsum(bases[order])
        median = order[np.searchsorted(below, below[-1] / 2)]
        remnant = (SHARE * own < covering) & (SHARE * own / bases < own[median] / bases[median])
        doomed[laid_out.path >> 1] = remnant[component[laid_out.unitig_of_step]]
    return doomed


def _components(laid_out: Layout) -> np.ndarray:
    """Return the component of each unitig."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    source, target, _ = laid_out.links()
    ends = source >> 1, target >> 1
    size = len(laid_out)
    return connected_components(coo_array((np.ones(len(source)), ends), shape=(size, size)), directed=False)[
        1
    ]


def _own_bases(laid_out: Layout) -> np.ndarray:
    """Return the bases of the reads of each unitig, contained ones included."""
    graph, placed = laid_out.graph, contained_in_unitigs(laid_out)
    contained = (graph.contained.end - graph.contained.start)[placed.row]
    return np.bincount(
        np.concatenate([laid_out.unitig_of_step, placed.unitig]),
        np.concatenate([graph.lengths[laid_out.path >> 1], contained]),
        len(laid_out),
    )
