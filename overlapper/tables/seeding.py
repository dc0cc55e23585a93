"""Where the reads of a set can seed at all."""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.tables.base import Table, column, offsets, ragged


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Seeding(Table):
    """The seeding k-mers of each read: those that another place of the read set shares, repeats masked.

    What share of its k-mers seed tells how accurate a read is; where none seed, an overlap cannot show.

    Attributes
    ----------
    sketched : ndarray of int32, shape (reads,)
        k-mers of each read that were considered (its minimizers, say).
    positions : ndarray of int32
        First bases of the k-mers that seed, ascending within a read.
    starts : ndarray of int64, shape (reads + 1,)
        Where the positions of each read start.
    """

    sketched: np.ndarray = column("i4")
    positions: np.ndarray = ragged("i4", by="starts")
    starts: np.ndarray = offsets()
