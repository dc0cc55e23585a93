"""Overlaps without any difference, from read end to read end, of corrected reads.

Definition
----------
Put the target on the query's strand. A seed at query base x and target base y lies on the *diagonal* y - x;
there the reads have bases in common from the start of the one that starts last to the end of the one that
ends first. Where all these are the same, the diagonal is *exact*. Of the exact diagonals on which a candidate
has seeds the longest is its overlap, of equals the lowest; a candidate without one has none. The score is the
number of its bases. An unknown base is like no other.

Errors and copies that differ leave no overlap, so this is for reads that were corrected, each by those of its
own copy. Tandem copies that are the same to the last base may give one pair several overlaps, each of a
candidate of its own.
"""

from __future__ import annotations

import numpy as np

from overlapper.errors import ParameterError
from overlapper.extend.differences import find_differences
from overlapper.kernels.chain.diagonals import seed_diagonals
from overlapper.tables import Candidates, Intervals, Overlaps, Reads
from overlapper.tables.overlaps import UNCLASSIFIED
from overlapper.tables.strands import forward_intervals


def extend(
    reads: Reads, candidates: Candidates, params: None, threads: int
) -> tuple[Overlaps, dict[str, int]]:
    """Find the exact overlaps of candidates (`overlapper.extend.registry.Extender`); others are dropped.

    Raises
    ------
    ParameterError
        When the candidates carry no seeds (``hit_offsets``).
    """
    if candidates.hit_offsets is None:
        raise ParameterError("the extender exact needs candidates that carry their seeds (hit_offsets)")
    candidate, diagonal, seeds = seed_diagonals(
        candidates.hit_offsets, candidates.hit_query_pos, candidates.hit_target_pos, candidates.reverse,
        reads.lengths[candidates.target] - candidates.seed_length,
    )  # fmt: skip
    query, target, reverse = (
        column[candidate] for column in (candidates.query, candidates.target, candidates.reverse)
    )
    q_start, t_start = np.maximum(0, -diagonal), np.maximum(0, diagonal)
    t_length = reads.lengths[target]
    bases = np.minimum(reads.lengths[query] - q_start, t_length - t_start)
    t_end = t_start + bases
    intervals = Intervals(
        query, target, reverse, q_start, q_start + bases,
        *forward_intervals(t_start, t_end, reverse, t_length),
    )  # fmt: skip
    equal = find_differences(reads, intervals, 0, threads=threads).edits == 0
    equal &= ~_has_unknown(reads, query, intervals.q_start, intervals.q_end)
    equal &= ~_has_unknown(reads, target, intervals.t_start, intervals.t_end)
    exact = np.flatnonzero(equal)
    exact = exact[np.lexsort((diagonal[exact], -bases[exact], candidate[exact]))]
    longest = exact[np.diff(candidate[exact], prepend=-1) > 0]
    found, bases = intervals.take(longest), bases[longest]
    overlaps = Overlaps(
        found.query, found.target, found.reverse, found.q_start, found.q_end, found.t_start, found.t_end,
        matches=bases, block_length=bases, score=bases, seeds=seeds[longest],
        divergence=np.zeros(len(found)), kind=np.full(len(found), UNCLASSIFIED),
    )  # fmt: skip
    return overlaps, {"differences": len(candidates) - len(overlaps)}


def _has_unknown(reads: Reads, read: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return a mask of the intervals that hold unknown bases."""
    of_read = np.repeat(np.arange(len(reads)), np.diff(reads.unknown_offsets)) << 32
    before = read.astype(np.int64) << 32
    begun = np.searchsorted(of_read + reads.unknown_start, before + end)
    return begun > np.searchsorted(of_read + reads.unknown_end, before + start, side="right")
