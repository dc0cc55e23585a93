"""What commands that compute load first."""

from __future__ import annotations

import ctypes
import importlib
import sys

_MMAP_THRESHOLD = -3
"""The C library's name (glibc) for the size from which memory is the system's own, and goes back to it."""
_BLAS = "scipy.linalg.cython_blas"


def load_numba() -> None:
    """Load numba without scipy's linear algebra, which takes as long again and 15 MB.

    numba looks for it once, for products of matrices within kernels; no kernel has any. Only a process of our
    own may decide that, so this is for commands, never for the library.
    """
    if _BLAS in sys.modules:
        return
    sys.modules[_BLAS] = None  # type: ignore[assignment] # which makes importing it fail, at no cost
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        del sys.modules[_BLAS]


def return_large_arrays() -> None:
    """Have large arrays give their memory back when they are freed, where the C library can be told so.

    It would raise the size from which it does so to that of the largest array freed so far.
    """
    c_library = ctypes.CDLL(None)
    if hasattr(c_library, "mallopt"):
        c_library.mallopt(_MMAP_THRESHOLD, 1 << 20)
