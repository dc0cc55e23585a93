"""Overlaps prepared for the graph: in content order, without repeats, cut to trimmed reads."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator

import numpy as np

from overlapper.errors import ParameterError
from overlapper.kernels.graph import pair_order, trimming
from overlapper.runtime.threads import cut_evenly, for_each
from overlapper.tables import Intervals, Overlaps
from overlapper.tables.base import column

_BLOCKS = 64
_BLOCK_ROWS = 1 << 15
"""Rows of a block, whose columns fit a core's own cache."""

SevenColumns = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
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


def pairs_of(overlaps: Overlaps, order: np.ndarray, *, threads: int = 1) -> Pairs:
    """Return the overlaps in terms of ordered reads, in canonical order.

    Overlaps of a read with itself are left out.

    Parameters
    ----------
    overlaps : Overlaps
    order : ndarray of int, shape (reads,)
        Read numbers; the read at ``order[i]`` becomes read ``i``.
    threads : int
        Changes nothing but the time.

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
    offsets, rows = pair_order.rows_by_read(overlaps.query, overlaps.target, rank)
    given = pair_order.Columns(*(getattr(overlaps, name) for name in pair_order.Columns._fields))
    columns = pair_order.Columns(*(np.empty(len(rows), column.dtype) for column in given))
    swapped = np.empty(len(rows), np.bool_)
    bounds = cut_evenly(np.diff(offsets), len(rows) // _BLOCKS + 1)
    for_each(
        lambda block: pair_order.order_pairs(given, rank, offsets, rows, *block, columns, swapped),
        itertools.pairwise(bounds),
        threads,
    )
    return Pairs(*columns, row=rows, swapped=swapped)


def without_repeats(pairs: Pairs) -> Pairs:
    """Drop what repeats a longer overlap of the same pair and strand (`kernels.graph.trimming.shadowed`).

    Tools report some pairs twice, once from each read, or in pieces of one chain; two overlaps at different
    places of either read are two facts and stay.
    """
    return pairs.take(~trimming.shadowed(*pairs.intervals))


def blocks_of(pairs: Pairs) -> Iterator[Pairs]:
    """Yield blocks of consecutive rows, for work on each row alone; one empty block for no rows."""
    columns = [getattr(pairs, field.name) for field in dataclasses.fields(pairs)]
    for first in range(0, max(len(pairs), 1), _BLOCK_ROWS):
        yield Pairs(*(values[first : first + _BLOCK_ROWS] for values in columns))


def cut(pairs: Pairs, overlaps: Overlaps, start: np.ndarray, end: np.ndarray) -> Pairs:
    """Cut pairs to intervals of their reads; coordinates then count from the starts of the intervals.

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
    intervals = trimming.cut_linear(*p.intervals, start, end)
    if overlaps.cigar_offsets is not None:
        beyond = (intervals != np.stack([p.q_start, p.q_end, p.t_start, p.t_end])).any(axis=0)
        aligned = beyond & has_alignment(overlaps, p.row)
        intervals[:, aligned] = _cut_aligned(p.take(aligned), overlaps, start, end)
    q_start, q_end, t_start, t_end = intervals
    left = q_end > q_start
    q_base, t_base = start[p.query], start[p.target]
    return dataclasses.replace(
        p, q_start=q_start - q_base, q_end=q_end - q_base, t_start=t_start - t_base, t_end=t_end - t_base
    ).take(left)


def has_alignment(overlaps: Overlaps, rows: np.ndarray) -> np.ndarray:
    """Return a mask of the rows of the overlap table with an alignment."""
    if overlaps.cigar_offsets is None:
        return np.zeros(len(rows), np.bool_)
    return overlaps.cigar_offsets[rows + 1] > overlaps.cigar_offsets[rows]


def _cut_aligned(pairs: Pairs, overlaps: Overlaps, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    swapped, rows = pairs.swapped, pairs.row
    # Alignments are along the query of the overlap table.
    query = np.where(swapped, pairs.target, pairs.query)
    target = np.where(swapped, pairs.query, pairs.target)
    found = trimming.cut_aligned(
        pairs.reverse, overlaps.q_start[rows], overlaps.t_start[rows], overlaps.t_end[rows],
        overlaps.cigar, overlaps.cigar_offsets, rows, start[query], end[query], start[target], end[target],
    )  # fmt: skip
    return np.where(swapped, found[[2, 3, 0, 1]], found)
