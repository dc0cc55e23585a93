"""What counted k-mers tell of the sequences that they are in, looked at once, a range of columns at a time.

CPU only.

A column is a k-mer with its occurrences, ascending, as `overlapper.sketch.counting.KmerCounts` has them:
``sequence << 32 | first base << 1 | strand``. A place is ``sequence << 32 | first base``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.growth import extended
from overlapper.kernels.common.inlining import inner
from overlapper.kernels.seeds.counting import M1
from overlapper.runtime.compile.cache import njit

EMPTY = np.int64(-1)
"""Key of an empty slot."""
_FIRST_ROOM = 1 << 10


class PieceColumns(NamedTuple):
    """Pieces that sequences are cut into, by place, and where to look for them."""

    start: np.ndarray
    """int64, shape (n,); place of the first base."""
    length: np.ndarray
    """int64, shape (n,)."""
    first_site: np.ndarray
    behind_sites: np.ndarray
    """`first_site`, `behind_sites`: int64, shape (n,); first base of the first site, and the one behind the
    last site; equal in pieces without sites."""
    of_bin: np.ndarray
    """int64, shape (bins,); the piece that the first base of each bin is in, for the bins of all
    sequences."""
    first_bin: np.ndarray
    """int64, shape (sequences + 1,); where the bins of each sequence start."""


@inner
def _base_of(occurrence):
    return (occurrence & 0xFFFFFFFF) >> 1


@njit(nogil=True, cache=True)
def not_in_two(offsets, occurrences, first, last):
    """Return occurrences of k-mers that other than two sequences have, of the columns ``[first, last)``.

    Returns
    -------
    ndarray of int64
        The lowest bit is 1 where one sequence alone has the k-mer.
    """
    found, n = np.empty(offsets[last] - offsets[first], np.int64), 0
    for column in range(first, last):
        start, stop = offsets[column], offsets[column + 1]
        sequences = 1
        for i in range(start + 1, stop):
            sequences += occurrences[i] >> 32 != occurrences[i - 1] >> 32
        if sequences == 2:
            continue
        for i in range(start, stop):
            found[n] = occurrences[i] >> 1 << 1 | (sequences == 1)
            n += 1
    return found[:n].copy()


@njit(nogil=True, cache=True)
def occurrences_of_frequent(offsets, occurrences, first, last, least, behind):
    """Return the occurrences of k-mers that enough sequences have, and none of those from ``behind`` on.

    Parameters
    ----------
    offsets : ndarray of int64, shape (columns + 1,)
    occurrences : ndarray of int64
    first, last : int
        Columns, half open.
    least : int
        Sequences that are enough.
    behind : int

    Returns
    -------
    ndarray of int64
    """
    found, n = np.empty(_FIRST_ROOM, np.int64), 0
    for column in range(first, last):
        start, stop = offsets[column], offsets[column + 1]
        if stop - start < least or occurrences[stop - 1] >> 32 >= behind:
            continue
        having, before = 0, np.int64(-1)
        for i in range(start, stop):
            sequence = occurrences[i] >> 32
            having += sequence != before
            before = sequence
        if having >= least:
            found = extended(found, n, occurrences[start:stop])
            n += stop - start
    return found[:n].copy()


@inner
def _piece_of(pieces, occurrence, number):
    """Return the piece of an occurrence in the bin of a number."""
    place = (occurrence >> 32 << 32) | _base_of(occurrence)
    piece = pieces.of_bin[pieces.first_bin[occurrence >> 32] + number]
    while piece + 1 < len(pieces.start) and pieces.start[piece + 1] <= place:
        piece += 1
    return piece


@inner
def _is_between_sites(pieces, piece, occurrence, k):
    base = _base_of(occurrence)
    return pieces.first_site[piece] <= base and base + k <= pieces.behind_sites[piece]


@inner
def _add(keys, counts, key, more):
    """Add to the count of a key; return whether it is a new one."""
    wrap = len(keys) - 1
    slot = np.int64((np.uint64(key) * M1) >> np.uint64(32)) & wrap
    while keys[slot] != key and keys[slot] != EMPTY:
        slot = (slot + 1) & wrap
    is_new = keys[slot] == EMPTY
    keys[slot] = key
    counts[slot] += more
    return is_new


@njit(nogil=True, cache=True)
def _new_counts(slots):
    return np.full(slots, EMPTY), np.zeros(slots, np.int64)


@njit(nogil=True, cache=True)
def _of_twice_the_size(keys, counts):
    more_keys, more_counts = _new_counts(2 * len(keys))
    for slot in range(len(keys)):
        if keys[slot] != EMPTY:
            _add(more_keys, more_counts, keys[slot], counts[slot])
    return more_keys, more_counts


@njit(nogil=True, cache=True)
def _used(keys, counts, used):
    """Return the slots that are used."""
    found, numbers, n = np.empty(used, np.int64), np.empty(used, np.int64), 0
    for slot in range(len(keys)):
        if keys[slot] != EMPTY:
            found[n], numbers[n] = keys[slot], counts[slot]
            n += 1
    return found, numbers


@njit(nogil=True, cache=True)
def count_shared(offsets, occurrences, first, last, pieces, bin_size, k, bins):
    """Count the k-mers that pairs of pieces have in common, in bins of the shorter one of each pair.

    Where both have sites, the k-mers between the outermost sites of both are counted a second time, in bins
    of the piece with fewer bases between these.

    Parameters
    ----------
    offsets : ndarray of int64, shape (columns + 1,)
    occurrences : ndarray of int64
    first, last : int
        Columns, half open.
    pieces : PieceColumns
    bin_size, k : int
    bins : int
        More than the number of a bin in its sequence.

    Returns
    -------
    keys : ndarray of int64, shape (n,)
        ``((piece * pieces + later piece) * bins + number of the bin in its sequence) * 2``, and 1 more for
        those between sites; in any order.
    counts : ndarray of int64, shape (n,)
    """
    keys, counts = _new_counts(_FIRST_ROOM)
    used = 0
    for column in range(first, last):
        start, stop = offsets[column], offsets[column + 1]
        for i in range(start, stop - 1):
            low_bin = _base_of(occurrences[i]) // bin_size
            low = _piece_of(pieces, occurrences[i], low_bin)
            low_sites = pieces.behind_sites[low] - pieces.first_site[low]
            for j in range(i + 1, stop):
                high_bin = _base_of(occurrences[j]) // bin_size
                high = _piece_of(pieces, occurrences[j], high_bin)
                high_sites = pieces.behind_sites[high] - pieces.first_site[high]
                if low == high:
                    continue
                if 2 * used >= len(keys):
                    keys, counts = _of_twice_the_size(keys, counts)
                pair = (low * len(pieces.start) + high) * bins
                shorter = low_bin if pieces.length[low] <= pieces.length[high] else high_bin
                used += _add(keys, counts, (pair + shorter) * 2, 1)
                if (
                    low_sites > 0
                    and high_sites > 0
                    and _is_between_sites(pieces, low, occurrences[i], k)
                    and _is_between_sites(pieces, high, occurrences[j], k)
                ):
                    shorter = low_bin if low_sites <= high_sites else high_bin
                    used += _add(keys, counts, (pair + shorter) * 2 + 1, 1)
    return _used(keys, counts, used)


@njit(nogil=True, cache=True)
def add_up(keys, counts):
    """Add up the counts of equal keys.

    Parameters
    ----------
    keys, counts : ndarray of int64, shape (n,)
        Keys are 0 or more.

    Returns
    -------
    keys, counts : ndarray of int64
        In any order, every key once.
    """
    all_keys, all_counts = _new_counts(_FIRST_ROOM)
    used = 0
    for i in range(len(keys)):
        if 2 * used >= len(all_keys):
            all_keys, all_counts = _of_twice_the_size(all_keys, all_counts)
        used += _add(all_keys, all_counts, keys[i], counts[i])
    return _used(all_keys, all_counts, used)
