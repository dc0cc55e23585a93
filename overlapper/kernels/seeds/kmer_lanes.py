"""Hashes of k-mers of up to 15 bases, sixteen at a time (`overlapper.kernels.seeds.minimizers` has the hash).

A part of `minimizers`, whose GPU twin is cuda/minimizers.py.

Sixteen k-mers that start one base after the other lie within the 32 bases of a word, and their reverse
complements within its reverse complement. Written as a loop over numbers of 32 bits, the same takes four
times as long: numba computes with 64.
"""

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.packed import reverse_bases
from overlapper.kernels.common.vectors import Lanes, load, minimum, select, splat, store
from overlapper.kernels.seeds.counting import M1, M2
from overlapper.runtime.compile.cache import njit
from overlapper.tables.reads import BASES_PER_WORD

U64 = np.uint64
_M1, _M2 = int(M1) & 0xFFFFFFFF, int(M2) & 0xFFFFFFFF
_KMERS = Lanes(16)
_UP = np.arange(0, 32, 2, dtype=np.uint32)
_DOWN = _UP[::-1].copy()
"""Bits before each of sixteen successive bases, of two a base; and behind it, up to the last one."""


@njit(nogil=True, cache=True)
def hash_words(words, first_word, n_words, k, hashes, strands):
    """Hash the k-mers that start in some words.

    Parameters
    ----------
    words : ndarray of uint64
        A packed read.
    first_word, n_words : int
    k : int
        1 to 15.
    hashes : ndarray of uint32
        Out: a hash for each base; all bits for a k-mer that is its own reverse complement.
    strands : ndarray of uint32
        Out: 1 where the reverse complement has the smaller hash, else 0.
    """
    for i in range(n_words):
        low, high = words[first_word + i], U64(0)
        if first_word + i + 1 < len(words):
            high = words[first_word + i + 1]
        _hash_sixteen(low, k, hashes, strands, BASES_PER_WORD * i)
        _hash_sixteen((low >> U64(32)) | (high << U64(32)), k, hashes, strands, BASES_PER_WORD * i + 16)


@inner
def _hash_sixteen(window, k, hashes, strands, at):
    """Hash the first sixteen k-mers of 32 bases; write them from ``at`` on."""
    mask = splat(_KMERS, _UP, (1 << (2 * k)) - 1)
    # The reverse complement of the last of them comes first.
    reverse = ~reverse_bases(window) >> U64(34 - 2 * k)
    f = _mixed(_from(window, load(_KMERS, _UP, 0)) & mask, k, mask)
    r = _mixed(_from(reverse, load(_KMERS, _DOWN, 0)) & mask, k, mask)
    none, one = splat(_KMERS, _UP, 0xFFFFFFFF), splat(_KMERS, _UP, 1)
    store(hashes, at, select(f == r, none, minimum(f, r)))
    store(strands, at, select(f > r, one, splat(_KMERS, _UP, 0)))


@inner
def _from(window, shifts):
    """Return the lowest 32 bits of a word shifted down by up to 30 bits, which differ from lane to lane."""
    low, high = splat(_KMERS, _UP, window), splat(_KMERS, _UP, window >> U64(32))
    # Two shifts to the left, as a shift by all 32 bits is undefined.
    one, rest = splat(_KMERS, _UP, 1), splat(_KMERS, _UP, 31) - shifts
    return (low >> shifts) | (high << one << rest)


@inner
def _mixed(kmer, k, mask):
    """Do as `overlapper.kernels.seeds.counting.mix`, in each lane."""
    half = splat(_KMERS, _UP, k)
    kmer = (kmer * splat(_KMERS, _UP, _M1)) & mask
    kmer = kmer ^ (kmer >> half)
    kmer = (kmer * splat(_KMERS, _UP, _M2)) & mask
    return kmer ^ (kmer >> half)
