"""Arrays that grow in place while a file is read."""

from __future__ import annotations

import numpy as np


def grow(array: np.ndarray, needed: int) -> None:
    """Grow an array to hold `needed` values, by at least a quarter if it has to grow."""
    if len(array) < needed:
        resize(array, max(int(needed), len(array) + len(array) // 4))


def resize(array: np.ndarray, size: int) -> None:
    """Change the length in place; the system moves large arrays without a second copy in memory."""
    array.resize(int(size), refcheck=False)
