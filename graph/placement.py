"""Placement of contained reads in unitigs.

A read of a path starts in its unitig where its stretch does, less what lies before the stretch on the read.
From there a contained read is as far as it is from the start of its container, on the strand that the
container has in the unitig; its own strand turns with the container's. Containers that are contained
themselves are placed first.

Reads have insertions and deletions, so a place is exact only to the errors of one read.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.graph.layout import Layout


class Placements(NamedTuple):
    """Contained reads in unitigs, by row."""

    row: np.ndarray
    """int64, shape (n,); row of ``graph.contained``."""
    unitig: np.ndarray
    """int64, shape (n,)."""
    start: np.ndarray
    """int64, shape (n,); first base on the forward strand of the unitig, from 0 to its last base; in a
    circular one the read may go on over the end."""
    reverse: np.ndarray
    """bool, shape (n,); True where the read's reverse complement lies in the unitig."""


def contained_in_unitigs(layout: Layout) -> Placements:
    """Place the contained reads that a chain of containers joins to a unitig."""
    table, inner = layout.graph.reads, layout.graph.contained
    reads = 1 + int(np.concatenate([table.read, inner.read, inner.container]).max(initial=-1))
    unitig = np.full(reads, -1, np.int64)
    start, length = np.zeros((2, reads), np.int64)
    reverse = np.zeros(reads, np.bool_)

    of_path = layout.path >> 1
    on_path = table.read[of_path]
    unitig[on_path] = layout.unitig_of_step
    start[on_path] = layout.step_starts - layout.stretch_start
    reverse[on_path] = layout.path & 1
    length[table.read] = table.end - table.start
    length[inner.read] = inner.end - inner.start

    waiting = np.arange(len(inner))
    while (ready := unitig[inner.container[waiting]] >= 0).any():
        row, waiting = waiting[ready], waiting[~ready]
        read, outer, position = inner.read[row], inner.container[row], inner.position[row]
        turned = reverse[outer]
        unitig[read] = unitig[outer]
        start[read] = start[outer] + np.where(turned, length[outer] - position - length[read], position)
        reverse[read] = inner.reverse[row] ^ turned

    placed = np.flatnonzero(unitig[inner.read] >= 0)
    read = inner.read[placed]
    of = unitig[read]
    last = layout.lengths[of] - 1
    within = np.where(layout.circular[of], start[read] % (last + 1), np.clip(start[read], 0, last))
    return Placements(placed, of, within, reverse[read])
