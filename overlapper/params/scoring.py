"""Scores of plain pairs of sequences."""

from __future__ import annotations

import dataclasses

from overlapper.errors import require
from overlapper.params.limits import Limited, within

_LARGEST = 2**20


@dataclasses.dataclass(frozen=True)
class Scoring(Limited):
    """Scores of pairs of bases and of gaps (docs/algorithms/pairwise.md).

    Attributes
    ----------
    match, mismatch, unknown : int
        Score of two equal bases, of two unequal ones, and of a pair with a base that is not one of ACGT.
    gap_open, gap_extend : int
        A gap of n bases scores gap_open + n * gap_extend; gap_open 0 is the linear gap.
    matrix : tuple of 5 tuples of 5 int, optional
        Scores of a query base (row) with a target base (column), each in the order ACGTN; replaces the first
        three.
    """

    match: int = within(-_LARGEST, _LARGEST, "-2^20 to 2^20", default=1)
    mismatch: int = within(-_LARGEST, _LARGEST, "-2^20 to 2^20", default=-4)
    unknown: int = within(-_LARGEST, _LARGEST, "-2^20 to 2^20", default=-1)
    gap_open: int = within(-_LARGEST, 0, "-2^20 to 0", default=-6)
    gap_extend: int = within(-_LARGEST, 0, "-2^20 to 0", default=-1)
    matrix: tuple[tuple[int, ...], ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for row in self.pair_scores():
            require(len(row) == 5, "a row of matrix", row, "5 scores, for ACGTN")
            require(all(abs(value) <= _LARGEST for value in row), "a row of matrix", row, "-2^20 to 2^20")
        self._require(len(self.pair_scores()) == 5, "matrix", "5 rows, for ACGTN")

    def pair_scores(self) -> tuple[tuple[int, ...], ...]:
        """Return the matrix, given or made of the other scores."""
        if self.matrix is not None:
            return self.matrix
        known = [
            (*(self.match if a == b else self.mismatch for b in range(4)), self.unknown) for a in range(4)
        ]
        return (*known, (self.unknown,) * 5)
