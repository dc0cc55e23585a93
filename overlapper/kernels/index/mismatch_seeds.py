"""Fixed-length seeds with mismatches, by bounded backward search (Li & Durbin 2009; Liu 2012).

GPU twin: cuda/mismatch_seeds.py.

A thread of a GPU searches a seed by `search_seed`, too.

A seed is cut greedily, from the left, into shortest stretches that do not occur in the text: its first i
bases need at least as many mismatches as they hold whole stretches. The search goes from the right end to the
left, tries all four bases at every step, and gives up where fewer mismatches are left than the bases to come
need. Its first k steps are look-ups in the table of k-mer intervals: of the last k bases, and of all that
differ from them by the mismatches.

::

    |---- rest ----|----- k -----|
    <--------------  table           up to m mismatches, m - 1 of them in the k-mer
      exact          ------------>   m mismatches, all in the k-mer

Most k-mers within m mismatches have just m of them, and then the rest is exact. Where the rest has fewer
places than there are such k-mers, those are not looked up: the rest is extended forward instead.

Between two mismatches a search runs straight, so a frame for each mismatch is enough as its stack: it walks
along the seed and tries the three other bases at every step. Of the lower bounds, too, only the places where
they rise are kept.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.growth import grow_rows
from overlapper.kernels.common.inlining import always_inline
from overlapper.kernels.common.packed import base_at, kmer_rank
from overlapper.kernels.index.fm_index import extend_forward, extended_row, locate, without_counts
from overlapper.kernels.index.mems import add_match, with_room
from overlapper.runtime.compile.cache import njit

SEED_COLUMNS = 6
"""Columns of the rows found: query, q_start, length, reverse, t_start, mismatches."""
FRAMES, FRAME = 3, 5
"""One more than the most mismatches, and numbers of a frame."""
_FIRST, _END, _UNEQUAL = range(3)
"""Columns of an interval: its rows, half open, and the mismatches of the seed there."""
_NEVER = 1 << 40


@always_inline
def _rises(fm, words, start, rest):
    """Find where the lower bound on the mismatches of the first bases of a seed rises, three times at most.

    Returns
    -------
    rises : tuple of int
        The first ``rises[0]`` bases need a mismatch, and so on; out of reach where there is none.
    row, mirror, size : int
        Bi-interval of all ``rest`` bases, if they occur: if the bound does not rise.
    """
    first, second, third = np.int64(_NEVER), np.int64(_NEVER), np.int64(_NEVER)
    rows = np.int64(2 * fm.segments[-1, 0])
    row, mirror, size = np.int64(0), np.int64(0), rows
    for i in range(rest):
        row, mirror, size = extend_forward(fm, base_at(words, start + i), row, mirror, size)
        if size == 0:
            if first == _NEVER:
                first = np.int64(i + 1)
            elif second == _NEVER:
                second = np.int64(i + 1)
            else:
                third = np.int64(i + 1)
                break
            row, mirror, size = np.int64(0), np.int64(0), rows
    return (first, second, third), row, mirror, size


@always_inline
def _least(rises, bases):
    """Return the least mismatches of so many first bases of a seed."""
    return np.int64(bases >= rises[0]) + np.int64(bases >= rises[1]) + np.int64(bases >= rises[2])


@always_inline
def _put(intervals, count, row, end_row, unequal):
    """Write an interval, if there is room for it."""
    if count < len(intervals):
        intervals[count, _FIRST], intervals[count, _END], intervals[count, _UNEQUAL] = row, end_row, unequal


@always_inline
def _search_backward(
    fm, words, start, rest, row, end_row, left, rises, frames, mismatches, intervals, count, hits
):
    """Search the first ``rest`` bases of a seed with at most ``left`` mismatches, from rows of the others.

    ``frames`` has rows of (bases to come, first row, end of rows, next change). A change is by exclusive or:
    3, 2 and 1 are the other bases, and 0, last, goes on to the next place.

    Returns
    -------
    count, hits : int
        Intervals and rows, those before included.
    """
    depth = np.int64(0)
    frames[0, 0], frames[0, 1], frames[0, 2], frames[0, 3] = rest, row, end_row, 3 if left > 0 else 0
    while depth >= 0:
        rest, row, end_row, change = frames[depth, 0], frames[depth, 1], frames[depth, 2], frames[depth, 3]
        if rest == 0:
            _put(intervals, count, row, end_row, mismatches - left + depth)
            count += 1
            hits += end_row - row
            depth -= 1
            continue
        next_row, next_end = np.int64(0), np.int64(0)
        if left - depth - np.int64(change > 0) >= _least(rises, rest - 1):
            base = base_at(words, start + rest - 1) ^ change
            next_row, next_end = extended_row(fm, base, row), extended_row(fm, base, end_row)
        frames[depth, 3] = change - 1
        if change == 0:
            depth -= 1
        if next_row < next_end:
            depth += 1
            frames[depth, 0], frames[depth, 1], frames[depth, 2] = rest - 1, next_row, next_end
            frames[depth, 3] = 3 if left > depth else 0
    return count, hits


@always_inline
def _search_forward(
    fm, words, place, end, row, mirror, size, frames, mismatches, intervals, count, hits
):  # fmt: skip
    """Extend a bi-interval by the bases ``[place, end)`` with exactly so many mismatches.

    ``frames`` has rows of (place, row, mirror, next change, size); the rest is as in `_search_backward`.
    """
    depth = np.int64(0)
    frames[0, 0], frames[0, 1], frames[0, 2], frames[0, 3], frames[0, 4] = place, row, mirror, 3, size
    while depth >= 0:
        place, row, mirror, size = frames[depth, 0], frames[depth, 1], frames[depth, 2], frames[depth, 4]
        change = frames[depth, 3]
        if place == end:
            _put(intervals, count, row, row + size, mismatches)
            count += 1
            hits += size
            depth -= 1
            continue
        left = mismatches - depth - np.int64(change > 0)
        next_row, next_mirror, next_size = np.int64(0), np.int64(0), np.int64(0)
        if 0 <= left < end - place:
            base = base_at(words, place) ^ change
            next_row, next_mirror, next_size = extend_forward(fm, base, row, mirror, size)
        frames[depth, 3] = change - 1
        if change == 0:
            depth -= 1
        if next_size > 0:
            depth += 1
            frames[depth, 0], frames[depth, 1], frames[depth, 2] = place + 1, next_row, next_mirror
            frames[depth, 4] = next_size
            frames[depth, 3] = 3 if mismatches > depth else 0
    return count, hits


@always_inline
def search_seed(fm, words, start, length, mismatches, variants, costs, cheaper, frames, intervals):
    """Search a seed.

    Parameters
    ----------
    fm : FmIndex
    words : ndarray of uint64
        Packed queries.
    start : int
        First base of the seed in ``words``.
    length, mismatches, variants, costs
        As `find_fixed_seeds` takes them.
    cheaper : int
        How many variants leave a mismatch to the other bases.
    frames : ndarray of int64, shape (FRAMES, FRAME)
        Scratch memory.
    intervals : ndarray of int64, shape (n, 3)
        Gets rows, half open, and mismatches of the intervals found, as far as there is room.

    Returns
    -------
    count, hits : int
        Intervals, and rows of all of them.
    """
    rest, tried = length - fm.kmer_length, np.int64(len(variants))
    count, hits = np.int64(0), np.int64(0)
    rises = (np.int64(_NEVER), np.int64(_NEVER), np.int64(_NEVER))
    if mismatches > 0:
        rises, row, mirror, size = _rises(fm, words, start, rest)
        if rises[0] != _NEVER:
            tried = cheaper
        elif size < tried - cheaper:
            tried = cheaper
            count, hits = _search_forward(
                fm, words, start + rest, start + length, row, mirror, size, frames, mismatches, intervals,
                count, hits,
            )  # fmt: skip
    rank, least = kmer_rank(words, start + rest, fm.kmer_length), _least(rises, rest)
    for variant in range(tried):
        changed, left = rank ^ variants[variant], mismatches - costs[variant]
        first, last = np.int64(fm.table[changed, 0]), np.int64(fm.table[changed, 1])
        if first < last and left >= least:
            count, hits = _search_backward(
                fm, words, start, rest, first, last, left, rises, frames, mismatches, intervals, count, hits
            )
    return count, hits


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
    found, count = np.empty((1024, SEED_COLUMNS), np.int64), 0
    dropped, dropped_count = np.empty((64, 3), np.int64), 0
    intervals, frames = np.empty((64, 3), np.int64), np.empty((FRAMES, FRAME), np.int64)
    cheaper = np.int64(0)
    while cheaper < len(variants) and variant_costs[cheaper] < mismatches:
        cheaper += 1
    for query in range(len(sources)):
        for offset in range(lengths[query] - length + 1):
            start, q_start = sources[query] + offset, starts[query] + offset
            n, hits = search_seed(
                fm, words, start, length, mismatches, variants, variant_costs, cheaper, frames, intervals
            )
            if hits > hit_limit:
                dropped = with_room(dropped, dropped_count)
                dropped[dropped_count, 0] = queries[query]
                dropped[dropped_count, 1] = q_start
                dropped[dropped_count, 2] = hits
                dropped_count += 1
                continue
            if n > len(intervals):
                intervals = grow_rows(intervals, 2 * n)
                search_seed(
                    fm, words, start, length, mismatches, variants, variant_costs, cheaper, frames, intervals
                )
            for interval in intervals[:n]:
                for row in range(interval[_FIRST], interval[_END]):
                    position = locate(fm, row)
                    found = add_match(fm, found, count, queries[query], q_start, length, position)
                    found[count, 5] = interval[_UNEQUAL]
                    count += 1
    return found[:count], dropped[:dropped_count]
