"""Runs of one base that are cut short in packed reads.

CPU only.
"""

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.growth import grow_rows
from overlapper.kernels.common.packed import base_at
from overlapper.runtime.compile.cache import njit
from overlapper.tables.reads import BASES_PER_WORD


class CutRuns(NamedTuple):
    """What was cut from the runs of reads."""

    surplus: np.ndarray
    """Of `find_surplus`."""
    longest: int
    lengths: np.ndarray
    """`longest`, `lengths`: as for `find_surplus`, but of all reads."""
    ends: np.ndarray
    """Of `runs_at_ends`."""
    first: np.ndarray
    """int64, shape (reads + 1,); where the cuts of each read start."""
    at: np.ndarray
    """int64, shape (cuts,); base of the cut read before which surplus was."""
    missing: np.ndarray
    """int64, shape (cuts + 1,); bases of surplus before each cut, and of all, of all reads together."""


@njit(nogil=True, cache=True)
def find_surplus(words, word_offsets, lengths, longest):
    """Find the bases of runs beyond their first ``longest`` ones.

    Parameters
    ----------
    words : ndarray of uint64
        Packed reads, without unknown bases.
    word_offsets : ndarray of int64, shape (reads + 1,)
    lengths : ndarray of int64, shape (reads,)
    longest : int

    Returns
    -------
    ndarray of int64, shape (n, 3)
        Read, and start and end of its surplus, half open; by read and start.
    """
    found, n = np.empty((16, 3), np.int64), 0
    for read in range(len(lengths)):
        own = words[word_offsets[read] : word_offsets[read + 1]]
        start = np.int64(0)
        # From the last base of the shortest run to be cut backwards: most bases are never looked at.
        while start + longest < lengths[read]:
            base, place = base_at(own, start + longest), start + longest - 1
            while place >= start and base_at(own, place) == base:
                place -= 1
            if place >= start:
                start = place + 1
                continue
            end = start + longest + 1
            while end < lengths[read] and base_at(own, end) == base:
                end += 1
            if n == len(found):
                found = grow_rows(found, 2 * n)
            found[n, 0], found[n, 1], found[n, 2] = read, start + longest, end
            n += 1
            start = end
    return found[:n]


@njit(nogil=True, cache=True)
def without_surplus(words, word_offsets, lengths, surplus, out_words, out_offsets):
    """Write reads without some of their bases.

    Parameters
    ----------
    words, word_offsets, lengths
        Of `find_surplus`.
    surplus : ndarray of int64, shape (n, 3)
        Of `find_surplus`.
    out_words : ndarray of uint64
        Out: the packed reads that are left; zero before.
    out_offsets : ndarray of int64, shape (reads + 1,)
        Where each of them starts.
    """
    cut = 0
    for read in range(len(lengths)):
        own = words[word_offsets[read] : word_offsets[read + 1]]
        out = out_words[out_offsets[read] : out_offsets[read + 1]]
        place = written = 0
        while place < lengths[read]:
            if cut < len(surplus) and surplus[cut, 0] == read and surplus[cut, 1] == place:
                place = surplus[cut, 2]
                cut += 1
                continue
            shift = np.uint64(2 * (written % BASES_PER_WORD))
            out[written // BASES_PER_WORD] |= np.uint64(base_at(own, place)) << shift
            place += 1
            written += 1


@njit(nogil=True, cache=True)
def runs_at_ends(words, word_offsets, lengths):
    """Return how many equal bases each read of `find_surplus` begins and ends with (int64, (reads, 2))."""
    found = np.zeros((len(lengths), 2), np.int64)
    for read in range(len(lengths)):
        own, last = words[word_offsets[read] : word_offsets[read + 1]], lengths[read] - 1
        for side in range(2):
            n, first, step = 0, side * last, 1 - 2 * side
            while n <= last and base_at(own, first + step * n) == base_at(own, first):
                n += 1
            found[read, side] = n
    return found


@njit(nogil=True, cache=True)
def restore_intervals(query, target, reverse, on_query, on_target, runs):
    """Convert intervals of overlaps of reads without their surplus to intervals of the reads themselves.

    Parameters
    ----------
    query, target : ndarray of int32, shape (n,)
    reverse : ndarray of bool, shape (n,)
    on_query, on_target : ndarray of int32, shape (n, 2)
        Starts and ends, which are changed.
    runs : CutRuns
    """
    for i in range(len(query)):
        for side in range(2):
            other = 1 - side if reverse[i] else side
            q_cut, t_cut = on_query[i, side], on_target[i, other]
            q, t = _with_surplus(query[i], q_cut, runs), _with_surplus(target[i], t_cut, runs)
            of_query = runs.ends[query[i], side] if q == side * runs.lengths[query[i]] else 0
            of_target = runs.ends[target[i], other] if t == other * runs.lengths[target[i]] else 0
            if of_target and not of_query:
                q = _within_run(query[i], q_cut, side, of_target, q, runs)
            elif of_query and not of_target:
                t = _within_run(target[i], t_cut, other, of_query, t, runs)
            on_query[i, side], on_target[i, other] = q, t


@njit(nogil=True, cache=True)
def _with_surplus(read, place, runs):
    """Return a place in a read, behind all surplus that was cut there."""
    before = runs.first[read]
    cuts = np.searchsorted(runs.at[before : runs.first[read + 1]], place, side="right")
    return place + runs.missing[before + cuts] - runs.missing[before]


@njit(nogil=True, cache=True)
def _within_run(read, place, side, bases, otherwise, runs):
    """Return where an overlap ends that has so many bases of a run, if it ends within one that was cut."""
    cut, behind = runs.first[read], runs.first[read + 1]
    while cut < behind and runs.at[cut] < place + (side == 0):
        cut += 1
    if cut == behind or place < runs.at[cut] - runs.longest + side:
        return otherwise
    start, end = runs.surplus[cut, 1] - runs.longest, runs.surplus[cut, 2]
    kept = min(bases, end - start)
    return start + kept if side else end - kept
