"""Runs of equal bases between their surroundings, as words to count (`overlapper.assembly.undecided`).

CPU only.

A word has `WORD_BITS`: the surroundings, multiplied so that their highest bits are even, the base of the run
(2 bits), and its length (`LENGTH_BITS`), both on the strand on which the surroundings are the smaller number.
"""

import numpy as np

from overlapper.runtime.compile.cache import njit

FLANK = 10
"""Bases on either side that are the surroundings of a run: 20 are met by chance in 10^12 bases; more of them
have errors. Chosen; 8 and 12 list about as much (``docs/notes/qualities.md``)."""
LENGTH_BITS = 10
ALLELE_BITS = 2 + LENGTH_BITS
WORD_BITS = 4 * FLANK + ALLELE_BITS
_LONGEST = (1 << LENGTH_BITS) - 1
_SCATTER, _MASK = 0x9E3779B97F4A7C15, (1 << (4 * FLANK)) - 1
_UNKNOWN = 4


@njit(nogil=True, cache=True)
def surrounded_runs(codes):
    """Find the runs with known surroundings.

    Parameters
    ----------
    codes : ndarray of uint8
        Sequences, with an unknown base between two of them.

    Returns
    -------
    start, end : ndarray of int64, shape (n,)
        Half open, ascending.
    word : ndarray of uint64, shape (n,)
    turned : ndarray of bool, shape (n,)
        Whether the base is told on the other strand.
    """
    n, mask = len(codes), (1 << (2 * FLANK)) - 1
    forward = np.full(n + 1, -1, np.int32)  # by the first of `FLANK` bases
    backward = np.empty(n + 1, np.int32)
    one, other, known = np.int64(0), np.int64(0), 0
    for place in range(n):
        code = np.int64(codes[place])
        known = known + 1 if code < _UNKNOWN else 0
        one, other = (one << 2 | code & 3) & mask, other >> 2 | (3 - (code & 3)) << (2 * FLANK - 2)
        if known >= FLANK:
            forward[place + 1 - FLANK], backward[place + 1 - FLANK] = one, other
    starts, ends = np.empty(n, np.int64), np.empty(n, np.int64)
    words, turned, found, start = np.empty(n, np.uint64), np.empty(n, np.bool_), 0, 0
    while start < n:
        end = start + 1
        while end < n and codes[end] == codes[start]:
            end += 1
        before = start - FLANK
        if before >= 0 and codes[start] < _UNKNOWN and forward[before] >= 0 and forward[end] >= 0:
            here = np.int64(forward[before]) << (2 * FLANK) | forward[end]
            there = np.int64(backward[end]) << (2 * FLANK) | backward[before]
            base = np.int64(codes[start])
            turned[found] = there < here or (there == here and 3 - base < base)
            if turned[found]:
                here, base = there, 3 - base
            mixed = np.uint64(here) * np.uint64(_SCATTER) & np.uint64(_MASK)
            allele = base << LENGTH_BITS | min(end - start, _LONGEST)
            words[found] = mixed << np.uint64(ALLELE_BITS) | np.uint64(allele)
            starts[found], ends[found] = start, end
            found += 1
        start = end
    return starts[:found].copy(), ends[:found].copy(), words[:found].copy(), turned[:found].copy()


@njit(nogil=True, cache=True)
def look_up(words, table, low, shift, first, hits):
    """Find words in a table; return those that it lacks, but of whose surroundings it has a word.

    Parameters
    ----------
    words : ndarray of uint64
    table : ndarray of uint64
        Ascending.
    low, shift : uint64
        The table has words from ``low`` on; a bucket those that are alike without the last ``shift`` bits.
    first : ndarray of int32
        Where each bucket begins.
    hits : ndarray of int64, shape of words
        Out: places in the table, -1 for none.

    Returns
    -------
    ndarray of uint64
    """
    others, found = np.empty(len(words), np.uint64), 0
    for i in range(len(words)):
        hits[i] = -1
        bucket = np.int64((words[i] - low) >> shift)
        if words[i] < low or bucket + 1 >= len(first):
            continue
        alike = False
        for place in range(first[bucket], first[bucket + 1]):
            if table[place] == words[i]:
                hits[i] = place
                break
            alike |= table[place] >> np.uint64(ALLELE_BITS) == words[i] >> np.uint64(ALLELE_BITS)
        if hits[i] < 0 and alike:
            others[found] = words[i]
            found += 1
    return others[:found].copy()


@njit(nogil=True, cache=True)
def count(hits, counts):
    """Count places in a table, but for -1."""
    for hit in hits:
        if hit >= 0:
            counts[hit] += 1
