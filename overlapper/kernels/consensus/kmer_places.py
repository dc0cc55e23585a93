"""The places of the k-mers of a target, and a filter of the k-mers of reads that may be on it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.packed import trailing_zeros
from overlapper.runtime.compile.cache import njit

U64 = np.uint64
MOST_PLACES = 16
_NEVER = 1 << 30
PASSED = 4
"""Places of a bucket to pass before its start is moved: repeats have as many places as bases."""
_SCATTER = np.uint64(0x9E3779B97F4A7C15)
_KNOWN = 4
_ONE = np.uint64(1)
_LEAST_BUCKETS = 1024
_LOG_FLAGS, _LOG_WORD = 3, 6
"""Flags of a bucket, and of a word, as powers of 2: so many that few k-mers that are not on the target have
both of their flags set."""
_FIRST_FLAG, _SECOND_FLAG = np.uint64(32), np.uint64(38)
"""Bits of a hash that number the two flags of a k-mer in its word."""
_AT_ONCE = 8
"""K-mers that are looked up together."""


class Index(NamedTuple):
    """The places of every k-mer of a target.

    Attributes
    ----------
    heads : ndarray of int32, shape (2^b,)
        The first place of the k-mers of each bucket, -1 where there is none.
    following : ndarray of int32, shape (length,) or longer
        The next place, ascending, of the same bucket; -1 after the last one.
    kmers : ndarray of uint32, shape (length,) or longer
        The k-mer at each place.
    unique : ndarray of int32, shape (length + 1,) or longer
        How many places in a row, from each one on, have a k-mer that is nowhere else within ``reach`` bases.
    later : ndarray of int32, shape (length,) or longer
        Where the k-mer at each place stands for the `MOST_PLACES` th time after it; `_NEVER` if it does not.
    flags : ndarray of uint64
        Words of which each is that of some k-mers, and has two bits of each of those on the target set. Most
        k-mers of a noisy read are nowhere on the target; the flags are in the processor's nearest caches.
    moved : ndarray of int32
        Buckets whose first places were passed while a read is looked up, and what their heads were.
    """

    heads: np.ndarray
    following: np.ndarray
    kmers: np.ndarray
    unique: np.ndarray
    later: np.ndarray
    flags: np.ndarray
    moved: np.ndarray


@njit(nogil=True, cache=True)
def new_index(longest):
    """Return memory for targets of up to ``longest`` bases."""
    buckets = _LEAST_BUCKETS
    while buckets < 2 * longest:
        buckets *= 2
    return Index(
        np.empty(buckets, np.int32), np.empty(longest, np.int32), np.empty(longest, np.uint32),
        np.empty(longest + 1, np.int32), np.empty(longest, np.int32),
        np.empty(buckets << _LOG_FLAGS >> _LOG_WORD, np.uint64),
        np.empty((longest // PASSED + 1, 2), np.int32),
    )  # fmt: skip


@inner
def index_kmers(target, length, k, reach, index):
    """List the places of every k-mer of the first bases of a target.

    Parameters
    ----------
    target : ndarray of uint8
        Codes; those above 3 are in no k-mer.
    length : int
    k : int
        At most 16.
    reach : int
        Bases within which a k-mer has no other place to be unique. What is farther off is another copy of a
        tandem repeat, which lies beyond the line along which anchors are looked for.
    index : Index
        Is filled.
    """
    heads, following, kmers, unique, later, flags, _ = index
    heads[:] = -1
    flags[:] = 0
    unique[:length] = 1
    shift = shift_of_words(len(flags))
    top, known = np.uint32(2 * (k - 1)), 0
    kmer = np.uint32(0)
    for p in range(length - 1, -1, -1):
        known = known + 1 if target[p] < _KNOWN else 0
        kmer = np.uint32((kmer >> np.uint32(2)) | (np.uint32(target[p] & 3) << top))
        if known < k:
            unique[p] = 0
            continue
        bucket = bucket_of(U64(kmer), shift)
        kmers[p] = kmer
        following[p] = heads[bucket]
        heads[bucket] = p
        flags[_hash_of(U64(kmer)) >> shift] |= _flags_of(U64(kmer))
        later[p] = _NEVER
        other = _next_alike(p, kmers, following)
        if other >= 0:
            if other - p <= reach:
                unique[p] = unique[other] = 0
            for _ in range(MOST_PLACES - 1):
                if other >= 0:
                    other = _next_alike(other, kmers, following)
            later[p] = other if other >= 0 else _NEVER
    unique[length] = 0
    for p in range(length - 1, -1, -1):
        unique[p] *= unique[p + 1] + 1


@inner
def _next_alike(place, kmers, following):
    """Return the next place of the k-mer at a place, or -1."""
    other = np.int64(following[place])
    while other >= 0 and kmers[other] != kmers[place]:
        other = np.int64(following[other])
    return other


@inner
def shift_of_words(words):
    """Return the right shift that turns a hash into the number of its word of flags."""
    shift = U64(64)
    while words > 1:
        shift -= _ONE
        words >>= 1
    return shift


@inner
def _hash_of(kmer):
    """Return the hash of a k-mer (64 bits), whose highest bits number its bucket and its word of flags."""
    return kmer * _SCATTER


@inner
def bucket_of(kmer, shift):
    """Return the bucket of a k-mer; ``shift`` is that of words of flags."""
    return _hash_of(kmer) >> (shift - U64(_LOG_WORD - _LOG_FLAGS))


@inner
def _flags_of(kmer):
    """Return the flags of a k-mer in its word."""
    hashed = _hash_of(kmer)
    return (_ONE << ((hashed >> _FIRST_FLAG) & U64(63))) | (_ONE << ((hashed >> _SECOND_FLAG) & U64(63)))


@inner
def _is_flagged(kmer, flags, shift):
    """Return 1 if both flags of a k-mer are set, else 0."""
    hashed = _hash_of(kmer)
    word = flags[hashed >> shift]
    return (
        (word >> ((hashed >> _FIRST_FLAG) & U64(63))) & (word >> ((hashed >> _SECOND_FLAG) & U64(63))) & _ONE
    )


@inner
def next_flagged(read, last, r_end, k, kmer, known, flags, shift):
    """Return the last base of the next k-mer of a read that may be on the target, and the k-mer.

    Several are looked up at once, as a processor does not foresee which one it is.

    Parameters
    ----------
    read : ndarray of uint8
    last, r_end : int
        The last base of the k-mer before, and where the interval of the read ends.
    k : int
    kmer : uint64
        The k-mer before, of which ``known`` bases at the end are known; ``k`` stand for more.
    known : int
    flags : ndarray of uint64
    shift : uint64

    Returns
    -------
    last : int
        ``r_end`` if there is none.
    kmer : uint64
    """
    mask = (_ONE << U64(2 * k)) - _ONE
    while last + 1 < r_end:
        if known >= k - 1 and last + _AT_ONCE < r_end:
            behind, bases, found = kmer, U64(0), U64(0)
            for x in range(U64(_AT_ONCE)):
                base = U64(read[U64(last + 1) + x])
                behind, bases = (behind << U64(2)) | (base & U64(3)), bases | base
                found |= _is_flagged(behind & mask, flags, shift) << x
            if bases < U64(_KNOWN):
                if found:
                    ahead = trailing_zeros(found) + 1
                    return last + ahead, (behind >> U64(2 * (_AT_ONCE - ahead))) & mask
                last, kmer, known = last + _AT_ONCE, behind & mask, k
                continue
        last += 1
        base = U64(read[last])
        known = min(known + 1, k) if base < U64(_KNOWN) else np.int64(0)
        kmer = ((kmer << U64(2)) | (base & U64(3))) & mask
        if known >= k and _is_flagged(kmer, flags, shift):
            return last, kmer
    return r_end, kmer


@inner
def lone_place(kmers, unique, kmer, j, first_near, last_near):
    """Return the only place of a k-mer near the line, if that is as expected; else -1.

    Most anchors go on on the diagonal of the one before, or on the next one. What is there is in the cache.
    """
    if j <= first_near or j >= last_near:
        return np.int64(-1)
    here = (U64(kmers[j]) == kmer) & (unique[j] > 0)
    before = (U64(kmers[j - 1]) == kmer) & (unique[j - 1] > 0)
    behind = (U64(kmers[j + 1]) == kmer) & (unique[j + 1] > 0)
    return j + behind - before if here | before | behind else np.int64(-1)
