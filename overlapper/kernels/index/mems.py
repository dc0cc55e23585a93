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
from overlapper.kernels.common.packed import base_at, kmer_rank, uncounted
from overlapper.kernels.index.fm_index import (
    common_length,
    extended_row,
    locate,
    preceding_base,
    text_position,
)
from overlapper.runtime.compile.cache import njit

FOUND_COLUMNS = 5
"""Columns of the rows found, those of `Matches.SORT_KEYS`: query, q_start, length, reverse, t_start."""

_NO_BASE = -2
_SEEDS_AT_ONCE = 1024


@njit(nogil=True, cache=True)
def with_room(found, count):
    """Return an array that holds the first ``count`` rows of ``found`` and has room for another."""
    return found if count < len(found) else grow_rows(found, 2 * len(found) + 1024)


@njit(nogil=True, cache=True)
def add_match(segments, found, count, query, q_start, length, position):
    """Write the match at a position of either strand of the index as row ``count`` of ``found``."""
    t_start, reverse = text_position(segments, position, length)
    found = with_room(found, count)
    found[count, 0] = query
    found[count, 1] = q_start
    found[count, 2] = length
    found[count, 3] = reverse
    found[count, 4] = t_start
    return found


@njit(nogil=True, cache=True)
def _look_up_seeds(
    bins, borders, table, kmer_length, words, source, first_seed, end, step, seed_length, seeds
):
    """Find the rows of the seeds that start in ``[first_seed, end)`` of a segment.

    Each step of the index is taken for all seeds before the next one, so that their memory accesses overlap.

    Returns
    -------
    int
        Number of seeds that occur in the text; as many rows of ``seeds`` are set to start, first row, end of
        rows.
    """
    count = 0
    to_kmer = seed_length - kmer_length
    for start in range(first_seed, end, step):
        rank = kmer_rank(words, source + start + to_kmer, kmer_length)
        first, last = np.int64(table[rank, 0]), np.int64(table[rank, 1])
        seeds[count, 0], seeds[count, 1], seeds[count, 2] = start, first, last
        count += int(first < last)
    for offset in range(to_kmer - 1, -1, -1):
        occurring = 0
        for seed in range(count):
            start = seeds[seed, 0]
            base = base_at(words, source + start + offset)
            first = extended_row(bins, borders, base, seeds[seed, 1])
            last = extended_row(bins, borders, base, seeds[seed, 2])
            seeds[occurring, 0], seeds[occurring, 1], seeds[occurring, 2] = start, first, last
            occurring += int(first < last)
        count = occurring
    return count


@njit(nogil=True, cache=True)
def _add_left_maximal(
    bins, borders, samples, sample_shift, text, segments, words, found, count,
    first, last, base, query, q_start, matched, source, rest, min_length, covered,
):  # fmt: skip
    """Add the matches of the rows ``[first, last)`` that ``base`` does not precede.

    Parameters
    ----------
    base : int
        Before the match on the query; no base where the query starts.
    matched : int
        Bases that the rows have in common with the query.
    source, rest : int
        What follows them on the query: place in ``words``, and how many bases.
    covered : int
        Furthest end on the query of the matches before.

    Returns
    -------
    found, count, covered
    """
    for row in range(first, last):
        if preceding_base(bins, borders, row) != base:
            position = locate(bins, borders, samples, sample_shift, row)
            length = matched + common_length(text, segments, position + matched, words, source, rest)
            if length >= min_length:
                found = add_match(segments, found, count, query, q_start, length, position)
                count += 1
                covered = max(covered, q_start + length)
    return found, count, covered


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
    bins, borders, samples = uncounted(fm.bins), uncounted(fm.borders), uncounted(fm.samples)
    table, text, segments = uncounted(fm.table), uncounted(fm.text), uncounted(fm.segments)
    sample_shift, kmer_length = fm.sample_shift, fm.kmer_length
    found, count = np.empty((1024, FOUND_COLUMNS), np.int64), 0
    step = min_length - seed_length + 1
    seeds = np.empty((_SEEDS_AT_ONCE, 3), np.int64)
    for query in range(len(sources)):
        source, length, covered = sources[query], lengths[query], np.int64(0)
        for first_seed in range(0, length - seed_length + 1, _SEEDS_AT_ONCE * step):
            end = min(first_seed + _SEEDS_AT_ONCE * step, length - seed_length + 1)
            occurring = _look_up_seeds(
                bins, borders, table, kmer_length, words, source, first_seed, end, step, seed_length, seeds
            )
            for seed in range(occurring):
                start, first, last = seeds[seed, 0], seeds[seed, 1], seeds[seed, 2]
                leftmost, seed_end = start - step, start + seed_length
                if last - first == 1 and starts[query] + seed_end <= covered:
                    continue
                while first < last and start > leftmost:
                    base, next_first, next_last = _NO_BASE, first, first
                    if start > 0:
                        base = base_at(words, source + start - 1)
                        next_first = extended_row(bins, borders, base, first)
                        next_last = extended_row(bins, borders, base, last)
                    if next_last - next_first < last - first:
                        found, count, covered = _add_left_maximal(
                            bins, borders, samples, sample_shift, text, segments, words, found, count,
                            first, last, base, queries[query], starts[query] + start, seed_end - start,
                            source + seed_end, length - seed_end, min_length, covered,
                        )  # fmt: skip
                    first, last, start = next_first, next_last, start - 1
                if count > most:
                    return found[:count]
    return found[:count]
