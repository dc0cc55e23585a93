"""Overlaps as the graph sees them: of reads in content order, one row a fact, cut to trimmed reads."""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.errors import ParameterError
from overlapper.kernels.cpu import pileup
from overlapper.tables import Intervals, Overlaps
from overlapper.tables.base import column

SevenColumns = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclasses.dataclass(frozen=True, eq=False)
class Pairs(Intervals):
    """The intervals that a graph is built from; reads are numbered in content order (`build_graph`).

    Attributes
    ----------
    row : ndarray of int64, shape (n,)
        Row of the overlap table.
    swapped : ndarray of bool, shape (n,)
        True where the query here is the target of that row.
    """

    row: np.ndarray = column("i8")
    swapped: np.ndarray = column("?")

    @property
    def intervals(self) -> SevenColumns:
        """The columns of `Intervals`, in its order, as kernels take them."""
        return self.query, self.target, self.reverse, self.q_start, self.q_end, self.t_start, self.t_end


def pairs_of(overlaps: Overlaps, order: np.ndarray) -> Pairs:
    """Return the overlaps in terms of ordered reads, in canonical order.

    Overlaps of a read with itself are left out.

    Parameters
    ----------
    overlaps : Overlaps
    order : ndarray of int, shape (reads,)
        Read numbers; the read at ``order[i]`` becomes read ``i``.

    Raises
    ------
    ParameterError
        When an overlap names a read that is not there.
    """
    last = max(overlaps.query.max(initial=-1), overlaps.target.max(initial=-1))
    if last >= len(order):
        raise ParameterError(
            f"an overlap names read {last}, but there are {len(order)} reads; "
            "the overlaps belong to other reads"
        )
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    rows = np.flatnonzero(overlaps.query != overlaps.target)
    query, target = rank[overlaps.query[rows]], rank[overlaps.target[rows]]
    swap = query > target
    low, high = np.where(swap, target, query).astype(np.uint64), np.where(swap, query, target)
    key = (low << np.uint64(32)) | (high.astype(np.uint64) << np.uint64(1)) | overlaps.reverse[rows]
    sort = np.argsort(key, kind="stable")
    rows, swap = rows[sort], swap[sort]

    def either(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.where(swap, second[rows], first[rows])

    pairs = Pairs(
        query=low[sort],
        target=high[sort],
        reverse=overlaps.reverse[rows],
        q_start=either(overlaps.q_start, overlaps.t_start),
        q_end=either(overlaps.q_end, overlaps.t_end),
        t_start=either(overlaps.t_start, overlaps.q_start),
        t_end=either(overlaps.t_end, overlaps.q_end),
        row=rows,
        swapped=swap,
    )
    return pairs.take(
        pileup.order_within_pairs(
            pairs.query, pairs.target, pairs.reverse, pairs.q_start, pairs.t_start, pairs.q_end, pairs.t_end
        )
    )


def without_repeats(pairs: Pairs) -> Pairs:
    """Drop what repeats a longer overlap of the same pair and strand (`kernels.cpu.pileup.shadowed`).

    Tools report some pairs twice, once from each read, or in pieces of one chain; two overlaps at different
    places of either read are two facts and stay.
    """
    return pairs.take(~pileup.shadowed(*pairs.intervals))


def cut(pairs: Pairs, overlaps: Overlaps, start: np.ndarray, end: np.ndarray) -> Pairs:
    """Cut pairs to intervals of their reads; coordinates count from the starts of the intervals.

    Where the overlaps carry alignments the cut follows them; elsewhere gaps count as spread evenly.

    Parameters
    ----------
    pairs : Pairs
        On whole reads.
    overlaps : Overlaps
        Where the rows of the pairs point to.
    start, end : ndarray of int32, shape (reads,)
        Half open, on the forward strand, of reads in content order; empty for a read that is gone.

    Returns
    -------
    Pairs
        Without the pairs of which nothing is left.
    """
    p = pairs
    bounds = (start[p.query], end[p.query], start[p.target], end[p.target])
    beyond = (p.q_start < bounds[0]) | (p.q_end > bounds[1]) | (p.t_start < bounds[2]) | (p.t_end > bounds[3])
    intervals = np.stack([p.q_start, p.q_end, p.t_start, p.t_end])
    aligned = beyond & has_alignment(overlaps, p.row)
    linear = beyond & ~aligned
    some = p.take(linear)
    intervals[:, linear] = pileup.cut_linear(
        some.reverse, some.q_start, some.q_end, some.t_start, some.t_end, *(b[linear] for b in bounds)
    )
    intervals[:, aligned] = _cut_aligned(p.take(aligned), overlaps, [b[aligned] for b in bounds])
    left = intervals[1] > intervals[0]
    q_start, q_end, t_start, t_end = intervals[:, left]
    q_base, t_base = bounds[0][left], bounds[2][left]
    return dataclasses.replace(
        p.take(left),
        q_start=q_start - q_base, q_end=q_end - q_base, t_start=t_start - t_base, t_end=t_end - t_base,
    )  # fmt: skip


def has_alignment(overlaps: Overlaps, rows: np.ndarray) -> np.ndarray:
    """Return which rows of the overlap table carry an alignment (bool)."""
    if overlaps.cigar_offsets is None:
        return np.zeros(len(rows), np.bool_)
    return overlaps.cigar_offsets[rows + 1] > overlaps.cigar_offsets[rows]


def _cut_aligned(pairs: Pairs, overlaps: Overlaps, bounds: list[np.ndarray]) -> np.ndarray:
    if len(pairs) == 0:
        return np.zeros((4, 0), np.int32)
    swapped, rows = pairs.swapped, pairs.row
    as_aligned = [np.where(swapped, bounds[(i + 2) % 4], bounds[i]) for i in range(4)]
    found = pileup.cut_aligned(
        pairs.reverse, overlaps.q_start[rows], overlaps.t_start[rows], overlaps.t_end[rows],
        overlaps.cigar, overlaps.cigar_offsets, rows, *as_aligned,
    )  # fmt: skip
    return np.where(swapped, found[[2, 3, 0, 1]], found)
