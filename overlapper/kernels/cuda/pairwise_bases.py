"""Pairwise alignment on a device: bases of sequences in their orientation."""

from __future__ import annotations

from numba import cuda, int32, uint32

from overlapper.kernels.cpu.pairwise_layout import COMPLEMENTED, REVERSED, UNKNOWN
from overlapper.kernels.cuda.walks import bases_at

REVERSED_BIT, COMPLEMENTED_BIT = REVERSED, COMPLEMENTED


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
