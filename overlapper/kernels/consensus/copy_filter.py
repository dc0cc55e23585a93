"""The copy filter: rows of a window that are of the target's place, not of another copy of a repeat.

Reads of other copies overlap a read as long as those of its own copy do, and may be many more. They differ
from it where the copies do, in many reads alike, while errors strike each read elsewhere. Definition:
``docs/algorithms/correction.md``, section 1.
"""

from __future__ import annotations

import math

import numpy as np

from overlapper.kernels.common.growth import grow, grow_rows
from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.sorting import sort_few
from overlapper.kernels.consensus.layer_paths import Paths, first_paths, new_memory
from overlapper.kernels.consensus.layers import gather_layers, unpack_window
from overlapper.kernels.consensus.site_links import linked_sites
from overlapper.kernels.consensus.window_rows import BIN, within_depth
from overlapper.runtime.compile.cache import njit

MIN_ROWS = 3
"""Rows without which a base is not held at a column, besides those that errors explain."""
CONFIRMING = 2
"""Rows that confirm a site."""
TOLERANCE, WIDE_TOLERANCE = 2, 4
"""Rows that may have a base by error, or sites at which a row may differ by error, over those expected."""
RECURRENCE = 50
"""How much oftener than elsewhere reads err at the places where they err alike, at most. Chosen by the test
of errors that recur in half of the reads; 10 takes these for differences of copies."""
FEWEST_ROWS = 10
"""Rows up to which those that differ least join where fewer are of the same place."""
NEAR = 30
"""A row is near that differs at a share of its bases of at most the square of so many times the error rate:
9 percent where reads err at 1, one in 4,000 where they err at one in 2,000, as HiFi reads do."""
SHARE = 1 << 20
"""Shares of the sites at which rows differ are compared in such parts."""
NOT_COMPARED = -1


@njit(nogil=True, cache=True)
def choose_rows(targets, reads, windows, rows, settings, most_surplus, crowded):
    """Choose the rows of windows that are of the same place, or at least a few.

    Parameters
    ----------
    targets, reads : Sequences
    windows : Windows
    rows : Rows
    settings : Settings
    most_surplus : int
        Surplus anchors of the rows before on each stretch of a row that is not looked at any more.
    crowded : ndarray of bool, shape (windows,)
        Whose rows are to be chosen; of others all are taken.

    Returns
    -------
    same : ndarray of bool, shape (rows,)
    paths : Paths
        Of the chosen rows of these windows that can vote, so that they need not be aligned again.
    """
    same = np.ones(len(rows.read), np.bool_)
    path_start, path_end = np.zeros(len(rows.read), np.int64), np.zeros(len(rows.read), np.int64)
    at, kept, size = np.full(len(rows.read), -1), np.empty(0, np.int32), np.int64(0)
    run_start, run_end = np.zeros(len(rows.read), np.int64), np.zeros(len(rows.read), np.int64)
    kept_runs, n_runs = np.empty((0, 3), np.int32), np.int64(0)
    longest = np.int64(0)
    for p in np.flatnonzero(crowded):
        longest = max(longest, windows.end[p] - windows.start[p])
    memory = new_memory(longest)
    for p in np.flatnonzero(crowded):
        low, high = windows.first[p], windows.first[p + 1]
        target = unpack_window(targets, windows, p)
        layers = gather_layers(targets, reads, windows, p, rows, settings)
        starts, runs = first_paths(target, layers, rows, low, settings, most_surplus, memory)
        same[low:high], share, near = _same_place(target, layers, starts, runs)
        if not settings.target_votes:
            near[:] = layers.used[:-1]
        _add_nearest(same[low:high], share, near, rows.t_start[low:high], rows.t_end[low:high])
        chosen = low + np.flatnonzero(same[low:high])
        ends = np.array([0, len(chosen)])
        for row in chosen[within_depth(ends, rows.t_start[chosen], rows.t_end[chosen], settings.max_depth)]:
            start, end = layers.start[row - low], layers.end[row - low]
            path_start[row], path_end[row], at[row] = start, end, size
            size += end - start + 1
            if size > len(kept):
                kept = grow(kept, 2 * size)
            first = layers.at[row - low] + start
            kept[at[row] : size] = starts[first : first + end - start + 1]
            run_start[row] = n_runs
            first_run, last_run = runs.first[row - low], runs.first[row - low + 1]
            if n_runs + last_run - first_run > len(kept_runs):
                kept_runs = grow_rows(kept_runs, 2 * (n_runs + last_run - first_run))
            for r in range(first_run, last_run):
                kept_runs[n_runs, 0], kept_runs[n_runs, 1] = runs.column[r], runs.base[r]
                kept_runs[n_runs, 2] = runs.length[r]
                n_runs += 1
            run_end[row] = n_runs
    return same, Paths(path_start, path_end, at, run_start, run_end, kept, kept_runs)


@njit(nogil=True, cache=True)
def _same_place(target, layers, starts, runs):
    """Return which rows are of the target's place, shares of differing sites, and which may be added."""
    counts = _count_bases(target, layers, starts, runs)
    columns, held, alone, usual = _sites(target, counts)
    wrong, total = _errors(target, usual, layers, starts, runs)
    bases = _bases_at(columns, held, layers, starts)
    own = target[columns]
    _forget_unlinked(columns, bases, own, alone, layers.reverse[:-1])
    compared, differing = _differences(bases, own)
    _forget_unconfirmed(bases, own, compared, differing, wrong.sum(), total.sum())
    compared, differing = _differences(bases, own)
    n = bases.shape[1]
    same, share, near = np.empty(n, np.bool_), np.empty(n, np.int64), np.empty(n, np.bool_)
    for m in range(n):
        same[m] = layers.used[m] and differing[m] <= _by_error(wrong[m], total[m], compared[m])
        share[m] = SHARE * differing[m] // max(1, compared[m])
        near[m] = layers.used[m] and differing[m] <= _bearable(wrong.sum(), total.sum(), total[m])
    return same, share, near


@inner
def _by_error(wrong, total, compared):
    """Return the most sites at which a row may differ by its own errors."""
    deviation = np.int64(math.sqrt(wrong * compared * total))
    return TOLERANCE * (wrong * compared + deviation) // total


@inner
def _bearable(wrong, total, bases):
    """Return the most sites at which a row may differ to be added to a target that votes."""
    return NEAR * wrong * (NEAR * wrong * bases // total) // total


@njit(nogil=True, cache=True)
def _add_nearest(same, share, near, t_start, t_end):
    """Add near rows, those first that differ at the smallest share of sites, where there are few.

    A row is added if a stretch of `BIN` bases that it touches has fewer than `FEWEST_ROWS`.
    """
    depth = np.zeros((t_end.max() if len(t_end) else 0) // BIN + 1, np.int64)
    for m in np.flatnonzero(same):
        depth[t_start[m] // BIN : (t_end[m] - 1) // BIN + 1] += 1
    order = share * len(share) + np.arange(len(share))
    sort_few(order)
    for place in order:
        m = place % len(share)
        stretches = depth[t_start[m] // BIN : (t_end[m] - 1) // BIN + 1]
        if near[m] and not same[m] and stretches.min() < FEWEST_ROWS:
            same[m] = True
            stretches += 1


@njit(nogil=True, cache=True)
def _count_bases(target, layers, starts, runs):
    """Count the rows that have each base at each column, by strand."""
    counts = np.zeros((len(target), 4, 2), np.uint16)
    begun = np.zeros((len(target) + 1, 2), np.int64)
    for m in range(len(layers.start) - 1):
        if layers.used[m]:
            strand, c = np.int64(layers.reverse[m]), layers.start[m]
            for r in range(runs.first[m], runs.first[m + 1]):
                stop = np.int64(runs.column[r]) + runs.length[r]
                _count_some(layers, starts, m, c, np.int64(runs.column[r]), strand, counts)
                begun[runs.column[r], strand] += 1
                begun[stop, strand] -= 1
                c = stop
            _count_some(layers, starts, m, c, layers.end[m], strand, counts)
    agreeing = np.zeros(2, np.int64)
    for column in range(len(target)):
        for side in range(2):
            agreeing[side] += begun[column, side]
            if agreeing[side]:
                counts[column, target[column], side] += agreeing[side]
    return counts


@inner
def _count_some(layers, starts, m, start, stop, strand, counts):
    """Count the bases of a row at some columns."""
    first, at = layers.first[m], layers.at[m]
    for c in range(start, stop):
        here = starts[at + c]
        if starts[at + c + 1] > here and layers.bases[first + here] < 4:
            counts[c, layers.bases[first + here], strand] += 1


@njit(nogil=True, cache=True)
def _sites(target, counts):
    """Return the sites, which bases are held there, which sites need no link, and the usual base of columns.

    Where two bases are held, none is usual (`NOT_COMPARED`).
    """
    many, usual = np.zeros((len(target), 4), np.int64), np.full(len(target), NOT_COMPARED, np.int8)
    wrong, total = np.int64(0), np.int64(1)
    for c in range(len(target)):
        n_held, most = 0, np.int64(0)
        for base in range(4):
            both = np.int64(counts[c, base, 0]) + np.int64(counts[c, base, 1])
            if min(counts[c, base, 0], counts[c, base, 1]) > 0 and both >= MIN_ROWS:
                many[c, base] = both
                n_held += 1
            if both > most:
                usual[c], most = base, both
        if n_held <= 1:
            at_column = counts[c].sum()
            wrong += at_column - most
            total += at_column
        else:
            usual[c] = NOT_COMPARED
    columns, n = np.empty(len(target), np.int64), 0
    held, alone = np.zeros((len(target), 4), np.bool_), np.empty(len(target), np.bool_)
    for c in range(len(target)):
        if target[c] > 3:
            continue
        erring = WIDE_TOLERANCE * wrong * np.int64(counts[c].sum())
        for base in range(4):
            held[n, base] = many[c, base] >= MIN_ROWS + erring // total
        if held[n, target[c]] and held[n].sum() > 1:
            recurring = many[c] >= MIN_ROWS + RECURRENCE * erring // total
            columns[n], alone[n] = c, recurring[target[c]] and recurring.sum() > 1
            n += 1
    return columns[:n], held[:n], alone[:n], usual


@njit(nogil=True, cache=True)
def _errors(target, usual, layers, starts, runs):
    """Return how many bases of each row are not the usual ones, and of how many; one is added to both."""
    # Of the columns before each one, those at which there is a usual base, and the target has another one.
    some, unusual = np.zeros(len(target) + 1, np.int64), np.zeros(len(target) + 1, np.int64)
    for c in range(len(target)):
        some[c + 1] = some[c] + (usual[c] != NOT_COMPARED)
        unusual[c + 1] = unusual[c] + (usual[c] != NOT_COMPARED and target[c] != usual[c])
    wrong = np.ones(len(layers.start) - 1, np.int64)
    total = wrong.copy()
    for m in range(len(wrong)):
        if layers.used[m]:
            c = layers.start[m]
            for r in range(runs.first[m], runs.first[m + 1]):
                stop = np.int64(runs.column[r]) + runs.length[r]
                _count_errors(usual, layers, starts, m, c, np.int64(runs.column[r]), wrong, total)
                wrong[m] += unusual[stop] - unusual[runs.column[r]]
                total[m] += some[stop] - some[runs.column[r]]
                c = stop
            _count_errors(usual, layers, starts, m, c, layers.end[m], wrong, total)
    return wrong, total


@inner
def _count_errors(usual, layers, starts, m, start, stop, wrong, total):
    """Count the unusual bases of a row at some columns, and all."""
    first, at = layers.first[m], layers.at[m]
    for c in range(start, stop):
        here = starts[at + c]
        if usual[c] != NOT_COMPARED and starts[at + c + 1] > here and layers.bases[first + here] < 4:
            wrong[m] += layers.bases[first + here] != usual[c]
            total[m] += 1


@njit(nogil=True, cache=True)
def _bases_at(columns, held, layers, starts):
    """Return the base that each row has at each site, if it is held there."""
    bases = np.full((len(columns), len(layers.start) - 1), NOT_COMPARED, np.int8)
    for s in range(len(columns)):
        c = columns[s]
        for m in range(bases.shape[1]):
            if layers.used[m] and layers.start[m] <= c < layers.end[m]:
                here = starts[layers.at[m] + c]
                if starts[layers.at[m] + c + 1] > here:
                    base = layers.bases[layers.first[m] + here]
                    if base < 4 and held[s, base]:
                        bases[s, m] = base
    return bases


@njit(nogil=True, cache=True)
def _differences(bases, own):
    """Return the number of sites at which each row is compared, and at which it differs."""
    compared, differing = np.zeros(bases.shape[1], np.int64), np.zeros(bases.shape[1], np.int64)
    for s in range(len(own)):
        for m in range(bases.shape[1]):
            compared[m] += bases[s, m] != NOT_COMPARED
            differing[m] += bases[s, m] != NOT_COMPARED and bases[s, m] != own[s]
    return compared, differing


@njit(nogil=True, cache=True)
def _forget_unlinked(columns, bases, own, alone, reverse):
    """Forget the bases at sites that need a link to another one and have none."""
    compared = bases != NOT_COMPARED
    linked = linked_sites(columns, compared, compared & (bases != own.reshape(-1, 1)), reverse, alone)
    for s in np.flatnonzero(~linked):
        bases[s] = NOT_COMPARED


@njit(nogil=True, cache=True)
def _forget_unconfirmed(bases, own, compared, differing, wrong, total):
    """Forget the bases at sites where too few of the rows nearest to the target have its base."""
    for s in range(len(own)):
        least = second = np.int64(len(own))
        for m in range(bases.shape[1]):
            if bases[s, m] != NOT_COMPARED:
                second = min(second, max(least, differing[m]))
                least = min(least, differing[m])
        confirming = 0
        for m in range(bases.shape[1]):
            explained = WIDE_TOLERANCE * wrong * compared[m] // total
            confirming += bases[s, m] == own[s] and differing[m] <= second + explained
        if confirming < CONFIRMING:
            bases[s] = NOT_COMPARED
