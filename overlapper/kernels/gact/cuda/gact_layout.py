"""Constants that the kernels of GACT share with host code: scores, sizes of memory, operations in a word.

A part of `gact`, whose twin is ../gact.py.
"""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

THREADS = 128
"""Threads of a block."""
OPERATIONS = 16
"""Operations in a word of a path."""
BASE_PLANES = 3
"""Words that hold a block of bases: their bits, low and high, and which are unknown."""


class TileScores(NamedTuple):
    """Scores as a tile uses them, none negative."""

    equal: int
    unequal: int
    """`equal`, `unequal`: ``s - 2g`` of an equal pair and an unequal one."""
    edge: int
    """``-g``: what x and y are on the edge."""
    opening: int
    """``o``, what opening a gap costs; 0 when gaps are linear."""
    substitutes: int
    """Ones if an unequal pair can score as high as two gaps of a base, else 0."""


def tile_scores(match: int, mismatch: int, gap_open: int, gap_extend: int) -> TileScores:
    """Return the scores of a tile; a common factor of all scores changes nothing and is taken out."""
    factor = gcd(match, mismatch, gap_open, gap_extend)
    match, mismatch = match // factor, mismatch // factor
    gap_open, first = gap_open // factor, (gap_open + gap_extend) // factor
    unequal = mismatch - 2 * first
    return TileScores(
        match - 2 * first, max(unequal, 0), -first, -gap_open, 0xFFFFFFFF if unequal >= 0 else 0
    )


def border_planes(bits: int, affine: bool) -> int:
    """Return how many words hold what passes from a stripe to the next in 32 columns: x and, if affine, e."""
    return 2 * bits if affine else bits


def direction_words(affine: bool) -> int:
    """Return how many 64-bit words a step stores."""
    return 2 if affine else 1


def stored_part(tile: int, step: int, affine: bool) -> tuple[int, int]:
    """Return the most stripes, and blocks of each, that are stored of a tile.

    A path is followed through the last ``step`` rows and columns, and an affine gap to wherever it ends.
    """
    stripes, blocks = (tile + 31) // 32, (tile + 62) // 32
    if affine:
        return stripes, blocks
    return min(stripes, (step + 30) // 32 + 1), min(blocks, (step + 61) // 32 + 1)
