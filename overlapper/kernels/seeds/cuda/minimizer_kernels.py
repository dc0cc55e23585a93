"""Hashes of k-mers, and which are minimizers: the kernels that `minimizers` launches."""

from __future__ import annotations

import numpy as np
from numba import cuda, int32, int64, uint64

from overlapper.kernels.seeds.counting import mix, reverse_complement_64
from overlapper.tables.reads import BASES_PER_WORD

_NEVER = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE = np.uint64(1)


@cuda.jit
def mark_reads(word_offsets, owners):
    """Write the read of each word; a block a read, in turn."""
    for read in range(cuda.blockIdx.x, len(word_offsets) - 1, cuda.gridDim.x):
        for word in range(word_offsets[read] + cuda.threadIdx.x, word_offsets[read + 1], cuda.blockDim.x):
            owners[word] = int32(read)


@cuda.jit
def hash_kmers(words, unknown, word_offsets, lengths, owners, first_word, k, hashes):
    """Write hash and strand of the k-mer at each base; a thread a base."""
    x = cuda.grid(1)
    if x >= len(hashes):
        return
    word, shift = int64(first_word + (x >> 5)), uint64(x & 31)
    read = owners[word]
    hashes[x] = _NEVER
    if (word - word_offsets[read]) * BASES_PER_WORD + int64(shift) + k > lengths[read]:
        return
    following = min(word + 1, int64(len(words)) - 1)
    without = uint64(unknown[word]) | (uint64(unknown[following]) << uint64(32))
    if (without >> shift) & ((_ONE << uint64(k)) - _ONE):
        return
    mask = (_ONE << uint64(2 * k)) - _ONE
    # Two shifts to the left, as a shift by all 64 bits is undefined.
    high = (words[following] << _ONE) << (uint64(63) - uint64(2) * shift)
    kmer = ((words[word] >> (uint64(2) * shift)) | high) & mask
    length = uint64(k)
    forward, backward = mix(kmer, length, mask), mix(reverse_complement_64(kmer, k), length, mask)
    if forward != backward:
        hashes[x] = (min(forward, backward) << _ONE) | uint64(backward < forward)


@cuda.jit
def flag_minimizers(hashes, word_offsets, lengths, owners, first_word, k, w, flags):
    """Flag the k-mers whose hash is the smallest, or as small, of a window; a thread a base."""
    x = cuda.grid(1)
    if x >= len(hashes):
        return
    flags[x] = int32(0)
    if hashes[x] == _NEVER:
        return
    own = hashes[x] >> _ONE
    word = int64(first_word + (x >> 5))
    read = owners[word]
    position = (word - word_offsets[read]) * BASES_PER_WORD + (x & 31)
    kmers = lengths[read] - k + 1
    window, reach = min(int64(w), kmers), int64(1)
    left = int64(1)
    while reach < window and left <= position and (hashes[x - left] >> _ONE) >= own:
        reach += 1
        left += 1
    right = int64(1)
    while reach < window and position + right < kmers and (hashes[x + right] >> _ONE) >= own:
        reach += 1
        right += 1
    flags[x] = int32(reach >= window)
