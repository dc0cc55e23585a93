"""Consensus of pieces of targets from the reads that overlap them (``docs/algorithms/correction.md``)."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numba import njit

from overlapper.kernels.cpu import edit_paths, gap_paths, mem_anchors, pile, pile_guard, unknown_runs
from overlapper.kernels.cpu.chances import LIMITS, qualities
from overlapper.kernels.cpu.edit_paths import READ_UNKNOWN, TARGET_UNKNOWN
from overlapper.kernels.cpu.packed import unpack
from overlapper.kernels.cpu.reconsider import reconsider
from overlapper.kernels.cpu.row_paths import known_paths, room_for_paths
from overlapper.kernels.cpu.seed_index import grow

LONGEST = 2048
"""Bases that are aligned in one piece."""
BAND, BAND_SHARE = 150, 20
"""Anchors lie within `BAND` diagonals of the line and a `BAND_SHARE` th of the interval's length."""
SPARE_ANCHORS = 256
"""A row has at most so many anchors more than its piece has bases; there are more in low complexity alone."""
MAX_REACH = 500
"""Bases that a path goes on beyond the first and the last anchor."""
ANCHOR_ENDS = 1
"""Bases at either end of an anchor that are aligned anew all the same."""
ALIGNED, LEFT_OUT, LOST, COLUMNS, EDITS, INSERTED, DELETED, COVERED, RUNS, SHORTER, LONGER = range(11)
COUNTS = 11
"""Integers of a piece: members aligned, left out by the guard, and lost; columns of the target's alignment to
its consensus, differences in them, and among these bases of the target alone and of the consensus alone;
bases of the target that members cover, together; homopolymer runs of the consensus, and those that have fewer
bases in the target, and more."""


class Sequences(NamedTuple):
    """The columns of `Reads` that kernels read; ``quality_offsets`` is empty where there are no qualities."""

    words: np.ndarray
    word_offsets: np.ndarray
    unknown_start: np.ndarray
    unknown_end: np.ndarray
    unknown_offsets: np.ndarray
    qualities: np.ndarray
    quality_offsets: np.ndarray

    @classmethod
    def of(cls, reads: Any) -> Self:
        """Return these columns of a `Reads` table."""
        return cls(
            reads.words, reads.word_offsets, reads.unknown_start, reads.unknown_end, reads.unknown_offsets,
            np.zeros(0, np.uint8) if reads.qualities is None else reads.qualities,
            np.zeros(0, np.int64) if reads.quality_offsets is None else reads.quality_offsets,
        )  # fmt: skip


class Pieces(NamedTuple):
    """Intervals ``[start, end)`` of targets; the rows of each are at ``first[i]`` to ``first[i + 1]``."""

    target: np.ndarray
    start: np.ndarray
    end: np.ndarray
    first: np.ndarray


class Rows(NamedTuple):
    """Reads on pieces: intervals of the piece, and of the forward strand of the read, both half open."""

    read: np.ndarray
    reverse: np.ndarray
    t_start: np.ndarray
    t_end: np.ndarray
    r_start: np.ndarray
    r_end: np.ndarray


class Settings(NamedTuple):
    """Parameters of `graph.params.CorrectParams`, and what is derived from them.

    Attributes
    ----------
    k, max_gap : int
    thresholds : ndarray of int64, shape (drafts, 2)
        Percentage of the weight that a base needs in each draft, and that one of a homopolymer run does.
    weight : int
        Of a base without quality.
    most_weight : int
    target_votes : bool
    guard : bool
    worth : int
        What the vote of a raw read tells, in 64ths of what it does at an error rate of 10 percent; 0 for
        corrected reads, which do not err independently of each other.
    doubt : int
        What a doubt counts, in 16ths; 16 for raw reads, for corrected ones by how much they err alike.
    """

    k: int
    max_gap: int
    thresholds: np.ndarray
    weight: int
    most_weight: int
    target_votes: bool
    guard: bool
    worth: int
    doubt: int


class Memory(NamedTuple):
    """What aligning members to pieces of a length takes (`mem_anchors`, `gap_paths`)."""

    places: mem_anchors.Index
    anchors: np.ndarray
    score: np.ndarray
    before: np.ndarray
    highest: np.ndarray
    gaps: gap_paths.Gaps


@njit(nogil=True, cache=True)
def new_memory(longest):
    """Return memory for pieces of up to ``longest`` bases."""
    most = longest + SPARE_ANCHORS
    return Memory(
        mem_anchors.new_index(longest),
        np.empty((most, 3), np.int32), np.empty(most, np.int32), np.empty(most, np.int32),
        np.empty(most, np.int32), gap_paths.new_gaps(LONGEST),
    )  # fmt: skip


@njit(nogil=True, cache=True)
def correct_pieces(targets, reads, pieces, rows, paths, settings):
    """Find the consensus of pieces.

    Parameters
    ----------
    targets, reads : Sequences
    pieces : Pieces
    rows : Rows
        Of every piece, those whose votes are wanted, the best first.
    paths : row_paths.Paths
        Of the rows; pieces of which they are not known are aligned.
    settings : Settings

    Returns
    -------
    offsets : ndarray of int64, shape (pieces + 1,)
        Where each consensus starts in the arrays that follow.
    codes, quality, depth : ndarray of uint8
        Bases, their Phred qualities, and how many members cover each, 255 for more.
    origin : ndarray of int32
        How many bases of the piece come before each base of its consensus.
    counts : ndarray of int64, shape (pieces, COUNTS)
    """
    n = len(pieces.target)
    longest = 0
    for p in range(n):
        longest = max(longest, pieces.end[p] - pieces.start[p])
    memory = new_memory(longest)
    offsets, counts = np.zeros(n + 1, np.int64), np.zeros((n, COUNTS), np.int64)
    codes, quality, depth = np.empty(0, np.uint8), np.empty(0, np.uint8), np.empty(0, np.uint8)
    origin = np.empty(0, np.int32)
    for p in range(n):
        target = unpack_piece(targets, pieces, p)
        members = gather(targets, reads, pieces, p, rows, settings)
        low = pieces.first[p]
        if low < pieces.first[p + 1] and paths.at[low] >= 0:
            starts = known_paths(target, members, rows, low, settings, paths)
        else:
            starts = first_paths(target, members, rows, low, settings, memory)
        piece_codes, piece_quality, piece_depth, piece_origin = _consensus(
            target, members, starts, settings, memory.gaps, counts[p]
        )
        size, room = offsets[p] + len(piece_codes), len(codes)
        if size > room:
            room = max(size, 2 * room)
            codes, quality = grow(codes, room), grow(quality, room)
            depth, origin = grow(depth, room), grow(origin, room)
        offsets[p + 1] = size
        codes[offsets[p] : size] = piece_codes
        depth[offsets[p] : size] = piece_depth
        quality[offsets[p] : size] = piece_quality
        origin[offsets[p] : size] = piece_origin
    size = offsets[n]
    return offsets, codes[:size], quality[:size], depth[:size], origin[:size], counts


@njit(nogil=True, cache=True)
def unpack_piece(targets, pieces, p):
    """Unpack the bases of a piece."""
    length = pieces.end[p] - pieces.start[p]
    target, none = np.empty(length, np.uint8), np.empty(length, np.uint8)
    _unpack(targets, pieces.target[p], pieces.start[p], length, False, TARGET_UNKNOWN, 0, 0, target, none)
    return target


@njit(nogil=True, cache=True)
def _unpack(sequences, number, first, length, reverse, unknown, weight, most_weight, codes, weights):
    """Unpack bases ``[first, first + length)`` of a sequence and their weights, reversed if wanted."""
    words = sequences.words[sequences.word_offsets[number] : sequences.word_offsets[number + 1]]
    unpack(words, first, length, codes)
    for run in range(sequences.unknown_offsets[number], sequences.unknown_offsets[number + 1]):
        low = max(np.int64(sequences.unknown_start[run]), first)
        high = min(np.int64(sequences.unknown_end[run]), first + length)
        for x in range(low, high):
            codes[x - first] = unknown
    weights[:] = weight
    if len(sequences.quality_offsets):
        begin, end = sequences.quality_offsets[number], sequences.quality_offsets[number + 1]
        if end > begin:
            most = np.uint8(most_weight)
            for x in range(length):
                weights[x] = min(max(sequences.qualities[begin + first + x], np.uint8(1)), most)
    if reverse:
        for x in range(length >> 1):
            y = length - 1 - x
            codes[x], codes[y] = codes[y], codes[x]
            weights[x], weights[y] = weights[y], weights[x]
        for x in range(length):
            codes[x] = 3 - codes[x] if codes[x] < 4 else codes[x]


@njit(nogil=True, cache=True)
def gather(targets, reads, pieces, p, rows, settings):
    """Unpack all members of a piece; none has a path yet."""
    low, high = pieces.first[p], pieces.first[p + 1]
    n = high - low + 1
    first, last = np.empty(n, np.int64), np.empty(n, np.int64)
    reverse = np.zeros(n, np.bool_)
    size = np.int64(0)
    for m in range(n):
        first[m] = size
        own = m == n - 1
        size += pieces.end[p] - pieces.start[p] if own else rows.r_end[low + m] - rows.r_start[low + m]
        last[m] = size
    bases, weights = np.empty(size, np.uint8), np.empty(size, np.uint8)
    for m in range(n - 1):
        read, row = rows.read[low + m], low + m
        reverse[m] = rows.reverse[row]
        _unpack(
            reads, read, np.int64(rows.r_start[row]), last[m] - first[m], reverse[m], READ_UNKNOWN,
            settings.weight, settings.most_weight, bases[first[m] : last[m]], weights[first[m] : last[m]],
        )  # fmt: skip
    own = n - 1
    _unpack(
        targets, pieces.target[p], pieces.start[p], last[own] - first[own], False, READ_UNKNOWN,
        settings.weight, settings.most_weight, bases[first[own] :], weights[first[own] :],
    )  # fmt: skip
    zeros = np.zeros(n, np.int64)
    return pile.Members(
        bases, weights, first, last, reverse, zeros, zeros.copy(), zeros.copy(), np.zeros(n, np.bool_)
    )


@njit(nogil=True, cache=True)
def first_paths(target, members, rows, low, settings, memory):
    """Align all members of the rows from ``low`` on to the target; return the rows of their paths."""
    places, anchors, score, before, highest, gaps = memory
    mem_anchors.index_kmers(target, len(target), settings.k, places)
    starts = room_for_paths(target, members, rows, low, settings)
    own = len(members.start) - 1
    at = np.int64(len(target) + 1)
    for m in range(own):
        read = members.bases[members.first[m] : members.last[m]]
        window = (
            np.int64(rows.t_start[low + m]),
            np.int64(rows.t_end[low + m]),
            np.int64(0),
            np.int64(len(read)),
        )
        band = BAND + len(read) // BAND_SHARE
        room = anchors[: len(target) + SPARE_ANCHORS]
        n = mem_anchors.find_anchors(target, read, window, settings.k, band, places, room)
        members.at[m] = at - window[0]
        if n:
            n = mem_anchors.best_chain(anchors, n, settings.max_gap, score, before, highest)
            start, end = _path_through(
                target, members.bases, members.first[m], read, window, anchors, n, gaps, starts, members.at[m]
            )
            members.start[m], members.end[m], members.used[m] = start, end, end > start
        at += window[1] - window[0] + 1
    gap_paths.finish_gaps(gaps, target, members.bases, starts)
    return starts


@njit(nogil=True, cache=True)
def _path_through(target, bases, first, read, window, anchors, n, gaps, starts, at):
    """Write the path through the anchors of a chain; return the interval of the target it covers.

    Anchors give up `ANCHOR_ENDS` bases at either end, and what overlaps the anchor before.
    """
    t_start, t_end, r_start, r_end = window
    i, j = int(anchors[0, 0]) + ANCHOR_ENDS, int(anchors[0, 1]) + ANCHOR_ENDS
    rise, run = _reach_back(target, t_start, j, read, r_start, i, gaps.matrix)
    begin = j - rise
    gap_paths.add_gap(gaps, target, begin, j, bases, first, i - run, i, starts, at)
    for a in range(n):
        first_i, first_j = int(anchors[a, 0]) + ANCHOR_ENDS, int(anchors[a, 1]) + ANCHOR_ENDS
        length = int(anchors[a, 2]) - 2 * ANCHOR_ENDS
        overlap = max(0, i - first_i, j - first_j)
        if overlap >= length:
            continue
        first_i, first_j, length = first_i + overlap, first_j + overlap, length - overlap
        gap_paths.add_gap(gaps, target, j, first_j, bases, first, i, first_i, starts, at)
        for x in range(length):
            starts[at + first_j + x] = first_i + x
        i, j = first_i + length, first_j + length
    rise, run = _reach_on(target, j, t_end, read, i, r_end, gaps.matrix)
    gap_paths.add_gap(gaps, target, j, j + rise, bases, first, i, i + run, starts, at)
    starts[at + j + rise] = i + run
    return begin, j + rise


@njit(nogil=True, cache=True)
def _reach_on(target, j, t_end, read, i, r_end, matrix):
    """Return how many bases of target and read, from j and i on, belong together.

    The shorter side is taken whole, up to `MAX_REACH` bases, and of the other what is closest to it.
    """
    length = min(t_end - j, r_end - i, MAX_REACH)
    more = length + length // 4 + 16
    if t_end - j <= r_end - i:
        return length, edit_paths.reach(target, j, j + length, read, i, min(r_end, i + more), matrix)
    return edit_paths.reach(read, i, i + length, target, j, min(t_end, j + more), matrix), length


@njit(nogil=True, cache=True)
def _reach_back(target, t_start, j, read, r_start, i, matrix):
    """Do the same before j and i, with both reversed."""
    most = MAX_REACH + MAX_REACH // 4 + 16
    t_back = target[max(t_start, j - most) : j][::-1].copy()
    r_back = read[max(r_start, i - most) : i][::-1].copy()
    return _reach_on(
        t_back, np.int64(0), np.int64(len(t_back)), r_back, np.int64(0), np.int64(len(r_back)), matrix
    )


@njit(nogil=True, cache=True)
def _consensus(target, members, starts, settings, gaps, counts):
    """Return the consensus of a pile: bases, qualities, depth, and origin."""
    own = len(members.start) - 1
    for m in range(own):
        counts[ALIGNED] += members.used[m]
        counts[COVERED] += members.end[m] - members.start[m]
    counts[LOST] = own - counts[ALIGNED]
    draft = target
    if counts[ALIGNED] and (target == TARGET_UNKNOWN).any():
        draft, place = unknown_runs.fill_unknown(target, members, starts, gaps.matrix.longest)
        starts = pile.carry_over(members, starts, draft, place, gaps)
    steps = len(settings.thresholds) if counts[ALIGNED] else 1
    for step in range(steps):
        votes = pile.count_votes(members, starts, len(draft))
        if step == 1 and settings.guard:
            counts[LEFT_OUT] = pile_guard.leave_out(members, starts, votes)
            if counts[LEFT_OUT]:
                votes = pile.count_votes(members, starts, len(draft))
        if step > 0 and step == steps - 1 and not settings.target_votes:
            draft, place, changed = reconsider(draft, members, starts, votes, gaps.matrix)
            if changed:
                starts = pile.carry_over(members, starts, draft, place, gaps)
                votes = pile.count_votes(members, starts, len(draft))
        draft, place, chances, depth = pile.next_draft(
            draft, votes, settings.thresholds[step], settings.worth, settings.doubt
        )
        if step == steps - 1:
            members.used[:own] = False
        starts = pile.carry_over(members, starts, draft, place, gaps)
    origin = starts[members.at[own] : members.at[own] + len(draft)]
    _count_edits(draft, starts, members.at[own], members.bases[members.first[own] :], counts)
    _count_runs(draft, starts, members.at[own], members.bases[members.first[own] :], counts)
    quality = qualities(draft, chances, LIMITS[0 if settings.worth else 1])
    return draft, quality, depth, origin


@njit(nogil=True, cache=True)
def _count_edits(draft, starts, at, bases, counts):
    """Count the columns of the target's alignment to its consensus, and the differences in them."""
    for c in range(len(draft)):
        here, behind = int(starts[at + c]), int(starts[at + c + 1])
        inserted, deleted = max(0, behind - here - 1), behind == here
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
        if c - start >= pile.HOMOPOLYMER:
            held = 0
            for x in range(starts[at + start], starts[at + c]):
                held += bases[x] == draft[start]
            counts[RUNS] += 1
            counts[SHORTER] += held < c - start
            counts[LONGER] += held > c - start
        start = c
