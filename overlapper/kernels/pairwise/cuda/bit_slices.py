"""Arithmetic on bit slices: 32 small unsigned numbers at once, bit ``k`` of each in word ``k``.

A part of `pairwise`, whose twin is ../pairwise.py.

A word operation works on one bit of all 32 numbers, so what an addition costs depends on how many bits the
numbers have, and not on how many numbers there are. A slice is an array of ``bits`` words in registers; the
loops over its words unroll, as ``bits`` is known when the functions are made. A result may go where an
operand was.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import cuda, uint32


class Arithmetic(NamedTuple):
    """Device functions for numbers of so many bits."""

    add: Any
    """function of (result, a, b)."""
    subtract: Any
    """Function of (result, a, b); returns a mask of the numbers for which ``a < b``; their results are
    wrong."""
    less: Any
    """Function of (a, b); returns a mask of the numbers for which ``a < b``."""
    choose: Any
    """Function of (result, mask, a, b); takes ``a`` where the mask is set, else ``b``."""
    keep: Any
    """Function of (a, mask); sets to 0 where the mask is not set."""
    spread: Any
    """Function of (result, number); sets all 32 numbers to the same one."""


def arithmetic(bits: int) -> Arithmetic:
    """Return the functions for numbers of ``bits`` bits."""

    @cuda.jit(device=True, forceinline=True)
    def add(result, a, b):
        carry = uint32(0)
        for k in range(bits):
            first, second = a[k], b[k]
            result[k] = uint32(first ^ second ^ carry)
            carry = _majority(first, second, carry)

    @cuda.jit(device=True, forceinline=True)
    def subtract(result, a, b):
        borrow = uint32(0)
        for k in range(bits):
            first, second = a[k], b[k]
            result[k] = uint32(first ^ second ^ borrow)
            borrow = _majority(uint32(~first), second, borrow)
        return borrow

    @cuda.jit(device=True, forceinline=True)
    def less(a, b):
        borrow = uint32(0)
        for k in range(bits):
            borrow = _majority(uint32(~a[k]), b[k], borrow)
        return borrow

    @cuda.jit(device=True, forceinline=True)
    def choose(result, mask, a, b):
        for k in range(bits):
            result[k] = select(mask, a[k], b[k])

    @cuda.jit(device=True, forceinline=True)
    def keep(a, mask):
        for k in range(bits):
            a[k] = uint32(a[k] & mask)

    @cuda.jit(device=True, forceinline=True)
    def spread(result, number):
        for k in range(bits):
            result[k] = uint32(uint32(0) - uint32(uint32(number >> uint32(k)) & uint32(1)))

    return Arithmetic(add, subtract, less, choose, keep, spread)


@cuda.jit(device=True, forceinline=True)
def select(mask, a, b):
    """Return the bits of ``a`` where the mask is set, else those of ``b``."""
    return uint32(uint32(a & mask) | uint32(b & uint32(~mask)))


@cuda.jit(device=True, forceinline=True)
def _majority(a, b, c):
    return uint32(uint32(a & b) | uint32(a & c) | uint32(b & c))
