"""What commands that compute load first."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

_MMAP_THRESHOLD = -3
"""The C library's name (glibc) for the size from which memory is the system's own, and goes back to it."""
_SETTINGS_OF_NUMBA = ".numba_config.yaml"


def load_numba() -> None:
    """Load numba without what compiled kernels do not need, which takes longer than the rest.

    Only a process of our own may decide that, so this is for commands, never for the library. What is left
    out:

    - scipy's linear algebra, for products of matrices within kernels; no kernel has any.
    - YAML, where there is no file of settings of numba to read.
    - The search of all installed packages for extensions of numba.
    - Everything that numba can translate, before a kernel is taken from the cache. A kernel that has to be
      compiled loads it by itself.
    """
    left_out: dict[str, ModuleType | None] = {
        "scipy.linalg.cython_blas": None,  # importing it fails, and numba does without
        "importlib.metadata": ModuleType("importlib.metadata"),
    }
    if not os.path.exists(_SETTINGS_OF_NUMBA):
        left_out["yaml"] = None
    with _instead(left_out):
        importlib.import_module("numba.np.arraymath")

    from numba.core import caching, entrypoints

    entrypoints._already_initialized = True
    caching.Cache.load_overload = _load_kernel  # type: ignore[method-assign]


def _load_kernel(cache: Any, signature: Any, target: Any) -> Any:
    """Take a kernel from the cache; `Cache.load_overload` itself first loads all that numba can translate."""
    from numba.core.runtime import rtsys

    rtsys.initialize(target)
    with cache._guard_against_spurious_io_errors():
        return cache._load_overload(signature, target)


@contextlib.contextmanager
def _instead(modules: dict[str, ModuleType | None]) -> Iterator[None]:
    """Have other modules, or none, imported under some names, unless they were before."""
    modules = {name: module for name, module in modules.items() if name not in sys.modules}
    sys.modules.update(modules)  # type: ignore[arg-type] # importing None fails, by Python's own rule
    try:
        yield
    finally:
        for name in modules:
            del sys.modules[name]


def return_large_arrays() -> None:
    """Have large arrays give their memory back when they are freed, where the C library can be told so.

    It would raise the size from which it does so to that of the largest array freed so far.
    """
    c_library = ctypes.CDLL(None)
    if hasattr(c_library, "mallopt"):
        c_library.mallopt(_MMAP_THRESHOLD, 1 << 20)
