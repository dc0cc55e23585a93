"""Walks: the bases of packed reads from a seed outwards, one a byte, in the order an extension meets them.

GPU twin: cuda/walks.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from overlapper.kernels.common.packed import reverse_bases
from overlapper.runtime.compile.cache import njit

QUERY_UNKNOWN = 4
TARGET_UNKNOWN = 5
"""Codes of what equals no base. They differ, so that an unknown base does not equal another one."""

MARGIN = 512
"""Unknown bases that buffers hold before the first step of a walk and behind the last one."""

EVERYTHING = 1 << 62
"""Steps unpacked when nothing is left to unpack."""

STRETCH = 1024
"""Anti-diagonals that are unpacked ahead when no stop window says how many."""

_BLOCK = 32
"""Steps that are unpacked at once: the bases of a word."""


class PackedReads(NamedTuple):
    """The columns of `Reads` that kernels read."""

    words: np.ndarray
    word_offsets: np.ndarray
    lengths: np.ndarray
    unknown_start: np.ndarray
    unknown_end: np.ndarray
    unknown_offsets: np.ndarray

    @classmethod
    def of(cls, reads: Any) -> Self:
        """Return these columns of a `Reads` table."""
        return cls(*(getattr(reads, name) for name in cls._fields))


class Seeds(NamedTuple):
    """Seeds: the columns of `Candidates` of the same names, and the length of all of them."""

    query: np.ndarray
    target: np.ndarray
    reverse: np.ndarray
    query_pos: np.ndarray
    target_pos: np.ndarray
    length: int


class Walk(NamedTuple):
    """``length`` bases of a read: step ``x`` is base ``origin + step * x``, ``step`` being 1 or -1."""

    words: np.ndarray
    unknown_start: np.ndarray
    unknown_end: np.ndarray
    origin: np.int64
    step: np.int64
    complement: np.bool_
    length: np.int64


@njit(nogil=True, cache=True)
def walk(reads, read, origin, upwards, complement):
    """Return the walk along a read from base ``origin`` to its end or, downwards, to its start."""
    words = reads.words[reads.word_offsets[read] : reads.word_offsets[read + 1]]
    runs = slice(reads.unknown_offsets[read], reads.unknown_offsets[read + 1])
    length = reads.lengths[read] - origin if upwards else origin + 1
    return Walk(
        words, reads.unknown_start[runs], reads.unknown_end[runs],
        np.int64(origin), np.int64(1 if upwards else -1), np.bool_(complement), np.int64(length),
    )  # fmt: skip


@njit(nogil=True, cache=True)
def walks_from_seed(reads, seeds, seed, after):
    """Return the walks along query and target, before or after a seed as the query reads."""
    reverse = seeds.reverse[seed]
    q_first, t_first = seeds.query_pos[seed], seeds.target_pos[seed]
    q_origin = q_first + seeds.length if after else q_first - 1
    t_origin = t_first + seeds.length if after != reverse else t_first - 1
    return (
        walk(reads, seeds.query[seed], q_origin, after, np.bool_(False)),
        walk(reads, seeds.target[seed], t_origin, after != reverse, reverse),
    )


@njit(nogil=True, cache=True)
def walk_buffers(reads, seeds, items):
    """Return room for the longest query and target of extensions, filled with unknown bases.

    Step ``x`` of a query goes to ``MARGIN + x``, and of a target to ``len(buffer) - MARGIN - 1 - x``: along
    an anti-diagonal one rises as the other falls, and so both are read upwards.

    Parameters
    ----------
    reads : PackedReads
    seeds : Seeds
    items : ndarray of int64
        Extensions, two a seed.
    """
    q_longest, t_longest = 0, 0
    for item in items:
        q_longest = max(q_longest, reads.lengths[seeds.query[item >> 1]])
        t_longest = max(t_longest, reads.lengths[seeds.target[item >> 1]])
    return _buffer(q_longest, QUERY_UNKNOWN), _buffer(t_longest, TARGET_UNKNOWN)


@njit(nogil=True, cache=True)
def _buffer(length, unknown):
    """Return a buffer whose size and place in memory are whole numbers of 8 items."""
    codes = np.empty((length // _BLOCK * _BLOCK + 3 * MARGIN) // 8, np.uint64).view(np.uint8)
    codes[:] = unknown
    return codes


@njit(nogil=True, cache=True)
def reach_query(walk, done, wanted, codes):
    """Unpack a walk along a query, of which ``done`` steps are unpacked, up to step ``wanted``.

    Parameters
    ----------
    walk : Walk
    done, wanted : int
    codes : ndarray of uint8
        As `walk_buffers` lays it out.

    Returns
    -------
    int
        How many steps are unpacked now, `EVERYTHING` when the walk and the margin behind it are.
    """
    return _reach(walk, done, wanted, QUERY_UNKNOWN, codes, MARGIN, 1)


@njit(nogil=True, cache=True)
def reach_target(walk, done, wanted, codes):
    """Do for a target what `reach_query` does for a query."""
    return _reach(walk, done, wanted, TARGET_UNKNOWN, codes, len(codes) - MARGIN - 1, -1)


@njit(nogil=True, cache=True)
def _reach(walk, done, wanted, unknown, codes, at, rise):
    """Unpack step ``x`` to ``codes[at + rise * x]``."""
    if wanted <= done:
        return done
    end = min((wanted + _BLOCK - 1) // _BLOCK * _BLOCK, walk.length)
    _unpack_bases(walk, done, end, codes, at, rise)
    _mark_unknown(walk, done, end, unknown, codes, at, rise)
    if end < walk.length:
        return end
    for x in range(end, end + MARGIN):
        codes[at + rise * x] = unknown
    return np.int64(EVERYTHING)


@njit(nogil=True, cache=True)
def _unpack_bases(walk, begin, end, codes, at, rise):
    """Unpack whole blocks of 32 steps, each of which lies on a multiple of 8 items of ``codes``."""
    flip = np.uint64(0x0303030303030303 if walk.complement else 0)
    eights = codes.view(np.uint64)
    for x in range(begin, end, _BLOCK):
        word = word_from(walk.words, walk.origin + (x if walk.step > 0 else 1 - x - _BLOCK))
        if walk.step != rise:
            word = reverse_bases(word)
        eight = (at + (x if rise > 0 else 1 - x - _BLOCK)) >> 3
        for part in range(4):
            eights[eight + part] = _spread(word >> np.uint64(16 * part)) ^ flip


@njit(nogil=True, cache=True)
def _spread(bases):
    """Return the lowest 8 of packed bases, one a byte."""
    bases = bases & np.uint64(0xFFFF)
    bases = (bases | (bases << np.uint64(24))) & np.uint64(0x000000FF000000FF)
    bases = (bases | (bases << np.uint64(12))) & np.uint64(0x000F000F000F000F)
    return (bases | (bases << np.uint64(6))) & np.uint64(0x0303030303030303)


@njit(nogil=True, cache=True)
def word_from(words, first):
    """Return 32 bases from base ``first`` on, packed; what lies outside the read is arbitrary."""
    last = len(words) - 1
    at = first // _BLOCK
    low, high = words[min(max(at, 0), last)], words[min(max(at + 1, 0), last)]
    shift = np.uint64(2 * (first % _BLOCK))
    # Two shifts to the left, as a shift by all 64 bits is undefined.
    return (low >> shift) | ((high << np.uint64(1)) << (np.uint64(63) - shift))


@njit(nogil=True, cache=True)
def _mark_unknown(walk, begin, end, unknown, codes, at, rise):
    for run in range(len(walk.unknown_start)):
        first, last = np.int64(walk.unknown_start[run]), np.int64(walk.unknown_end[run]) - 1
        near = first - walk.origin if walk.step > 0 else walk.origin - last
        far = near + last - first
        for x in range(max(near, begin), min(far + 1, end)):
            codes[at + rise * x] = unknown


@njit(nogil=True, cache=True)
def exact_seeds(reads, seeds):
    """Return a mask of the seeds that are exact matches of known bases.

    Parameters
    ----------
    reads : PackedReads
    seeds : Seeds
        n seeds, each within its reads.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    exact = np.ones(len(seeds.query), np.bool_)
    q_codes, t_codes = _buffer(seeds.length, QUERY_UNKNOWN), _buffer(seeds.length, TARGET_UNKNOWN)
    nothing, forward = np.int64(0), np.bool_(False)
    for seed in range(len(exact)):
        reverse = seeds.reverse[seed]
        t_origin = seeds.target_pos[seed] + (seeds.length - 1 if reverse else 0)
        q_walk = walk(reads, seeds.query[seed], np.int64(seeds.query_pos[seed]), not forward, forward)
        t_walk = walk(reads, seeds.target[seed], t_origin, not reverse, reverse)
        reach_query(q_walk, nothing, seeds.length, q_codes)
        reach_target(t_walk, nothing, seeds.length, t_codes)
        for x in range(seeds.length):
            exact[seed] &= q_codes[MARGIN + x] == t_codes[len(t_codes) - MARGIN - 1 - x]
    return exact
