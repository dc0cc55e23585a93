"""Hash tables of canonical k-mers of sequences, those whose hashes lie in a slice ``[low, high)``.

CPU only.

A table has open addresses: row ``i`` holds a hash, `NONE` where it is empty, and what is known of its k-mer.
Hashes are those of `overlapper.kernels.seeds.counting`. Sequences come as `Spans`, long ones a chunk at a
time.

What is known is packed: the place of a k-mer's first base on the forward strand << 20 | (1 if that strand's
reverse complement is the canonical one) << 19 | `REPEATED` | `SEEN` | a bit for each haplotype that has it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.seeds.counting import NONE, canonical_kmers
from overlapper.runtime.compile.cache import njit

MOST_HAPLOTYPES = 16
PLACE_BIT, REVERSE_BIT = np.uint64(20), np.uint64(19)
REPEATED, SEEN = np.uint64(1 << 18), np.uint64(1 << 17)
HAPLOTYPES = np.uint64((1 << MOST_HAPLOTYPES) - 1)
CHUNK = 1024
"""k-mers of a chunk, whose hashes stay in the first-level cache."""

_ONE, _NOTHING = np.uint64(1), np.uint64(0)
_SCATTER = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


class Spans(NamedTuple):
    """Runs of known bases, or parts of them, of packed sequences."""

    words: np.ndarray
    """uint64."""
    first_word: np.ndarray
    """int64, shape (n,); where the sequence of a span starts."""
    start: np.ndarray
    stop: np.ndarray
    """`start`, `stop`: int64, shape (n,); bases of the sequence, half open."""
    place: np.ndarray
    """int64, shape (n,); what the first base is numbered as; the following ones count from there."""
    sequence: np.ndarray
    """int64, shape (n,)."""


@njit(nogil=True, cache=True)
def new_chunk():
    """Return memory for the hashes and strands of a chunk, and for the numbers of chosen k-mers."""
    return np.empty(CHUNK, np.uint64), np.empty(CHUNK, np.bool_), np.empty(CHUNK + 1, np.int64)


@njit(nogil=True, cache=True)
def hash_chunk(spans, span, at, k, kept, hashes, reverse):
    """Hash the k-mers of a span from base ``at`` on, at most a chunk; return their number."""
    stop = min(spans.stop[span], at + CHUNK + k - 1)
    return canonical_kmers(spans.words, spans.first_word[span], at, stop, k, kept, hashes, reverse)


@njit(nogil=True, cache=True)
def count_bins(spans, first, last, k, kept, shift, counts):
    """Count the k-mers of spans ``[first, last)`` by the highest bits of their hashes, ``hash >> shift``."""
    hashes, reverse, _ = new_chunk()
    for span in range(first, last):
        for at in range(spans.start[span], spans.stop[span] - k + 1, CHUNK):
            for i in range(hash_chunk(spans, span, at, k, kept, hashes, reverse)):
                if hashes[i] != NONE:
                    counts[hashes[i] >> shift] += 1


@njit(nogil=True, cache=True)
def choose(table, hashes, n, low, size, chosen):
    """List the k-mers of a chunk that lie in a slice, and prefetch their rows of the table.

    Rows are fetched side by side here; looked at one by one, each would be waited for.

    Parameters
    ----------
    table : ndarray of uint64, shape (rows, 2)
    hashes : ndarray of uint64
    n : int
    low, size : uint64
        First hash of the slice, and how many it has.
    chosen : ndarray of int64, shape (n + 1,) or longer
        Gets the numbers of the k-mers.

    Returns
    -------
    int
        How many there are.
    """
    count, fetched = 0, _NOTHING
    for i in range(n):
        chosen[count] = i
        count += hashes[i] - low < size
    for c in range(count):
        fetched |= table[_home(table, hashes[chosen[c]]), 1]
    chosen[count] = np.int64(fetched)  # so that nothing is left out as useless
    return count


@njit(nogil=True, cache=True, forceinline=True)
def _home(table, key):
    """Return the first row to look for a key in."""
    return (((key * _SCATTER) >> _HALF) * np.uint64(len(table))) >> _HALF


@njit(nogil=True, cache=True, forceinline=True)
def row_of(table, key):
    """Return the row of a key, or the empty row where it would go."""
    rows, row = np.uint64(len(table)), _home(table, key)
    while table[row, 0] != key and table[row, 0] != NONE:
        row += _ONE
        if row == rows:
            row = _NOTHING
    return row


@njit(nogil=True, cache=True)
def add_kmers(table, spans, haplotype_of, k, kept, low, high):
    """Add the k-mers of all spans that lie in the slice ``[low, high)``.

    Parameters
    ----------
    table : ndarray of uint64, shape (n, 2)
        With more rows than there are k-mers; full of `NONE` before the first of them.
    spans : Spans
    haplotype_of : ndarray of int64
        Haplotype of each sequence.
    k : int
    kept, low, high : uint64
    """
    hashes, reverse, chosen = new_chunk()
    size = high - low
    for span in range(len(spans.start)):
        haplotype = _ONE << np.uint64(haplotype_of[spans.sequence[span]])
        offset = spans.place[span] - spans.start[span]
        for at in range(spans.start[span], spans.stop[span] - k + 1, CHUNK):
            n = hash_chunk(spans, span, at, k, kept, hashes, reverse)
            for i in chosen[: choose(table, hashes, n, low, size, chosen)]:
                row = row_of(table, hashes[i])
                if table[row, 0] == NONE:
                    table[row, 0] = hashes[i]
                    place = np.uint64(offset + at + i) << PLACE_BIT
                    table[row, 1] = place | np.uint64(reverse[i]) << REVERSE_BIT | haplotype
                else:
                    table[row, 1] |= REPEATED | haplotype


@njit(nogil=True, cache=True)
def tally(table, haplotypes):
    """Count the k-mers of each haplotype.

    Returns
    -------
    ndarray of int64, shape (haplotypes, 4)
        k-mers that it has, those of them that were seen, k-mers of its own, those of them that were seen.
    """
    counts = np.zeros((haplotypes, 4), np.int64)
    for row in range(len(table)):
        if table[row, 0] == NONE:
            continue
        known = table[row, 1]
        seen = np.int64((known & SEEN) != _NOTHING)
        having = known & HAPLOTYPES
        alone = np.int64(having & (having - _ONE) == _NOTHING)
        for haplotype in range(haplotypes):
            if (having >> np.uint64(haplotype)) & _ONE:
                counts[haplotype, 0] += 1
                counts[haplotype, 1] += seen
                counts[haplotype, 2] += alone
                counts[haplotype, 3] += alone & seen
    return counts
