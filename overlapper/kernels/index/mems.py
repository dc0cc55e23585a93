"""Maximal exact matches of reads in an indexed text (GPUseed: Ahmed 2019; sampled seeds: Khan 2009).

GPU twin: cuda/mems.py.

A match of at least L bases holds a seed of S <= L bases that starts at a multiple of L - S + 1, so only those
seeds are looked up. The first seed in a match finds it: the rows of the seed are extended backward, by at
most L - S bases, and what drops out on the way cannot be extended further to the left. Only those rows are
located, and compared with the text to the right, so that every match is found once, whatever its length. A
seed with a single place, within a match found before, is in that match alone, and is passed over.

::

    query   ....|---S---|.........|---S---|.......     seeds at multiples of the step, L - S + 1
    match         |=========================|          the first seed within it finds it
                  <-step->                             where it can start
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.growth import grow_rows
from overlapper.kernels.common.inlining import always_inline
from overlapper.kernels.common.packed import base_at, kmer_rank
from overlapper.kernels.index.fm_index import (
    common_length,
    extended_row,
    locate,
    preceding_base,
    text_position,
    without_counts,
)
from overlapper.runtime.compile.cache import njit

FOUND_COLUMNS = 5
"""Columns of the rows found, those of `Matches.SORT_KEYS`: query, q_start, length, reverse, t_start."""

NO_BASE = -2
"""Stands for the base before the first one of a query."""
_SEEDS_AT_ONCE = 1024


@njit(nogil=True, cache=True)
def with_room(found, count):
    """Return an array that holds the first ``count`` rows of ``found`` and has room for another."""
    return found if count < len(found) else grow_rows(found, 2 * len(found) + 1024)


@njit(nogil=True, cache=True)
def add_match(fm, found, count, query, q_start, length, position):
    """Write the match at a position of either strand of the index as row ``count`` of ``found``."""
    t_start, reverse = text_position(fm, position, length)
    found = with_room(found, count)
    found[count, 0] = query
    found[count, 1] = q_start
    found[count, 2] = length
    found[count, 3] = reverse
    found[count, 4] = t_start
    return found


@always_inline
def before(fm, words, source, start, first, last):
    """Return the base before a match on the query, `NO_BASE` if none, and the rows that have it there."""
    if start == 0:
        return np.int64(NO_BASE), first, first
    base = base_at(words, source + start - 1)
    return base, extended_row(fm, base, first), extended_row(fm, base, last)


@always_inline
def left_maximal(fm, row, base, matched, words, source, rest):
    """Return where a row is in either strand, and the bases that it and a query have in common.

    Parameters
    ----------
    fm : FmIndex
    row : int
    base : int
        Before the match on the query: a row that it precedes has no bases, as it is no match.
    matched : int
        Bases that are known to be in common.
    words : ndarray of uint64
    source, rest : int
        What follows them on the query: place in ``words``, and how many bases.
    """
    if preceding_base(fm, row) == base:
        return np.int64(0), np.int64(0)
    position = locate(fm, row)
    return position, matched + common_length(fm, position + matched, words, source, rest)


@always_inline
def _look_up_seeds(fm, words, source, first_seed, end, step, seed_length, seeds):
    """Find the rows of the seeds that start in ``[first_seed, end)`` of a segment.

    Each step of the index is taken for all seeds before the next one, so that their memory accesses overlap.

    Returns
    -------
    int
        Number of seeds that occur in the text; as many rows of ``seeds`` are set to start, first row, end of
        rows.
    """
    count = 0
    to_kmer = seed_length - fm.kmer_length
    for start in range(first_seed, end, step):
        rank = kmer_rank(words, source + start + to_kmer, fm.kmer_length)
        first, last = np.int64(fm.table[rank, 0]), np.int64(fm.table[rank, 1])
        seeds[count, 0], seeds[count, 1], seeds[count, 2] = start, first, last
        count += int(first < last)
    for offset in range(to_kmer - 1, -1, -1):
        occurring = 0
        for seed in range(count):
            start = seeds[seed, 0]
            base = base_at(words, source + start + offset)
            first = extended_row(fm, base, seeds[seed, 1])
            last = extended_row(fm, base, seeds[seed, 2])
            seeds[occurring, 0], seeds[occurring, 1], seeds[occurring, 2] = start, first, last
            occurring += int(first < last)
        count = occurring
    return count


@njit(nogil=True, cache=True)
def find_mems(fm, words, sources, lengths, queries, starts, min_length, most, seed_length):
    """Find the maximal exact matches of query segments.

    Parameters
    ----------
    fm : FmIndex
    words : ndarray of uint64
        Packed queries.
    sources, lengths : ndarray of int64, shape (n,)
        First base in ``words`` and bases of each segment; a segment holds known bases only.
    queries, starts : ndarray of int64, shape (n,)
        Read that each segment lies on, and where.
    min_length : int
        L.
    most : int
        Matches from which on the search ends: what is returned is more than that then, and not all.
    seed_length : int
        S, from the k of the table to L; changes the work done, not the result.

    Returns
    -------
    ndarray of int64, shape (matches, 5)
        See `FOUND_COLUMNS`; in no particular order within a segment.
    """
    fm = without_counts(fm)
    found, count = np.empty((1024, FOUND_COLUMNS), np.int64), 0
    step = min_length - seed_length + 1
    seeds = np.empty((_SEEDS_AT_ONCE, 3), np.int64)
    for query in range(len(sources)):
        source, length, covered = sources[query], lengths[query], np.int64(0)
        for first_seed in range(0, length - seed_length + 1, _SEEDS_AT_ONCE * step):
            end = min(first_seed + _SEEDS_AT_ONCE * step, length - seed_length + 1)
            occurring = _look_up_seeds(fm, words, source, first_seed, end, step, seed_length, seeds)
            for seed in range(occurring):
                start, first, last = seeds[seed, 0], seeds[seed, 1], seeds[seed, 2]
                leftmost, seed_end = start - step, start + seed_length
                if last - first == 1 and starts[query] + seed_end <= covered:
                    continue
                while first < last and start > leftmost:
                    base, next_first, next_last = before(fm, words, source, start, first, last)
                    q_start = starts[query] + start
                    for row in range(first if next_last - next_first < last - first else last, last):
                        position, length_here = left_maximal(
                            fm, row, base, seed_end - start, words, source + seed_end, length - seed_end
                        )
                        if length_here >= min_length:
                            found = add_match(
                                fm, found, count, queries[query], q_start, length_here, position
                            )
                            count += 1
                            covered = max(covered, q_start + length_here)
                    first, last, start = next_first, next_last, start - 1
                if count > most:
                    return found[:count]
    return found[:count]
