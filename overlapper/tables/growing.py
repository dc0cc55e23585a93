"""Arrays that grow at their end, in place; kernels use `overlapper.kernels.common.growth`."""

from __future__ import annotations

import numpy as np

_ROOM = 9 / 8
"""Factor by which a full array grows; a large one is moved by the system without a copy."""


def reserve(array: np.ndarray, needed: int) -> None:
    """Make room for ``needed`` values in place; an array that is too short grows by a quarter or more."""
    if len(array) < needed:
        resize(array, max(int(needed), len(array) + len(array) // 4))


def resize(array: np.ndarray, size: int) -> None:
    """Change the length in place; the system moves large arrays without a second copy in memory."""
    array.resize(int(size), refcheck=False)


class GrowingArray:
    """A one-dimensional array that grows by what is appended to it.

    Collecting parts and joining them at the end would hold all values twice.

    Parameters
    ----------
    dtype : numpy type
    """

    def __init__(self, dtype: np.dtype) -> None:
        self._values = np.empty(0, dtype)
        self._size = 0

    def append(self, values: np.ndarray) -> None:
        """Append values."""
        size = self._size + len(values)
        if size > len(self._values):
            resize(self._values, max(size, int(_ROOM * size)))
        self._values[self._size : size] = values
        self._size = size

    def taken(self) -> np.ndarray:
        """Return all values; no more can be appended."""
        values, self._values = self._values, np.empty(0, self._values.dtype)
        resize(values, self._size)
        return values
