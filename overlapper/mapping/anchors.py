"""Seeds of reads on a reference, whatever found them."""

from __future__ import annotations

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Anchors:
    """Where reads match a reference."""

    starts: np.ndarray
    """int64, shape (reads + 1,); where the anchors of each read start."""
    x: np.ndarray
    """int32, shape (n,); first base on the read, turned to the strand that matches."""
    y: np.ndarray
    """int64, shape (n,); first base on the reference: ``32 * word`` of its word in the table, and from there
    on."""
    length: np.ndarray
    """int32, shape (n,)."""
    reverse: np.ndarray
    """bool, shape (n,); anchors of a read ascend by strand, forward first, then by y, then by x, then by
    length."""
    counts: dict[str, int]
    """What the funnel shows of seeding."""
