"""The candidate table: read pairs with a seed worth extending."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Self

import numpy as np

from overlapper.tables.base import Table, column, offsets, ragged
from overlapper.tables.seeding import Seeding


@dataclasses.dataclass(frozen=True, eq=False)
class Candidates(Table):
    """Read pairs that a finder believes to overlap, each with the seed to start from.

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

    SORT_KEYS: ClassVar = ("query", "target", "reverse", "query_pos", "target_pos")

    query: np.ndarray = column("i4")
    target: np.ndarray = column("i4")
    reverse: np.ndarray = column("?")
    query_pos: np.ndarray = column("i4")
    target_pos: np.ndarray = column("i4")
    seeds: np.ndarray = column("i4")
    span: np.ndarray = column("i4")
    hit_query_pos: np.ndarray | None = ragged("i4", by="hit_offsets")
    hit_target_pos: np.ndarray | None = ragged("i4", by="hit_offsets")
    hit_offsets: np.ndarray | None = offsets()
    seed_length: int = 0
    seeding: Seeding | None = None

    def without_hits(self) -> Self:
        """Return the candidates with the seed that each starts from alone."""
        return dataclasses.replace(
            self, hit_query_pos=None, hit_target_pos=None, hit_offsets=None, seeding=None
        )
