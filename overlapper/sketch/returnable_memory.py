"""Memory of the process, or of a mapped file, that can be returned to the system in parts while in use."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import numpy.typing as npt


class ReturnableMemory:
    """Memory for one array; only pages that are written take any.

    Parameters
    ----------
    size : int
        Bytes.
    file : Path, optional
        Of at least that size, to be mapped.

    Raises
    ------
    MemoryError
        When the system does not give so much.
    """

    def __init__(self, size: int, file: Path | None = None) -> None:
        self._size, self._on_disk = size, file is not None
        try:
            if file:
                with open(file, "r+b") as opened:
                    self._map = mmap.mmap(opened.fileno(), max(1, size))
                return
            self._map = mmap.mmap(-1, max(1, size), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except OSError as error:
            raise MemoryError(f"{size} bytes: {error.strerror}") from None
        if hasattr(mmap, "MADV_HUGEPAGE"):
            # Large memory pages take less time to get.
            self._map.madvise(mmap.MADV_HUGEPAGE)

    def array(self, dtype: npt.DTypeLike) -> np.ndarray:
        """Return the memory as an array."""
        return np.frombuffer(self._map, dtype, self._size // np.dtype(dtype).itemsize)

    def give_back(self, start: int, stop: int) -> None:
        """Give back what of bytes ``[start, stop)`` are whole pages of the system.

        They are read no more, unless they are those of a file, where they stay. Where the system has no such
        call, they go back with the rest.
        """
        start, stop = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE, stop // mmap.PAGESIZE * mmap.PAGESIZE
        if start < stop and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED, start, stop - start)

    def rest(self, start: int, stop: int) -> None:
        """Keep bytes ``[start, stop)`` of a file on disk alone until they are used again."""
        if self._on_disk:
            self.give_back(start, stop)
