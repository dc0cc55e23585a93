"""Layers carried over from one draft to the next (``docs/algorithms/correction.md``, section 4)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.consensus.equal_runs import (
    WIDTH,
    EqualRuns,
    add_equal_run,
    fetch_behind,
    new_equal_runs,
    write_pairs,
)
from overlapper.kernels.consensus.gap_paths import Aligned, add_gap, finish_gaps
from overlapper.runtime.compile.cache import njit

U64 = np.uint64
MIN_RUN = 6
"""Least pairs of a run that is carried over to the next draft as it is."""
RUN_ENDS = 2
"""Pairs at either end of such a run that are aligned anew."""
_GONE = 255


class Move(NamedTuple):
    """The change from one draft to the next."""

    starts: np.ndarray
    """int32; paths over the old draft."""
    equal: EqualRuns
    """Runs of equal pairs of these paths."""
    place: np.ndarray
    """int64, shape (columns + 1,); where each column went, or would have."""
    kept: np.ndarray
    """uint8, shape (columns,); the base of each column on the next draft; `_GONE` if the column was
    removed."""
    same_to: np.ndarray
    """int32, shape (columns,); from each column on, the first one that has another base on the next draft, or
    bases inserted behind it."""
    aligned: Aligned
    """The next draft, and the paths over it."""
    runs: np.ndarray
    """int64, shape (most, 3); scratch: column (on the next draft), base and length of runs of kept pairs."""


@njit(nogil=True, cache=True)
def carry_over(layers, starts, equal, before, draft, place, gaps, room):
    """Carry all layers over to the next draft; return their paths there, and the runs of these.

    Layers are lost, and no longer vote, when nothing of them is left or two runs are too far apart; the
    target stays.

    Parameters
    ----------
    layers : Layers
    starts : ndarray of int32
        Their paths over the draft before.
    equal : EqualRuns
        Runs of equal pairs of these paths.
    before, draft : ndarray of uint8
        The draft before, and the next one.
    place : ndarray of int64, shape (columns + 1,)
        Where each column of the draft before went, or would have.
    gaps : Gaps
    room : ndarray of int32
        Memory for the paths; new memory is taken if they do not fit.
    """
    m_target = len(layers.start) - 1
    size = np.int64(0)
    for m in range(len(layers.start)):
        if layers.used[m] or m == m_target:
            size += place[layers.end[m]] - place[layers.start[m]] + 1
    carried = (room if size + WIDTH <= len(room) else np.empty(size + WIDTH, np.int32))[:size]
    runs = np.empty((len(place) // MIN_RUN + 1, 3), np.int64)
    kept = _kept_bases(draft, place)
    aligned = Aligned(draft, layers.bases, carried)
    move = Move(starts, equal, place, kept, _same_to(before, kept, place), aligned, runs)
    new_equal, n_equal = new_equal_runs(len(layers.start), size), np.int64(0)
    at = np.int64(0)
    for m in range(len(layers.start)):
        if not layers.used[m] and m != m_target:
            new_equal.first[m + 1] = n_equal
            continue
        start, end = layers.start[m], layers.end[m]
        new_start, new_end = place[start], place[end]
        n_runs = _find_runs(move, m, layers.at[m], start, end, layers.first[m])
        whole = _carry(move, n_runs, layers.at[m], start, end, layers.first[m], at - new_start, gaps)
        n_equal = _add_kept(new_equal, n_equal, runs, n_runs)
        new_equal.first[m + 1] = n_equal
        layers.start[m], layers.end[m], layers.at[m] = new_start, new_end, at - new_start
        if m != m_target and (not whole or new_end == new_start):
            layers.used[m] = False
        at += new_end - new_start + 1
    finish_gaps(gaps, aligned)
    return carried, new_equal


@njit(nogil=True, cache=True)
def _kept_bases(draft, place):
    """Return the base of each column on the next draft, `_GONE` if the column was removed."""
    kept = np.empty(len(place) - 1, np.uint8)
    for c in range(len(kept)):
        kept[c] = draft[place[c]] if place[c + 1] > place[c] else _GONE
    return kept


@njit(nogil=True, cache=True)
def _same_to(before, kept, place):
    """Return, from each column on, the first one that is not the same on the next draft."""
    same_to = np.empty(len(kept), np.int32)
    end = len(kept)
    for c in range(len(kept) - 1, -1, -1):
        if kept[c] != before[c] or place[c + 1] != place[c] + 1:
            end = c
        same_to[c] = end
    return same_to


@inner
def _carry(move, n_runs, at, start, end, first, to, gaps):
    """Carry one path over; return whether all gaps between its runs could be aligned.

    Parameters
    ----------
    move : Move
    n_runs : int
        Number of runs of kept pairs.
    at, start, end, first : int
        As in `Layers`.
    to : int
        ``at`` on the next draft.
    gaps : Gaps
    """
    place, aligned, runs = move.place, move.aligned, move.runs
    column, base, last = place[start], np.int64(move.starts[at + start]), np.int64(move.starts[at + end])
    whole = True
    # A window lies before each run, and one behind the last.
    for r in range(n_runs + 1):
        run_column, run_base, kept = place[end], last, np.int64(0)
        if r < n_runs:
            run_column, run_base = runs[r, 0] + RUN_ENDS, runs[r, 1] + RUN_ENDS
            kept = runs[r, 2] - 2 * RUN_ENDS
        whole &= _align_window(gaps, aligned, column, run_column, first, base, run_base, to)
        write_pairs(aligned.starts, to + run_column, run_base, kept)
        column, base = run_column + kept, run_base + kept
    aligned.starts[to + column] = base
    return whole


@inner
def _add_kept(equal, n_equal, runs, n_runs):
    """Append the runs of kept pairs of a layer to ``n_equal`` others; return their new number."""
    for r in range(n_runs):
        column, base, length = runs[r, 0] + RUN_ENDS, runs[r, 1] + RUN_ENDS, runs[r, 2] - 2 * RUN_ENDS
        n_equal = add_equal_run(equal, n_equal, column, base, length)
    return n_equal


@inner
def _find_runs(move, m, at, start, end, first):
    """Write column, base and length of every run of kept pairs; return the number of runs.

    Where the path has a run of equal pairs, and the next draft is the same, all its pairs are kept at once.
    """
    equal, place, same_to = move.equal, move.place, move.same_to
    state = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    bases = move.aligned.bases[first:]
    r, last = equal.first[m], equal.first[m + 1]
    c, resumed = np.int64(start), np.int64(start)
    while c < end:
        # Columns up to `known` are looked at one by one; from there to `stop` all pairs are kept.
        known = stop = run_end = np.int64(end)
        if r < last:
            fetch_behind(equal, r, last, move.starts, at, bases)
            run_end = np.int64(equal.column[r]) + equal.length[r]
            known = max(resumed, np.int64(equal.column[r]))
            stop = min(np.int64(same_to[known]), run_end) if known < run_end else known
        state = _look_for_runs(move, at, c, known, first, state)
        if stop > known:
            base = np.int64(equal.base[r]) + known - equal.column[r]
            state = _go_on(move.runs, state, place[known], base, stop - known)
        c, resumed = stop, stop + 1
        r += stop == run_end
    return _end_run(move.runs, state)


@inner
def _go_on(runs, state, column, base, length):
    """Lengthen the current run by ``length`` pairs, or begin another one; return the new state.

    The state is the number of finished runs, and column, base and length of the current one.
    """
    n, run_column, run_base, run = state
    if run_column + run != column or run_base + run != base:
        return _end_run(runs, state), np.int64(column), np.int64(base), np.int64(length)
    return n, run_column, run_base, run + length


@inner
def _end_run(runs, state):
    """Write the current run if it is long enough; return the number of finished runs."""
    n, run_column, run_base, run = state
    if run >= MIN_RUN:
        runs[n, 0], runs[n, 1], runs[n, 2] = run_column, run_base, run
        n += 1
    return n


@inner
def _look_for_runs(move, at, start, stop, first, state):
    """Find runs of kept pairs on columns ``[start, stop)``.

    Whether a pair continues a run is selected without a branch, as a processor cannot predict it.
    """
    starts, place, kept, bases, runs = move.starts, move.place, move.kept, move.aligned.bases, move.runs
    n, run_column, run_base, run = state
    b, final = np.int64(starts[at + start]), np.int64(len(bases) - 1)
    for c in range(U64(start), U64(stop)):
        behind, d = np.int64(starts[U64(at) + c + U64(1)]), place[c]
        pair = (behind > b) & (kept[c] == bases[U64(min(first + b, final))])
        begins = pair & ((run_column + run != d) | (run_base + run != b))
        if begins & (run >= MIN_RUN):
            runs[n, 0], runs[n, 1], runs[n, 2] = run_column, run_base, run
            n += 1
        run = np.int64(1) if begins else run + np.int64(pair)
        run_column = d if begins else run_column
        run_base = b if begins else run_base
        b = behind
    return n, run_column, run_base, run


@inner
def _align_window(gaps, aligned, column, column_end, first, base, base_end, at):
    """Align the gap between two runs; where it is too long for the matrix, pair its bases in order.

    Returns
    -------
    bool
        Whether it was short enough.
    """
    if max(column_end - column, base_end - base) <= gaps.matrix.longest:
        add_gap(gaps, aligned, column, column_end, first, base, base_end, at)
        return True
    for c in range(column, column_end):
        aligned.starts[at + c] = min(base + c - column, base_end)
    return False
