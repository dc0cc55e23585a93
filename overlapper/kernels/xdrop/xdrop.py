"""X-drop extension of seeds (Zhang 2000, section 3; Zeni 2020), linear gaps.

GPU twin: cuda/xdrop.py.

docs/algorithms/xdrop.md has the definition, why it ends on unrelated DNA, and what the work must cost.

An extension walks two sequences from a seed outwards. Cell ``(i, j)`` is the best score of ``i`` query and
``j`` target bases; anti-diagonal ``d`` is the cells with ``i + j = d``, row ``i`` the cells with ``i`` query
bases. All kernels compute the same integers; they differ in where they keep an anti-diagonal's live cells:

- `extend_framed`: 8-bit scores of 64 or 128 successive rows, in registers. It gives up an extension whose
  live rows outgrow them, which then goes to the next wider kernel.
- `extend_banded`: 8-, 16- or 32-bit scores of any number of rows, in memory.

The scores and X alone decide which kernels are tried, and in which order.

Cells outside the sequences need no test. The bases there equal nothing, and a path never comes back inside,
so each of these cells scores less than some cell of an earlier anti-diagonal: none becomes the best one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.vectors import Lanes
from overlapper.kernels.common.walks import MARGIN, PackedReads, Seeds
from overlapper.kernels.xdrop.xdrop_banded import extend_banded
from overlapper.kernels.xdrop.xdrop_framed import extend_framed, frame_floor

FRAMES = (Lanes(64), Lanes(128))
"""Rows of a frame, fewest first."""
BANDS = ((8, Lanes(64)), (16, Lanes(32)), (32, Lanes(16)))
"""Bits of a score and lanes, narrowest first."""


class Scheme(NamedTuple):
    """The numbers of `XdropParams`."""

    match: int
    mismatch: int
    gap: int
    xdrop: int
    stop_window: int
    stop_rate: int


def extend_seeds(reads: PackedReads, seeds: Seeds, scheme: Scheme) -> np.ndarray:
    """Extend every seed to both sides.

    Parameters
    ----------
    reads : PackedReads
    seeds : Seeds
        n seeds, each within its reads.
    scheme : Scheme
        Within the limits of `XdropParams`; no score may exceed 32 bits.

    Returns
    -------
    ndarray of int32, shape (n, 2, 3)
        Of each seed, before it and after it along the query: score, query bases, target bases.
    """
    extensions = np.zeros((2 * len(seeds.query), 3), np.int32)
    left = np.arange(2 * len(seeds.query))
    for lanes in frames_for(scheme):
        if len(left):
            left = left[~extend_framed(lanes, reads, seeds, scheme, left, extensions)]
    if len(left):
        bits, lanes = BANDS[band_for(scheme)]
        extend_banded(lanes, band_cells(reads, seeds, bits), reads, seeds, scheme, left, extensions)
    return extensions.reshape(-1, 2, 3)


def frames_for(scheme: Scheme) -> list[Lanes]:
    """Return the frames whose scores fit 8 bits, and that hold as many live rows as there usually are.

    The 8-bit scores are relative to the best one when the frame was last moved, which is `frame_floor`. While
    a frame of n lanes stays, the best score rises by at most ``n * match``: only matches raise it, and each
    takes a path one row further, of the n rows that are live or the one below them.
    """
    usual_rows = scheme.xdrop // -scheme.gap + 2
    return [
        lanes
        for lanes in FRAMES
        if usual_rows <= lanes.count and frame_floor(scheme) + lanes.count * scheme.match <= 127
    ]


def band_for(scheme: Scheme) -> int:
    """Return which of `BANDS` is the narrowest that holds what `extend_banded` computes.

    Scores are relative to the best one before their anti-diagonal, which until they are used rises twice, by
    at most a match. A dead cell is one match and 1 below what X allows, and takes at most one penalty.
    """
    lowest = scheme.xdrop + 3 * scheme.match + max(-scheme.mismatch, -scheme.gap) + 1
    return next(number for number, (bits, _) in enumerate(BANDS) if lowest <= 2 ** (bits - 1))


def band_cells(reads: PackedReads, seeds: Seeds, bits: int) -> np.ndarray:
    """Return room for three anti-diagonals of the longest query."""
    return np.empty(3 * (int(reads.lengths[seeds.query].max()) + 3 * MARGIN), f"i{bits // 8}")
