"""Text read eight bytes at a time, each eight as one little-endian word.

What is looked for in a word is found by arithmetic on all its bytes at once, which has no branches to
mispredict (Warren, Hacker's Delight, section 6-1). Positions are unsigned.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.inlining import always_inline
from overlapper.kernels.common.packed import trailing_zeros

_ONE, _EIGHT = np.uint64(1), np.uint64(8)
_HIGH_BITS = np.uint64(0x8080808080808080)
_FIRST_LETTER = 14
"""Bytes below are tabs, line ends and other control characters."""
_HASH_START, _HASH_FACTOR = np.uint64(0xCBF29CE484222325), np.uint64(0x9E3779B97F4A7C15)


@always_inline
def load_8(text, i):
    """Return ``text[i:i + 8]`` as one word; the compiler makes one load of it."""
    x = np.uint64(text[i])
    x |= np.uint64(text[i + np.uint64(1)]) << np.uint64(8)
    x |= np.uint64(text[i + np.uint64(2)]) << np.uint64(16)
    x |= np.uint64(text[i + np.uint64(3)]) << np.uint64(24)
    x |= np.uint64(text[i + np.uint64(4)]) << np.uint64(32)
    x |= np.uint64(text[i + np.uint64(5)]) << np.uint64(40)
    x |= np.uint64(text[i + np.uint64(6)]) << np.uint64(48)
    x |= np.uint64(text[i + np.uint64(7)]) << np.uint64(56)
    return x


@always_inline
def field_end(text, i):
    """Return where the first byte below 14 is, from ``i`` on; there must be one."""
    while i + _EIGHT <= np.uint64(len(text)):
        x = load_8(text, i)
        control = (x - np.uint64(0x0E0E0E0E0E0E0E0E)) & ~x & _HIGH_BITS
        if control:
            return i + np.uint64(trailing_zeros(control) >> 3)
        i += _EIGHT
    while text[i] >= _FIRST_LETTER:
        i += _ONE
    return i


@always_inline
def short_number(text, i):
    """Read up to eight decimal digits.

    Returns
    -------
    number : int64
    end : uint64
        Where what is no digit follows, or the ninth one.
    """
    number = np.int64(0)
    end = i
    if i + _EIGHT <= np.uint64(len(text)):
        x = load_8(text, i) ^ np.uint64(0x3030303030303030)
        others = ((x + np.uint64(0x7676767676767676)) | x) & _HIGH_BITS
        digits = np.uint64(trailing_zeros(others) >> 3)
        if digits:
            # The digits move to the end of the word, behind zeros, and join in pairs, fours and eights.
            x <<= np.uint64(64) - _EIGHT * digits
            x = (x * np.uint64(10) + (x >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
            x = (x * np.uint64(100) + (x >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
            x = (x * np.uint64(10000) + (x >> np.uint64(32))) & np.uint64(0x00000000FFFFFFFF)
            number = np.int64(x)
        end = i + digits
    else:
        while end < np.uint64(len(text)) and ord("0") <= text[end] <= ord("9") and end < i + _EIGHT:
            number = number * 10 + (np.int64(text[end]) - ord("0"))
            end += _ONE
    return number, end


@always_inline
def hash_of(text, start, stop):
    """Return a 64-bit hash of ``text[start:stop]``."""
    hashed = _HASH_START
    i = start
    while i + _EIGHT <= stop:
        hashed = (hashed ^ load_8(text, i)) * _HASH_FACTOR
        hashed ^= hashed >> np.uint64(32)
        i += _EIGHT
    rest = np.uint64(0)
    while i < stop:
        rest = rest << _EIGHT | np.uint64(text[i])
        i += _ONE
    hashed = (hashed ^ rest) * _HASH_FACTOR
    return hashed ^ hashed >> np.uint64(32)
