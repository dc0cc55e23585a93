"""The overlap table, the result of extenders."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from overlapper.runtime.threads import map_in_order
from overlapper.tables.base import Table, column, offsets, ragged
from overlapper.tables.cigars import DELETION, EQUAL, INSERTION, UNEQUAL

_QUERY_RANGE_BITS, _ROWS_AT_A_TIME = 6, 1 << 17
CIGAR_OPERATIONS = (0, INSERTION, DELETION, EQUAL, UNEQUAL)
"""BAM's codes of the operations that overlaps may have: M, I, D, = and X."""


class OverlapClass(enum.IntEnum):
    """How two reads overlap (Li 2016, algorithm 5; Myers 2005)."""

    INTERNAL = 0
    """Neither read ends where the match ends: a repeat, a chimera or an unextended match."""
    DOVETAIL = 1
    """A suffix of one read matches a prefix of the other, on their strands."""
    QUERY_CONTAINED = 2
    """The query matches over its whole length."""
    TARGET_CONTAINED = 3
    """The target matches over its whole length."""


UNCLASSIFIED = OverlapClass.INTERNAL
"""The class of overlaps as extenders return them; `overlapper.overlap.tile.Extension` sets that of each."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Intervals(Table):
    """Where two reads match. Intervals are 0-based half-open on the forward strand of each read.

    Attributes
    ----------
    query, target : ndarray of int32, shape (n,)
        Read numbers, ``query < target``.
    reverse : ndarray of bool, shape (n,)
        True where the target's reverse complement matches the query.
    q_start, q_end, t_start, t_end : ndarray of int32, shape (n,)
        The matching intervals.
    """

    SORT_KEYS: ClassVar = ("query", "target", "reverse", "q_start", "t_start", "q_end", "t_end")
    TARGETS_ARE_READS: ClassVar = True

    query: np.ndarray = column("i4")
    target: np.ndarray = column("i4")
    reverse: np.ndarray = column("?")
    q_start: np.ndarray = column("i4")
    q_end: np.ndarray = column("i4")
    t_start: np.ndarray = column("i4")
    t_end: np.ndarray = column("i4")

    def sides(self) -> Iterator[tuple[np.ndarray, ...]]:
        """Yield the read, the other read, and start and end on the read: of queries, then of targets."""
        yield self.query, self.target, self.q_start, self.q_end
        yield self.target, self.query, self.t_start, self.t_end

    @classmethod
    def gather(cls, tables: list[Self], rows: np.ndarray, threads: int) -> Self:
        """Return chosen rows of all tables together, without two copies of all columns in memory.

        Parameters
        ----------
        tables : list of Intervals
            Without CIGARs.
        rows : ndarray of int64
            Row numbers, the rows of all tables counted one after the other.
        """
        if not tables:
            return cls.empty()

        def gathered(name: str) -> Any:
            values = [getattr(table, name) for table in tables]
            return None if any(v is None for v in values) else np.concatenate(values)[rows]

        names = [f.name for f in cls.fields_of("column")]
        return cls(**dict(zip(names, map_in_order(gathered, names, threads), strict=True)))

    def mean_cover(self, lengths: np.ndarray) -> np.ndarray:
        """Return how many matches cover a base of each read, on average (float64); 0 for one without bases.

        Parameters
        ----------
        lengths : ndarray of int64, shape (reads,)
        """
        covered = np.bincount(self.query, self.q_end - self.q_start, len(lengths))
        covered += np.bincount(self.target, self.t_end - self.t_start, len(lengths))
        return covered / np.maximum(lengths, 1)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Overlaps(Intervals):
    """Overlaps of read pairs: the columns of `Intervals`, and results of extension.

    Attributes
    ----------
    matches : ndarray of int32, shape (n,)
        Matching bases; with the chain extender, query bases covered by the chain's seeds.
    block_length : ndarray of int32, shape (n,)
        Alignment columns, gaps included; without an alignment, the longer of the two intervals.
    score : ndarray of int32, shape (n,)
        Score of the chain or of the alignment.
    seeds : ndarray of int32, shape (n,)
        Seeds of the chain, or the support of the candidate that was extended.
    divergence : ndarray of float32, shape (n,)
        Estimated or measured differences a base; NaN where there is no estimate.
    kind : ndarray of uint8, shape (n,)
        An `OverlapClass`.
    edits : ndarray of int32, shape (n,), optional
        Mismatching and gap bases of the alignment.
    copy_differences : ndarray of int32, shape (n,), optional
        Differences of copies that the two reads show once they are corrected; -1 where they are too unlike to
        count (`overlapper.assembly.copy_differences`).
    secondary : ndarray of bool, shape (n,), optional
        Where a file that the overlaps come from says so: a better overlap of the two reads is another row.
    cigar : ndarray of uint32, optional
        Alignments in BAM's packing (length << 4 | operation; 7 is =, 8 is X, 1 is I, 2 is D), along the
        forward strand of the query.
    cigar_offsets : ndarray of int64, shape (n + 1,), optional
        Where the operations of each overlap start.
    """

    matches: np.ndarray = column("i4")
    block_length: np.ndarray = column("i4")
    score: np.ndarray = column("i4")
    seeds: np.ndarray = column("i4")
    divergence: np.ndarray = column("f4")
    kind: np.ndarray = column("u1")
    edits: np.ndarray | None = column("i4", optional=True)
    copy_differences: np.ndarray | None = column("i4", optional=True)
    secondary: np.ndarray | None = column("?", optional=True)
    cigar: np.ndarray | None = ragged("u4", by="cigar_offsets")
    cigar_offsets: np.ndarray | None = offsets(optional=True)

    def renumber(self, numbers: np.ndarray) -> Self:
        """Renumber the reads; query and target change places where the query would get the higher number.

        Parameters
        ----------
        numbers : ndarray of int, shape (reads,)
            New number of every read.

        Returns
        -------
        Overlaps
            The same rows in the same order.
        """
        query, target = numbers[self.query], numbers[self.target]
        return dataclasses.replace(self, query=query, target=target).mirrored(query > target)

    def placed(self, on_query: np.ndarray, on_target: np.ndarray) -> Self:
        """Return the overlaps with other intervals.

        Parameters
        ----------
        on_query, on_target : ndarray of int32, shape (n, 2)
            Starts and ends.
        """
        (q_start, q_end), (t_start, t_end) = on_query.T, on_target.T
        block_length = np.maximum(q_end - q_start, t_end - t_start)
        return dataclasses.replace(
            self, q_start=q_start, q_end=q_end, t_start=t_start, t_end=t_end, block_length=block_length
        )

    def mirrored(self, swap: np.ndarray | None = None) -> Self:
        """Return the overlaps with query and target exchanged.

        Parameters
        ----------
        swap : ndarray of bool, shape (n,), optional
            In which rows; in all by default.
        """
        if swap is None:
            swap = np.ones(len(self), bool)
        contained = np.array([0, 1, 3, 2], np.uint8)
        return dataclasses.replace(
            self,
            query=np.where(swap, self.target, self.query),
            target=np.where(swap, self.query, self.target),
            q_start=np.where(swap, self.t_start, self.q_start),
            q_end=np.where(swap, self.t_end, self.q_end),
            t_start=np.where(swap, self.q_start, self.t_start),
            t_end=np.where(swap, self.q_end, self.t_end),
            kind=np.where(swap, contained[self.kind], self.kind),
            cigar=None if self.cigar is None else _swap_cigars(self, swap),
        )

    def distinct(self) -> Self:
        """Return the overlaps without rows that say again what an earlier one says, from either read."""
        pair = np.minimum(self.query, self.target).astype(np.int64) << 32 | np.maximum(
            self.query, self.target
        )
        by_pair = np.argsort(pair, kind="stable")
        of_one = pair[by_pair[1:]] == pair[by_pair[:-1]]
        # Most pairs have one row.
        several = np.zeros(len(self), np.bool_)
        several[by_pair[1:][of_one]] = several[by_pair[:-1][of_one]] = True
        rows = np.flatnonzero(several)
        bare = dataclasses.replace(self, cigar=None, cigar_offsets=None).take(rows)
        once = bare.mirrored(bare.query > bare.target)
        columns = np.stack(
            [once.query, once.target, once.reverse, once.q_start, once.q_end, once.t_start, once.t_end]
        )
        order = np.lexsort(columns)  # of equal rows the earlier one comes first
        again = (columns[:, order[1:]] == columns[:, order[:-1]]).all(axis=0)
        kept = np.ones(len(self), np.bool_)
        kept[rows[order[1:][again]]] = False
        return self.take(kept)


def pair_order(tables: Sequence[Intervals], threads: int = 1) -> np.ndarray:
    """Return the order of rows by query, then target: canonical order if each pair has one row.

    Parameters
    ----------
    tables : sequence of Intervals
        Their rows are counted one after the other.

    Returns
    -------
    ndarray of int64
        Equal pairs are in the order of their rows.
    """
    query, target = (
        np.concatenate([np.empty(0, np.int32), *(getattr(table, name) for table in tables)])
        for name in ("query", "target")
    )
    low_bits = max(0, int(query.max(initial=0)).bit_length() - _QUERY_RANGE_BITS)
    ranges = range(1 << _QUERY_RANGE_BITS)

    def by_range(start: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of a chunk by range of queries, and where each range starts."""
        of_row = (query[start : start + _ROWS_AT_A_TIME] >> low_bits).astype(np.uint16)
        rows = start + np.argsort(of_row, kind="stable")
        return rows, np.searchsorted(of_row[rows - start], np.arange(len(ranges) + 1))

    chunks = list(map_in_order(by_range, range(0, len(query), _ROWS_AT_A_TIME), threads))

    def sort(number: int) -> np.ndarray:
        rows = np.concatenate([rows[starts[number] : starts[number + 1]] for rows, starts in chunks])
        halves = []
        for reads in (target[rows], query[rows]):
            # Numbers of 16 bits are sorted by counting: all four take half as long as one of 64.
            halves += [reads.astype(np.uint16), (reads >> 16).astype(np.uint16)]
        return rows[np.lexsort(halves)]

    return np.concatenate([np.empty(0, np.int64), *(map_in_order(sort, ranges, threads) if chunks else ())])


def _swap_cigars(overlaps: Overlaps, swap: np.ndarray) -> np.ndarray:
    """Exchange query and target in the CIGARs of marked rows."""
    cigar, offsets = np.asarray(overlaps.cigar), np.asarray(overlaps.cigar_offsets)
    if not swap.any():
        return cigar
    rows = zip(offsets[:-1].tolist(), offsets[1:].tolist(), (swap & overlaps.reverse).tolist(), strict=True)
    cigar = np.concatenate([cigar[b:e][::-1] if backwards else cigar[b:e] for b, e, backwards in rows])
    exchange = np.zeros(16, np.uint32)
    exchange[[INSERTION, DELETION]] = INSERTION ^ DELETION
    cigar ^= np.where(np.repeat(swap, np.diff(offsets)), exchange[cigar & 15], np.uint32(0))
    return cigar
