"""Contigs cut into pieces that are of one haplotype or shared (``docs/algorithms/haplotypes.md``)."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np

from overlapper.correct.own_reads import OwnReads
from overlapper.tables.base import Table, column
from overlapper.tables.ragged import places_within

K = 31
"""k of the k-mers that tell haplotypes apart."""
SHARED = 1.5
"""Depth, relative to that of a haplotype, from which on sequence is more likely of both haplotypes."""
BIN = 1000
"""Bases of a bin, in which depth is measured and shared sequence is counted."""
LEAST_SHARED = 10_000
"""Bases of the shortest shared stretch, of twice the depth of a haplotype; nearly all HiFi reads carry the
phase across shorter ones."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Pieces(Table):
    """Pieces of contigs, by contig and start; together they make up the contigs.

    Attributes
    ----------
    contig : ndarray of int32, shape (n,)
    start, end : ndarray of int64, shape (n,)
        Half open.
    sites : ndarray of int64, shape (n,)
        k-mers that no other place of the contigs has; 0 in shared pieces.
    first_site, behind_sites : ndarray of int64, shape (n,)
        First base of the first site, and the one behind the last site; equal in shared pieces.
    """

    contig: np.ndarray = column("i4")
    start: np.ndarray = column("i8")
    end: np.ndarray = column("i8")
    sites: np.ndarray = column("i8")
    first_site: np.ndarray = column("i8")
    behind_sites: np.ndarray = column("i8")

    @property
    def lengths(self) -> np.ndarray:
        """Bases of every piece (int64)."""
        return self.end - self.start


class ReadIntervals:
    """The intervals of contigs that reads cover; one for every turn of a read on a circular contig.

    Parameters
    ----------
    own : OwnReads
    lengths : ndarray of int64, shape (contigs,)
        Of the contigs as they are now.
    circular : ndarray of bool, shape (contigs,)
    """

    def __init__(self, own: OwnReads, lengths: np.ndarray, circular: np.ndarray) -> None:
        now = lengths[own.unitig]
        start = own.start * now // own.unitig_length
        end = start + own.r_end - own.r_start
        first, behind = np.where(circular[own.unitig], (start // now, -(-end // now)), [[0], [1]])
        row = np.repeat(np.arange(len(own)), behind - first)
        before = (first[row] + places_within(behind - first)) * now[row]
        start, end = np.maximum(start[row] - before, 0), np.minimum(end[row] - before, now[row])
        unitig = own.unitig[row]
        order = np.lexsort([end, start, unitig])
        self._start, self._end = start[order], end[order]
        self._first = np.searchsorted(unitig[order], np.arange(len(lengths) + 1))

    def of_contig(self, contig: int) -> tuple[np.ndarray, np.ndarray]:
        """Return starts and ends (int64, half open) of the reads on a contig, by start."""
        there = slice(*self._first[contig : contig + 2])
        return self._start[there], self._end[there]


def cut_contig(
    contig: int, length: int, sites: np.ndarray, start: np.ndarray, end: np.ndarray, depth: float
) -> Pieces:
    """Cut a contig into pieces.

    Parameters
    ----------
    contig : int
        Its number.
    length : int
        Bases.
    sites : ndarray of int64
        First bases of the k-mers that no other place has, ascending.
    start, end : ndarray of int64
        Its reads, by start, half open.
    depth : float
        Reads that cover a base of one haplotype.
    """
    rows: list[list[int]] = []
    stretches = shared_stretches(length, start, end, depth)
    for number, (low, high) in enumerate(itertools.pairwise([0, *stretches.ravel().tolist(), length])):
        there = sites[slice(*np.searchsorted(sites, [low, high]))]
        if number % 2 or not len(there):
            if rows and not rows[-1][2]:
                rows[-1][1] = high
            elif low < high:
                rows.append([low, high, 0, low, low])
            continue
        runs = carried_runs(there, start, end)
        behind = [*there[runs[1:, 0]].tolist(), high]
        for (first, last), stop in zip(runs.tolist(), behind, strict=True):
            rows.append([low, stop, last - first, int(there[first]), int(there[last - 1]) + K])
            low = stop
    columns = np.array(rows, np.int64).reshape(-1, 5).T
    return Pieces(np.full(len(rows), contig, np.int32), *columns)


def shared_stretches(length: int, start: np.ndarray, end: np.ndarray, depth: float) -> np.ndarray:
    """Return the stretches of a contig that reads of both haplotypes cover, by the best path of two states.

    Parameters
    ----------
    length : int
    start, end : ndarray of int64
        Reads, half open.
    depth : float
        Of one haplotype.

    Returns
    -------
    ndarray of int64, shape (n, 2)
        Half open.
    """
    bins = -(-length // BIN)
    opens, closes = (np.bincount(places, minlength=bins + 1) for places in (start // BIN, -(-end // BIN)))
    above = np.cumsum(opens - closes)[:bins] - SHARED * depth
    change = depth * LEAST_SHARED / BIN / 2
    single, shared, stays = 0.0, -change, []
    for excess in above.tolist():
        stays.append((single >= shared - change, shared >= single - change))
        single, shared = max(single, shared - change) - excess, max(shared, single - change) + excess
    state, states = int(shared > single), [0]
    for choice in reversed(stays):
        states.append(state)
        state = state if choice[state] else 1 - state
    changes = np.flatnonzero(np.diff([*states, 0][::-1]))
    return np.minimum(changes * BIN, length).reshape(-1, 2)


def carried_runs(sites: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the runs of sites that reads connect.

    Parameters
    ----------
    sites : ndarray of int64, shape (n,)
        First bases of k-mers, ascending; one or more.
    start, end : ndarray of int64
        Reads, by start, half open.

    Returns
    -------
    ndarray of int64, shape (runs, 2)
        The first site of each run, and the one behind its last.
    """
    furthest = np.maximum.accumulate(np.concatenate([[0], end]))
    reach = furthest[np.searchsorted(start, sites[:-1], "right")]
    cut = np.flatnonzero(reach < sites[1:] + K) + 1
    return np.stack([np.concatenate([[0], cut]), np.concatenate([cut, [len(sites)]])], axis=1)
