"""numba's cache of compiled kernels, for several processes at once.

numba (0.68) keeps a file for each kernel and types of its arguments, and lists these files in another: it
reads the list, takes the next free number, and writes the list. Two processes that compile a kernel for
different types at the same time, as two commands started together do on a new machine, take the same number,
and the list may then name the other's code. Here a lock on the folder lets them add to it one after the
other.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from typing import Any

from numba.core.caching import IndexDataCacheFile

_save = IndexDataCacheFile.save


def lock_while_saving() -> None:
    """Have numba lock the folder of its cache while it adds a kernel."""
    IndexDataCacheFile.save = _save_locked  # type: ignore[method-assign]


def _save_locked(cache: Any, key: Any, data: Any) -> None:
    """Do as `IndexDataCacheFile.save`, but alone among all processes."""
    folder = os.open(cache._cache_path, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system that has no locks
            fcntl.flock(folder, fcntl.LOCK_EX)
        _save(cache, key, data)
    finally:
        os.close(folder)
