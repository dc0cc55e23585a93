"""Walks: the bases of packed reads from a seed outwards, one a byte, in the order an extension meets them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

QUERY_UNKNOWN = 4
TARGET_UNKNOWN = 5
"""Codes of what equals no base. They differ, so that an unknown base does not equal another one."""

MARGIN = 512
"""Unknown bases that `reach` puts behind the last base of a walk, and buffers hold on either side."""

EVERYTHING = 1 << 62
"""What `reach` returns when nothing is left to unpack."""

STRETCH = 1024
"""Anti-diagonals from one call of `reach` to the next, when no stop window says how many."""

_WORD_BASES = 32


class PackedReads(NamedTuple):
    """The columns of `Reads` that kernels read."""

    words: np.ndarray
    word_offsets: np.ndarray
    lengths: np.ndarray
    unknown_start: np.ndarray
    unknown_end: np.ndarray
    unknown_offsets: np.ndarray


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
        walk(reads, seeds.query[seed], q_origin, after, False),
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
    q_codes = np.full(q_longest + 3 * MARGIN, QUERY_UNKNOWN, np.uint8)
    t_codes = np.full(t_longest + 3 * MARGIN, TARGET_UNKNOWN, np.uint8)
    return q_codes, t_codes


@njit(nogil=True, cache=True)
def reach(walk, done, wanted, unknown, codes, at, rise):
    """Unpack a walk of which ``done`` steps are unpacked up to step ``wanted``.

    Parameters
    ----------
    walk : Walk
    done, wanted : int
    unknown : int
        Code of an unknown base.
    codes : ndarray of uint8
        Step ``x`` goes to ``codes[at + rise * x]``; up to 31 items further on are overwritten.
    at, rise : int
        ``rise`` is 1 or -1.

    Returns
    -------
    int
        How many steps are unpacked now; once the walk is, a margin of unknown bases follows it and this is
        `EVERYTHING`.
    """
    if wanted <= done:
        return done
    end = min(wanted, walk.length)
    _unpack_bases(walk, done, end, codes, at, rise)
    _mark_unknown(walk, done, end, unknown, codes, at, rise)
    if end < walk.length:
        return end
    for x in range(end, end + MARGIN):
        codes[at + rise * x] = unknown
    return EVERYTHING


@njit(nogil=True, cache=True)
def _unpack_bases(walk, begin, end, codes, at, rise):
    """Unpack a word's worth of steps at a time: the constant inner loops become vector code."""
    flip = np.uint64(3 if walk.complement else 0)
    for x in range(begin, end, _WORD_BASES):
        word = _word_from(walk.words, walk.origin + (x if walk.step > 0 else 1 - x - _WORD_BASES))
        lowest = at + (x if rise > 0 else 1 - x - _WORD_BASES)
        block = codes[lowest : lowest + _WORD_BASES]
        if walk.step == rise:
            for base in range(_WORD_BASES):
                block[base] = ((word >> np.uint64(2 * base)) & np.uint64(3)) ^ flip
        else:
            for base in range(_WORD_BASES):
                block[base] = ((word >> np.uint64(62 - 2 * base)) & np.uint64(3)) ^ flip


@njit(nogil=True, cache=True)
def _word_from(words, first):
    """Return 32 bases from base ``first`` on, packed; outside the read they are 0."""
    shift = np.uint64(2 * (first & (_WORD_BASES - 1)))
    at = first >> 5
    low = words[at] if 0 <= at < len(words) else np.uint64(0)
    high = words[at + 1] if 0 <= at + 1 < len(words) else np.uint64(0)
    # Two shifts, as a shift by all 64 bits is undefined.
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
    """Tell which seeds are exact matches of known bases.

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
    q_codes = np.empty(seeds.length + MARGIN, np.uint8)
    t_codes = np.empty(seeds.length + MARGIN, np.uint8)
    for seed in range(len(exact)):
        reverse = seeds.reverse[seed]
        t_origin = seeds.target_pos[seed] + (seeds.length - 1 if reverse else 0)
        q_walk = walk(reads, seeds.query[seed], np.int64(seeds.query_pos[seed]), True, False)
        t_walk = walk(reads, seeds.target[seed], np.int64(t_origin), not reverse, reverse)
        reach(q_walk, 0, seeds.length, QUERY_UNKNOWN, q_codes, 0, 1)
        reach(t_walk, 0, seeds.length, TARGET_UNKNOWN, t_codes, 0, 1)
        for base in range(seeds.length):
            exact[seed] &= q_codes[base] == t_codes[base]
    return exact
