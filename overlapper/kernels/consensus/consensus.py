"""Consensus of pieces of targets from the reads that overlap them (``docs/algorithms/correction.md``)."""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.edit_paths import TARGET_UNKNOWN
from overlapper.kernels.common.growth import grow
from overlapper.kernels.consensus.error_probabilities import LIMITS, qualities
from overlapper.kernels.consensus.haplotype_filter import leave_out
from overlapper.kernels.consensus.layer_paths import ALL_ANCHORS, first_paths, known_paths, new_memory
from overlapper.kernels.consensus.layers import gather_members, unpack_piece
from overlapper.kernels.consensus.next_draft import carry_over
from overlapper.kernels.consensus.own_bases import keep_own
from overlapper.kernels.consensus.reconsider import reconsider
from overlapper.kernels.consensus.unknown_runs import fill_unknown
from overlapper.kernels.consensus.votes import HOMOPOLYMER, count_votes, next_draft
from overlapper.runtime.compile.cache import njit

ALIGNED, LEFT_OUT, LOST, COLUMNS, EDITS, INSERTED, DELETED, COVERED, RUNS, SHORTER, LONGER = range(11)
COUNTS = 11
"""Integers of a piece: members aligned, left out by the guard, and lost; columns of the target's alignment to
its consensus, differences in them, and among these bases of the target alone and of the consensus alone;
bases of the target that members cover, together; homopolymer runs of the consensus, and those that have fewer
bases in the target, and more."""


@njit(nogil=True, cache=True)
def correct_pieces(targets, reads, pieces, rows, paths, settings):
    """Find the consensus of pieces.

    Parameters
    ----------
    targets, reads : Sequences
    pieces : Pieces
    rows : Rows
        Of every piece, those whose votes are wanted, the best first.
    paths : Paths
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
        members = gather_members(targets, reads, pieces, p, rows, settings)
        low = pieces.first[p]
        if low < pieces.first[p + 1] and paths.at[low] >= 0:
            starts = known_paths(target, members, rows, low, settings, paths)
        else:
            starts = first_paths(target, members, rows, low, settings, ALL_ANCHORS, memory)
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
def _consensus(target, members, starts, settings, gaps, counts):
    """Return the consensus of a pile: bases, qualities, depth, and origin."""
    own = len(members.start) - 1
    for m in range(own):
        counts[ALIGNED] += members.used[m]
        counts[COVERED] += members.end[m] - members.start[m]
    counts[LOST] = own - counts[ALIGNED]
    draft = target
    if counts[ALIGNED] and (target == TARGET_UNKNOWN).any():
        draft, place = fill_unknown(target, members, starts, gaps.matrix.longest)
        starts = carry_over(members, starts, draft, place, gaps)
    steps = len(settings.thresholds) if counts[ALIGNED] else 1
    for step in range(steps):
        votes = count_votes(members, starts, len(draft))
        if step == 1 and settings.guard:
            counts[LEFT_OUT] = leave_out(members, starts, votes)
            if counts[LEFT_OUT]:
                votes = count_votes(members, starts, len(draft))
        if step > 0 and settings.guard and settings.target_votes:
            keep_own(members, starts, votes, settings.alike)
        if step > 0 and step == steps - 1 and not settings.target_votes:
            draft, place, changed = reconsider(draft, members, starts, votes, gaps.matrix)
            if changed:
                starts = carry_over(members, starts, draft, place, gaps)
                votes = count_votes(members, starts, len(draft))
        draft, place, chances, depth = next_draft(
            draft, votes, settings.thresholds[step], settings.worth, settings.doubt
        )
        if step == steps - 1:
            members.used[:own] = False
        starts = carry_over(members, starts, draft, place, gaps)
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
        if c - start >= HOMOPOLYMER:
            held = 0
            for x in range(starts[at + start], starts[at + c]):
                held += bases[x] == draft[start]
            counts[RUNS] += 1
            counts[SHORTER] += held < c - start
            counts[LONGER] += held > c - start
        start = c
