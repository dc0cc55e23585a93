"""Rows of ragged columns in another order.

CPU only.
"""

from __future__ import annotations

from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def put_rows(values, offsets, chosen, out):
    """Copy rows of a ragged column one after the other to the front of ``out``."""
    place = 0
    for row in chosen:
        for i in range(offsets[row], offsets[row + 1]):
            out[place] = values[i]
            place += 1
