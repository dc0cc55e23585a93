"""Pairs of a key and a value sorted by key on the device, equal keys in the order they came.

Digits of `DIGIT_BITS` bits, the lowest first (Satish, Harris, Garland 2009): blocks count the digits of their
tiles, running sums over the counts, digit by digit, tell where those of each tile start, and each thread
moves its pairs there, behind those of the threads before it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from overlapper.kernels.common.cuda.scan import exclusive_sums
from overlapper.runtime.gpu.launch import named
from overlapper.runtime.gpu.memory import Arena

DIGIT_BITS = 5
DIGITS = 1 << DIGIT_BITS
THREADS = 128
EACH = 16
TILE = THREADS * EACH
_kernel = partial(named, "common.radix_sort_kernels")


def sort_pairs(keys: Any, values: Any, bits: int, arena: Arena) -> tuple[Any, Any]:
    """Return the pairs by key; the order of equal keys stays.

    Parameters
    ----------
    keys, values : device array of uint64, shape (n,)
        n at least 1; overwritten.
    bits : int
        The lowest bits of keys, by which they are sorted; the others are equal in all keys.
    arena : Arena
        Gives room for as many pairs again, and 8 bytes for each `EACH` pairs.

    Returns
    -------
    keys, values : device array of uint64, shape (n,)
        The arrays given, or others cut from the arena.
    """
    tiles = -(-len(keys) // TILE)
    others = arena.array(len(keys), keys.dtype), arena.array(len(keys), values.dtype)
    counts = arena.array(DIGITS * tiles, "i4")
    for shift in range(0, bits, DIGIT_BITS):
        mark = arena.mark()
        _kernel("count_digits").launch(tiles, THREADS, arena.stream, keys, shift, counts)
        offsets = exclusive_sums(counts, arena)
        _kernel("move_pairs").launch(tiles, THREADS, arena.stream, keys, values, shift, offsets, *others)
        (keys, values), others = others, (keys, values)
        arena.release(mark)
    return keys, values
