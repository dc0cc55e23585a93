"""The base that each aligned read has at every base of the reference it comes from.

``docs/algorithms/evaluation.md`` has the definitions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.edit_paths import READ_UNKNOWN
from overlapper.kernels.common.oriented import unpack_bases
from overlapper.runtime.compile.cache import njit

DELETED, INSERTION, UNCOVERED = 6, 8, 255
"""What a read has at a base of the reference, if not a base that is paired with it: nothing; `INSERTION` is
added where bases are inserted behind it; not aligned there."""
ALIGNED, MATCHES, MISMATCHES, INSERTED, DELETIONS, OWN, OTHER, NEITHER = range(8)
"""Integers of an aligned read: its bases between the ends of the alignment, columns of each kind, sites."""
MENDED, LEFT, SPOILT = range(3)
"""Of bases, and then of sites: wrong before correction and right after, wrong before and after, right before
and wrong after."""


class Sites(NamedTuple):
    """Sites of a reference, by sequence and position."""

    first: np.ndarray
    """int64, shape (sequences + 1,); where those of each sequence start."""
    position: np.ndarray
    """int64, shape (n,)."""
    others: np.ndarray
    """uint8, shape (n,); a bit for each base that others have there."""


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
        Their alignments, as of `overlapper.kernels.mapping.chain_paths.align_chains`.

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
    return low + np.searchsorted(sites.position[low:high], position)


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
