"""Constants that the kernels of X-drop share with host code: the rows that a group of lanes can hold."""

from __future__ import annotations

THREADS = 128
"""Threads of a block of `xdrop_grouped`."""
WIDE_THREADS = 256
"""Threads of a block of `xdrop_wide`."""
CHUNK = 16
"""Anti-diagonals between two looks at the frame."""
OUTGROWN = -1
"""Score of an extension that outgrew its group."""
HEAD = 8
"""Numbers in the head of a state."""


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
