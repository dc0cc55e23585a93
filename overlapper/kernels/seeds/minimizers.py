"""Minimizers of packed reads.

GPU twin: cuda/minimizers.py.

A k-mer is the integer of its bases, two bits each, the first base lowest. Its hash is an invertible mix
modulo ``4**k``; of the two strands the smaller hash counts, and a k-mer that is its own reverse complement,
or holds an unknown base, has none. A position is a minimizer when its hash is the smallest, or as small, of
some window of ``w`` consecutive k-mers; a read of fewer k-mers is one window (Roberts 2004; Li 2016, section
2.1).

Reads are worked on in chunks that stay in the first-level cache, each step a loop over the chunk that
compiles to vector instructions. k-mers of up to 15 bases take lanes of 32 bits (`kmer_lanes`), longer ones of
64.
"""

import numpy as np
from numba import types
from numba.extending import overload

from overlapper.kernels.seeds.counting import mix, reverse_complement_64
from overlapper.kernels.seeds.kmer_lanes import hash_words
from overlapper.runtime.compile.cache import njit
from overlapper.tables.reads import BASES_PER_WORD

CHUNK = 2048
"""Positions of a chunk; loops run over this many plus twice the window."""

U32, U64 = np.uint32, np.uint64
LANES_32_MAX_K = 15


def lanes_for(k):
    """Return an empty array whose type is that of the hashes of k-mers: 32 or 64 bits."""
    return np.empty(0, U32 if k <= LANES_32_MAX_K else U64)


@njit(nogil=True, cache=True)
def _hash_words_64(words, first_word, n_words, k, hashes, strands):
    """Hash the k-mers that start in ``n_words`` words."""
    mask, half = (U64(1) << U64(2 * k)) - U64(1), U64(k)
    for i in range(n_words):
        low, high = words[first_word + i], U64(0)
        if first_word + i + 1 < len(words):
            high = words[first_word + i + 1]
        out = hashes[BASES_PER_WORD * i :]
        for j in range(32):
            out[j] = ((low >> U64(2 * j)) | ((high << U64(1)) << U64(63 - 2 * j))) & mask
    for i in range(BASES_PER_WORD * n_words):
        f, r = mix(hashes[i], half, mask), mix(reverse_complement_64(hashes[i], k), half, mask)
        smaller = min(f, r)
        hashes[i] = U64(0xFFFFFFFFFFFFFFFF) if f == r else smaller
        strands[i] = U64(r < f)


def _hash_words(words, first_word, n_words, k, hashes, strands):
    """Hash the k-mers that start in ``n_words`` words, in lanes of the width of ``hashes``."""


@overload(_hash_words, jit_options={"nogil": True})
def _choose_lanes(words, first_word, n_words, k, hashes, strands):
    return (hash_words if hashes.dtype == types.uint32 else _hash_words_64).py_func


# Windows slide by doubling: each pass lets a value look twice as far. A pass is a function of its own, from
# one array to another, because only then does its loop become vector instructions.


@njit(nogil=True, cache=True)
def _smaller_ahead(source, step, target, n):
    ahead = source[step:]
    for i in range(n):
        target[i] = min(source[i], ahead[i])


@njit(nogil=True, cache=True)
def _larger_ahead(source, step, target, n):
    ahead = source[step:]
    for i in range(n):
        target[i] = max(source[i], ahead[i])


@njit(nogil=True, cache=True)
def _window_minima(values, spare, n, w):
    """Return ``values`` or ``spare``, filled with the minimum of ``values[i : i + w]`` at each ``i``."""
    reach = 1
    while reach < w:
        step = min(reach, w - reach)
        n -= step
        _smaller_ahead(values, step, spare, n)
        values, spare = spare, values
        reach += step
    return values


@njit(nogil=True, cache=True)
def _window_maxima(values, spare, n, w):
    """Return ``values`` or ``spare``, filled with the maximum of ``values[i : i + w]`` at each ``i``."""
    reach = 1
    while reach < w:
        step = min(reach, w - reach)
        n -= step
        _larger_ahead(values, step, spare, n)
        values, spare = spare, values
        reach += step
    return values


@njit(nogil=True, cache=True)
def _highest_minima(hashes, n_kmers, w, begin, end, first, second):
    """Return, for each position ``begin + i``, the largest minimum of the windows that hold it.

    Windows are numbered by their first k-mer; windows beyond the k-mers ``[0, n_kmers)`` count as 0, which is
    never larger.
    """
    first_window = max(0, begin - w + 1)
    n_windows = min(end - 1, n_kmers - w) - first_window + 1
    source = hashes[first_window:]
    for i in range(n_windows + w - 1):
        first[i] = source[i]
    minima = _window_minima(first, second, n_windows + w - 1, w)
    padded = second if minima is first else first
    lead = first_window - (begin - w + 1)
    n_padded = end - begin + w - 1
    for i in range(lead):
        padded[i] = 0
    inner = padded[lead:]
    for i in range(n_windows):
        inner[i] = minima[i]
    for i in range(n_windows, n_padded - lead):
        inner[i] = 0
    return _window_maxima(padded, minima, n_padded, w)


@njit(nogil=True, cache=True)
def select(words, length, unknown_start, unknown_end, k, w, begin, scratch, strands, found, found_pos):
    """Write the minimizers of one chunk of a read.

    Parameters
    ----------
    words : ndarray of uint64
        The packed read.
    length : int
        Its bases, at least ``k``.
    unknown_start, unknown_end : ndarray of int32
        Its unknown runs, half open.
    k, w : int
        k-mer length and window.
    begin : int
        First position of the chunk; it ends `CHUNK` positions later or with the read.
    scratch : ndarray of uint32 (k <= 15) or uint64, shape (3, scratch_size(w))
    strands : ndarray of the same type, shape (scratch_size(w),)
    found : ndarray of uint64, shape (CHUNK + 1,)
        Out: hashes.
    found_pos : ndarray of uint64, shape (CHUNK + 1,)
        Out: ``position << 1 | strand``, ascending; strand is 1 where the reverse complement has the smaller
        hash.

    Returns
    -------
    int
        Number of minimizers.
    """
    n_kmers = length - k + 1
    w = min(w, n_kmers)
    end = min(begin + CHUNK, n_kmers)
    first_word = max(0, begin - w + 1) // BASES_PER_WORD
    last_word = (min(end + w - 1, n_kmers) - 1) // BASES_PER_WORD
    origin = first_word * BASES_PER_WORD
    hashes = scratch[0]
    never = np.iinfo(scratch.dtype).max
    _hash_words(words, first_word, last_word - first_word + 1, k, hashes, strands)
    stop = min(n_kmers, (last_word + 1) * BASES_PER_WORD)
    for run in range(len(unknown_start)):
        for i in range(max(origin, unknown_start[run] - k + 1), min(stop, unknown_end[run])):
            hashes[i - origin] = never
    highest = _highest_minima(
        hashes, n_kmers - origin, w, begin - origin, end - origin, scratch[1], scratch[2]
    )
    return _compact(
        hashes[begin - origin :], highest, strands[begin - origin :], begin, end, found, found_pos
    )


@njit(nogil=True, cache=True)
def _compact(hashes, highest, strands, begin, end, found, found_pos):
    """Move hashes that equal their highest minimum, and their positions, to the front; return their number.

    Every position is written and the count decides whether it stays: a branch would be mispredicted.
    """
    _mark_equal(highest, hashes, end - begin)
    n = U64(0)
    for i in range(end - begin):
        found_pos[n] = i
        n += U64(highest[i])
    for j in range(np.int64(n)):
        i = found_pos[j]
        found[j] = hashes[i]
        found_pos[j] = ((U64(begin) + i) << U64(1)) | U64(strands[i])
    return np.int64(n)


@njit(nogil=True, cache=True)
def _mark_equal(highest, hashes, n):
    """Overwrite the highest minima by 1 where the hash is equal, else by 0."""
    never = hashes.dtype.type(np.iinfo(hashes.dtype).max)
    for i in range(n):
        highest[i] = (hashes[i] == highest[i]) & (hashes[i] != never)


@njit(nogil=True, cache=True)
def scratch_size(w):
    """Return the size of the scratch arrays of `select` for windows of ``w`` k-mers."""
    return CHUNK + 2 * w + 4 * BASES_PER_WORD
