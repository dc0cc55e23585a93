"""Pileups: targets and the reads that overlap them (``docs/algorithms/correction.md``, section 1).

All of them may be too many for memory: `overlapper.correction.pileup_source` has those of successive targets.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import ClassVar

import numpy as np

from overlapper.kernels.common.sorting import order_by_number, taken_from_both
from overlapper.runtime.threads import map_in_order
from overlapper.tables import Overlaps, Reads
from overlapper.tables.base import Table, column

WIDEN = 200
"""Rows are widened by up to this many bases at either end, where both reads go on."""
NEAREST = 10
"""The nearest one in so many rows of a read tells how far it is from reads of its own copy."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Rows(Table):
    """Reads on targets. Intervals are 0-based half-open, on forward strands."""

    SORT_KEYS: ClassVar = ("target", "worst", "read", "t_start", "r_start", "reverse")

    target: np.ndarray = column("i4")
    read: np.ndarray = column("i4")
    """`target`, `read`: int32, shape (n,)."""
    reverse: np.ndarray = column("?")
    """bool, shape (n,); True where the read's reverse complement matches the target."""
    t_start: np.ndarray = column("i4")
    t_end: np.ndarray = column("i4")
    r_start: np.ndarray = column("i4")
    r_end: np.ndarray = column("i4")
    """`t_start`, `t_end`, `r_start`, `r_end`: int32, shape (n,)."""
    score: np.ndarray = column("i4")
    """int32, shape (n,); the rows of a target with the highest scores vote first."""
    divergence: np.ndarray = column("f4")
    """float32, shape (n,); differences a base; NaN where unknown."""

    @property
    def worst(self) -> np.ndarray:
        """Negated scores, so that the best rows come first."""
        return -self.score

    def typical_divergence(self) -> float:
        """Return the median divergence; 1 where none is known."""
        known = self.divergence[~np.isnan(self.divergence)]
        return float(np.median(known)) if len(known) else 1.0

    def widened(self, t_lengths: np.ndarray, r_lengths: np.ndarray, most: int = WIDEN) -> Rows:
        """Extend rows at either end, by the same number of bases on both reads, within the reads.

        Parameters
        ----------
        t_lengths, r_lengths : ndarray of int64
            Lengths of all targets and reads.
        most : int
            Most bases at either end.
        """
        before, behind = self.r_start, r_lengths[self.read] - self.r_end
        left = np.minimum(self.t_start, np.where(self.reverse, behind, before)).clip(0, most)
        right = np.minimum(
            t_lengths[self.target] - self.t_end, np.where(self.reverse, before, behind)
        ).clip(0, most)  # fmt: skip
        return dataclasses.replace(
            self,
            t_start=self.t_start - left,
            t_end=self.t_end + right,
            r_start=self.r_start - np.where(self.reverse, right, left),
            r_end=self.r_end + np.where(self.reverse, left, right),
        )


def rows_of(overlaps: Overlaps, threads: int = 1) -> Rows:
    """Return two rows for each overlap, of the query on the target and the reverse, sorted by target."""
    o = overlaps
    on = np.concatenate([o.query, o.target])
    order, _ = order_by_number(on, int(on.max(initial=-1)) + 1)
    columns = (
        (o.query, o.target), (o.target, o.query), (o.reverse, o.reverse), (o.q_start, o.t_start),
        (o.q_end, o.t_end), (o.t_start, o.q_start), (o.t_end, o.q_end), (o.score, o.score),
        (o.divergence, o.divergence),
    )  # fmt: skip
    return Rows(*map_in_order(lambda of: taken_from_both(order, *of), columns, threads))


def nearest_divergence(read: np.ndarray, divergence: np.ndarray, n: int) -> np.ndarray:
    """Return the divergence of the nearest tenth of the rows of each read; NaN where it is unknown.

    Parameters
    ----------
    read : ndarray of int32, shape (rows,)
    divergence : ndarray of float32, shape (rows,)
        Not negative, or NaN.
    n : int
        Number of reads.

    Returns
    -------
    ndarray of float32, shape (n,)
    """
    # The bits of floats that are not negative ascend with them; those of NaN are above all.
    ascending = read.astype(np.uint64)
    ascending <<= np.uint64(32)
    ascending |= divergence.view(np.uint32)
    ascending.sort()
    first = np.searchsorted(ascending, np.arange(n + 1, dtype=np.uint64) << np.uint64(32))
    rows = np.diff(first)
    nearest, some = np.full(n, np.nan, np.float32), np.flatnonzero(rows)
    bits = ascending[first[some] + rows[some] // NEAREST] & np.uint64(0xFFFFFFFF)
    nearest[some] = bits.astype(np.uint32).view(np.float32)
    return nearest


@dataclasses.dataclass(frozen=True, eq=False)
class Pileups:
    """Targets and the reads that lie on them."""

    targets: Reads
    reads: Reads
    """`targets`, `reads`: weighted by their qualities, where they have them."""
    rows: Rows
    """Sorted by target when they are not."""
    targets_vote: bool
    """Whether targets are reads that vote themselves, as in correction; unitigs do not."""
    divergence: float | None = None
    """Typical divergence, given where ``rows`` are a part of all; else their median."""
    reach: int = WIDEN
    """Bases by which rows are widened at most, at either end."""
    nearest: np.ndarray | None = None
    """float32, shape (reads,); `nearest_divergence` of the reads, given where ``rows`` are a part of all."""
    numbers: np.ndarray | None = None
    """int64; numbers of the reads in the whole set, where ``reads`` are a part of it."""

    def __post_init__(self) -> None:
        if (np.diff(self.rows.target) < 0).any():
            order, _ = order_by_number(self.rows.target, len(self.targets))
            object.__setattr__(self, "rows", self.rows.take(order))

    @functools.cached_property
    def typical_divergence(self) -> float:
        """The median divergence of rows."""
        return self.rows.typical_divergence() if self.divergence is None else self.divergence

    @functools.cached_property
    def nearest_divergence(self) -> np.ndarray:
        """`nearest_divergence` of the reads."""
        if self.nearest is not None:
            return self.nearest
        return nearest_divergence(self.rows.read, self.rows.divergence, len(self.reads))

    @functools.cached_property
    def first(self) -> np.ndarray:
        """Where the rows of each target start."""
        return np.searchsorted(self.rows.target, np.arange(len(self.targets) + 1))

    def rows_on(self, start: int, stop: int) -> Rows:
        """Return a view of the rows on targets ``[start, stop)``."""
        return self.rows.rows(int(self.first[start]), int(self.first[stop]))
