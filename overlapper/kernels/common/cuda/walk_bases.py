"""The bases of walks along packed reads, as threads of a CUDA device get them; reads are those of `walks`."""

from __future__ import annotations

from numba import cuda, int32, uint32

from overlapper.kernels.common.cuda.half_words import reverse_bits, shift_right

EVERY_BASE = 0x55555555
"""Sixteen known bases: the lower bit of each."""


@cuda.jit
def mark_unknown(unknown_start, unknown_end, unknown_offsets, word_offsets, unknown):
    """Set the bits of unknown bases; a block per read, in turn."""
    for read in range(cuda.blockIdx.x, len(word_offsets) - 1, cuda.gridDim.x):
        first = word_offsets[read]
        for run in range(unknown_offsets[read], unknown_offsets[read + 1]):
            for base in range(unknown_start[run] + cuda.threadIdx.x, unknown_end[run], cuda.blockDim.x):
                cuda.atomic.or_(unknown, first + (base >> 5), uint32(uint32(1) << uint32(base & 31)))


@cuda.jit(device=True, forceinline=True)
def walks_from_item(lengths, seeds, item):
    """Return the walks of an extension; ``item`` is twice its seed, one more if it runs after the seed.

    ``lengths`` are those of the reads.

    Returns
    -------
    tuple
        Of query and target: read, origin, whether positions rise along the walk, and its length in bases. The
        target's bases are to be complemented where the pair is reverse.
    """
    seed, after = item >> 1, (item & 1) == 1
    q_read, t_read = seeds.query[seed], seeds.target[seed]
    t_up = after != seeds.reverse[seed]
    q_first, t_first = int32(seeds.query_pos[seed]), int32(seeds.target_pos[seed])
    q_origin = int32(q_first + seeds.length) if after else int32(q_first - 1)
    t_origin = int32(t_first + seeds.length) if t_up else int32(t_first - 1)
    q_length = int32(lengths[q_read] - q_origin) if after else int32(q_origin + 1)
    t_length = int32(lengths[t_read] - t_origin) if t_up else int32(t_origin + 1)
    return q_read, q_origin, after, q_length, t_read, t_origin, t_up, t_length


@cuda.jit(device=True)
def known_bases(unknown, word_offset, last, lowest):
    """Return which of 16 bases from position ``lowest`` on are known, as the lower bits of bases."""
    at = int32(lowest >> int32(5))
    low = unknown[word_offset + min(max(at, int32(0)), last)]
    high = unknown[word_offset + min(max(int32(at + int32(1)), int32(0)), last)]
    bits = uint32(shift_right(low, high, uint32(lowest & int32(31))) & uint32(0xFFFF))
    bits = uint32((bits | uint32(bits << uint32(8))) & uint32(0x00FF00FF))
    bits = uint32((bits | uint32(bits << uint32(4))) & uint32(0x0F0F0F0F))
    bits = uint32((bits | uint32(bits << uint32(2))) & uint32(0x33333333))
    bits = uint32((bits | uint32(bits << uint32(1))) & uint32(EVERY_BASE))
    return uint32(bits ^ uint32(EVERY_BASE))


@cuda.jit(device=True)
def bases_at(words, unknown, word_offset, length, origin, up, steps, first, falling):
    """Return the bases of steps ``[first, first + 16)`` of a walk, and which of them are known.

    Parameters
    ----------
    words, unknown : device array of uint32
        As in `DeviceReads`.
    word_offset, length : int64, int32
        Where the read starts, and its length.
    origin, up, steps : int32, bool, int32
        The walk: where it starts, whether positions rise, its length.
    first : int32
        May lie outside the walk; bases there are unknown.
    falling : bool
        Whether the highest bits hold step ``first``, and not the lowest.

    Returns
    -------
    bases, known : uint32
        Sixteen bases, and the lower bits of those that are known.
    """
    zero, last = int32(0), int32((length - int32(1)) >> int32(4))
    lowest = int32(origin + first) if up else int32(origin - first - int32(15))
    at = int32(lowest >> int32(4))
    low = words[2 * word_offset + min(max(at, zero), last)]
    high = words[2 * word_offset + min(max(int32(at + int32(1)), zero), last)]
    bases = shift_right(low, high, uint32(uint32(lowest & int32(15)) * uint32(2)))
    known = known_bases(unknown, word_offset, int32((length - int32(1)) >> int32(5)), lowest)
    if not up:
        bases, known = _reversed(bases), uint32(reverse_bits(known) >> uint32(1))
    before, left = int32(-first), int32(steps - first)
    if before >= int32(16) or left <= zero:
        known = uint32(0)
    else:
        if before > zero:
            known = uint32(known & uint32(uint32(EVERY_BASE) << uint32(before * int32(2))))
        if left < int32(16):
            known = uint32(known & uint32(uint32(uint32(1) << uint32(left * int32(2))) - uint32(1)))
    if falling:
        bases, known = _reversed(bases), uint32(reverse_bits(known) >> uint32(1))
    return bases, known


@cuda.jit(device=True, forceinline=True)
def _reversed(bases):
    """Return sixteen packed bases in reverse order."""
    swapped = reverse_bits(bases)
    even = uint32(uint32(swapped >> uint32(1)) & uint32(EVERY_BASE))
    return uint32(even | uint32(uint32(swapped & uint32(EVERY_BASE)) << uint32(1)))


@cuda.jit(device=True)
def planes_at(words, unknown, word_offset, length, position, up, first, rising):
    """Return 32 bases of a walk as bit planes.

    Parameters
    ----------
    words, unknown : device array of uint32
        As in `DeviceReads`.
    word_offset, length : int64, int32
        Where the read starts, and its length.
    position, up : int32, bool
        Where the walk is, and whether positions rise along it.
    first : int32
        The planes hold the steps ``[first, first + 32)`` from there; what lies outside the read is arbitrary.
    rising : bool
        Whether the lowest bit is step ``first``, and not the highest.

    Returns
    -------
    low, high, unknown : uint32
        Lower bit and higher bit of each base, and whether it is unknown.
    """
    zero, one, last = int32(0), int32(1), int32((length - int32(1)) >> int32(4))
    lowest = int32(position + first) if up else int32(position - first - int32(31))
    at = int32(lowest >> int32(4))
    shift = uint32(uint32(lowest & int32(15)) * uint32(2))
    middle = words[2 * word_offset + min(max(int32(at + one), zero), last)]
    left = shift_right(words[2 * word_offset + min(max(at, zero), last)], middle, shift)
    right = shift_right(middle, words[2 * word_offset + min(max(int32(at + int32(2)), zero), last)], shift)
    low = uint32(_even_bits(left) | uint32(_even_bits(right) << uint32(16)))
    left, right = uint32(left >> uint32(1)), uint32(right >> uint32(1))
    high = uint32(_even_bits(left) | uint32(_even_bits(right) << uint32(16)))

    at, last = int32(lowest >> int32(5)), int32((length - int32(1)) >> int32(5))
    left = unknown[word_offset + min(max(at, zero), last)]
    right = unknown[word_offset + min(max(int32(at + one), zero), last)]
    without = shift_right(left, right, uint32(lowest & int32(31)))
    if up != rising:
        low, high, without = reverse_bits(low), reverse_bits(high), reverse_bits(without)
    return low, high, without


@cuda.jit(device=True, forceinline=True)
def _even_bits(word):
    """Return bits 0, 2, 4 ... as the lowest sixteen."""
    word = uint32(word & uint32(0x55555555))
    word = uint32((word | uint32(word >> uint32(1))) & uint32(0x33333333))
    word = uint32((word | uint32(word >> uint32(2))) & uint32(0x0F0F0F0F))
    word = uint32((word | uint32(word >> uint32(4))) & uint32(0x00FF00FF))
    return uint32((word | uint32(word >> uint32(8))) & uint32(0x0000FFFF))
