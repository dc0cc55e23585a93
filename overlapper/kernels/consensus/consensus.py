"""Consensus of windows of targets from the reads that overlap them (``docs/algorithms/correction.md``)."""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.growth import extended
from overlapper.kernels.common.packed import popcount
from overlapper.kernels.consensus.carry_over import carry_over
from overlapper.kernels.consensus.copy_filter import chosen_rows
from overlapper.kernels.consensus.equal_runs import WIDTH, side_by_side, unlike_bases
from overlapper.kernels.consensus.erring_words import forget_erring
from overlapper.kernels.consensus.error_probabilities import LIMITS, qualities
from overlapper.kernels.consensus.haplotype_filter import is_cis, leave_out
from overlapper.kernels.consensus.known_votes import let_known_decide
from overlapper.kernels.consensus.layer_paths import ANY_SURPLUS, first_paths, new_memory
from overlapper.kernels.consensus.layers import (
    ALIKE,
    CIS,
    ELSEWHERE,
    IDLE,
    UNLIKE,
    gather_layers,
    new_room,
    some_layers,
    unpack_window,
)
from overlapper.kernels.consensus.next_draft import HOMOPOLYMER, last_draft, next_draft
from overlapper.kernels.consensus.own_bases import keep_own, keep_stretches
from overlapper.kernels.consensus.reconsider import reconsider
from overlapper.kernels.consensus.unknown_runs import fill_unknown, has_unknown
from overlapper.kernels.consensus.votes import count_votes
from overlapper.runtime.compile.cache import njit

ALIGNED, LEFT_OUT, LOST, COLUMNS, EDITS, INSERTED, DELETED, COVERED, RUNS, SHORTER, LONGER = range(11)
COUNTS = 11
"""Counts of a window: layers that were aligned, left out by filters, lost; in the alignment of the target to
its consensus, columns, differences, bases of the target alone, bases of the consensus alone; bases of the
target that layers cover, summed; homopolymer runs of the consensus, those shorter in the target, those
longer."""


@njit(nogil=True, cache=True)
def correct_windows(targets, reads, windows, rows, crowded, most_surplus, settings):
    """Find the consensus of windows.

    Parameters
    ----------
    targets, reads : Sequences
    windows : Windows
    rows : Rows
        The rows that vote on each window, the best first; of a crowded window, the rows to choose from: what
        these have at sites is written.
    crowded : ndarray of bool, shape (windows,)
        Windows whose rows are chosen by the copy filter (`kernels.consensus.copy_filter`).
    most_surplus : int
        Of a crowded window, surplus anchors of earlier rows on each stretch of a row from which on it is
        skipped.
    settings : Settings

    Returns
    -------
    offsets : ndarray of int64, shape (windows + 1,)
        Where each consensus starts in the arrays that follow.
    codes, quality, depth : ndarray of uint8
        Bases, their Phred qualities, and the layers that cover each, at most 255.
    origin : ndarray of int32
        How many bases of the window come before each base of its consensus.
    counts : ndarray of int64, shape (windows, COUNTS)
    marks : ndarray of uint8, shape (rows,)
        `ALIKE` and the others (`kernels.consensus.layers`).
    """
    n = len(windows.target)
    longest = np.int64(0)
    for p in range(n):
        longest = max(longest, windows.end[p] - windows.start[p])
    memory, room = new_memory(longest), new_room(windows, rows)
    offsets, counts = np.zeros(n + 1, np.int64), np.zeros((n, COUNTS), np.int64)
    codes, quality, depth = np.empty(0, np.uint8), np.empty(0, np.uint8), np.empty(0, np.uint8)
    origin, marks = np.empty(0, np.int32), np.full(len(rows.read), IDLE, np.uint8)
    for p in range(n):
        target = unpack_window(targets, windows, p)
        layers = gather_layers(targets, reads, windows, p, rows, settings, room)
        low, most = windows.first[p], np.int64(most_surplus if crowded[p] else ANY_SURPLUS)
        starts, runs = first_paths(target, layers, rows, low, settings, most, memory, room.starts)
        if settings.erring.shape[1]:
            runs = forget_erring(layers, runs, settings.erring)
        chosen = np.arange(len(layers.start) - 1)
        if crowded[p]:
            chosen, same = chosen_rows(target, layers, starts, runs, rows, low, settings)
            counts[p, LEFT_OUT] = len(same) - same.sum()
            for m in range(len(same)):
                if not same[m]:
                    marks[low + m] = ELSEWHERE
            layers, runs = some_layers(layers, runs, chosen)
        window_codes, window_quality, window_depth, window_origin, marks_of_layers = _consensus(
            target, layers, starts, runs, settings, memory.gaps, room, counts[p],
            rows.agreeing[low + chosen], rows.differing[low + chosen],
        )  # fmt: skip
        marks[low + chosen] = marks_of_layers
        size = offsets[p]
        codes, quality = extended(codes, size, window_codes), extended(quality, size, window_quality)
        depth, origin = extended(depth, size, window_depth), extended(origin, size, window_origin)
        offsets[p + 1] = size + len(window_codes)
    size = offsets[n]
    return offsets, codes[:size], quality[:size], depth[:size], origin[:size], counts, marks


@njit(nogil=True, cache=True)
def _consensus(target, layers, starts, runs, settings, gaps, room, counts, agreeing, differing):
    """Return the consensus of a pileup (bases, qualities, depth, origin) and the marks of its layers.

    At how many sites layers agree with the target, and differ, is added to ``agreeing`` and ``differing``.
    """
    own = len(layers.start) - 1
    for m in range(own):
        counts[ALIGNED] += layers.used[m]
        counts[COVERED] += layers.end[m] - layers.start[m]
    counts[LOST] = own - counts[ALIGNED]
    draft, here, there = target, room.starts, room.next_starts
    marks = np.full(own + 1, ALIKE, np.uint8)
    if counts[ALIGNED] and has_unknown(target):
        draft, place = fill_unknown(target, layers, starts, gaps.matrix.longest)
        starts, runs = carry_over(layers, starts, runs, target, draft, place, gaps, there)
        here, there = there, here
    steps = len(settings.thresholds) if counts[ALIGNED] else 1
    for step in range(steps):
        votes = count_votes(draft, layers, starts, runs)
        if step == 1 and settings.haplotype_filter:
            left_out, sides = leave_out(layers, starts, votes, settings, marks, agreeing, differing)
            counts[LEFT_OUT] += left_out
            if left_out:
                votes = count_votes(draft, layers, starts, runs)
                let_known_decide(draft, layers, starts, votes, sides)
        if step == 0 and settings.haplotype_filter and settings.target_votes:
            keep_stretches(layers, starts, votes, settings)
        if step > 0 and settings.haplotype_filter and settings.target_votes:
            keep_own(draft, layers, starts, votes, settings, marks)
        if step > 0 and step == steps - 1 and not settings.target_votes:
            before = draft.copy()
            draft, place, changed = reconsider(draft, layers, starts, votes, gaps.matrix)
            if changed:
                starts, runs = carry_over(layers, starts, runs, before, draft, place, gaps, there)
                here, there = there, here
                votes = count_votes(draft, layers, starts, runs)
        before = draft
        thresholds, worth, doubt = settings.thresholds[step], settings.worth, settings.doubt
        if step < steps - 1:
            draft, place = next_draft(draft, votes, thresholds, worth, doubt)
        else:
            draft, place, probabilities, depth = last_draft(draft, votes, thresholds, worth, doubt)
            for m in range(own):
                if not layers.used[m]:
                    marks[m] = max(marks[m], UNLIKE)
                elif is_cis(agreeing[m], differing[m]):
                    marks[m] = CIS
            layers.used[:own] = False
        starts, runs = carry_over(layers, starts, runs, before, draft, place, gaps, there)
        here, there = there, here
    origin = starts[layers.at[own] : layers.at[own] + len(draft)]
    _count_edits(draft, starts, layers.at[own], layers.bases[layers.first[own] :], counts)
    _count_runs(draft, starts, layers.at[own], layers.bases[layers.first[own] :], counts)
    quality = qualities(draft, probabilities, LIMITS[0 if settings.worth else 1])
    return draft, quality, depth, origin, marks[:own]


@njit(nogil=True, cache=True)
def _count_edits(draft, starts, at, bases, counts):
    """Count the columns of the target's alignment to its consensus, and the differences in them."""
    done = np.int64(0)
    for c in range(len(draft)):
        if c < done:
            continue
        here, behind = np.int64(starts[at + c]), np.int64(starts[at + c + 1])
        if c + WIDTH <= len(draft) and here + WIDTH <= len(bases):
            paired = side_by_side(starts, at + c + 1, here + 1)
            if paired:
                counts[COLUMNS] += paired
                counts[EDITS] += popcount(unlike_bases(draft, c, bases, here, paired))
                done = c + paired
                continue
        inserted, deleted = max(np.int64(0), behind - here - 1), behind == here
        counts[COLUMNS] += 1 + inserted
        counts[EDITS] += inserted + (deleted or bases[here] != draft[c])
        counts[INSERTED] += inserted
        counts[DELETED] += deleted


@njit(nogil=True, cache=True)
def _count_runs(draft, starts, at, bases, counts):
    """Count homopolymer runs of the consensus, and how many are shorter and longer in the target."""
    start = 0
    for c in range(1, len(draft) + 1):
        if c < len(draft) and draft[c] == draft[start]:
            continue
        if c - start >= HOMOPOLYMER:
            held = 0
            for x in range(starts[at + start], starts[at + c]):
                held += bases[x] == draft[start]
            counts[RUNS] += 1
            counts[SHORTER] += held < c - start
            counts[LONGER] += held > c - start
        start = c
