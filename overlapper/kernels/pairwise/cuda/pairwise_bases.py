"""Pairwise alignment on a device: the sequences of a chunk, and their bases in their orientation.

A part of `pairwise`, whose twin is ../pairwise.py.
"""

from __future__ import annotations

from numba import cuda, int32, uint32

from overlapper.kernels.common.cuda.walk_bases import bases_at
from overlapper.kernels.pairwise.pairwise_chunks import FLAGS, OFFSET, Q_LENGTH, T_FLAGS_SHIFT, T_LENGTH
from overlapper.kernels.pairwise.pairwise_layout import COMPLEMENTED, REVERSED, UNKNOWN

REVERSED_BIT, COMPLEMENTED_BIT = REVERSED, COMPLEMENTED
_Q_FLAGS = (1 << T_FLAGS_SHIFT) - 1


@cuda.jit(device=True, forceinline=True)
def sequences_of(numbers, pair):
    """Return of the query and of the target of a pair: where its words start, its length and its flags."""
    q_at, n, m = numbers[OFFSET, pair], numbers[Q_LENGTH, pair], numbers[T_LENGTH, pair]
    t_at = int32(q_at + (int32(n + int32(31)) >> int32(5)))
    flags = numbers[FLAGS, pair]
    return q_at, n, int32(flags & int32(_Q_FLAGS)), t_at, m, int32(flags >> int32(T_FLAGS_SHIFT))


@cuda.jit(device=True)
def base_of(words, unknown, word_offset, length, flags, position):
    """Return the code of one base of an oriented sequence, 0 to 4."""
    at = int32(length - int32(1) - position) if flags & REVERSED_BIT else int32(position)
    if (unknown[word_offset + (at >> int32(5))] >> uint32(at & int32(31))) & uint32(1):
        return int32(UNKNOWN)
    word = words[2 * word_offset + (at >> int32(4))]
    code = int32((word >> uint32(2 * (at & int32(15)))) & uint32(3))
    return int32(code ^ int32(3)) if flags & COMPLEMENTED_BIT else code


@cuda.jit(device=True)
def sixteen_bases(words, unknown, word_offset, length, flags, first):
    """Return 16 bases of an oriented sequence, two bits each, the first one lowest.

    Returns
    -------
    bases, known : uint32
        ``known`` has the lower bit of each base set that is not N.
    """
    up = (flags & REVERSED_BIT) == 0
    origin = int32(0) if up else int32(length - int32(1))
    bases, known = bases_at(words, unknown, word_offset, length, origin, up, length, first, False)
    return (uint32(~bases) if flags & COMPLEMENTED_BIT else bases), known


@cuda.jit(device=True, forceinline=True)
def code_in(bases, known, position):
    """Return the code of one of the bases that `sixteen_bases` returned."""
    shift = uint32(2 * (position & int32(15)))
    code = int32(uint32(bases >> shift) & uint32(3))
    return code if uint32(known >> shift) & uint32(1) else int32(UNKNOWN)
