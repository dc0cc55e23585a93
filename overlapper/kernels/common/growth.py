"""Arrays that grow inside kernels.

CPU only.
"""

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


@njit(nogil=True, cache=True)
def grow_rows(rows, size):
    """Return a matrix of ``size`` rows that starts with the given ones."""
    width = rows.shape[1]
    return grow(rows.reshape(-1), size * width).reshape(-1, width)


@njit(nogil=True, cache=True)
def with_room(values, used, more):
    """Return an array with room for more values: the same, or one of twice the size with what it held."""
    if used + more <= len(values):
        return values
    return grow(values[:used], max(2 * len(values), used + more))


@njit(nogil=True, cache=True)
def extended(values, used, more):
    """Return an array with more values behind those that are used (`with_room`)."""
    values = with_room(values, used, len(more))
    for i in range(len(more)):
        values[used + i] = more[i]
    return values
