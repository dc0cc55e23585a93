"""Remnants: components of a cleaned graph that repeat other parts of it, from reads with errors.

Reads in which correction left an error do not fit the unitig of their place, and go on among themselves::

    unitig     ──────────────────────────────────────
    remnant         ─────x──────                          overlaps that match to the last base
                         ─x──────                     reach up to the errors on either side
                              ────x──────

In tandem copies they may even close a circle. As many reads overlap them as any others, but hardly any of
these is laid out with them.

**Component.** Unitigs that links join. *Its own reads* are those of its paths and those that they contain,
and its *own depth* is the bases of these over the bases of its unitigs.

**Remnant.** A component

- whose own depth is less than a quarter of that of the component of the median base, and
- of whose paths more bases are in more overlaps with reads of other components than with its own, than the
  other way round. All bases count alike, so that a short stretch that is also of a deep molecule does not.

So small plasmids stay, however few reads they have: the reads that overlap theirs are their own. What is left
of a place where most reads err stays, too: the reads that overlap its own are laid out nowhere.
"""

from __future__ import annotations

import numpy as np

from overlapper.graph.layout import Layout, layout
from overlapper.graph.model import Graph
from overlapper.graph.placement import Placements, contained_in_unitigs
from overlapper.graph.stats import joined, with_median_base
from overlapper.tables import Overlaps
from overlapper.tables.ragged import offsets_of

SHARE = 4
"""Most depth of a remnant: that of the median base over this number. Fitted on four LPA haplotypes (R10),
judged on a fifth and on the MHC (``docs/notes/layout.md``)."""


def drop_remnants(graph: Graph, overlaps: Overlaps) -> tuple[Graph, dict[str, int]]:
    """Remove remnants.

    Parameters
    ----------
    graph : Graph
        Cleaned.
    overlaps : Overlaps
        Those it was built of.
    """
    doomed = np.zeros(len(graph.reads), np.bool_)
    laid_out, _ = layout(graph)
    if len(laid_out) > 1:
        contained = contained_in_unitigs(laid_out)
        source, target, _ = laid_out.links()
        component = joined(source >> 1, target >> 1, len(laid_out))
        remnant = _is_shallow(laid_out, contained, component)
        if remnant.any():
            remnant &= _is_elsewhere(laid_out, contained, component, remnant, overlaps)
        doomed[laid_out.path >> 1] = remnant[component[laid_out.unitig_of_step]]
    return graph.without(doomed), {"reads in remnants": int(doomed.sum())}


def _is_shallow(laid_out: Layout, contained: Placements, component: np.ndarray) -> np.ndarray:
    """Return a mask of the components whose own depth is far below that of the median base."""
    inner = laid_out.graph.contained.take(contained.row)
    own = np.bincount(component[laid_out.unitig_of_step], laid_out.graph.lengths[laid_out.path >> 1])
    own += np.bincount(component[contained.unitig], inner.end - inner.start, len(own))
    bases = np.bincount(component, laid_out.lengths)
    median = with_median_base(own / bases, bases)
    return SHARE * own / bases < own[median] / bases[median]


def _is_elsewhere(
    laid_out: Layout, contained: Placements, component: np.ndarray, among: np.ndarray, overlaps: Overlaps
) -> np.ndarray:
    """Return a mask of those among some components that overlap reads of others more than their own reads."""
    on_path = laid_out.graph.reads.read[laid_out.path >> 1]
    inner = laid_out.graph.contained.read[contained.row]
    reads = 1 + int(np.concatenate([overlaps.query, overlaps.target, on_path, inner]).max())
    of_path, of_read = np.full((2, reads), -1, np.int64)
    of_path[on_path] = of_read[on_path] = component[laid_out.unitig_of_step]
    of_read[inner] = component[contained.unitig]
    reach = np.zeros(reads, np.int64)
    sides = []
    for read, other, start, end in overlaps.sides():
        rows = np.flatnonzero((of_path[read] >= 0) & among[of_path[read]] & (of_read[other] >= 0))
        own = of_path[read[rows]] == of_read[other[rows]]
        sides.append((read[rows], np.where(own, -1, 1), start[rows], end[rows]))
        np.maximum.at(reach, read[rows], end[rows])
    first = offsets_of(reach + 1)  # one base more than overlaps reach, where their ends cancel
    steps = np.zeros(first[-1], np.int64)
    for read, sign, start, end in sides:
        np.add.at(steps, first[read] + start, sign)
        np.add.at(steps, first[read] + end, -sign)
    excess = np.add.reduceat(np.sign(np.cumsum(steps)), first[:-1])
    of_reads = of_path >= 0
    return np.bincount(of_path[of_reads], excess[of_reads], 1 + component.max()) > 0
