"""The decisions of the last vote on reads (``docs/algorithms/correction.md``), and which are wrong."""

from __future__ import annotations

import contextlib
import dataclasses

import numpy as np
from numba import njit

from graph import consensus as voting
from graph.consensus import Consensus
from graph.machine import Workers
from graph.packing import packed
from graph.params import CorrectParams
from graph.piles import Piles, rows_of
from graph.thresholds import fit_doubt, fit_threshold
from graph.vote_settings import WEIGHT
from overlapper import pipeline
from overlapper.kernels.cpu import chances, pile
from overlapper.kernels.cpu.inner import inner
from overlapper.kernels.cpu.members import gather_members, unpack_piece
from overlapper.kernels.cpu.paths import ALL_ANCHORS, first_paths, new_memory
from overlapper.kernels.cpu.pile_guard import leave_out
from overlapper.kernels.cpu.pile_moves import carry_over

KINDS = [
    "stays, run 1", "2 or 3", "4", "5", "6", "7 or more", "farther left", "changed",
    "refused, to 3", "4", "5", "6 or more",
]  # fmt: skip
"""Rows of the tables of chances."""


@dataclasses.dataclass
class Voted:
    """A round on some of the reads.

    Attributes
    ----------
    targets : ndarray of int64
        Which reads.
    made : Consensus
        Of these.
    decisions : dict of int to ndarray of int32, shape (n, 4)
        Those on each: the base of the consensus that they are about, or that would be before; kind; step;
        and whether they are against a base. Reads that are cut into pieces have none.
    params : CorrectParams
        With the thresholds that were derived.
    """

    targets: np.ndarray
    made: Consensus
    decisions: dict[int, np.ndarray]
    params: CorrectParams

    def read(self, number):
        """Return the bases of the consensus of a target, and their qualities."""
        interval = slice(self.made.offsets[number], self.made.offsets[number + 1])
        return self.made.codes[interval], self.made.quality[interval]


def vote(reads, params, targets, *, raw):
    """Find the consensus of some of the reads, as a round of `graph.correct` does, on one thread."""
    overlaps = pipeline.run(reads, "auto").overlaps
    rows = rows_of(overlaps)
    piles = Piles(reads, reads, rows, targets_vote=True)
    params = fit_threshold(piles, params, Workers())
    doubt = None if raw else fit_doubt(piles, params, Workers())
    number = np.full(len(reads), -1, np.int32)
    number[targets] = np.arange(len(targets))
    rows = rows.take(number[rows.target] >= 0)
    rows = dataclasses.replace(rows, target=number[rows.target])
    with _watched() as decisions:
        some = Piles(reads.take(targets), reads, rows, targets_vote=True)
        made = voting.consensus(some, params, Workers(), doubt=doubt)
    return Voted(targets, made, decisions, params)


def with_qualities(voted, names, table, limits):
    """Return the consensus of all reads, with the qualities that tables lead to.

    Parameters
    ----------
    voted : Voted
        On all reads.
    names : list of str
    table : ndarray of int32, shape (12, STEPS)
    limits : ndarray of int32
    """
    made = voted.made
    quality = made.quality.copy()
    for i, found in voted.decisions.items():
        codes, _ = voted.read(i)
        of_read = chances.qualities(codes, chances_of_bases(len(codes), found, table), limits)
        quality[made.offsets[i] : made.offsets[i + 1]] = of_read
    quality[quality == 0] = WEIGHT
    return packed(made.codes, np.diff(made.offsets), quality, names)


def chances_of_bases(n, decisions, table):
    """Return the chance that each of ``n`` bases is wrong; 0 for those without a vote."""
    place, kind, step, against = decisions.T
    answers = np.minimum(np.where(against, np.maximum(place - 1, 0), place), n - 1)
    summed = np.bincount(answers, table[kind, step], n)
    voted = np.zeros(n, bool)
    voted[place[against == 0]] = True
    return np.where(voted, np.minimum(summed, 3 * chances.UNIT), 0).astype(np.int32)


def wrong_decisions(decisions, found):
    """Return which decisions are wrong, and which are looked at.

    A missing base is the fault of the least clear one of the decisions against a base there.

    Parameters
    ----------
    decisions : ndarray of int32, shape (n, 4)
    found : Differences
    """
    place, _, step, against = decisions.T
    last = len(found.wrong) - 1
    wrong = np.where(against, found.missing[place], found.wrong[np.minimum(place, last)]) > 0
    refused = np.flatnonzero(against)
    order = refused[np.lexsort((step[refused], place[refused]))]
    again = np.zeros(len(order), bool)
    again[1:] = place[order][1:] == place[order][:-1]
    wrong[order[again]] = False
    return wrong, found.inside[np.minimum(place, last)]


@contextlib.contextmanager
def _watched():
    """Keep the decisions on targets in one piece, by number."""
    decisions = {}

    def correct_pieces(targets, reads, pieces, rows, paths, settings):
        memory = new_memory(int((pieces.end - pieces.start).max(initial=1)))
        for p, target in enumerate(pieces.target):
            if np.count_nonzero(pieces.target == target) == 1:
                decisions[int(target)] = _on_piece(targets, reads, pieces, p, rows, settings, memory)
        return unwatched(targets, reads, pieces, rows, paths, settings)

    unwatched, voting.correct_pieces = voting.correct_pieces, correct_pieces
    try:
        yield decisions
    finally:
        voting.correct_pieces = unwatched


@njit(cache=True)
def _on_piece(targets, reads, pieces, p, rows, settings, memory):
    """Return the decisions on the last draft of a piece without unknown bases."""
    target = unpack_piece(targets, pieces, p)
    members = gather_members(targets, reads, pieces, p, rows, settings)
    starts = first_paths(target, members, rows, pieces.first[p], settings, ALL_ANCHORS, memory)
    draft, last = target, len(settings.thresholds) - 1
    votes = pile.count_votes(members, starts, len(draft))
    for step in range(last):
        draft, place, _, _ = pile.next_draft(
            draft, votes, settings.thresholds[step], settings.worth, settings.doubt
        )
        starts = carry_over(members, starts, draft, place, memory.gaps)
        votes = pile.count_votes(members, starts, len(draft))
        if step == 0 and settings.guard and leave_out(members, starts, votes):
            votes = pile.count_votes(members, starts, len(draft))
    return _on_draft(draft, votes, settings.thresholds[last], settings.worth, settings.doubt)


@njit(cache=True)
def _on_draft(draft, votes, thresholds, worth, doubt):
    """Return the decisions on a draft, as `pile.next_draft` takes them."""
    found, size, n = np.empty((len(draft) * (2 + pile.SLOTS), 4), np.int32), 0, 0
    run, run_end = 0, 0
    for c in range(len(draft)):
        if c == run_end:
            while run_end < len(draft) and draft[run_end] == draft[c]:
                run_end += 1
            run = run_end - c
        column, members = votes.column[c], min(np.int64(votes.depth[c]), 255)
        if members < pile.MIN_DEPTH:
            size += 1
            continue
        threshold = thresholds[np.int64(run >= pile.HOMOPOLYMER)]
        standing, total = np.int64(column[:4].sum()), np.int64(column.sum())
        clear = chances.reach(total, members, worth, doubt)
        if 100 * standing >= threshold * total:
            best = np.int64(column[:4].max())
            step = chances.step_for(best, standing, total, threshold, clear)
            _put(found, n, size, chances.stays_row(run, c + 1 == run_end), step, 0)
            size += 1
        else:
            step = chances.step_of(clear, threshold * total - 100 * standing, threshold * total)
            _put(found, n, size, chances.CHANGED, step, 1)
        n += 1
        passing = np.int64(votes.passing[c])
        clear = chances.reach(passing, members, worth, doubt)
        for slot in range(pile.SLOTS):
            weights = votes.inserted[c, 4 * slot : 4 * slot + 4]
            standing, best = np.int64(weights.sum()), np.int64(weights.argmax())
            longer = run + 1 if best == draft[c] else 1
            threshold = thresholds[np.int64(longer >= pile.HOMOPOLYMER)]
            if 100 * standing <= threshold * passing:
                if passing:
                    step = chances.step_of(clear, threshold * passing - 100 * standing, threshold * passing)
                    _put(found, n, size, chances.refused_row(longer), step, 1)
                    n += 1
                break
            step = chances.step_for(np.int64(weights[best]), standing, passing, threshold, clear)
            _put(found, n, size, chances.CHANGED, step, 0)
            n, size = n + 1, size + 1
    return found[:n].copy()


@inner
def _put(found, n, place, kind, step, against):
    """Write a decision down."""
    found[n, 0], found[n, 1], found[n, 2], found[n, 3] = place, kind, step, against
