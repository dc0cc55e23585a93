"""Classes of paths by the memory that a thread takes to find one, told by two numbers of a band.

A band has blocks of rows, and columns of a block. Paths of a class go together, so there is room for the
largest that it may hold.
"""

from __future__ import annotations

import numpy as np

SIZES = 64
"""Classes of numbers of blocks, and of columns of a block."""
CLASSES = SIZES * SIZES
LARGEST_ROOM = 1 << 16
"""Words of directions that a thread works with at most; larger matrices are for groups of threads."""
TOO_LARGE = CLASSES - 1
"""Class of pairs that take more than `LARGEST_ROOM`."""


def largest_of_classes() -> tuple[np.ndarray, np.ndarray]:
    """Return the most blocks of each class, and the most columns of a block (int64)."""
    number = np.arange(SIZES)
    blocks = np.where(number < 16, number, (5 + number % 4 << np.maximum(number // 4 - 2, 0)) - 1)
    octave = np.where(number < 56, 4 + number // 8, number - 45)
    columns = np.where(number < 56, (9 + number % 8 << np.minimum(octave, 16) - 3) - 1, (2 << octave) - 1)
    return np.repeat(blocks, SIZES), np.tile(columns, SIZES)


def starts_of(counts: np.ndarray) -> np.ndarray:
    """Return where each class starts (int32), the highest one first."""
    return (counts[::-1].cumsum()[::-1] - counts).astype(np.int32)
