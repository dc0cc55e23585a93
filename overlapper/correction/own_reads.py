"""Rows of reads on their own unitig: the one that they were laid out in.

Where copies are kept apart, reads of one copy match the unitigs of the others just as well, but the layout
says which unitig a read belongs to, and where. Reads of the layout are those of its paths, and contained
reads that a chain of containers joins to a path. Reads that were cleaned off the graph do not polish.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.correction.pileups import Rows
from overlapper.graph.layout import Layout
from overlapper.graph.placement import contained_in_unitigs
from overlapper.kernels.consensus.window_rows import LEAST
from overlapper.tables.base import Table, column
from overlapper.tables.ragged import places_within


@dataclasses.dataclass(frozen=True, eq=False)
class OwnReads(Table):
    """Reads on unitigs, as they were laid out."""

    unitig: np.ndarray = column("i4")
    read: np.ndarray = column("i4")
    """`unitig`, `read`: int32, shape (n,)."""
    start: np.ndarray = column("i8")
    """int64, shape (n,); first base on the unitig. On a circular unitig, reads may begin before its first
    base or end behind its last one."""
    reverse: np.ndarray = column("?")
    """bool, shape (n,); True where the read's reverse complement lies in the unitig."""
    r_start: np.ndarray = column("i4")
    r_end: np.ndarray = column("i4")
    """`r_start`, `r_end`: int32, shape (n,); interval of the read that was laid out, half open, on its
    forward strand."""
    unitig_length: np.ndarray = column("i8")
    read_length: np.ndarray = column("i8")
    """`unitig_length`, `read_length`: int64, shape (n,); bases of both in the layout. Intervals are scaled to
    the raw read and to the polished unitig, which have about as many."""


def own_reads(layout: Layout, lengths: np.ndarray) -> OwnReads:
    """Return where the reads of a layout lie on its unitigs.

    Parameters
    ----------
    layout : Layout
    lengths : ndarray of int64, shape (reads,)
        Of all reads that the graph was built from.
    """
    table, inner, of_path = layout.graph.reads, layout.graph.contained, layout.path >> 1
    placed = contained_in_unitigs(layout)
    unitig = np.concatenate([layout.unitig_of_step, placed.unitig])
    read = np.concatenate([table.read[of_path], inner.read[placed.row]])
    return OwnReads(
        unitig.astype(np.int32),
        read,
        np.concatenate([layout.step_starts - layout.stretch_start, placed.start]),
        np.concatenate([layout.path & 1 == 1, placed.reverse]),
        np.concatenate([table.start[of_path], inner.start[placed.row]]),
        np.concatenate([table.end[of_path], inner.end[placed.row]]),
        layout.lengths[unitig],
        lengths[read],
    )


@dataclasses.dataclass(frozen=True)
class Windows:
    """Windows of unitigs."""

    unitig: np.ndarray
    start: np.ndarray
    end: np.ndarray
    """`unitig`, `start`, `end`: int64, shape (windows,); half-open intervals, by unitig; those of circular
    unitigs may begin before the first base and end behind the last one."""
    unitig_length: np.ndarray
    """int64, shape (windows,)."""


def rows_of_own(own: OwnReads, windows: Windows, lengths: np.ndarray, error_rate: float) -> Rows:
    """Lay reads on the windows of their own unitigs.

    Parameters
    ----------
    own : OwnReads
    windows : Windows
    lengths : ndarray of int64, shape (reads,)
        Of the reads that vote.
    error_rate : float
        Of these reads; taken as their divergence from unitigs.
    """
    first = np.searchsorted(windows.unitig, own.unitig, "left")
    each = np.searchsorted(windows.unitig, own.unitig, "right") - first
    # Every read with every window of its unitig, on circular ones also a turn before and a turn after.
    which = np.repeat(np.arange(len(own)), each)
    window = first[which] + places_within(each)
    rows = [_rows(own, which, windows, window, turns, lengths) for turns in (-1, 0, 1)]
    target, read, reverse, *intervals = map(np.concatenate, zip(*rows, strict=True))
    t_start, t_end, r_start, r_end = (places.astype(np.int32) for places in intervals)
    divergence = np.full(len(read), error_rate, np.float32)
    return Rows(
        target.astype(np.int32), read, reverse, t_start, t_end, r_start, r_end, t_end - t_start, divergence
    )


def _rows(
    own: OwnReads, which: np.ndarray, windows: Windows, window: np.ndarray, turns: int, lengths: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Return columns of `Rows` of reads on windows, once moved by ``turns`` times the unitig's length."""
    bases = (own.r_end - own.r_start)[which]
    size, now = own.unitig_length[which], windows.unitig_length[window]
    start = own.start[which] * now // size + turns * now
    low, high = np.maximum(start, windows.start[window]), np.minimum(start + bases, windows.end[window])
    on = high - low >= LEAST
    which, window, start, bases, low, high = (x[on] for x in (which, window, start, bases, low, high))
    reverse = own.reverse[which]
    left = np.where(reverse, own.r_end[which] - (high - start), own.r_start[which] + (low - start))
    stretch = lengths[own.read[which]], own.read_length[which]
    r_start, r_end = (x * stretch[0] // stretch[1] for x in (left, left + (high - low)))
    shift = windows.start[window]
    return window, own.read[which], reverse, low - shift, high - shift, r_start, r_end
