"""Edit paths of the layers of a pileup over its target, for the first vote.

Layers are aligned through the best chain of their anchors. Definitions are in
``docs/algorithms/correction.md``, section 2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common import edit_paths
from overlapper.kernels.common.edit_paths import TARGET_UNKNOWN
from overlapper.kernels.common.inlining import inner
from overlapper.kernels.consensus import gap_paths, kmer_places, mem_anchors
from overlapper.kernels.consensus.equal_runs import (
    add_equal_run,
    add_runs_of_target,
    new_equal_runs,
    write_pairs,
)
from overlapper.runtime.compile.cache import njit

LONGEST = 2048
"""Most bases of a gap between anchors."""
BAND, BAND_SHARE = 150, 20
"""Anchors lie within `BAND` diagonals, plus one for each `BAND_SHARE` bases of the interval, of the line from
corner to corner."""
SPARE_ANCHORS = 256
"""A row has at most this many anchors more than its window has bases; only low complexity has more."""
STRETCH = 1024
ORDINARY_ANCHORS = STRETCH // 16
"""Anchors of a row on a stretch; those beyond this number are *surplus*, which tandem repeats cause."""
ANY_SURPLUS = 1 << 62
"""A limit above any number of surplus anchors."""
MAX_REACH = 200
"""Most bases of a path beyond the first and the last anchor, as many as rows are widened by. With more, bases
of stretches without true sequence, or of another sequence, would vote (``docs/notes/correction.md``)."""
MORE = 16
"""Bases of the longer side that are looked at beyond those of the shorter one and a quarter of them."""
FARTHEST = MAX_REACH + MAX_REACH // 4 + MORE
ANCHOR_ENDS = 1
"""Bases at either end of an anchor that are aligned with the gap beside it."""


class Memory(NamedTuple):
    """Scratch memory to align layers to a window (`kmer_places`, `mem_anchors`, `gap_paths`)."""

    places: kmer_places.Index
    anchors: np.ndarray
    columns: np.ndarray
    latest: np.ndarray
    gaps: gap_paths.Gaps


@njit(nogil=True, cache=True)
def new_memory(longest):
    """Return memory for windows of up to ``longest`` bases."""
    most = longest + SPARE_ANCHORS
    return Memory(
        kmer_places.new_index(longest),
        np.empty((most, 3), np.int32), mem_anchors.new_columns(most),
        np.empty(mem_anchors.DIAGONALS, np.int32), gap_paths.new_gaps(LONGEST),
    )  # fmt: skip


@njit(nogil=True, cache=True)
def first_paths(target, layers, rows, low, settings, most, memory, room):
    """Align the layers of the rows from ``low`` on to the target; return their paths and the runs of these.

    Paths are written to ``room``. A layer is skipped if earlier layers have ``most`` surplus anchors on each
    of its stretches (`_stretches_of`).
    """
    places, anchors, columns, latest, gaps = memory
    longest = np.int64(0)
    for m in range(len(layers.start) - 1):
        longest = max(longest, layers.last[m] - layers.first[m])
    reach = mem_anchors.reach_of(_band_of(longest))
    kmer_places.index_kmers(target, len(target), settings.k, reach, places)
    starts, runs = _room(target, layers, rows, low, settings, room)
    aligned = gap_paths.Aligned(target, layers.bases, starts)
    found = anchors[: len(target) + SPARE_ANCHORS]
    surplus = np.zeros(len(target) // STRETCH + 1, np.int64)
    on_stretch = np.zeros_like(surplus)
    at, n_runs = np.int64(len(target) + 1), np.int64(0)
    for m in range(len(layers.start) - 1):
        first, length = layers.first[m], layers.last[m] - layers.first[m]
        read = layers.bases[first : first + length]
        t_start, t_end = np.int64(rows.t_start[low + m]), np.int64(rows.t_end[low + m])
        limits = t_start, t_end, np.int64(0), length
        band, n = _band_of(length), 0
        begin, end = _stretches_of(t_start, t_end)
        if _least(surplus, begin, end) < most:
            n, _ = mem_anchors.find_anchors(target, read, limits, settings.k, band, places, found)
        _add_surplus(found, n, surplus, on_stretch)
        layers.at[m] = at - t_start
        if n:
            n = mem_anchors.best_chain(anchors, n, settings.max_gap, columns, latest)
            chain = anchors[:n]
            start, end, n_runs = _path_through(
                chain, aligned, limits, first, layers.at[m], gaps, runs, n_runs
            )
            layers.start[m], layers.end[m], layers.used[m] = start, end, end > start
        runs.first[m + 1] = n_runs
        at += t_end - t_start + 1
    runs.first[-1] = add_runs_of_target(runs, n_runs, target)
    gap_paths.finish_gaps(gaps, aligned)
    return starts, runs


@inner
def _band_of(bases):
    """Return how many diagonals anchors may lie off the line, for an interval of so many bases."""
    return BAND + bases // BAND_SHARE


@inner
def _least(values, begin, end):
    """Return the least of ``values[begin:end]``."""
    least = values[begin]
    for x in range(begin + 1, end):
        least = min(least, values[x])
    return least


@inner
def _add_surplus(anchors, n, surplus, on_stretch):
    """Add the surplus anchors of a row to those of each stretch; ``on_stretch`` is 0 before and after."""
    for a in range(n):
        stretch = anchors[a, 1] // STRETCH
        on_stretch[stretch] += 1
        surplus[stretch] += on_stretch[stretch] > ORDINARY_ANCHORS
    for a in range(n):
        on_stretch[anchors[a, 1] // STRETCH] = 0


@inner
def _stretches_of(t_start, t_end):
    """Return the range of stretches within an interval, or else those that it touches."""
    begin, end = -(-t_start // STRETCH), t_end // STRETCH
    if begin < end:
        return begin, end
    return t_start // STRETCH, (t_end - 1) // STRETCH + 1


@njit(nogil=True, cache=True)
def _room(target, layers, rows, low, settings, room):
    """Return memory for the paths of all layers and their runs; the path of the target is filled in."""
    own = len(layers.start) - 1
    size = np.int64(len(target) + 1)
    for m in range(own):
        size += rows.t_end[low + m] - rows.t_start[low + m] + 1
    starts = room[:size]
    for x in range(len(target) + 1):
        starts[x] = x
    layers.start[own], layers.end[own], layers.at[own] = 0, len(target), 0
    layers.used[own] = settings.target_votes
    return starts, new_equal_runs(own + 1, size)


@njit(nogil=True, cache=True)
def _path_through(chain, aligned, limits, first, at, gaps, runs, n_runs):
    """Write the path through the anchors of a chain; its gaps may be left to `finish_gaps`.

    Anchors lose `ANCHOR_ENDS` bases at either end, and bases that overlap the anchor before.

    Parameters
    ----------
    chain : ndarray of int32, shape (n, 3)
    aligned : gap_paths.Aligned
    limits : tuple of int
        As for `mem_anchors.find_anchors`, with the whole read.
    first, at : int
        Where the read starts in ``aligned``, and the row of its path for the target's first base.
    gaps : gap_paths.Gaps
    runs : EqualRuns
        The runs of anchors are appended.
    n_runs : int
        Number of runs before.

    Returns
    -------
    start, end : int
        The interval of the target that the path covers.
    n_runs : int
        Number of runs after.
    """
    target, starts = aligned.target, aligned.starts
    t_start, t_end, r_start, r_end = limits
    read = aligned.bases[first : first + r_end]
    i, j = int(chain[0, 0]) + ANCHOR_ENDS, int(chain[0, 1]) + ANCHOR_ENDS
    known = j - _known(target, j - 1, t_start - 1, -1)
    rise, run = _reach_back(target, known, j, read, r_start, i, gaps.matrix)
    i, j = i - run, j - rise
    begin = j
    # A gap lies before each anchor, and one behind the last; `add_gap` is long, and copied to each call.
    for a in range(len(chain) + 1):
        if a < len(chain):
            next_i, next_j = int(chain[a, 0]) + ANCHOR_ENDS, int(chain[a, 1]) + ANCHOR_ENDS
            length = int(chain[a, 2]) - 2 * ANCHOR_ENDS
            overlap = max(0, i - next_i, j - next_j)
            if overlap >= length:
                continue
            next_i, next_j, length = next_i + overlap, next_j + overlap, length - overlap
        else:
            known = _known(target, j, t_end, 1)
            rise, run = _reach_on(target, j, known, read, i, r_end - i, gaps.matrix)
            next_i, next_j, length = i + run, j + rise, 0
        gap_paths.add_gap(gaps, aligned, j, next_j, first, i, next_i, at)
        write_pairs(starts, at + next_j, next_i, length)
        n_runs = add_equal_run(runs, n_runs, next_j, next_i, length)
        i, j = next_i + length, next_j + length
    starts[at + j] = i
    return begin, j, n_runs


@inner
def _known(target, start, end, step):
    """Return how many bases from ``start`` to ``end`` come before the first unknown one."""
    for known in range(abs(end - start)):
        if target[start + step * known] == TARGET_UNKNOWN:
            return known
    return abs(end - start)


@njit(nogil=True, cache=True)
def _reach_on(target, j, t_left, read, i, r_left, matrix):
    """Return how many of the bases left from j and i on are aligned with each other.

    The shorter side is taken whole, up to `MAX_REACH` bases, and the prefix of the other side that is
    closest.
    """
    length = min(t_left, r_left, MAX_REACH)
    more = length + length // 4 + MORE
    if t_left <= r_left:
        return length, edit_paths.reach(target, j, j + length, read, i, i + min(r_left, more), matrix)
    return edit_paths.reach(read, i, i + length, target, j, j + min(t_left, more), matrix), length


@njit(nogil=True, cache=True)
def _reach_back(target, t_start, j, read, r_start, i, matrix):
    """Return how many bases before j and i are aligned with each other, as `_reach_on` with both reversed."""
    t_back = target[max(t_start, j - FARTHEST) : j][::-1].copy()
    r_back = read[max(r_start, i - FARTHEST) : i][::-1].copy()
    start = np.int64(0)
    return _reach_on(t_back, start, j - t_start, r_back, start, i - r_start, matrix)
