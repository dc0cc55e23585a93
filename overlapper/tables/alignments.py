"""The tables of plain pairwise alignment: pairs in, alignments out."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Self

import numpy as np

from overlapper.errors import ParameterError
from overlapper.tables.base import Table, column, offsets, ragged
from overlapper.tables.cigars import cigar_text

REVERSED, COMPLEMENTED = 1, 2
"""Bits of orientations."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Pairs(Table):
    """Pairs of sequences to align, and the orientation of each.

    Attributes
    ----------
    query, target : ndarray of int32, shape (n,)
        Numbers of sequences, of queries and of targets.
    q_flags, t_flags : ndarray of uint8, shape (n,)
        0 as it is, 1 reversed, 2 complemented, 3 both.
    """

    SORT_KEYS: ClassVar = ("query", "target", "q_flags", "t_flags")

    query: np.ndarray = column("i4")
    target: np.ndarray = column("i4")
    q_flags: np.ndarray = column("u1")
    t_flags: np.ndarray = column("u1")

    @classmethod
    def of(cls, queries: int, targets: int, pairing: str) -> Self:
        """Pair each query with each target, all as they are.

        Parameters
        ----------
        queries, targets : int
        pairing : str
            ``one-to-one``: the first with the first and so on; ``one-to-all``: a single query with every
            target, or every query with a single target; ``all-to-all``.

        Raises
        ------
        ParameterError
            When the numbers do not fit the pairing.

        Examples
        --------
        >>> Pairs.of(2, 2, "all-to-all").target
        array([0, 1, 0, 1], dtype=int32)
        """
        if pairing == "one-to-one":
            if queries != targets:
                raise ParameterError(
                    f"{queries} queries and {targets} targets cannot be paired one-to-one; "
                    "give as many of both, or pair them one-to-all or all-to-all"
                )
            query = target = np.arange(queries, dtype=np.int32)
        elif pairing in ("one-to-all", "all-to-all"):
            if pairing == "one-to-all" and 1 not in (queries, targets):
                raise ParameterError(
                    f"one-to-all pairs a single sequence with all others, but there are {queries} queries "
                    f"and {targets} targets; pair them all-to-all"
                )
            query, target = np.repeat(np.arange(queries), targets), np.tile(np.arange(targets), queries)
        else:
            raise ParameterError(f"pairing is {pairing!r}, expected one-to-one, one-to-all or all-to-all")
        return cls.numbered(query, target)

    @classmethod
    def numbered(cls, query: np.ndarray, target: np.ndarray) -> Self:
        """Pair sequences by their numbers, all as they are."""
        return cls(query, target, np.zeros(len(query), np.uint8), np.zeros(len(target), np.uint8))


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Alignments(Pairs):
    """Alignments of pairs: the columns of `Pairs`, and the results.

    Intervals are 0-based half-open on the sequences as they were aligned, after their flags.

    Attributes
    ----------
    score : ndarray of int32, shape (n,)
    q_end, t_end : ndarray of int32, shape (n,)
    q_start, t_start : ndarray of int32, shape (n,), optional
        There if starts or CIGARs were asked for, and so are ``matches`` and ``block_length``.
    matches : ndarray of int32, shape (n,), optional
        Equal pairs of bases.
    block_length : ndarray of int32, shape (n,), optional
        Columns, gaps included.
    cigar : ndarray of uint32, optional
        Columns in BAM's packing (length << 4 | operation; 7 is =, 8 is X, 1 is I, 2 is D).
    cigar_offsets : ndarray of int64, shape (n + 1,), optional
        Where the operations of each alignment start.
    """

    score: np.ndarray = column("i4")
    q_end: np.ndarray = column("i4")
    t_end: np.ndarray = column("i4")
    q_start: np.ndarray | None = column("i4", optional=True)
    t_start: np.ndarray | None = column("i4", optional=True)
    matches: np.ndarray | None = column("i4", optional=True)
    block_length: np.ndarray | None = column("i4", optional=True)
    cigar: np.ndarray | None = ragged("u4", by="cigar_offsets")
    cigar_offsets: np.ndarray | None = offsets(optional=True)

    def cigar_text(self, row: int) -> str:
        """Return the CIGAR of one alignment as text; empty if there are none."""
        if self.cigar is None or self.cigar_offsets is None:
            return ""
        return cigar_text(self.cigar[self.cigar_offsets[row] : self.cigar_offsets[row + 1]].tolist())
