"""Sort arrays inside kernels: a few dozen items, or many by some of their bits.

CPU only.
"""

import numpy as np

from overlapper.runtime.compile.cache import njit

U64 = np.uint64
MAX_DIGIT_BITS = 11


@njit(nogil=True, cache=True)
def sort_few(values):
    """Sort in place (Shell 1959, gaps that shrink by 9/4); numpy's sort takes numba seconds to compile."""
    gap = len(values)
    while gap > 1:
        gap = max(1, gap * 4 // 9)
        for i in range(gap, len(values)):
            value = values[i]
            at = i
            while at >= gap and values[at - gap] > value:
                values[at] = values[at - gap]
                at -= gap
            values[at] = value


@njit(nogil=True, cache=True)
def _starts_of_digits(values, n, shift, bits, starts):
    """Find where ``values[:n]`` of each digit start, ordered by ``bits`` bits from bit ``shift`` up."""
    mask = U64((1 << bits) - 1)
    shift = U64(shift)
    starts[: (1 << bits) + 1] = 0
    for i in range(n):
        starts[np.int64((values[i] >> shift) & mask) + 1] += 1
    for digit in range(1 << bits):
        starts[digit + 1] += starts[digit]


@njit(nogil=True, cache=True)
def _radix_pass(source, target, n, shift, bits, starts):
    """Move ``source[:n]`` to ``target``, stably ordered by ``bits`` bits from bit ``shift`` up."""
    _starts_of_digits(source, n, shift, bits, starts)
    mask = U64((1 << bits) - 1)
    shift = U64(shift)
    for i in range(n):
        value = np.int64((source[i] >> shift) & mask)
        target[starts[value]] = source[i]
        starts[value] += 1


@njit(nogil=True, cache=True)
def radix_sort(values, spare, low_bit, bits):
    """Sort stably by ``bits`` bits from bit ``low_bit`` up; return the sorted one of the two arrays given.

    Parameters
    ----------
    values, spare : ndarray of uint64, shape (n,)
        Both are overwritten.
    low_bit, bits : int
    """
    passes = max(1, (bits + MAX_DIGIT_BITS - 1) // MAX_DIGIT_BITS)
    starts = np.empty((1 << MAX_DIGIT_BITS) + 1, np.int64)
    done = 0
    for i in range(passes):
        digit_bits = (bits - done) // (passes - i)
        _radix_pass(values, spare, len(values), low_bit + done, digit_bits, starts)
        values, spare = spare, values
        done += digit_bits
    return values


@njit(nogil=True, cache=True)
def radix_sort_rows(keys, spare):
    """Return the rows of keys in their order, of equal ones in their own, and sort the keys with them.

    Parameters
    ----------
    keys, spare : ndarray of uint64, shape (n,)
        Both are overwritten.

    Returns
    -------
    sorted_keys : ndarray of uint64, shape (n,)
        One of the two arrays given.
    rows : ndarray of uint32, shape (n,)
    """
    n = len(keys)
    rows, spare_rows = np.arange(n).astype(np.uint32), np.empty(n, np.uint32)
    starts = np.empty((1 << MAX_DIGIT_BITS) + 1, np.int64)
    mask = U64((1 << MAX_DIGIT_BITS) - 1)
    for low_bit in range(0, 64, MAX_DIGIT_BITS):
        _starts_of_digits(keys, n, low_bit, MAX_DIGIT_BITS, starts)
        for i in range(n):
            digit = np.int64((keys[i] >> U64(low_bit)) & mask)
            spare[starts[digit]], spare_rows[starts[digit]] = keys[i], rows[i]
            starts[digit] += 1
        keys, spare, rows, spare_rows = spare, keys, spare_rows, rows
    return keys, rows


@njit(nogil=True, cache=True)
def order_by_number(numbers, count):
    """Return rows in the order of their numbers, those of equal numbers in their own, and where each starts.

    Parameters
    ----------
    numbers : ndarray of int32 or int64, shape (n,)
        From 0 to below ``count``.
    count : int

    Returns
    -------
    order : ndarray of int64, shape (n,)
    starts : ndarray of int64, shape (count + 1,)
        The rows of a number are ``order[starts[number]:starts[number + 1]]``.
    """
    starts = np.zeros(count + 1, np.int64)
    for row in range(len(numbers)):
        starts[numbers[row] + 1] += 1
    for number in range(count):
        starts[number + 1] += starts[number]
    order, free = np.empty(len(numbers), np.int64), starts.copy()
    for row in range(len(numbers)):
        order[free[numbers[row]]] = row
        free[numbers[row]] += 1
    return order, starts


@njit(nogil=True, cache=True)
def taken_from_both(rows, first, second):
    """Return the given rows (int64) of two arrays of a kind, one behind the other."""
    taken = np.empty(len(rows), first.dtype)
    for i in range(len(rows)):
        row = rows[i]
        taken[i] = first[row] if row < len(first) else second[row - len(first)]
    return taken
