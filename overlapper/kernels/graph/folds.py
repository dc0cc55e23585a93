"""Reads that fold back: by words (`overlapper.assembly.folds`), by overlaps (`overlapper.graph.trim`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.sorting import sort_few
from overlapper.kernels.seeds.counting import ALL, canonical_kmers
from overlapper.runtime.compile.cache import njit

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


class FoldRule(NamedTuple):
    """The numbers of `overlapper.assembly.folds`."""

    k: int
    words: int
    most: int
    spread: int
    least: int
    short: int
    loop: int
    apart: int
    wait: int
    share: int
    share_of_wide: int


class _Memory(NamedTuple):
    hashes: np.ndarray
    reverse: np.ndarray
    words: np.ndarray
    pairs: np.ndarray
    distances: np.ndarray


@njit(nogil=True, cache=True)
def folds(words, word_offsets, lengths, first, last, rule):
    """Find where reads fold back.

    Parameters
    ----------
    words, word_offsets, lengths : ndarray
        As in `overlapper.tables.Reads`.
    first, last : int
        Which reads, half open.
    rule : FoldRule

    Returns
    -------
    ndarray of int64, shape (last - first,)
        The fold of each read; -1 for none.
    """
    places = np.empty(last - first, np.int64)
    longest = 0
    for read in range(first, last):
        longest = max(longest, lengths[read])
    memory = _Memory(
        np.empty(longest, np.uint64),
        np.empty(longest, np.bool_),
        np.empty(longest, np.uint64),
        np.empty(rule.most * longest, np.uint64),
        np.empty(rule.most * longest, np.int64),
    )
    for read in range(first, last):
        length, offset = lengths[read], word_offsets[read]
        near = min(length, 2 * rule.least)
        place = _fold_within(words, offset, np.int64(0), length, rule.least, rule, memory)
        if place < 0:
            place = _fold_within(words, offset, np.int64(0), near, rule.short, rule, memory)
            place = place if 2 * place <= near else np.int64(-1)
        if place < 0:
            place = _fold_within(words, offset, length - near, near, rule.short, rule, memory)
            place = place + length - near if 2 * place >= near else np.int64(-1)
        places[read - first] = place
    return places


@njit(nogil=True, cache=True)
def _fold_within(words, offset, start, length, least, rule, memory):
    """Return where a stretch of a read folds back, from its first base on; -1 if nowhere."""
    if length < 2 * least:
        return np.int64(-1)
    n = canonical_kmers(words, offset, start, start + length, rule.k, ALL, memory.hashes, memory.reverse)
    kept, limit = 0, np.uint64((1 << 2 * rule.k) // length * min(rule.words, length))
    for i in range(n):
        if memory.hashes[i] < limit:
            memory.words[kept] = memory.hashes[i] << _HALF | np.uint64(2 * i + memory.reverse[i])
            kept += 1
    sort_few(memory.words[:kept])
    paired = _pair(memory.words, kept, rule.most, rule.k, memory.pairs)
    sort_few(memory.pairs[:paired])
    place, best, is_wide = _fold(memory.pairs, paired, length, rule, least, memory.distances)
    share = rule.share_of_wide if is_wide else rule.share
    if 2 * best < paired or (
        place >= 0
        and share
        and 100 * best < share * _words_of_arm(memory.words, kept, rule.most, place, length)
    ):
        return np.int64(-1)
    return place


@inner
def _words_of_arm(words, kept, most, place, length):
    """Count the occurrences, on the arm of a fold, of words that could be pairs."""
    counted, begin = 0, 0
    before = 2 * place < length
    for end in range(1, kept + 1):
        if end < kept and words[end] >> _HALF == words[begin] >> _HALF:
            continue
        if end - begin <= most:
            for i in range(begin, end):
                counted += (np.int64(words[i] & _LOW) >> 1 < place) == before
        begin = end
    return counted


@inner
def _pair(words, kept, most, k, pairs):
    """Pair the occurrences of words on opposite strands: twice their middle, and how far they are apart."""
    paired, begin = 0, 0
    for end in range(1, kept + 1):
        if end < kept and words[end] >> _HALF == words[begin] >> _HALF:
            continue
        if end - begin <= most:
            for one in range(begin, end):
                for other in range(one + 1, end):
                    left, right = np.int64(words[one] & _LOW), np.int64(words[other] & _LOW)
                    if (left ^ right) & 1:
                        total, apart = (left >> 1) + (right >> 1) + k, (right >> 1) - (left >> 1)
                        pairs[paired] = np.uint64(total) << _HALF | np.uint64(apart)
                        paired += 1
        begin = end
    return paired


@inner
def _fold(pairs, paired, length, rule, least, distances):
    """Return about which place a read is turned to one of its ends, or -1; the pairs; whether it is wide."""
    best, at, left = 0, 0, 0
    for right in range(paired):
        while (pairs[right] >> _HALF) - (pairs[left] >> _HALF) > np.uint64(rule.spread):
            left += 1
        if right + 1 - left > best:
            best, at = right + 1 - left, left
    if best == 0:
        return np.int64(-1), best, False
    place, nearest = np.int64(0), length
    for i in range(best):
        distances[i] = np.int64(pairs[at + i] & _LOW) // 2
        if distances[i] < nearest:
            place, nearest = np.int64(pairs[at + i] >> _HALF) // 2, distances[i]
    arm = min(place, length - place)
    if arm < least:
        return np.int64(-1), best, False
    sort_few(distances[:best])
    widest = arm - distances[best - 1]
    for i in range(1, best):
        widest = max(widest, distances[i] - distances[i - 1])
    is_wide = rule.apart * widest > arm or distances[0] > max(rule.loop, widest)
    if is_wide and max(widest, distances[0]) > min(arm // 2, rule.wait):
        place = np.int64(-1)
    return place, best, is_wide


@njit(nogil=True, cache=True)
def palindromes(query, target, reverse, q_start, q_end, t_start, t_end, junction):
    """Count reads that match both sides of a junction, on opposite strands and with the same bases.

    Parameters
    ----------
    query, target, reverse, q_start, q_end, t_start, t_end : arrays, shape (n,)
        Overlaps; those of the same query and target lie next to each other.
    junction : array of int, shape (reads,)
        A position on each read; below 0 there is none.

    Returns
    -------
    ndarray of int32, shape (reads,)
    """
    votes = np.zeros(len(junction), np.int32)
    begin = 0
    for row in range(1, len(query) + 1):
        if row < len(query) and query[row] == query[begin] and target[row] == target[begin]:
            continue
        if row - begin > 1:
            inside = slice(begin, row)
            votes[query[begin]] += _turns_back(
                reverse[inside], q_start[inside], q_end[inside], t_start[inside], t_end[inside],
                junction[query[begin]],
            )  # fmt: skip
            votes[target[begin]] += _turns_back(
                reverse[inside], t_start[inside], t_end[inside], q_start[inside], q_end[inside],
                junction[target[begin]],
            )  # fmt: skip
        begin = row
    return votes


@njit(nogil=True, cache=True)
def _turns_back(reverse, start, end, other_start, other_end, junction):
    """Return 1 if two overlaps of a pair meet at the junction of one read and lie together on the other."""
    if junction < 0:
        return 0
    for i in range(len(reverse)):
        for j in range(len(reverse)):
            if (
                reverse[i] == reverse[j]
                or start[i] + end[i] > 2 * junction
                or start[j] + end[j] < 2 * junction
            ):
                continue
            shared = min(other_end[i], other_end[j]) - max(other_start[i], other_start[j])
            if 2 * shared > min(other_end[i] - other_start[i], other_end[j] - other_start[j]):
                return 1
    return 0
