"""Runs of equal bases between their surroundings, as words to count (`overlapper.assembly.undecided`).

CPU only.

A word has `WORD_BITS`: the surroundings, multiplied so that their highest bits are even, the base of the run
(2 bits), and its length (`LENGTH_BITS`), both on the strand on which the surroundings are the smaller number.
"""

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.packed import reverse_bases
from overlapper.runtime.compile.cache import njit

FLANK = 10
"""Bases on either side that are the surroundings of a run: 20 are met by chance in 10^12 bases; more of them
have errors. Chosen; 8 and 12 list about as much (``docs/notes/qualities.md``)."""
LENGTH_BITS = 10
ALLELE_BITS = 2 + LENGTH_BITS
WORD_BITS = 4 * FLANK + ALLELE_BITS
TURNED, BOTH = 1, 2
"""Bits of `surrounded_runs`: the base is told on the other strand; the surroundings are the same on both."""
_LONGEST = (1 << LENGTH_BITS) - 1
_SCATTER, _MASK = 0x9E3779B97F4A7C15, (1 << (4 * FLANK)) - 1
_SIDE = (1 << (2 * FLANK)) - 1
_UNKNOWN = 4


class Known(NamedTuple):
    """Words of contigs in a range.

    Attributes
    ----------
    word : ndarray of uint64, shape (n,)
        By place on the contigs.
    turned : ndarray of uint8, shape (n,)
    table : ndarray of uint64
        The same, each once, ascending.
    place : ndarray of int32
        Where each of the table is in ``word``.
    first : ndarray of int32
        Where each bucket of the table begins: words that are alike without the last ``shift`` bits.
    low, shift : uint64
        The first word of the range.
    """

    word: np.ndarray
    turned: np.ndarray
    table: np.ndarray
    place: np.ndarray
    first: np.ndarray
    low: np.uint64
    shift: np.uint64


@njit(nogil=True, cache=True)
def surrounded_runs(codes, low, high):
    """Find the runs with known surroundings, and words in a range.

    Parameters
    ----------
    codes : ndarray of uint8
        Sequences, with an unknown base between two of them.
    low, high : uint64
        Half open.

    Returns
    -------
    start, end : ndarray of int64, shape (n,)
        Half open, ascending.
    word : ndarray of uint64, shape (n,)
    turned : ndarray of uint8, shape (n,)
        `TURNED` and `BOTH`.
    edges : ndarray of int64, shape (2,)
        Where the first run of any word starts, and the last one ends; 0, 0 without any.
    """
    n = np.int64(len(codes))
    starts, ends = np.empty(n, np.int64), np.empty(n, np.int64)
    words, turned, found = np.empty(n, np.uint64), np.empty(n, np.uint8), 0
    edges, start, known = np.zeros(2, np.int64), np.int64(0), np.int64(0)
    before, until, behind = np.int64(0), np.int64(0), np.int64(0)
    for place in range(1 - FLANK, n + 1 - FLANK):
        last = np.int64(codes[place + FLANK - 1])
        known = known + np.int64(1) if last < _UNKNOWN else np.int64(0)
        behind = (behind << 2 | last & 3) & _SIDE  # the bases from `place` on
        if place <= 0:
            continue
        until = (until << 2 | np.int64(codes[place - 1]) & 3) & _SIDE
        if codes[place] == codes[place - 1]:
            continue
        if known >= place - start + 2 * FLANK:
            here = before << (2 * FLANK) | behind
            there = np.int64(reverse_bases(~np.uint64(here)) >> np.uint64(64 - 4 * FLANK))
            base = np.int64(codes[start])
            side = np.uint8(there == here) << 1
            if there < here or (there == here and 3 - base < base):
                here, base, side = there, 3 - base, side | TURNED
            mixed = np.uint64(here) * np.uint64(_SCATTER) & np.uint64(_MASK)
            allele = base << LENGTH_BITS | min(np.int64(place - start), np.int64(_LONGEST))
            word = mixed << np.uint64(ALLELE_BITS) | np.uint64(allele)
            if edges[1] == 0:
                edges[0] = start
            edges[1] = place
            if low <= word < high:
                starts[found], ends[found], words[found], turned[found] = start, place, word, side
                found += 1
        start, before = np.int64(place), until
    return starts[:found], ends[:found], words[:found], turned[:found], edges


@njit(nogil=True, cache=True)
def look_up(words, turned, known, hits):
    """Find words of reads among those of contigs; return others with the surroundings of one of these.

    Successive words of a read are mostly those of successive places, which is tried first.

    Parameters
    ----------
    words : ndarray of uint64
    turned : ndarray of uint8
    known : Known
    hits : ndarray of int64, shape of words
        Out: twice the place of each, and one more if it is told on the other strand; -1 for none.

    Returns
    -------
    ndarray of uint64
    """
    others, found = np.empty(len(words), np.uint64), 0
    at, step, last = np.int64(0), np.int64(1), np.int64(0)
    for i in range(len(words)):
        side = turned[i] == TURNED
        expected = at + step * (i - last)
        if 0 <= expected < len(known.word) and known.word[expected] == words[i]:
            hits[i] = 2 * expected + side
            continue
        hits[i] = -1
        bucket = np.int64((words[i] - known.low) >> known.shift)
        alike = False
        for row in range(known.first[bucket], known.first[bucket + 1]):
            if known.table[row] == words[i]:
                at, last = np.int64(known.place[row]), np.int64(i)
                step = np.int64(1 if turned[i] == known.turned[at] else -1)
                hits[i] = 2 * at + side
                break
            alike |= known.table[row] >> np.uint64(ALLELE_BITS) == words[i] >> np.uint64(ALLELE_BITS)
        if hits[i] < 0 and alike:
            others[found] = words[i]
            found += 1
    return others[:found].copy()


@njit(nogil=True, cache=True)
def count(hits, counts):
    """Count the hits of `look_up` by place and strand (shape (n, 2)), but for -1."""
    for hit in hits:
        if hit >= 0:
            counts[hit >> 1, hit & 1] += 1


@njit(nogil=True, cache=True)
def raise_around(start, end, met, has):
    """Raise what is had on the bases of runs and of their surroundings to how often the runs are met.

    Parameters
    ----------
    start, end : ndarray of int64, shape (n,)
    met : ndarray of int64, shape (n, 2)
    has : ndarray of uint8, shape (bases, 2)
        Of one contig; what lies behind its end is at its beginning.
    """
    bases = len(has)
    for run in range(len(start)):
        for side in range(2):
            times = np.uint8(min(met[run, side], 255))
            for at in range(start[run] - FLANK, end[run] + FLANK):
                has[at % bases, side] = max(has[at % bases, side], times)
