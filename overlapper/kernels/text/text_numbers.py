"""Numbers in text: decimal digits to integers and floats."""

from __future__ import annotations

import numpy as np

from overlapper.kernels.text.text_words import short_number
from overlapper.runtime.compile.cache import njit

FAILED = -(2**62)
"""What `integer` returns for what is none."""
MAX_INTEGER = 2**31 - 1
ZERO, NINE = ord("0"), ord("9")
_ONE = np.uint64(1)
_POWERS = np.array([float(f"1e{exponent}") for exponent in range(9)])


@njit(nogil=True, cache=True)
def integer(text, i, end):
    """Return the 32-bit integer that ``text[i:end]`` is, or `FAILED`; no digit stands at ``end``."""
    negative = text[i] == ord("-")
    i += np.uint64(negative)
    first = i
    number, i = short_number(text, i)
    while i < end and ZERO <= text[i] <= NINE and number <= MAX_INTEGER:
        number = number * 10 + (np.int64(text[i]) - ZERO)
        i += _ONE
    if i == first or i < end or number > MAX_INTEGER:
        return FAILED
    return -number if negative else number


@njit(nogil=True, cache=True)
def decimal(text, i, end):
    """Return the number that ``text[i:end]`` is, like 0.25 or 2.5e-1, or NaN; no digit stands at ``end``."""
    if text[i] == ord("0") and text[i + _ONE] == ord("."):
        fraction, stop = short_number(text, i + _ONE + _ONE)
        if stop == end:
            return np.float64(fraction) / _POWERS[end - i - _ONE - _ONE]
    mantissa = 0.0
    exponent = np.int64(0)
    digits = 0
    point = 0
    while i < end and (text[i] == ord(".") or ZERO <= text[i] <= NINE):
        if text[i] == ord("."):
            point += 1
        else:
            mantissa = mantissa * 10.0 + (np.int64(text[i]) - ZERO)
            digits += 1
            exponent -= point
        i += _ONE
    if digits == 0 or point > 1:
        return np.nan
    if i < end:
        if not (text[i] == ord("e") or text[i] == ord("E")):
            return np.nan
        exponent += integer(text, i + _ONE, end)
    if exponent < -300 or exponent > 300:
        return np.nan
    return mantissa * 10.0**exponent if exponent >= 0 else mantissa / 10.0**-exponent
