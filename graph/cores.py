"""Cores of reads: the longest intervals that enough overlaps cover (`overlapper.graph.trim`)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from overlapper.kernels.graph import trimming
from overlapper.runtime.threads import cut_evenly, map_in_order
from overlapper.tables import Intervals

_BLOCKS = 64


def cores_of(
    pairs: Intervals, min_depth: int | np.ndarray, clip: np.ndarray, threads: int
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return the two longest cores of every read, and the intervals of overlaps by read.

    Parameters
    ----------
    pairs : Intervals
    min_depth : int, or ndarray of int64, shape (reads,)
        Overlaps that cover a base of a core.
    clip : ndarray of int64, shape (reads,)
    threads : int

    Returns
    -------
    cores : ndarray of int64, shape (reads, 4)
        As `overlapper.kernels.graph.trimming.covered` returns them.
    intervals : tuple of arrays
        As `overlapper.kernels.graph.trimming.intervals_by_read` returns them.
    """
    reads = len(clip)
    offsets, opens, closes = trimming.intervals_by_read(
        pairs.query, pairs.q_start, pairs.q_end, pairs.target, pairs.t_start, pairs.t_end, reads
    )
    needed = np.broadcast_to(min_depth, reads).astype(np.int64)
    bounds = cut_evenly(np.diff(offsets) + 1, (len(opens) + reads) // _BLOCKS + 1)
    found = map_in_order(
        lambda block: trimming.covered(offsets, opens, closes, *block, needed, clip),
        itertools.pairwise(bounds),
        threads,
    )
    return np.concatenate([np.empty((0, 4), np.int64), *found]), (offsets, opens, closes)


class Parting(NamedTuple):
    """The stretch between the two longest cores of a read."""

    read: int
    left: int
    right: int
    """`left`, `right`: end of the first core, start of the second one; cores may overlap, as clipped bases
    are given back."""
    keeps_left: bool
    """Whether the longer core is on the left, or both are equal."""


def partings_of(cores: np.ndarray) -> Iterator[Parting]:
    """Yield the partings of all reads with two cores, by read, given the cores of `cores_of`."""
    for read in np.flatnonzero(cores[:, 3] > cores[:, 2]).tolist():
        longest, other = cores[read, :2].tolist(), cores[read, 2:].tolist()
        before, after = sorted((longest, other))
        yield Parting(read, before[1], after[0], longest < other)
