"""Bases of packed reads, one to a byte, in the order in which an extension meets them."""

from __future__ import annotations

import numpy as np
from numba import njit

_BASES = 32


@njit(nogil=True, cache=True)
def _word_from(words, first):
    """The 32 bases from base ``first`` on, packed; what lies outside the read is 0."""
    shift = np.uint64(2 * (first & (_BASES - 1)))
    at = first >> 5
    low = words[at] if 0 <= at < len(words) else np.uint64(0)
    high = words[at + 1] if 0 <= at + 1 < len(words) else np.uint64(0)
    # Two shifts, as a shift by all 64 bits is undefined.
    return (low >> shift) | ((high << np.uint64(1)) << (np.uint64(63) - shift))


@njit(nogil=True, cache=True)
def unpack_walk(words, unknown_start, unknown_end, origin, step, begin, end, complement, unknown, out, at, rise):
    """Write steps ``begin`` to ``end`` of a walk along a read.

    Step ``x`` of the walk is base ``origin + step * x`` and goes to ``out[at + rise * x]``.

    Parameters
    ----------
    words : ndarray of uint64
        Packed bases of the read.
    unknown_start, unknown_end : ndarray of int32
        Its runs of unknown bases.
    origin, step : int
        First base of the walk and its direction, 1 or -1.
    begin, end : int
        Steps to write, half open; rounded up to whole blocks of 32 steps, so that up to 31 more
        items of ``out`` are overwritten.
    complement : bool
        Write the complements of the bases.
    unknown : int
        Code of an unknown base.
    out : ndarray of uint8
    at, rise : int
        Where step 0 goes, and the direction in ``out``, 1 or -1.
    """
    flip = np.uint64(3 if complement else 0)
    for x in range(begin, end, _BASES):
        lowest = origin + x if step > 0 else origin - x - (_BASES - 1)
        word = _word_from(words, lowest)
        corner = at + x if rise > 0 else at - x - (_BASES - 1)
        block = out[corner : corner + _BASES]
        if step == rise:
            for base in range(_BASES):
                block[base] = np.uint8(((word >> np.uint64(2 * base)) & np.uint64(3)) ^ flip)
        else:
            for base in range(_BASES):
                block[base] = np.uint8(((word >> np.uint64(62 - 2 * base)) & np.uint64(3)) ^ flip)
    for run in range(len(unknown_start)):
        first, last = unknown_start[run], unknown_end[run] - 1
        near = first - origin if step > 0 else origin - last
        far = last - origin if step > 0 else origin - first
        for x in range(max(near, begin), min(far + 1, end)):
            out[at + rise * x] = unknown
