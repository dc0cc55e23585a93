"""Chains between reads and the part of the reference they come from, by k-mers that are locally unique.

``docs/algorithms/evaluation.md`` has the definitions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.edit_paths import READ_UNKNOWN, TARGET_UNKNOWN
from overlapper.kernels.common.growth import grow
from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.oriented import unpack_bases
from overlapper.kernels.consensus.mem_anchors import DIAGONALS, best_chain, new_columns
from overlapper.runtime.compile.cache import njit

ANCHOR, MAX_GAP = 13, 5000
BAND, BAND_SHARE = 500, 32
"""Anchors lie within this many bases, and one of this many of the window, of the line between its corners."""
_MASK = (1 << 2 * ANCHOR) - 1
_NONE = -1
_SCATTER = np.uint64(0x9E3779B97F4A7C15)


class Windows(NamedTuple):
    """Intervals of the reference that reads come from, with some bases on either side."""

    read: np.ndarray
    target: np.ndarray
    """`read`, `target`: int64, shape (n,)."""
    start: np.ndarray
    end: np.ndarray
    """`start`, `end`: int64, shape (n,); on the sequence, half open."""
    reverse: np.ndarray
    """bool, shape (n,)."""
    first: np.ndarray
    """int64, shape (n + 1,); where the bases of each start in arrays of all of them."""


class _Kmers(NamedTuple):
    """Memory for the k-mers of a sequence."""

    keys: np.ndarray
    heads: np.ndarray
    """`keys`, `heads`: int32, shape (slots,); k-mers, by open addresses, and the last place of each that is
    alone; `_NONE` where there is none."""
    following: np.ndarray
    """int32, shape (bases,); the place before of the same k-mer that is alone, or `_NONE`."""
    alone: np.ndarray
    """bool, shape (bases,); whether the k-mer that starts at a base has no other place near it."""


@njit(nogil=True, cache=True)
def _new_kmers(longest):
    """Return memory for sequences of up to ``longest`` bases."""
    slots = 64
    while slots < 2 * longest:
        slots *= 2
    return _Kmers(
        np.empty(slots, np.int32), np.empty(slots, np.int32), np.empty(longest, np.int32),
        np.empty(longest, np.bool_),
    )  # fmt: skip


@inner
def _slot_of(keys, kmer):
    """Return the slot of a k-mer, or the empty one where it belongs."""
    last = np.int64(len(keys) - 1)
    slot = np.int64((np.uint64(kmer) * _SCATTER) >> np.uint64(32)) & last
    while keys[slot] != kmer and keys[slot] != _NONE:
        slot = (slot + 1) & last
    return slot


@inner
def _list_kmers(codes, size, reach, kmers):
    """List the k-mers of a sequence whose other places are all more than ``reach`` bases away."""
    keys, heads, following, alone = kmers
    keys[:] = _NONE
    alone[:size] = False
    kmer, known = np.int64(0), 0
    for last in range(size):
        known = known + 1 if codes[last] < 4 else 0
        kmer = (kmer << 2 | (codes[last] & 3)) & _MASK
        if known < ANCHOR:
            continue
        p, slot = last - ANCHOR + 1, _slot_of(keys, kmer)
        before = heads[slot] if keys[slot] == kmer else _NONE
        alone[p] = before == _NONE or p - before > reach
        if before != _NONE and not alone[p]:
            alone[before] = False
        keys[slot], heads[slot], following[p] = kmer, p, before
    for slot in range(len(keys)):
        if keys[slot] != _NONE:
            _drop_near(heads, slot, following, alone)


@inner
def _drop_near(heads, slot, following, alone):
    """Remove places of a k-mer that have others near from its list."""
    kept, p = _NONE, heads[slot]
    heads[slot] = _NONE
    while p != _NONE:
        before = following[p]
        if alone[p]:
            if kept == _NONE:
                heads[slot] = p
            else:
                following[kept] = p
            kept = p
            following[p] = _NONE
        p = before


@inner
def _find_anchors(target, size, query, length, band, of_target, of_query, anchors):
    """Find the maximal matches that hold a k-mer which is alone on both sides, within a band.

    Parameters
    ----------
    target, query : ndarray of uint8
    size, length : int
        Their bases.
    band : int
    of_target, of_query : _Kmers
    anchors : ndarray of int32, shape (most, 3)
        Gets the matches, ascending on the read, then on the target; no more than it holds are taken.

    Returns
    -------
    int
        How many there are.
    """
    n, kmer, known = 0, np.int64(0), 0
    for last in range(length):
        known = known + 1 if query[last] < 4 else 0
        kmer = (kmer << 2 | (query[last] & 3)) & _MASK
        i = last - ANCHOR + 1
        if known < ANCHOR or not of_query.alone[i] or n == len(anchors):
            continue
        slot = _slot_of(of_target.keys, kmer)
        j = np.int64(of_target.heads[slot]) if of_target.keys[slot] == kmer else np.int64(_NONE)
        line = i * size // length
        while j != _NONE and abs(j - line) > band:
            j = np.int64(of_target.following[j])
        if j == _NONE or (n and _within(anchors[n - 1, 0], anchors[n - 1, 1], anchors[n - 1, 2], i, j)):
            continue
        end = last + 1
        while end < length and j + end - i < size and query[end] == target[j + end - i]:
            end += 1
        while i > 0 and j > 0 and query[i - 1] == target[j - 1]:
            i, j = i - 1, j - 1
        n = _insert(anchors, n, i, j, end - i)
    return n


@inner
def _within(first, place, bases, i, j):
    """Return whether a k-mer of both lies within a match."""
    return j - i == place - first and i + ANCHOR <= first + bases


@inner
def _insert(anchors, n, i, j, length):
    """Put a match among those that ascend, unless it is there; return how many there are."""
    at = n
    while at > 0 and (anchors[at - 1, 0] > i or (anchors[at - 1, 0] == i and anchors[at - 1, 1] > j)):
        at -= 1
    if at > 0 and anchors[at - 1, 0] == i and anchors[at - 1, 1] == j:
        return n
    for row in range(n, at, -1):
        for column in range(3):
            anchors[row, column] = anchors[row - 1, column]
    anchors[at, 0], anchors[at, 1], anchors[at, 2] = i, j, length
    return n + 1


@njit(nogil=True, cache=True)
def chain_in_windows(reads, reference, windows):
    """Chain the exact matches of reads and their windows.

    Parameters
    ----------
    reads, reference : PackedReads
    windows : Windows

    Returns
    -------
    starts : ndarray of int64, shape (n + 1,)
        Where the anchors of each read start; a read may have none.
    x, y, length : ndarray of int64
        First bases on the read as turned and on the sequence, and bases of each anchor.
    """
    n = len(windows.read)
    longest, longest_read = np.int64(0), np.int64(0)
    for i in range(n):
        longest = max(longest, windows.end[i] - windows.start[i])
        longest_read = max(longest_read, reads.lengths[windows.read[i]])
    most = longest
    of_target, of_query = _new_kmers(longest), _new_kmers(longest_read)
    target, query = np.empty(longest, np.uint8), np.empty(longest_read, np.uint8)
    anchors = np.empty((most, 3), np.int32)
    columns, latest = new_columns(most), np.empty(DIAGONALS, np.int32)
    starts = np.zeros(n + 1, np.int64)
    x, y, length = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    for i in range(n):
        size, q_length = windows.end[i] - windows.start[i], reads.lengths[windows.read[i]]
        unpack_bases(
            reference, windows.target[i], windows.start[i], windows.end[i], False, READ_UNKNOWN, target
        )
        unpack_bases(reads, windows.read[i], 0, q_length, windows.reverse[i], TARGET_UNKNOWN, query)
        band = BAND + size // BAND_SHARE
        _list_kmers(target, size, 2 * band, of_target)
        _list_kmers(query, q_length, 2 * band, of_query)
        found = _find_anchors(target, size, query, q_length, band, of_target, of_query, anchors)
        if found:
            found = best_chain(anchors, found, MAX_GAP, columns, latest)
        stop = starts[i] + found
        if stop > len(x):
            x, y, length = grow(x, 2 * stop), grow(y, 2 * stop), grow(length, 2 * stop)
        for a in range(found):
            x[starts[i] + a], length[starts[i] + a] = anchors[a, 0], anchors[a, 2]
            y[starts[i] + a] = windows.start[i] + anchors[a, 1]
        starts[i + 1] = stop
    return starts, x[: starts[n]], y[: starts[n]], length[: starts[n]]
