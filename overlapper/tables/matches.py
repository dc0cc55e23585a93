"""The table of exact matches."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from overlapper.tables.base import Table, column


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Matches(Table):
    """Exact matches of reads in a text.

    Attributes
    ----------
    query : ndarray of int32, shape (n,)
        Read number.
    q_start : ndarray of int64, shape (n,)
        First matching base on the forward strand of the read.
    t_start : ndarray of int64, shape (n,)
        First matching base on the forward strand of the text.
    length : ndarray of int32, shape (n,)
        Matching bases.
    reverse : ndarray of bool, shape (n,)
        True where the read's reverse complement matches the text.
    """

    SORT_KEYS: ClassVar = ("query", "q_start", "length", "reverse", "t_start")

    query: np.ndarray = column("i4")
    q_start: np.ndarray = column("i8")
    t_start: np.ndarray = column("i8")
    length: np.ndarray = column("i4")
    reverse: np.ndarray = column("?")
