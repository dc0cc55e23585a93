"""What commands that compute load first."""

from __future__ import annotations

import importlib
import sys

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
