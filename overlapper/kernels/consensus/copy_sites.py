"""Sites of a window: columns at which copies differ, and what each row has there.

Definition: ``docs/algorithms/correction.md``, section 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.consensus.equal_runs import fetch_behind
from overlapper.kernels.consensus.shares import is_of_one_strand
from overlapper.kernels.consensus.site_links import linked_sites
from overlapper.runtime.compile.cache import njit

MIN_ROWS = 3
"""Least rows that hold a base at a column, besides those that errors explain."""
CONFIRMING = 2
"""Least rows that confirm a site."""
WIDE_TOLERANCE = 4
"""Factor on the expected number of rows with a base by error."""
RECURRENCE = 50
"""Highest error rate at places of recurrent errors, relative to other places. Chosen by the test with errors
that recur in half of the reads, which 10 takes for differences of copies."""
NOT_COMPARED = -1
PLACE, NO_BASE = 8, 4
U64 = np.uint64


class Unlike(NamedTuple):
    """Columns at which rows have another base than the target."""

    first: np.ndarray
    """int64, shape (rows + 1,); where the places of each row begin."""
    place: np.ndarray
    """int64; `PLACE` times the column, plus the row's base there; `NO_BASE` where it is deleted or
    unknown."""
    counts: np.ndarray
    """uint16, shape (columns, 4, 2); rows that have each base at each column, by strand; the target's base is
    added by `_sites`."""
    rows: np.ndarray
    """uint16, shape (columns, 2); rows with a place at each column, by strand."""


@njit(nogil=True, cache=True)
def compare_at_sites(target, layers, starts, runs, strands):
    """Compare the rows of a window with the target at its confirmed sites.

    Parameters
    ----------
    target : ndarray of uint8
    layers : Layers
    starts : ndarray of int32
    runs : EqualRuns
        As `kernels.consensus.layer_paths.first_paths` returns them.
    strands : int
        As in `kernels.consensus.layers.Settings`.

    Returns
    -------
    compared, differing : ndarray of int64, shape (rows,)
        At how many sites each row is compared, and at how many of these it differs.
    wrong, total : ndarray of int64, shape (rows,)
        How many of how many bases of each row are unusual, both plus one.
    """
    unlike = _compare(target, layers, starts, runs)
    columns, held, alone, usual = _sites(target, layers, unlike, strands)
    wrong, total = _errors(target, usual, layers, unlike)
    bases = _bases_at(columns, held, layers, starts)
    own = target[columns]
    _forget_unlinked(columns, bases, own, alone, layers.reverse[:-1])
    compared, differing = _differences(bases, own)
    _forget_unconfirmed(bases, own, compared, differing, wrong.sum(), total.sum())
    compared, differing = _differences(bases, own)
    return compared, differing, wrong, total


@njit(nogil=True, cache=True)
def _compare(target, layers, starts, runs):
    """Return where rows differ from the target; runs of equal bases are skipped."""
    n, most = len(layers.start) - 1, np.int64(0)
    for m in range(n):
        if layers.used[m]:
            most += layers.end[m] - layers.start[m]
            for r in range(runs.first[m], runs.first[m + 1]):
                most -= runs.length[r]
    unlike = Unlike(
        np.zeros(n + 1, np.int64), np.empty(most, np.int64), np.zeros((len(target), 4, 2), np.uint16),
        np.zeros((len(target), 2), np.uint16),
    )  # fmt: skip
    size = np.int64(0)
    for m in range(n):
        if layers.used[m]:
            size = _compare_row(target, layers, starts, m, runs, unlike, size)
        unlike.first[m + 1] = size
    return unlike


@inner
def _compare_row(target, layers, starts, m, runs, unlike, size):
    """Append the columns at which a row differs from the target; return the new number of entries."""
    c, at, bases = np.int64(layers.start[m]), layers.at[m], layers.bases[layers.first[m] :]
    for r in range(runs.first[m], runs.first[m + 1]):
        fetch_behind(runs, r, runs.first[m + 1], starts, at, bases)
        size = _compare_some(target, layers, starts, m, c, np.int64(runs.column[r]), unlike, size)
        c = np.int64(runs.column[r]) + runs.length[r]
    return _compare_some(target, layers, starts, m, c, np.int64(layers.end[m]), unlike, size)


@inner
def _compare_some(target, layers, starts, m, start, stop, unlike, size):
    """Do what `_compare_row` does, for columns ``[start, stop)``."""
    first, at, strand = layers.first[m], layers.at[m], U64(layers.reverse[m])
    here = np.int64(starts[U64(at + start)])
    for c in range(U64(start), U64(stop)):
        behind = np.int64(starts[U64(at) + c + U64(1)])
        base = np.int64(layers.bases[U64(first + here)]) if behind > here else np.int64(NO_BASE)
        if base != target[c] or base == NO_BASE:
            base = min(base, np.int64(NO_BASE))
            unlike.place[size] = PLACE * np.int64(c) + base
            size += 1
            unlike.rows[c, strand] += np.uint16(1)
            if base < NO_BASE:
                unlike.counts[c, U64(base), strand] += np.uint16(1)
        here = behind
    return size


@njit(nogil=True, cache=True)
def _sites(target, layers, unlike, strands):
    """Return the sites, the bases held there, which sites need no link, and the usual base of each column.

    Where two bases are held, none is usual (`NOT_COMPARED`).
    """
    counts, rows, n = unlike.counts, unlike.rows, len(target)
    covering = np.zeros((n + 1, 2), np.int64)
    for m in range(len(layers.start) - 1):
        if layers.used[m]:
            covering[layers.start[m], np.int64(layers.reverse[m])] += 1
            covering[layers.end[m], np.int64(layers.reverse[m])] -= 1
    usual = np.full(n, NOT_COMPARED, np.int8)
    divided, n_divided = np.empty(n, np.int64), 0
    wrong, total, forward, backward = np.int64(0), np.int64(1), np.int64(0), np.int64(0)
    for c in range(n):
        forward, backward = forward + covering[c, 0], backward + covering[c, 1]
        other = np.int64(rows[c, 0]) + np.int64(rows[c, 1])
        if other == 0:
            if forward + backward > 0:
                usual[c] = target[c]
                total += forward + backward
            continue
        if target[c] < NO_BASE:
            counts[c, target[c], 0] = forward - np.int64(rows[c, 0])
            counts[c, target[c], 1] = backward - np.int64(rows[c, 1])
        n_held, most, at_column = 0, np.int64(0), np.int64(0)
        for base in range(4):
            both = np.int64(counts[c, base, 0]) + np.int64(counts[c, base, 1])
            n_held += _rows_holding(counts[c], base, strands) > 0
            at_column += both
            if both > most:
                usual[c], most = base, both
        if n_held <= 1:
            wrong += at_column - most
            total += at_column
        else:
            usual[c] = NOT_COMPARED
        if n_held > 1 and target[c] < NO_BASE:
            divided[n_divided] = c
            n_divided += 1
    columns, n_sites = divided[:n_divided], 0
    held, alone = np.zeros((n_divided, 4), np.bool_), np.empty(n_divided, np.bool_)
    many, recurring = np.empty(4, np.int64), np.empty(4, np.bool_)
    for c in columns:
        for base in range(4):
            many[base] = _rows_holding(counts[c], base, strands)
        erring = WIDE_TOLERANCE * wrong * np.int64(counts[c].sum())
        for base in range(4):
            held[n_sites, base] = many[base] >= MIN_ROWS + erring // total
            recurring[base] = many[base] >= MIN_ROWS + RECURRENCE * erring // total
        if held[n_sites, target[c]] and held[n_sites].sum() > 1:
            columns[n_sites] = c
            alone[n_sites] = recurring[target[c]] and recurring.sum() > 1
            n_sites += 1
    return columns[:n_sites], held[:n_sites], alone[:n_sites], usual


@inner
def _rows_holding(counts, base, strands):
    """Return the number of rows with a base at a column, or 0 if they are too few or err on one strand."""
    forward, reverse = np.int64(counts[base, 0]), np.int64(counts[base, 1])
    if forward + reverse < MIN_ROWS:
        return np.int64(0)
    all_forward, all_reverse = np.int64(counts[:, 0].sum()), np.int64(counts[:, 1].sum())
    if is_of_one_strand(forward, reverse, all_forward, all_reverse, strands):
        return np.int64(0)
    return forward + reverse


@njit(nogil=True, cache=True)
def _errors(target, usual, layers, unlike):
    """Return how many bases of each row are unusual, and how many are compared; both plus one."""
    # Running counts of columns with a usual base, and of those where the target has another one.
    some, unusual = np.zeros(len(target) + 1, np.int64), np.zeros(len(target) + 1, np.int64)
    for c in range(len(target)):
        some[c + 1] = some[c] + (usual[c] != NOT_COMPARED)
        unusual[c + 1] = unusual[c] + (usual[c] != NOT_COMPARED and target[c] != usual[c])
    wrong = np.ones(len(layers.start) - 1, np.int64)
    total = wrong.copy()
    for m in range(len(wrong)):
        if layers.used[m]:
            # Counted as if the row had all bases of the target, then corrected where it has others.
            wrong[m] += unusual[layers.end[m]] - unusual[layers.start[m]]
            total[m] += some[layers.end[m]] - some[layers.start[m]]
            for place in unlike.place[unlike.first[m] : unlike.first[m + 1]]:
                c, base = place // PLACE, place % PLACE
                if usual[c] != NOT_COMPARED:
                    wrong[m] += (base < NO_BASE and base != usual[c]) - np.int64(target[c] != usual[c])
                    total[m] -= base == NO_BASE
    return wrong, total


@njit(nogil=True, cache=True)
def _bases_at(columns, held, layers, starts):
    """Return the base of each row at each site, if that base is held there; else `NOT_COMPARED`."""
    bases = np.full((len(columns), len(layers.start) - 1), NOT_COMPARED, np.int8)
    for m in range(bases.shape[1]):
        if not layers.used[m]:
            continue
        at, first = layers.at[m], layers.first[m]
        low, high = np.searchsorted(columns, layers.start[m]), np.searchsorted(columns, layers.end[m])
        for s in range(low, high):
            here = starts[at + columns[s]]
            if starts[at + columns[s] + 1] > here:
                base = layers.bases[first + here]
                if base < NO_BASE and held[s, base]:
                    bases[s, m] = base
    return bases


@njit(nogil=True, cache=True)
def _differences(bases, own):
    """Count the sites at which each row is compared, and those at which it differs."""
    compared, differing = np.zeros(bases.shape[1], np.int64), np.zeros(bases.shape[1], np.int64)
    for s in range(len(own)):
        for m in range(bases.shape[1]):
            compared[m] += bases[s, m] != NOT_COMPARED
            differing[m] += bases[s, m] != NOT_COMPARED and bases[s, m] != own[s]
    return compared, differing


@njit(nogil=True, cache=True)
def _forget_unlinked(columns, bases, own, alone, reverse):
    """Clear the bases at sites that need a link to another site and have none."""
    compared = bases != NOT_COMPARED
    linked = linked_sites(columns, compared, compared & (bases != own.reshape(-1, 1)), reverse, alone)
    for s in np.flatnonzero(~linked):
        bases[s] = NOT_COMPARED


@njit(nogil=True, cache=True)
def _forget_unconfirmed(bases, own, compared, differing, wrong, total):
    """Clear the bases at sites where too few of the rows most like the target have its base."""
    explained = WIDE_TOLERANCE * wrong * compared // total
    for s in range(len(own)):
        least = second = np.int64(len(own))
        for m in range(bases.shape[1]):
            if bases[s, m] != NOT_COMPARED:
                second = min(second, max(least, differing[m]))
                least = min(least, differing[m])
        confirming = 0
        for m in range(bases.shape[1]):
            confirming += bases[s, m] == own[s] and differing[m] <= second + explained[m]
        if confirming < CONFIRMING:
            bases[s] = NOT_COMPARED
