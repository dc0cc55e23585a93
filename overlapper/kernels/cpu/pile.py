"""The pile of reads on a draft: votes, the next draft, and reads carried over to it.

Definitions are in ``docs/algorithms/correction.md``. A *member* is a read, or the target itself, with an edit
path (`kernels.cpu.edit_paths`) over the columns ``[start, end)`` of a draft.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from overlapper.kernels.cpu.chances import (
    CHANCES,
    CHANGED,
    UNIT,
    reach,
    refused_row,
    stays_row,
    step_for,
    step_of,
)
from overlapper.kernels.cpu.gap_paths import add_gap, finish_gaps
from overlapper.kernels.cpu.inner import inner

U64 = np.uint64
SLOTS = 8
"""Bases that one draft can gain behind a column."""
DELETION = 4
MIN_DEPTH = 3
"""Members without which a column stays as it is."""
MIN_RUN = 6
"""Equal pairs in a row that carry a path over to the next draft."""
RUN_ENDS = 2
"""Pairs at either end of such a run that are aligned anew all the same."""
_GONE = 255
HOMOPOLYMER = 4
"""Bases of the shortest homopolymer run that has a threshold of its own."""


class Members(NamedTuple):
    """Members of a pile, ``m`` of them; the last one is the target itself.

    Attributes
    ----------
    bases, weights : ndarray of uint8
        Codes and weights of all members, each on the strand of the target.
    first, last : ndarray of int64, shape (m,)
        Bases of a member are at ``first`` to ``last``.
    reverse : ndarray of bool, shape (m,)
    start, end : ndarray of int64, shape (m,)
        Columns that its path covers.
    at : ndarray of int64, shape (m,)
        Row ``c`` of its path is ``starts[at + c]``; row ``end`` is there too.
    used : ndarray of bool, shape (m,)
        Whether it votes.
    """

    bases: np.ndarray
    weights: np.ndarray
    first: np.ndarray
    last: np.ndarray
    reverse: np.ndarray
    start: np.ndarray
    end: np.ndarray
    at: np.ndarray
    used: np.ndarray


class Votes(NamedTuple):
    """Votes of a pile on a draft of ``n`` columns.

    Attributes
    ----------
    column : ndarray of uint16, shape (n, 5)
        Weight of every base, and of `DELETION`.
    inserted : ndarray of uint16, shape (n, SLOTS * 4)
        Weight of every base in every slot behind the column.
    passing : ndarray of uint16, shape (n,)
        Weight of the members that go on behind the column.
    depth : ndarray of int32, shape (n,)
        Members that cover the column.
    """

    column: np.ndarray
    inserted: np.ndarray
    passing: np.ndarray
    depth: np.ndarray


@njit(nogil=True, cache=True)
def count_votes(members, starts, length):
    """Count the votes of the members that are used."""
    votes = Votes(
        np.zeros((length, 5), np.uint16),
        np.zeros((length, SLOTS * 4), np.uint16),
        np.zeros(length, np.uint16),
        np.zeros(length + 1, np.int32),
    )
    for m in range(len(members.start)):
        if members.used[m]:
            votes.depth[members.start[m]] += 1
            votes.depth[members.end[m]] -= 1
            start, end, at = members.start[m], members.end[m], members.at[m]
            first, last = members.first[m], members.last[m]
            _vote(
                starts[at + start : at + end + 1], members.bases[first:last], members.weights[first:last],
                votes.column[start:end], votes.inserted[start:end], votes.passing[start:end],
            )  # fmt: skip
    for c in range(length):
        votes.depth[c + 1] += votes.depth[c]
    return votes


@inner
def _vote(path, bases, weights, column, inserted, passing):
    """Count the votes of one member on the columns that it covers.

    Indices are unsigned: numba looks whether others are negative, which counts here.
    """
    columns, final = U64(len(path) - 1), U64(len(bases) - 1)
    here = U64(path[U64(0)])
    for i in range(len(path) - 1):
        c = U64(i)
        behind = U64(path[c + U64(1)])
        before = behind - U64(behind > U64(0))
        around = np.uint16((U64(weights[before]) + U64(weights[min(behind, final)])) >> U64(1))
        if behind == here:
            column[c, U64(DELETION)] += around
        else:
            if bases[here] < 4:
                column[c, U64(bases[here])] += np.uint16(weights[here])
            for slot in range(min(behind - here - U64(1), U64(SLOTS))):
                x = here + U64(1) + U64(slot)
                if bases[x] < 4:
                    inserted[c, U64(4) * U64(slot) + U64(bases[x])] += np.uint16(weights[x])
        if c + U64(1) < columns:
            passing[c] += around
        here = behind


@njit(nogil=True, cache=True)
def next_draft(draft, votes, thresholds, worth, doubt):
    """Make the next draft of the votes on one.

    Parameters
    ----------
    draft : ndarray of uint8, shape (n,)
    votes : Votes
    thresholds : ndarray of int64, shape (2,)
        Percentage of the weight that a base needs to stay, and has to exceed to be inserted; that of a base
        of a homopolymer run.
    worth, doubt : int
        As in `kernels.cpu.correct.Settings`.

    Returns
    -------
    codes : ndarray of uint8
    place : ndarray of int64, shape (n + 1,)
        Where each column went, or would have.
    chances : ndarray of int32
        That each base of the next draft is wrong (`kernels.cpu.chances`); 0 where it was not voted on.
    depth : ndarray of uint8
        Members at each base, 255 for more.
    """
    n = len(draft)
    most = (1 + SLOTS) * n
    codes, depth, chances = np.empty(most, np.uint8), np.empty(most, np.uint8), np.empty(most + 1, np.int32)
    place = np.empty(n + 1, np.int64)
    size, before, run, run_end = 0, np.int64(0), 0, 0
    table = CHANCES[0 if worth else 1]
    for c in range(n):
        place[c] = size
        if c == run_end:
            run_end = _run_end(draft, c)
            run = run_end - c
        threshold = thresholds[np.int64(run >= HOMOPOLYMER)]
        column, members = votes.column[c], min(int(votes.depth[c]), 255)
        base, standing = int(draft[c]), np.int64(0)
        for code in range(4):
            standing += column[code]
            if column[code] > (column[base] if base < 4 else 0):
                base = code
        voted = members >= MIN_DEPTH
        if not voted and draft[c] < 4:
            base = int(draft[c])
        total = standing + column[DELETION]
        clear = reach(total, members, worth, doubt)
        if not voted or 100 * standing >= threshold * total:
            codes[size], depth[size] = base, members
            own = np.int64(0)
            if base < 4 and (voted or draft[c] > 3):
                row = stays_row(run, c + 1 == run_end)
                step = step_for(np.int64(column[base]), standing, total, threshold, clear)
                own = np.int64(table[row, step])
            _take_doubt(chances, size, own, before)
            size, before = size + 1, np.int64(0)
        else:
            step = step_of(clear, threshold * total - 100 * standing, threshold * total)
            before += table[CHANGED, step]
        for slot in range(SLOTS if voted else 0):
            best, standing, passing = 4 * slot, np.int64(0), np.int64(votes.passing[c])
            for code in range(4 * slot, 4 * slot + 4):
                standing += votes.inserted[c, code]
                if votes.inserted[c, code] > votes.inserted[c, best]:
                    best = code
            longer = run + 1 if (best & 3) == draft[c] else 1
            threshold = thresholds[np.int64(longer >= HOMOPOLYMER)]
            clear = reach(passing, members, worth, doubt)
            if 100 * standing <= threshold * passing:
                if passing:
                    step = step_of(clear, threshold * passing - 100 * standing, threshold * passing)
                    before += table[refused_row(longer), step]
                break
            codes[size], depth[size] = best & 3, members
            step = step_for(np.int64(votes.inserted[c, best]), standing, passing, threshold, clear)
            _take_doubt(chances, size, np.int64(table[CHANGED, step]), before)
            size, before = size + 1, np.int64(0)
    place[n] = size
    if size:
        _take_doubt(chances, size, np.int64(0), before)
    return codes[:size], place, chances[:size], depth[:size]


@inner
def _run_end(codes, start):
    """Return where the homopolymer run ends that starts there."""
    end = start + 1
    while end < len(codes) and codes[end] == codes[start]:
        end += 1
    return end


@inner
def _take_doubt(chances, size, own, doubt):
    """Set the chance of the next base, and add the doubt before it to that of the base before."""
    doubt = min(doubt, UNIT)
    if size == 0 and own > 0:
        own += doubt
    elif size and chances[size - 1] > 0:
        chances[size - 1] += doubt
    chances[size] = own


@njit(nogil=True, cache=True)
def carry_over(members, starts, draft, place, gaps):
    """Carry all members over to the next draft; return their paths there.

    Members that are lost, because nothing of them is left or because too much lies between two runs, are no
    longer used; the target stays.
    """
    m_target = len(members.start) - 1
    size = np.int64(0)
    for m in range(len(members.start)):
        if members.used[m] or m == m_target:
            size += place[members.end[m]] - place[members.start[m]] + 1
    carried = np.empty(size, np.int32)
    kept = _kept_bases(draft, place)
    runs = np.empty((len(kept) // MIN_RUN + 1, 3), np.int64)
    at = np.int64(0)
    for m in range(len(members.start)):
        if not members.used[m] and m != m_target:
            continue
        start, end = members.start[m], members.end[m]
        new_start, new_end = place[start], place[end]
        whole = _carry(
            starts, members.at[m], start, end, members.bases, members.first[m], kept, runs, draft, place,
            carried, at - new_start, gaps,
        )  # fmt: skip
        members.start[m], members.end[m], members.at[m] = new_start, new_end, at - new_start
        if m != m_target and (not whole or new_end == new_start):
            members.used[m] = False
        at += new_end - new_start + 1
    finish_gaps(gaps, draft, members.bases, carried)
    return carried


@njit(nogil=True, cache=True)
def _kept_bases(draft, place):
    """Return the base that each column has on the next draft, `_GONE` if it is not there any more."""
    kept = np.empty(len(place) - 1, np.uint8)
    for c in range(len(kept)):
        kept[c] = draft[place[c]] if place[c + 1] > place[c] else _GONE
    return kept


@inner
def _carry(starts, at, start, end, bases, first, kept, runs, draft, place, carried, to, gaps):
    """Carry one path over; return whether every piece of it could be aligned."""
    column, base, last = place[start], np.int64(starts[at + start]), np.int64(starts[at + end])
    n_runs = _find_runs(starts, at, start, end, bases, first, kept, place, runs)
    whole = True
    for r in range(n_runs):
        run_column, run_base, run = runs[r, 0], runs[r, 1], runs[r, 2]
        whole &= _align_piece(
            draft, column, run_column + RUN_ENDS, bases, first, base, run_base + RUN_ENDS, carried, to, gaps
        )
        for x in range(RUN_ENDS, run - RUN_ENDS):
            carried[to + run_column + x] = run_base + x
        column, base = run_column + run - RUN_ENDS, run_base + run - RUN_ENDS
    whole &= _align_piece(draft, column, place[end], bases, first, base, last, carried, to, gaps)
    carried[to + place[end]] = last
    return whole


@inner
def _find_runs(starts, at, start, end, bases, first, kept, place, runs):
    """Write column, base and length of every run of pairs that are kept; return how many runs there are.

    Whether a pair goes on with a run is chosen without a branch, as a processor cannot foresee it.
    """
    n, run, run_column, run_base = 0, np.int64(0), np.int64(0), np.int64(0)
    b, final = np.int64(starts[at + start]), np.int64(len(bases) - 1)
    for c in range(U64(start), U64(end)):
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
    if run >= MIN_RUN:
        runs[n, 0], runs[n, 1], runs[n, 2] = run_column, run_base, run
        n += 1
    return n


@inner
def _align_piece(draft, column, column_end, bases, first, base, base_end, starts, at, gaps):
    """Have the edit path of a piece written; where it is too long for the matrix, pair bases side by side.

    Returns
    -------
    bool
        Whether the piece was not too long.
    """
    if max(column_end - column, base_end - base) <= gaps.matrix.longest:
        add_gap(gaps, draft, column, column_end, bases, first, base, base_end, starts, at)
        return True
    for c in range(column, column_end):
        starts[at + c] = min(base + c - column, base_end)
    return False
