"""Sequences packed two bits a base, the first base in the lowest bits, read 32 bases at a time.

CPU and GPU: CUDA kernels of `index` call `base_at` and `kmer_rank`, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.vectors import Lanes, load, splat, store
from overlapper.runtime.compile.cache import njit

_PAIRS = np.uint64(0x3333333333333333)
_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x00FF00FF00FF00FF)
_HALVES = np.uint64(0x0000FFFF0000FFFF)
_QUARTERS = Lanes(4)
_EIGHTS = np.array([0, 16, 32, 48])
"""Where each quarter of a word begins, of eight bases."""
_SPREADS = np.array([[24, 0x000000FF000000FF], [12, 0x000F000F000F000F], [6, 0x0303030303030303]])
"""Eight bases of two bits become eight bytes: half of what is together moves up, three times."""


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
    """Unpack bases ``[first, first + length)``, 32 at a time."""
    x = np.int64(0)
    while x + 32 <= length:
        _spread(bases_at(words, first + x), codes, x)
        x += 32
    if x < length:
        word = bases_at(words, first + x)
        while x < length:
            codes[x] = word & np.uint64(3)
            word >>= np.uint64(2)
            x += 1


@inner
def unpack_backwards(words, first, length, codes):
    """Unpack the reverse complement of bases ``[first, first + length)``."""
    x = np.int64(0)
    while x + 32 <= length:
        _spread(reverse_bases(~bases_at(words, first + length - x - 32)), codes, x)
        x += 32
    while x < length:
        codes[x] = 3 - base_at(words, first + length - x - 1)
        x += 1


@inner
def _spread(word, codes, at):
    """Write 32 packed bases, a byte each."""
    some = splat(_QUARTERS, _EIGHTS, np.int64(word))
    some = (some >> load(_QUARTERS, _EIGHTS, 0)) & splat(_QUARTERS, _EIGHTS, 65535)
    for step in range(len(_SPREADS)):
        shift, mask = (
            splat(_QUARTERS, _EIGHTS, _SPREADS[step, 0]),
            splat(_QUARTERS, _EIGHTS, _SPREADS[step, 1]),
        )
        some = (some | (some << shift)) & mask
    store(codes, at, some)


@njit(nogil=True, cache=True)
def pack_codes(codes, offsets, word_offsets):
    """Pack sequences, two bits a base; codes above 3 become 0.

    Parameters
    ----------
    codes : ndarray of uint8
    offsets : ndarray of int64, shape (n + 1,)
        Where each sequence starts.
    word_offsets : ndarray of int64, shape (n + 1,)
        Where the words of each are to start.

    Returns
    -------
    ndarray of uint64
    """
    words = np.zeros(word_offsets[-1], np.uint64)
    for s in range(len(offsets) - 1):
        for x in range(offsets[s + 1] - offsets[s]):
            code = codes[offsets[s] + x]
            if code < 4:
                words[word_offsets[s] + (x >> 5)] |= np.uint64(code) << np.uint64(2 * (x & 31))
    return words
