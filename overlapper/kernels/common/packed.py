"""Sequences packed two bits a base, the first base in the lowest bits, read 32 bases at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from overlapper.kernels.common.inlining import inner
from overlapper.runtime.compile.cache import njit

_PAIRS = np.uint64(0x3333333333333333)
_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x00FF00FF00FF00FF)
_HALVES = np.uint64(0x0000FFFF0000FFFF)


@intrinsic
def _popcount(typingctx, word):
    """Return how many bits of a uint64 are set, as int64."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def _trailing_zeros(typingctx, word):
    """Return how many of the lowest bits of a uint64 are 0, as int64; 64 for 0."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), codegen


@intrinsic
def _uncounted(typingctx, array):
    """Return the same array without its reference count; the array must outlive the result.

    numba counts references with atomic instructions wherever an array is used in one branch only. In a loop
    over memory accesses, these keep accesses from overlapping and threads that share the array from running
    at once.
    """

    def codegen(context, builder, signature, args):
        view = context.make_array(signature.return_type)(context, builder, args[0])
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        return view._getvalue()

    return array(array), codegen


@intrinsic
def _prefetch(typingctx, array, index):
    """Have the line of memory of an item brought into the cache; the index may be any."""
    if not isinstance(array, types.Array):
        return None

    def codegen(context, builder, signature, args):
        view = context.make_array(signature.args[0])(context, builder, args[0])
        address = builder.bitcast(builder.gep(view.data, [args[1]]), ir.IntType(8).as_pointer())
        flag = ir.IntType(32)
        fetch = builder.module.declare_intrinsic(
            "llvm.prefetch", [address.type], ir.FunctionType(ir.VoidType(), [address.type, flag, flag, flag])
        )
        builder.call(fetch, [address, flag(0), flag(3), flag(1)])  # to be read, into all caches, data
        return context.get_dummy_value()

    return types.none(array, types.int64), codegen


popcount: Any = _popcount
trailing_zeros: Any = _trailing_zeros
uncounted: Any = _uncounted
prefetch: Any = _prefetch


@njit(nogil=True, cache=True, forceinline=True)
def base_at(words, position):
    """Return the base at a position of packed words."""
    return np.int64((words[position >> 5] >> np.uint64(2 * (position & 31))) & np.uint64(3))


@njit(nogil=True, cache=True, forceinline=True)
def bases_at(words, position):
    """Return 32 bases from a position of packed words on; what lies beyond the last word reads as 0."""
    word, shift = position >> 5, np.uint64(2 * (position & 31))
    low = words[word] >> shift
    if shift == 0 or word + 1 >= len(words):
        return low
    return low | words[word + 1] << (np.uint64(64) - shift)


@njit(nogil=True, cache=True, forceinline=True)
def reverse_bases(word):
    """Return 32 packed bases in reverse order."""
    word = (word >> np.uint64(2)) & _PAIRS | (word & _PAIRS) << np.uint64(2)
    word = (word >> np.uint64(4)) & _NIBBLES | (word & _NIBBLES) << np.uint64(4)
    word = (word >> np.uint64(8)) & _BYTES | (word & _BYTES) << np.uint64(8)
    word = (word >> np.uint64(16)) & _HALVES | (word & _HALVES) << np.uint64(16)
    return word >> np.uint64(32) | word << np.uint64(32)


@njit(nogil=True, cache=True, forceinline=True)
def kmer_rank(words, position, length):
    """Return the rank, among all k-mers in lexicographic order, of the one at a position.

    Parameters
    ----------
    words : ndarray of uint64
    position : int
    length : int
        k, 1 to 31.
    """
    return np.int64(reverse_bases(bases_at(words, position)) >> np.uint64(64 - 2 * length))


@inner
def unpack(words, first, length, codes):
    """Unpack bases ``[first, first + length)``, a word at a time."""
    x = np.int64(0)
    while x < length:
        in_word = (first + x) & 31
        word = words[(first + x) >> 5] >> np.uint64(2 * in_word)
        stop = min(length, x + 32 - in_word)
        while x < stop:
            codes[x] = word & np.uint64(3)
            word >>= np.uint64(2)
            x += 1
