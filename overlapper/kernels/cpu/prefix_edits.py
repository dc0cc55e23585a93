"""Edit distance between the beginnings of two sequences, in a band.

``D[i, j]`` is the least number of substitutions, insertions and deletions that turn the first i bases of one
sequence into the first j of the other, over paths that keep ``|i - j| <= band``. The kernel returns the
smallest value of two rows: how well a prefix of the first sequence matches any prefix of the second.
"""

import numpy as np
from numba import njit

_THREE = np.uint64(3)
_FAR = np.int32(1 << 20)


@njit(nogil=True, cache=True)
def unpack_from(words, place, bases):
    """Unpack bases from a place on, down and complemented when the place is a bitwise complement."""
    reverse = place < 0
    step = -1 if reverse else 1
    at = ~place if reverse else place
    for i in range(len(bases)):
        base = (words[at // 32] >> np.uint64(2 * (at % 32))) & _THREE
        bases[i] = _THREE - base if reverse else base
        at += step


@njit(nogil=True, cache=True)
def row_minima(one, other, band, row):
    """Return the smallest distance in row ``row`` and in the last row.

    Parameters
    ----------
    one, other : ndarray of uint8
        Base codes; ``other`` has at least ``len(one) + band`` of them.
    band : int
    row : int
        1 to ``len(one)``.

    Returns
    -------
    int, int
    """
    width = 2 * band + 1
    above = np.empty(width + 1, np.int32)
    for column in range(width):
        above[column] = column - band if column >= band else _FAR
    above[width] = _FAR
    at_row = np.int32(0)
    for i in range(1, len(one) + 1):
        base = one[i - 1]
        first = max(0, band + 1 - i)
        left = np.int32(i) if i <= band else _FAR
        if i <= band:
            above[first - 1] = left
        for column in range(first, width):
            value = min(above[column + 1], left) + np.int32(1)
            value = min(value, above[column] + np.int32(base != other[i + column - band - 1]))
            above[column] = value
            left = value
        if i == row:
            at_row = _smallest(above)
    return at_row, _smallest(above)


@njit(nogil=True, cache=True)
def _smallest(values):
    smallest = values[0]
    for value in values:
        smallest = min(smallest, value)
    return smallest


@njit(nogil=True, cache=True)
def pair_edits(words, one, other, band, skip, length, edits):
    """Measure pairs of places: edits between bases ``skip`` and ``skip + length`` from each place.

    Parameters
    ----------
    words : ndarray of uint64
        Packed bases.
    one, other : ndarray of int64, shape (n,)
        Places as in `kmer_sample.sample`; ``skip + length + band`` bases follow each.
    band, skip, length : int
    edits : ndarray of int32, shape (n,)
        Receives the growth of the smallest distance from row ``skip`` to the last row.
    """
    first = np.empty(skip + length, np.uint8)
    second = np.empty(skip + length + band, np.uint8)
    for i in range(len(one)):
        unpack_from(words, one[i], first)
        unpack_from(words, other[i], second)
        before, after = row_minima(first, second, band, skip)
        edits[i] = after - before
