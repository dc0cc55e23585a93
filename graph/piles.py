"""Reads that lie on targets: what consensus is found of (``docs/algorithms/correction.md``, section 1)."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from overlapper.tables import Overlaps, Reads
from overlapper.tables.base import Table, column

WIDEN = 200
"""Rows are widened by so many bases where both reads go on."""


@dataclasses.dataclass(frozen=True, eq=False)
class Rows(Table):
    """Reads on targets. Intervals are 0-based half-open, on forward strands.

    Attributes
    ----------
    target, read : ndarray of int32, shape (n,)
    reverse : ndarray of bool, shape (n,)
        True where the read's reverse complement matches the target.
    t_start, t_end, r_start, r_end : ndarray of int64, shape (n,)
    score : ndarray of int32, shape (n,)
        Of a target's rows those with the highest are taken first.
    divergence : ndarray of float32, shape (n,)
        Differences a base; NaN where unknown.
    """

    SORT_KEYS: ClassVar = ("target", "worst", "read", "t_start", "r_start", "reverse")

    target: np.ndarray = column("i4")
    read: np.ndarray = column("i4")
    reverse: np.ndarray = column("?")
    t_start: np.ndarray = column("i8")
    t_end: np.ndarray = column("i8")
    r_start: np.ndarray = column("i8")
    r_end: np.ndarray = column("i8")
    score: np.ndarray = column("i4")
    divergence: np.ndarray = column("f4")

    @property
    def worst(self) -> np.ndarray:
        """Scores, negated."""
        return -self.score

    def typical_divergence(self) -> float:
        """Return the median divergence; 1 where none is known."""
        known = self.divergence[~np.isnan(self.divergence)]
        return float(np.median(known)) if len(known) else 1.0

    def widened(self, t_lengths: np.ndarray, r_lengths: np.ndarray) -> Rows:
        """Let rows go on at either end, by the same number of bases on both reads, as far as these go.

        Parameters
        ----------
        t_lengths, r_lengths : ndarray of int64
            Of all targets, and of all reads.
        """
        before, behind = self.r_start, r_lengths[self.read] - self.r_end
        left = np.minimum(self.t_start, np.where(self.reverse, behind, before)).clip(0, WIDEN)
        right = np.minimum(
            t_lengths[self.target] - self.t_end, np.where(self.reverse, before, behind)
        ).clip(0, WIDEN)  # fmt: skip
        return dataclasses.replace(
            self,
            t_start=self.t_start - left,
            t_end=self.t_end + right,
            r_start=self.r_start - np.where(self.reverse, right, left),
            r_end=self.r_end + np.where(self.reverse, left, right),
        )


def rows_of(overlaps: Overlaps) -> Rows:
    """Return every overlap twice, as the query on the target and as the target on the query."""
    both = (overlaps.query, overlaps.target), (overlaps.target, overlaps.query)
    sides = (
        (overlaps.q_start, overlaps.t_start), (overlaps.q_end, overlaps.t_end),
        (overlaps.t_start, overlaps.q_start), (overlaps.t_end, overlaps.q_end),
    )  # fmt: skip
    target, read = (np.concatenate(pair) for pair in both)
    intervals = [np.concatenate(pair) for pair in sides]
    shared = (np.tile(values, 2) for values in (overlaps.score, overlaps.divergence))
    return Rows(target, read, np.tile(overlaps.reverse, 2), *intervals, *shared)


@dataclasses.dataclass(frozen=True, eq=False)
class Piles:
    """Targets and the reads that lie on them.

    Attributes
    ----------
    targets, reads : Reads
        Weighted by their qualities, where they have them.
    rows : Rows
    targets_vote : bool
        Whether a target is a read that votes like the others, or only where they are put.
    """

    targets: Reads
    reads: Reads
    rows: Rows
    targets_vote: bool

    def sample(self, wanted: int) -> Piles:
        """Return the piles of so many of the targets, evenly spread."""
        n = len(self.targets)
        sample = np.unique(np.linspace(0, n - 1, min(n, wanted)).astype(int))
        number = np.full(n, -1, np.int32)
        number[sample] = np.arange(len(sample))
        some = self.rows.take(number[self.rows.target] >= 0)
        rows = dataclasses.replace(some, target=number[some.target])
        return Piles(self.targets.take(sample), self.reads, rows, self.targets_vote)
