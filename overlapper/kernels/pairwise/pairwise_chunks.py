"""Pairwise alignment, pairs made ready for a device: chunks.

CPU only: the host makes chunks for GPUs.

A chunk is a stretch of a batch's pairs that a device works on at a time. The bases of its pairs lie in one
block, those of a pair side by side: the words of the query, then those of the target. So what is copied is
what is needed, in one piece, whatever the pairs are, and a pair is told by four numbers. Sequences that
several pairs have are there several times, at two bits a base.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from overlapper.kernels.common.walks import PackedReads
from overlapper.kernels.pairwise.pairwise_layout import Pairs
from overlapper.runtime.compile.cache import njit

OFFSET, Q_LENGTH, T_LENGTH, FLAGS, ORDER = range(5)
"""Numbers of a pair: the word that its query starts at (its target follows), bases, and flags. The last row
is no number of the pair: it has the pairs by class."""
NUMBERS = 5
T_FLAGS_SHIFT = 2
"""Flags of the target are above those of the query."""
EMPTY = 0
"""Class of pairs with an empty sequence."""
_LENGTH_CLASSES = 160
_WORD_BASES = 32


class Classes(NamedTuple):
    """Which class a pair belongs to: that of the first family that holds it."""

    of_length: np.ndarray
    """int16, shape (families, lengths); by bases of the query, those of longer ones being the last one; -1
    where the family does not hold it."""
    longest_shorter: np.ndarray
    longest_target: np.ndarray
    """`longest_shorter`, `longest_target`: int64, shape (families,); bases of the shorter sequence and of the
    target, at most."""
    known_only: np.ndarray
    """bool, shape (families,); whether sequences with N are not held."""
    total: int
    """Number of classes, `EMPTY` among them."""


class Extent(NamedTuple):
    """Pairs ``[begin, end)`` of a batch, and what a chunk of them holds.

    ``words`` are of 32 bases, ``q_longest`` and ``t_longest`` in bases; ``unknown`` tells whether any base is
    N.
    """

    begin: int
    end: int
    words: int
    q_longest: int
    t_longest: int
    unknown: bool


class Chunk(NamedTuple):
    """Pairs as the device takes them, in one block of bytes."""

    words: Any
    """uint64, shape (words,); bases, two bits each."""
    unknown: Any
    """uint32, shape (words,) or (0,); a bit a base, set where it is N; empty if there are none."""
    numbers: Any
    """int32, shape (5, pairs); rows as named above. `ORDER` has the pairs by class, of a class those with the
    longest targets first."""


def bytes_of(extent: Extent) -> int:
    """Return how many bytes a chunk takes."""
    pairs = extent.end - extent.begin
    return _word_bytes(extent.unknown) * extent.words + 4 * NUMBERS * pairs


def mean_bytes_of(queries: PackedReads, targets: PackedReads) -> float:
    """Return how many bytes a query and a target take in a chunk, on average over all of them."""
    words = sum(len(reads.words) / max(1, len(reads.lengths)) for reads in (queries, targets))
    return _word_bytes(_any_unknown(queries, targets)) * words + 4 * NUMBERS


def _any_unknown(queries: PackedReads, targets: PackedReads) -> bool:
    return len(queries.unknown_start) + len(targets.unknown_start) > 0


def _word_bytes(unknown: bool) -> int:
    """Return the bytes of a word of bases, and of its bits of N where there are any."""
    return 12 if unknown else 8


def chunk_in(block: Any, extent: Extent) -> Chunk:
    """Return the arrays of a chunk; ``block`` (uint8) is its memory, here or on a device."""
    end, total = 8 * extent.words, bytes_of(extent)
    words, unknown = block[:end].view(np.uint64), np.empty(0, np.uint32)
    if extent.unknown:
        begin, end = end, end + 4 * extent.words
        unknown = block[begin:end].view(np.uint32)
    return Chunk(words, unknown, block[end:total].view(np.int32).reshape(NUMBERS, extent.end - extent.begin))


def extent_of(
    queries: PackedReads, targets: PackedReads, pairs: Pairs, begin: int, end: int, room: int
) -> Extent:
    """Return the extent of the first of the pairs ``[begin, end)`` that fit ``room`` bytes; one at least."""
    unknown = _any_unknown(queries, targets)
    return Extent(
        begin, *_extent_of(queries, targets, pairs, begin, end, room, _word_bytes(unknown), unknown)
    )


def pack(
    queries: PackedReads, targets: PackedReads, pairs: Pairs, begin: int, classes: Classes, chunk: Chunk
) -> np.ndarray:
    """Fill a chunk with the pairs from ``begin`` on.

    Returns
    -------
    ndarray of int32, shape (classes + 1,)
        Where each class starts in the row `ORDER`.
    """
    return _pack(queries, targets, pairs, begin, classes, *chunk)


@njit(nogil=True, cache=True)
def _extent_of(queries, targets, pairs, begin, last, room, word_bytes, look_for_unknown):
    query, target, q_lengths, t_lengths = pairs.query, pairs.target, queries.lengths, targets.lengths
    q_runs, t_runs = queries.unknown_offsets, targets.unknown_offsets
    words, q_longest, t_longest, runs = 0, 0, 0, 0
    end = begin
    while end < last:
        q, t = query[end], target[end]
        n, m = q_lengths[q], t_lengths[t]
        more = (n + _WORD_BASES - 1) // _WORD_BASES + (m + _WORD_BASES - 1) // _WORD_BASES
        room -= word_bytes * more + 4 * NUMBERS
        if room < 0 and end > begin:
            break
        words += more
        q_longest, t_longest = max(q_longest, n), max(t_longest, m)
        if look_for_unknown:
            runs += q_runs[q + 1] - q_runs[q] + t_runs[t + 1] - t_runs[t]
        end += 1
    return end, words, q_longest, t_longest, runs > 0


@njit(nogil=True, cache=True)
def _pack(queries, targets, pairs, begin, classes, words, unknown, numbers):
    # An array is counted when it is taken out of a tuple, which is not to happen for every pair.
    q_words, q_offsets, q_lengths = queries.words, queries.word_offsets, queries.lengths
    t_words, t_offsets, t_lengths = targets.words, targets.word_offsets, targets.lengths
    query, target, q_flags, t_flags = pairs.query, pairs.target, pairs.q_flags, pairs.t_flags
    offset, q_length, t_length = numbers[OFFSET], numbers[Q_LENGTH], numbers[T_LENGTH]
    flags, order = numbers[FLAGS], numbers[ORDER]
    of_length, longest_shorter, longest_target = (
        classes.of_length, classes.longest_shorter, classes.longest_target,
    )  # fmt: skip
    known_only = classes.known_only
    places = np.zeros(classes.total * _LENGTH_CLASSES + 1, np.int32)
    keys = np.empty(len(order), np.int32)
    at = 0
    unknown[:] = 0
    for pair in range(len(order)):
        q, t = query[begin + pair], target[begin + pair]
        n, m = q_lengths[q], t_lengths[t]
        offset[pair], q_length[pair], t_length[pair] = at, n, m
        flags[pair] = q_flags[begin + pair] | t_flags[begin + pair] << T_FLAGS_SHIFT
        first = q_offsets[q]
        for word in range((n + _WORD_BASES - 1) // _WORD_BASES):
            words[at] = q_words[first + word]
            at += 1
        first = t_offsets[t]
        for word in range((m + _WORD_BASES - 1) // _WORD_BASES):
            words[at] = t_words[first + word]
            at += 1
        known = True
        if len(unknown):
            q_known = _mark_unknown(queries, q, offset[pair], unknown)
            t_known = _mark_unknown(targets, t, offset[pair] + (n + _WORD_BASES - 1) // _WORD_BASES, unknown)
            known = q_known and t_known
        number = np.int64(EMPTY)
        if n > 0 and m > 0:
            length = min(n, of_length.shape[1] - 1)
            for family in range(len(of_length)):
                fits = min(n, m) <= longest_shorter[family] and m <= longest_target[family]
                if fits and of_length[family, length] >= 0 and (known or not known_only[family]):
                    number = np.int64(of_length[family, length])
                    break
        key = number * _LENGTH_CLASSES + _LENGTH_CLASSES - 1 - _length_class(m)
        keys[pair] = key
        places[key + 1] += 1
    for key in range(len(places) - 1):
        places[key + 1] += places[key]
    starts = places[::_LENGTH_CLASSES].copy()
    for pair in range(len(order)):
        key = keys[pair]
        order[places[key]] = pair
        places[key] += 1
    return starts


@njit(nogil=True, cache=True)
def _mark_unknown(reads, read, at, unknown):
    """Set the bits of the N of a sequence whose bits start at ``at``; return whether it has none."""
    runs = range(reads.unknown_offsets[read], reads.unknown_offsets[read + 1])
    for run in runs:
        for base in range(reads.unknown_start[run], reads.unknown_end[run]):
            unknown[at + base // _WORD_BASES] |= np.uint32(np.uint32(1) << np.uint32(base % _WORD_BASES))
    return len(runs) == 0


@njit(nogil=True, cache=True)
def _length_class(length):
    """Return a number that rises with the length: eight to an octave."""
    octave = 0
    while length >= 16 << octave:
        octave += 1
    return min(8 * octave + (length >> octave), _LENGTH_CLASSES - 1)
