"""numba's cache of compiled kernels, for several processes at once, and after an upgrade.

numba (0.68) keeps a file for each kernel and types of its arguments, and lists these files in another: it
reads the list, takes the next free number, and writes the list. Two processes that compile a kernel for
different types at the same time, as two commands started together do on a new machine, take the same number,
and the list may then name the other's code. Here a lock on the folder lets them add to it one after the
other.

The list names the classes of arguments. Where another version of overlapper, whose caches an upgrade leaves
behind, had one of them in another module, numba cannot read the list, and gives up; here it counts as out of
date.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from typing import Any

from numba.core.caching import IndexDataCacheFile

_save, _load_index = IndexDataCacheFile.save, IndexDataCacheFile._load_index


def mend_cache() -> None:
    """Have numba lock the folder of its cache while it adds a kernel, and bear with lists it cannot read."""
    IndexDataCacheFile.save = _save_locked  # type: ignore[method-assign]
    IndexDataCacheFile._load_index = _load_index_or_none  # type: ignore[method-assign]


def _save_locked(cache: Any, key: Any, data: Any) -> None:
    """Do as `IndexDataCacheFile.save`, but alone among all processes."""
    folder = os.open(cache._cache_path, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system that has no locks
            fcntl.flock(folder, fcntl.LOCK_EX)
        _save(cache, key, data)
    finally:
        os.close(folder)


def _load_index_or_none(cache: Any) -> Any:
    """Do as `IndexDataCacheFile._load_index`; what names classes that are not there lists nothing."""
    try:
        return _load_index(cache)
    except (AttributeError, ImportError):
        return {}
