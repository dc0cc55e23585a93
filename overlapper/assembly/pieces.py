"""Contigs cut into pieces that are of one haplotype or shared (``docs/algorithms/haplotypes.md``)."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np

from overlapper.correction.own_reads import OwnReads
from overlapper.tables.base import Table, column
from overlapper.tables.ragged import places_within

K = 31
"""k of the k-mers that tell haplotypes apart."""
SHARED = 1.5
"""Depth, relative to that of a haplotype, from which on sequence is more likely of both haplotypes."""
BIN = 1000
"""Bases of a bin, in which depth is measured and shared sequence is counted."""
SHARED_RUN = -1
"""Run of shared pieces."""
LEAST_SHARED = 10_000
"""Bases of the shortest shared stretch, of twice the depth of a haplotype; nearly all HiFi reads carry the
phase across shorter ones."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Pieces(Table):
    """Pieces of contigs, by contig and start; together they make up the contigs."""

    contig: np.ndarray = column("i4")
    """int32, shape (n,)."""
    start: np.ndarray = column("i8")
    end: np.ndarray = column("i8")
    """`start`, `end`: int64, shape (n,); half open."""
    run: np.ndarray = column("i8")
    """int64, shape (n,); those of a contig with the same number are of one haplotype; `SHARED_RUN` for shared
    ones."""
    sites: np.ndarray = column("i8")
    """int64, shape (n,); k-mers of this contig alone, which tell haplotypes apart; 0 in shared pieces."""
    first_site: np.ndarray = column("i8")
    behind_sites: np.ndarray = column("i8")
    """`first_site`, `behind_sites`: int64, shape (n,); first base of the first site, and the one behind the
    last site; equal in pieces without sites."""

    @property
    def lengths(self) -> np.ndarray:
        """Bases of every piece (int64)."""
        return self.end - self.start

    @property
    def group(self) -> np.ndarray:
        """Number of the contig and run of every piece (int64), by these; -1 for shared pieces."""
        phased = self.run != SHARED_RUN
        group = np.full(len(self), -1)
        runs = np.stack([self.contig[phased], self.run[phased]])
        group[phased] = np.unique(runs, axis=1, return_inverse=True)[1].ravel()
        return group


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
    contig: int,
    length: int,
    sites: np.ndarray,
    alone: np.ndarray,
    by_three: np.ndarray,
    start: np.ndarray,
    end: np.ndarray,
    depth: float,
) -> tuple[Pieces, np.ndarray]:
    """Cut a contig into pieces; return them, and its sites (``docs/algorithms/haplotypes.md``).

    Parameters
    ----------
    contig : int
        Its number.
    length : int
        Bases.
    sites : ndarray of int64
        First bases of the k-mers that no other contig has, ascending.
    alone, by_three : ndarray of bool, shape (bins,)
        Bins that no other contig has, and those that more than one other contig has.
    start, end : ndarray of int64
        Its reads, by start, half open.
    depth : float
        Reads that cover a base of one haplotype.
    """
    above = depth_of_bins(length, start, end) - SHARED * depth
    in_two = np.where(by_three, 0, np.minimum(above, (1 - SHARED) * depth))
    shared = shared_bins(np.where(alone, above, in_two), depth)
    sites = sites[~(shared | alone & (above > 0))[sites // BIN]]
    runs = carried_runs(sites, start, end)
    run_of_site = np.repeat(np.arange(len(runs)), np.diff(runs)[:, 0])
    rows: list[list[int]] = []
    changes = np.flatnonzero(np.diff(shared, prepend=False, append=False)) * BIN
    for number, (low, high) in enumerate(itertools.pairwise([0, *changes.tolist(), length])):
        high = min(high, length)
        if number % 2 or low >= high:
            rows += [[low, high, SHARED_RUN, 0, low, low]] * (low < high)
            continue
        first, last = np.searchsorted(sites, [low, high]).tolist()
        others = (first + 1 + np.flatnonzero(np.diff(run_of_site[first:last]))).tolist()
        starts = [low, *sites[others].tolist(), high]
        for (i, j), (begin, stop) in zip(
            itertools.pairwise([first, *others, last]), itertools.pairwise(starts), strict=True
        ):
            if i < j:
                run, outermost = run_of_site[i], (sites[i], sites[j - 1] + K)
            else:
                run, outermost = run_of_site[i - 1] if i else 0, (begin, begin)
            rows.append([begin, stop, run, j - i, *outermost])
    columns = np.array(rows, np.int64).reshape(-1, 6).T
    return Pieces(np.full(len(rows), contig, np.int32), *columns), sites


def depth_of_bins(length: int, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return how many reads, half open, touch each bin of a contig."""
    bins = -(-length // BIN)
    opens, closes = (np.bincount(places, minlength=bins + 1) for places in (start // BIN, -(-end // BIN)))
    return np.cumsum(opens - closes)[:bins]


def shared_bins(above: np.ndarray, depth: float) -> np.ndarray:
    """Return a mask of the bins of a contig that both haplotypes have, by the best path of two states.

    Parameters
    ----------
    above : ndarray of float64, shape (bins,)
        What a bin adds to the score in shared state, and takes from it in the other one.
    depth : float
        Of one haplotype.
    """
    change = depth * LEAST_SHARED / BIN / 2
    single, shared, stays = 0.0, 0.0, []
    for excess in above.tolist():
        stays.append((single >= shared - change, shared >= single - change))
        single, shared = max(single, shared - change) - excess, max(shared, single - change) + excess
    state, states = int(shared > single), []
    for choice in reversed(stays):
        states.append(state)
        state = state if choice[state] else 1 - state
    return np.array(states[::-1], np.bool_)


def carried_runs(sites: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the runs of sites that reads connect.

    Parameters
    ----------
    sites : ndarray of int64, shape (n,)
        First bases of k-mers, ascending.
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
