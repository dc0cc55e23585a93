"""Seeds of reads on a reference, whatever found them."""

from __future__ import annotations

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Anchors:
    """Where reads match a reference.

    Attributes
    ----------
    starts : ndarray of int64, shape (reads + 1,)
        Where the anchors of each read start.
    x : ndarray of int32, shape (n,)
        First base on the read, turned to the strand that matches.
    y : ndarray of int64, shape (n,)
        First base on the reference: ``32 * word`` of its word in the table, and from there on.
    length : ndarray of int32, shape (n,)
    reverse : ndarray of bool, shape (n,)
        Anchors of a read ascend by strand, forward first, then by y, then by x, then by length.
    counts : dict of str to int
        What the funnel shows of seeding.
    """

    starts: np.ndarray
    x: np.ndarray
    y: np.ndarray
    length: np.ndarray
    reverse: np.ndarray
    counts: dict[str, int]
