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
    order : ndarray of int32, shape (n,)
        Places by word, of equal ones by place.
    first : ndarray of int32
        Where each bucket begins in this order: words that are alike without the last ``shift`` bits.
    low, high, shift : uint64
        The first word of the range, and the one behind its last.
    """

    word: np.ndarray
    turned: np.ndarray
    order: np.ndarray
    first: np.ndarray
    low: np.uint64
    high: np.uint64
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
def places_between(words, low, high):
    """Return where words of a range are.

    Parameters
    ----------
    words : ndarray of uint64, shape (n,)
    low, high : uint64
        Half open.

    Returns
    -------
    ndarray of int32
    """
    found = 0
    for word in words:
        found += low <= word < high
    places, found = np.empty(found, np.int32), 0
    for place in range(len(words)):
        if low <= words[place] < high:
            places[found] = place
            found += 1
    return places


@njit(nogil=True, cache=True)
def look_up(words, turned, known):
    """Find words of reads among those of contigs, and others with the surroundings of one of these.

    Successive words of a read are mostly those of successive places, which is tried first.

    Parameters
    ----------
    words : ndarray of uint64
    turned : ndarray of uint8
    known : Known

    Returns
    -------
    stretches : ndarray of int64, shape (n, 3)
        Successive places that a read has: the first, the one behind the last, and whether the read lies there
        on the reverse strand.
    others : ndarray of uint64
    """
    others, of_others = np.empty(len(words), np.uint64), 0
    stretches, found = np.empty((len(words), 3), np.int64), 0
    at, step = np.int64(0), np.int64(1)
    for i in range(len(words)):
        at += step
        alike = False
        if at < 0 or at >= len(known.word) or known.word[at] != words[i]:
            place = np.int64(-1)
            bucket = np.int64((words[i] - known.low) >> known.shift)
            for row in range(known.first[bucket], known.first[bucket + 1]):
                word = known.word[known.order[row]]
                if word == words[i]:
                    place = np.int64(known.order[row])
                    break
                alike |= word >> np.uint64(ALLELE_BITS) == words[i] >> np.uint64(ALLELE_BITS)
            if place < 0:
                if alike:
                    others[of_others] = words[i]
                    of_others += 1
                continue
            at = place
            step = np.int64(1 if turned[i] & TURNED == known.turned[at] & TURNED else -1)
        reverse = (turned[i] ^ known.turned[at]) & TURNED
        if found and stretches[found - 1, 2] == reverse and stretches[found - 1, 1] == at:
            stretches[found - 1, 1] += 1
        elif found and stretches[found - 1, 2] == reverse and stretches[found - 1, 0] == at + 1:
            stretches[found - 1, 0] -= 1
        else:
            stretches[found] = at, at + 1, reverse
            found += 1
    return stretches[:found].copy(), others[:of_others].copy()


@njit(nogil=True, cache=True)
def count(stretches, change):
    """Count stretches of `look_up`, as changes of the counts from place to place (shape (2, n + 1))."""
    for first, behind, reverse in stretches:
        change[reverse, first] += 1
        change[reverse, behind] -= 1


@njit(nogil=True, cache=True)
def raise_around(start, end, met, has):
    """Raise what is had on the bases of runs and of their surroundings to how often the runs are met.

    Parameters
    ----------
    start, end : ndarray of int64, shape (n,)
    met : ndarray of int32, shape (2, n)
    has : ndarray of uint8, shape (bases, 2)
        Runs may reach beyond both ends.
    """
    for run in range(len(start)):
        for side in range(2):
            times = np.uint8(min(met[side, run], 255))
            for at in range(max(0, start[run] - FLANK), min(len(has), end[run] + FLANK)):
                has[at, side] = max(has[at, side], times)
