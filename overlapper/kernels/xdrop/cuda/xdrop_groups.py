"""Constants that the kernels of X-drop share with host code: the rows that a group of lanes can hold.

A part of `xdrop`, whose twin is ../xdrop.py.
"""

from __future__ import annotations

from overlapper.kernels.common.cuda.path_classes import CLASSES

THREADS = 128
"""Threads of a block of `xdrop_grouped`."""
CHUNK = 16
"""Anti-diagonals between two looks at the frame."""
RANKS = CLASSES // 11 - 1
"""Lengths of extensions that are told apart where the longest go first, for each of at most 11 kernels."""
FIRST, SECOND = 0, 1
"""Rounds: the second one is for the shorter extensions of seeds that hardly reach their score."""
LIKELY = 32
"""A candidate is likely to reach its score where seeds cover a base in this many of its estimated overlap: so
do 85 to 99 % of those that reach it, and 4 to 23 % of the others (simulated CLR, R9 and R10 reads of E. coli,
yeast, a human X and a genome as of a worm, 2,000 to 4,000 candidates each)."""
HEAD = 8
"""Numbers in the head of a state."""
KEPT, FEW, LOW, SHORT, VERDICTS = 0, 1, 2, 3, 4
"""Verdicts on overlaps: kept, too few seeds, too low a score, too short; and how many verdicts there are."""
OUT_OF_REACH = 2**31 - 1
"""Score that candidates of too few seeds need, so that they are not extended."""
COLUMNS = 9
"""Of the rows of `Scored`."""


def group_floor(scheme) -> int:
    """Return the threshold of a rebased frame: a dead cell stays below it after any step."""
    return scheme.match - 2 * scheme.gap + 1


def fits_groups(scheme) -> bool:
    """Tell whether the scores of a frame fit 15 bits between two rebasings."""
    highest = group_floor(scheme) + scheme.xdrop + (CHUNK + 2) * (scheme.match - scheme.gap)
    steps = max(scheme.match - scheme.mismatch, abs(scheme.mismatch - 2 * scheme.gap))
    return highest < 2**15 and steps < 2**15


def usable_rows(lanes: int, words: int) -> int:
    """Return how many live rows a group holds wherever they lie."""
    return 16 * lanes * words - 23
