"""Occurrences of minimizers, packed into as few bytes as the reads need.

CPU only: on GPUs an occurrence is a 64-bit number (cuda/seed_list_kernels.py).

An occurrence is, from its highest bit down, ``last of its group (1 bit) | read | position | strand (1)``. It
takes ``width`` bytes, lowest first, and its position ``position_bits``; the read has what is left. It lies in
an array of bytes at ``width`` times its number, and the array ends in `SPARE` bytes more.

Kernels hold it as a word of 64 bits with the last of its group in the highest, whatever its width. On GPUs it
takes 8 bytes, of which the position has `POSITION_BITS`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from overlapper.kernels.common.inlining import always_inline, inner
from overlapper.runtime.compile.cache import njit
from overlapper.tables.reads import BASES_PER_WORD

U64 = np.uint64
LAST_OF_GROUP = 1 << 63
POSITION_BITS = 31
READ_SHIFT = POSITION_BITS + 1
POSITION_MASK = (1 << POSITION_BITS) - 1
SPARE = 8
"""Bytes behind the last occurrence, as each is read as a whole word."""


@intrinsic
def _word_at(typingctx, items, place):
    """Return 8 bytes of an array of bytes as a uint64, aligned or not."""

    def codegen(context, builder, signature, args):
        view = context.make_array(signature.args[0])(context, builder, args[0])
        address = builder.bitcast(builder.gep(view.data, [args[1]]), ir.IntType(64).as_pointer())
        return builder.load(address, align=1)

    return types.uint64(items, types.int64), codegen


@intrinsic
def _put_word(typingctx, items, place, word):
    """Write a uint64 to 8 bytes of an array of bytes, aligned or not."""

    def codegen(context, builder, signature, args):
        view = context.make_array(signature.args[0])(context, builder, args[0])
        address = builder.bitcast(builder.gep(view.data, [args[1]]), ir.IntType(64).as_pointer())
        builder.store(args[2], address, align=1)
        return context.get_dummy_value()

    return types.none(items, types.int64, types.uint64), codegen


word_at: Any = _word_at
put_word: Any = _put_word


@always_inline
def occurrence_at(occurrences, number, width):
    """Return the occurrence of a number, as a word whose highest bit marks the last one of a hash."""
    return word_at(occurrences, np.int64(number) * width) << U64(64 - 8 * width)


@always_inline
def read_in(occurrence, width, position_bits):
    """Return the read of an occurrence (uint64)."""
    return (occurrence & ~U64(LAST_OF_GROUP)) >> U64(65 - 8 * width + position_bits)


@always_inline
def position_in(occurrence, width, position_bits):
    """Return the position of an occurrence in its read (uint64)."""
    return (occurrence >> U64(65 - 8 * width)) & ((U64(1) << U64(position_bits)) - U64(1))


@always_inline
def strand_in(occurrence, width):
    """Return the strand of an occurrence (uint64)."""
    return (occurrence >> U64(64 - 8 * width)) & U64(1)


@always_inline
def base_in(occurrence, width, position_bits, word_offsets):
    """Return the word-aligned base number of an occurrence."""
    read = np.int64(read_in(occurrence, width, position_bits))
    return word_offsets[read] * BASES_PER_WORD + np.int64(position_in(occurrence, width, position_bits))


@inner
def put(occurrences, number, width, occurrence):
    """Write an occurrence without touching its neighbours, which other threads may be writing."""
    packed, at = occurrence >> U64(64 - 8 * width), np.int64(number) * width
    for byte in range(width):
        occurrences[at + byte] = np.uint8(packed >> U64(8 * byte))


@always_inline
def put_before(occurrences, number, stop, width, occurrence):
    """Write an occurrence, perhaps with bytes behind it: occurrences up to ``stop`` are yet to be written."""
    at = np.int64(number) * width
    if at + 8 <= np.int64(stop) * width:
        put_word(occurrences, at, occurrence >> U64(64 - 8 * width))
    else:
        put(occurrences, number, width, occurrence)


@njit(nogil=True, cache=True)
def widen(occurrences, width, position_bits, first, words):
    """Write occurrences, from a number on, as those on GPUs.

    Parameters
    ----------
    occurrences : ndarray of uint8
    width, position_bits, first : int
    words : ndarray of uint64, shape (n,)
        Out.
    """
    for i in range(len(words)):
        one = occurrence_at(occurrences, first + i, width)
        place = (position_in(one, width, position_bits) << U64(1)) | strand_in(one, width)
        last = one & U64(LAST_OF_GROUP)
        words[i] = last | (read_in(one, width, position_bits) << U64(READ_SHIFT)) | place


@njit(nogil=True, cache=True)
def count_hits(occurrences, width, first, stop, step):
    """Count the hits of every ``step``-th occurrence with later ones of its group.

    Parameters
    ----------
    occurrences : ndarray of uint8
        The seed index.
    width : int
        Bytes of an occurrence.
    first, stop : int
        Range of numbers, half open, of whole groups.
    step : int
    """
    hits = 0
    for number in range(first, stop, step):
        here = number
        while not occurrence_at(occurrences, here, width) >> U64(63):
            here += 1
        hits += here - number
    return hits
