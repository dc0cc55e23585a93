"""Memory that can be returned to the system in parts, while the rest is still in use."""

from __future__ import annotations

import mmap

import numpy as np
import numpy.typing as npt


class ReturnableMemory:
    """Memory for one array; only pages that are written take any.

    Parameters
    ----------
    size : int
        Bytes.

    Raises
    ------
    MemoryError
        When the system does not give so much.
    """

    def __init__(self, size: int) -> None:
        try:
            self._map = mmap.mmap(-1, max(1, size), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except OSError as error:
            raise MemoryError(f"{size} bytes: {error.strerror}") from None
        self._size = size
        if hasattr(mmap, "MADV_HUGEPAGE"):
            # Large memory pages take less time to get.
            self._map.madvise(mmap.MADV_HUGEPAGE)

    def array(self, dtype: npt.DTypeLike) -> np.ndarray:
        """Return the memory as an array."""
        return np.frombuffer(self._map, dtype, self._size // np.dtype(dtype).itemsize)

    def give_back(self, start: int, stop: int) -> None:
        """Give back what of bytes ``[start, stop)`` are whole pages of the system; they are read no more.

        Where the system has no such call, they go back with the rest.
        """
        start, stop = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE, stop // mmap.PAGESIZE * mmap.PAGESIZE
        if start < stop and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED, start, stop - start)
