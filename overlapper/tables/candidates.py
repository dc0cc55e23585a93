"""The candidate table: pairs of reads, each with a seed to extend."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Self

import numpy as np

from overlapper.tables.base import Table, column, offsets, ragged
from overlapper.tables.ragged import offsets_of
from overlapper.tables.seeding import Seeding


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Candidates(Table):
    """Pairs of reads that may overlap, each with the seed that extension starts from.

    Several of a pair on a strand stay in the order in which the finder has them, the best first.

    Attributes
    ----------
    query, target : ndarray of int32, shape (n,)
        Read numbers, ``query < target``.
    reverse : ndarray of bool, shape (n,)
        True where the target's reverse complement matches the query.
    query_pos, target_pos : ndarray of int32, shape (n,)
        First base of the seed to extend, on the forward strand of each read.
    seeds : ndarray of int32, shape (n,)
        Support: unique query bases covered by seeds of the best band (D-SOFT), or k-mers of the best bin
        (SpGEMM).
    span : ndarray of int32, shape (n,)
        Estimated overlap, in bases.
    hit_query_pos, hit_target_pos : ndarray of int32, optional
        All seeds of the candidate that may belong to its overlap, as first bases on the forward strand of
        each read; ascending by query position, then by target position.
    hit_offsets : ndarray of int64, shape (n + 1,), optional
        Where the seeds of each candidate start.
    seed_length : int
        Length of every seed, in bases (k).
    seeding : Seeding, optional
        All seeding k-mers of the read set that the candidates were found in; needed where there are hits.
    """

    SORT_KEYS: ClassVar = ("query", "target", "reverse")

    query: np.ndarray = column("i4")
    target: np.ndarray = column("i4")
    reverse: np.ndarray = column("?")
    query_pos: np.ndarray = column("i4")
    target_pos: np.ndarray = column("i4")
    seeds: np.ndarray = column("i4")
    span: np.ndarray = column("i4")
    hit_query_pos: np.ndarray | None = ragged("i4", by="hit_offsets")
    hit_target_pos: np.ndarray | None = ragged("i4", by="hit_offsets")
    hit_offsets: np.ndarray | None = offsets(optional=True)
    seed_length: int = 0
    seeding: Seeding | None = None

    @classmethod
    def of_rows(
        cls, rows: np.ndarray, hit_counts: np.ndarray, hit_query_pos: np.ndarray, hit_target_pos: np.ndarray,
        seed_length: int, seeding: Seeding | None,
    ) -> Self:  # fmt: skip
        """Make the table from the rows that a kernel writes.

        Parameters
        ----------
        rows : ndarray of int32, shape (n, 7)
            The columns from ``query`` to ``span``.
        hit_counts : ndarray of int, shape (n,)
            Seeds of each candidate.
        hit_query_pos, hit_target_pos, seed_length, seeding
            Columns.
        """
        query, target, reverse, query_pos, target_pos, seeds, span = rows.T
        return cls(
            query=query,
            target=target,
            reverse=reverse,
            query_pos=query_pos,
            target_pos=target_pos,
            seeds=seeds,
            span=span,
            hit_query_pos=hit_query_pos,
            hit_target_pos=hit_target_pos,
            hit_offsets=offsets_of(hit_counts),
            seed_length=seed_length,
            seeding=seeding,
        )

    def without_hits(self) -> Self:
        """Return the candidates without seeds, but for those that extension starts from."""
        return dataclasses.replace(
            self, hit_query_pos=None, hit_target_pos=None, hit_offsets=None, seeding=None
        )
