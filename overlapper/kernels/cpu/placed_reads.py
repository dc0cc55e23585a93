"""Reads aligned to where they come from, and what each then has at every base of the reference.

``docs/algorithms/evaluation.md`` has the definitions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.cpu.cache import njit
from overlapper.kernels.cpu.edit_paths import READ_UNKNOWN, TARGET_UNKNOWN
from overlapper.kernels.cpu.inner import inner
from overlapper.kernels.cpu.mem_anchors import best_chain
from overlapper.kernels.cpu.oriented import unpack_bases
from overlapper.kernels.cpu.seed_index import grow

ANCHOR, MAX_GAP = 13, 5000
BAND, BAND_SHARE = 500, 32
"""Anchors lie within so many bases, and one of so many of the window, of the line between its corners."""
DELETED, INSERTION, UNCOVERED = 6, 8, 255
"""What a read has at a base of the reference, if not a base that is paired with it: nothing; `INSERTION` is
added where bases are inserted behind it; not aligned there."""
ALIGNED, MATCHES, MISMATCHES, INSERTED, DELETIONS, OWN, OTHER, NEITHER = range(8)
"""Integers of an aligned read: its bases between the ends of the alignment, columns of each kind, sites."""
MENDED, LEFT, SPOILT = range(3)
"""Of bases, and then of sites: wrong before correction and right after, wrong before and after, right before
and wrong after."""

_MASK = (1 << 2 * ANCHOR) - 1
_NONE = -1
_SCATTER = np.uint64(0x9E3779B97F4A7C15)


class Windows(NamedTuple):
    """Where on the reference reads come from, and some bases on either side.

    Attributes
    ----------
    read, target : ndarray of int64, shape (n,)
    start, end : ndarray of int64, shape (n,)
        On the sequence, half open.
    reverse : ndarray of bool, shape (n,)
    first : ndarray of int64, shape (n + 1,)
        Where the bases of each start in arrays of all of them.
    """

    read: np.ndarray
    target: np.ndarray
    start: np.ndarray
    end: np.ndarray
    reverse: np.ndarray
    first: np.ndarray


class Sites(NamedTuple):
    """Sites of a reference, by sequence and position.

    Attributes
    ----------
    first : ndarray of int64, shape (sequences + 1,)
        Where those of each sequence start.
    position : ndarray of int64, shape (n,)
    others : ndarray of uint8, shape (n,)
        A bit for each base that others have there.
    """

    first: np.ndarray
    position: np.ndarray
    others: np.ndarray


class _Kmers(NamedTuple):
    """Memory for the k-mers of a sequence.

    Attributes
    ----------
    keys, heads : ndarray of int32, shape (slots,)
        k-mers, by open addresses, and the last place of each that is alone; `_NONE` where there is none.
    following : ndarray of int32, shape (bases,)
        The place before of the same k-mer that is alone, or `_NONE`.
    alone : ndarray of bool, shape (bases,)
        Whether the k-mer that starts at a base has no other place near it.
    """

    keys: np.ndarray
    heads: np.ndarray
    following: np.ndarray
    alone: np.ndarray


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
    """Take the places of a k-mer that are not alone out of its list."""
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
    """Tell whether a k-mer of both lies within a match."""
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
    score, before, highest = np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.int32)
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
            found = best_chain(anchors, found, MAX_GAP, score, before, highest)
        stop = starts[i] + found
        if stop > len(x):
            x, y, length = grow(x, 2 * stop), grow(y, 2 * stop), grow(length, 2 * stop)
        for a in range(found):
            x[starts[i] + a], length[starts[i] + a] = anchors[a, 0], anchors[a, 2]
            y[starts[i] + a] = windows.start[i] + anchors[a, 1]
        starts[i + 1] = stop
    return starts, x[: starts[n]], y[: starts[n]], length[: starts[n]]


@njit(nogil=True, cache=True)
def spell(reads, windows, chained, enough, rows, cigar, offsets):
    """Write what each read has at every base of its window.

    Parameters
    ----------
    reads : PackedReads
    windows : Windows
    chained : ndarray of int64
        Windows whose reads are aligned, ascending.
    enough : ndarray of bool
        Which of them count.
    rows, cigar, offsets : ndarray
        Their alignments, as of `overlapper.kernels.cpu.chain_paths.align_chains`.

    Returns
    -------
    states : ndarray of uint8
        By window: the code of the base that is paired, or as above.
    counts : ndarray of int64, shape (windows, 8)
        Without sites.
    """
    states = np.full(windows.first[-1], np.uint8(UNCOVERED))
    counts = np.zeros((len(windows.read), 8), np.int64)
    for a in range(len(chained)):
        if not enough[a]:
            continue
        i = chained[a]
        read = windows.read[i]
        query = np.empty(reads.lengths[read], np.uint8)
        unpack_bases(reads, read, 0, len(query), windows.reverse[i], 4, query)
        q, p = rows[a, 0], windows.first[i] + rows[a, 2] - windows.start[i]
        counts[i, ALIGNED] = rows[a, 1] - rows[a, 0]
        for c in range(offsets[a], offsets[a + 1]):
            kind, run = cigar[c] & 15, np.int64(cigar[c] >> 4)
            if kind == 1:
                counts[i, INSERTED] += run
                states[p - 1] |= np.uint8(INSERTION)
                q += run
            elif kind == 2:
                counts[i, DELETIONS] += run
                states[p : p + run] = DELETED
                p += run
            else:
                counts[i, MATCHES if kind == 7 else MISMATCHES] += run
                for x in range(run):
                    states[p + x] = query[q + x]
                q, p = q + run, p + run
    return states, counts


@njit(nogil=True, cache=True)
def _first_site(sites, sequence, position):
    """Return the first site of a sequence from a position on."""
    low, high = sites.first[sequence], sites.first[sequence + 1]
    while low < high:
        middle = (low + high) >> 1
        if sites.position[middle] < position:
            low = middle + 1
        else:
            high = middle
    return low


@njit(nogil=True, cache=True)
def count_sites(reference, windows, states, sites, counts):
    """Count own, other and neither at the sites that reads cover.

    Parameters
    ----------
    reference : PackedReads
    windows : Windows
    states : ndarray of uint8
        As of `spell`.
    sites : Sites
    counts : ndarray of int64, shape (windows, 8)
        Is added to.
    """
    own = np.empty(1, np.uint8)
    for i in range(len(windows.read)):
        target = windows.target[i]
        s = _first_site(sites, target, windows.start[i])
        while s < sites.first[target + 1] and sites.position[s] < windows.end[i]:
            position = sites.position[s]
            state = states[windows.first[i] + position - windows.start[i]]
            if state != UNCOVERED:
                unpack_bases(reference, target, position, position + 1, False, READ_UNKNOWN, own)
                base = state & 7
                if base == own[0]:
                    counts[i, OWN] += 1
                elif base < 4 and (sites.others[s] >> base) & 1:
                    counts[i, OTHER] += 1
                else:
                    counts[i, NEITHER] += 1
            s += 1


@njit(nogil=True, cache=True)
def compare(reference, windows, before, after, sites):
    """Compare raw reads and corrected ones base by base where both are aligned.

    Parameters
    ----------
    reference : PackedReads
    windows : Windows
    before, after : ndarray of uint8
        What raw and corrected reads have, as of `spell`.
    sites : Sites

    Returns
    -------
    ndarray of int64, shape (windows, 6)
        `MENDED`, `LEFT` and `SPOILT` bases, then the same of sites.
    """
    counts = np.zeros((len(windows.read), 6), np.int64)
    for i in range(len(windows.read)):
        target = windows.target[i]
        own = np.empty(windows.end[i] - windows.start[i], np.uint8)
        unpack_bases(reference, target, windows.start[i], windows.end[i], False, READ_UNKNOWN, own)
        s, last = _first_site(sites, target, windows.start[i]), sites.first[target + 1]
        for p in range(len(own)):
            was, now = before[windows.first[i] + p], after[windows.first[i] + p]
            is_site = s < last and sites.position[s] == windows.start[i] + p
            s += is_site
            if was == UNCOVERED or now == UNCOVERED:
                continue
            _count_change(counts, i, 0, was == own[p], now == own[p])
            if is_site:
                _count_change(counts, i, 3, was & 7 == own[p], now & 7 == own[p])
    return counts


@njit(nogil=True, cache=True, forceinline=True)
def _count_change(counts, i, first, before, after):
    if not before:
        counts[i, first + (MENDED if after else LEFT)] += 1
    elif not after:
        counts[i, first + SPOILT] += 1
