"""Memory of earlier results that later ones reuse.

The operating system gives memory page by page, when it is first written to, and that takes longer than a GPU
needs to fill it. So arrays are cut from blocks that come back when the last array that shares their memory is
gone.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np

KEPT_BYTES = 4 << 30
"""Most bytes that are kept for reuse."""


class BlockPool:
    """Blocks of memory, each used by one array at a time."""

    def __init__(self) -> None:
        self._unused: list[np.ndarray] = []
        # A block may come back while one is taken: whenever an array goes, in any thread.
        self._changing = threading.RLock()

    def array(self, length: int, dtype: Any) -> np.ndarray:
        """Return an array; what it holds is arbitrary."""
        size = length * np.dtype(dtype).itemsize
        if not size:
            return np.empty(length, dtype)
        with self._changing:
            # Not one of twice the size: what is left over would be held as long.
            fitting = [k for k, block in enumerate(self._unused) if size <= len(block) < 2 * size]
            chosen = min(fitting, key=lambda k: len(self._unused[k]), default=-1)
            block = self._unused.pop(chosen) if fitting else np.empty(size, np.uint8)
        # All arrays that share the block's memory hold this one, and nothing else does.
        owner = np.frombuffer(block.data, np.uint8)
        weakref.finalize(owner, self._take_back, block).atexit = False
        return owner[:size].view(dtype)

    def _take_back(self, block: np.ndarray) -> None:
        with self._changing:
            if sum(map(len, self._unused)) + len(block) <= KEPT_BYTES:
                self._unused.append(block)
