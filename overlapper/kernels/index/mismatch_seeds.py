"""Fixed-length seeds with mismatches, by bounded backward search (Li & Durbin 2009; Liu 2012).

GPU twin: cuda/mismatch_seeds.py.

A seed is cut greedily, from the left, into shortest stretches that do not occur in the text: its first i
bases need at least as many mismatches as they hold whole stretches. The search goes from the right end to
the left, tries all four bases at every step, and gives up where fewer mismatches are left than the bases to
come need. Its first k steps are look-ups in the table of k-mer intervals: of the last k bases, and of all
that differ from them by the mismatches.

::

    |---- rest ----|----- k -----|
    <--------------  table           up to m mismatches, m - 1 of them in the k-mer
      exact          ------------>   m mismatches, all in the k-mer

Most k-mers within m mismatches have just m of them, and then the rest is exact. Where the rest has fewer
places than there are such k-mers, those are not looked up: the rest is extended forward instead.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.inlining import always_inline
from overlapper.kernels.common.packed import base_at, kmer_rank
from overlapper.kernels.index.fm_index import extend_forward, extended_row, locate, without_counts
from overlapper.kernels.index.mems import add_match, with_room
from overlapper.runtime.compile.cache import njit

SEED_COLUMNS = 6
"""Columns of the rows found: query, q_start, length, reverse, t_start, mismatches."""


@always_inline
def _bound_mismatches(fm, words, start, least):
    """Set ``least[i]`` to a lower bound on the mismatches of the first ``i`` bases of a seed.

    Returns
    -------
    row, mirror, size : int
        Bi-interval of all these bases, if they occur: if the last bound is 0.
    """
    rows = 2 * fm.segments[-1, 0]
    row, mirror, size = np.int64(0), np.int64(0), rows
    least[0] = 0
    for i in range(len(least) - 1):
        row, mirror, size = extend_forward(fm, base_at(words, start + i), row, mirror, size)
        least[i + 1] = least[i]
        if size == 0:
            least[i + 1] += 1
            row, mirror, size = np.int64(0), np.int64(0), rows
    return row, mirror, size


@njit(nogil=True, cache=True, forceinline=True)
def _search_backward(fm, words, start, least, stack, depth, intervals, count):
    """Empty the stack of (bases to come, first row, end of rows, mismatches left) into complete intervals."""
    while depth:
        depth -= 1
        rest, first, last = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        left = stack[depth, 3]
        if rest == 0:
            intervals = with_room(intervals, count)
            intervals[count, 0], intervals[count, 1], intervals[count, 2] = first, last, left
            count += 1
            continue
        expected = base_at(words, start + rest - 1)
        for base in range(4):
            still_left = left - (base != expected)
            if still_left < least[rest - 1]:
                continue
            next_first = extended_row(fm, base, first)
            next_last = extended_row(fm, base, last)
            if next_first < next_last:
                stack[depth, 0], stack[depth, 1], stack[depth, 2] = rest - 1, next_first, next_last
                stack[depth, 3] = still_left
                depth += 1
    return intervals, count


@njit(nogil=True, cache=True, forceinline=True)
def _search_forward(fm, words, start, end, mismatches, interval, stack, intervals, count):
    """Extend a bi-interval by the bases ``[start, end)`` with exactly so many mismatches."""
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = interval[0], interval[1], interval[2], mismatches
    stack[0, 4], depth = start, 1
    while depth:
        depth -= 1
        row, mirror, size, left = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
        place = stack[depth, 4]
        if place == end:
            intervals = with_room(intervals, count)
            intervals[count, 0], intervals[count, 1], intervals[count, 2] = row, row + size, 0
            count += 1
            continue
        expected = base_at(words, place)
        for base in range(4):
            still_left = left - (base != expected)
            if not 0 <= still_left < end - place:
                continue
            next_row, next_mirror, next_size = extend_forward(fm, base, row, mirror, size)
            if next_size > 0:
                stack[depth, 0], stack[depth, 1], stack[depth, 2] = next_row, next_mirror, next_size
                stack[depth, 3], stack[depth, 4] = still_left, place + 1
                depth += 1
    return intervals, count


@njit(nogil=True, cache=True)
def find_fixed_seeds(
    fm, words, sources, lengths, queries, starts, length, mismatches, hit_limit, variants, variant_costs
):
    """Find the places of all seeds of a fixed length.

    Parameters
    ----------
    fm, words, sources, lengths, queries, starts
        As `overlapper.kernels.index.mems.find_mems`.
    length : int
        Of a seed, at least the k of the table.
    mismatches : int
        Most mismatches.
    hit_limit : int
        A seed with more hits is dropped.
    variants, variant_costs : ndarray of int64, shape (v,)
        What to combine the rank of a k-mer with, by exclusive or, to get all within the mismatches, and how
        many mismatches that is.

    Returns
    -------
    found : ndarray of int64, shape (hits, 6)
        See `SEED_COLUMNS`; ascending by query and start.
    dropped : ndarray of int64, shape (seeds, 3)
        Query, start and hits of each dropped seed.
    """
    fm = without_counts(fm)
    table, k, rest = fm.table, fm.kmer_length, length - fm.kmer_length
    found, count = np.empty((1024, SEED_COLUMNS), np.int64), 0
    dropped, dropped_count = np.empty((64, 3), np.int64), 0
    intervals = np.empty((64, 3), np.int64)
    least = np.zeros(rest + 1, np.int64)
    stack = np.empty((3 * length + 4, 5), np.int64)
    cheaper = 0
    while cheaper < len(variants) and variant_costs[cheaper] < mismatches:
        cheaper += 1
    for query in range(len(sources)):
        for offset in range(lengths[query] - length + 1):
            start, q_start = sources[query] + offset, starts[query] + offset
            interval_count, hits, tried = 0, 0, len(variants)
            if mismatches:
                exact = _bound_mismatches(fm, words, start, least)
                if least[rest] == 0 and exact[2] < len(variants) - cheaper:
                    tried = cheaper
                    intervals, interval_count = _search_forward(
                        fm, words, start + rest, start + length, mismatches, exact,
                        stack, intervals, interval_count,
                    )  # fmt: skip
                elif least[rest]:
                    tried = cheaper
            rank = kmer_rank(words, start + rest, k)
            for variant in range(tried):
                first = np.int64(table[rank ^ variants[variant], 0])
                last = np.int64(table[rank ^ variants[variant], 1])
                left = mismatches - variant_costs[variant]
                if first < last and left >= least[rest]:
                    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = rest, first, last, left
                    intervals, interval_count = _search_backward(
                        fm, words, start, least, stack, 1, intervals, interval_count
                    )
            for interval in range(interval_count):
                hits += intervals[interval, 1] - intervals[interval, 0]
            if hits > hit_limit:
                dropped = with_room(dropped, dropped_count)
                dropped[dropped_count, 0] = queries[query]
                dropped[dropped_count, 1] = q_start
                dropped[dropped_count, 2] = hits
                dropped_count += 1
                continue
            for interval in range(interval_count):
                for row in range(intervals[interval, 0], intervals[interval, 1]):
                    position = locate(fm, row)
                    found = add_match(fm, found, count, queries[query], q_start, length, position)
                    found[count, 5] = mismatches - intervals[interval, 2]
                    count += 1
    return found[:count], dropped[:dropped_count]
