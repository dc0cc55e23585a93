"""Scores of plain pairs of sequences."""

from __future__ import annotations

import dataclasses

from overlapper.errors import require

_LARGEST = 2**20


@dataclasses.dataclass(frozen=True)
class Scoring:
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

    match: int = 1
    mismatch: int = -4
    unknown: int = -1
    gap_open: int = -6
    gap_extend: int = -1
    matrix: tuple[tuple[int, ...], ...] | None = None

    def __post_init__(self) -> None:
        for name in ("match", "mismatch", "unknown"):
            value = getattr(self, name)
            require(abs(value) <= _LARGEST, name, value, "-2^20 to 2^20")
        for name in ("gap_open", "gap_extend"):
            value = getattr(self, name)
            require(-_LARGEST <= value <= 0, name, value, "-2^20 to 0")
        for row in self.pair_scores():
            require(len(row) == 5, "a row of matrix", row, "5 scores, for ACGTN")
            require(all(abs(value) <= _LARGEST for value in row), "a row of matrix", row, "-2^20 to 2^20")
        require(len(self.pair_scores()) == 5, "matrix", self.matrix, "5 rows, for ACGTN")

    def pair_scores(self) -> tuple[tuple[int, ...], ...]:
        """Return the matrix, given or made of the other scores."""
        if self.matrix is not None:
            return self.matrix
        known = [
            (*(self.match if a == b else self.mismatch for b in range(4)), self.unknown) for a in range(4)
        ]
        return (*known, (self.unknown,) * 5)
