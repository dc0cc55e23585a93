"""Arrays that grow inside kernels."""

import numpy as np

from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def grow(values, size):
    """Return an array of ``size`` values that starts with the given ones."""
    grown = np.empty(size, values.dtype)
    # Not an assignment of arrays, whose error messages take numba seconds to compile.
    for i in range(len(values)):
        grown[i] = values[i]
    return grown
