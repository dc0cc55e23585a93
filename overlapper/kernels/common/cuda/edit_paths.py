"""Shortest edit paths between short sequences; the twin of ../edit_paths.py, which defines them.

A thread fills the matrix of one pair, 64 rows at a time, and traces its path. Pairs wait in lists by the
memory that they need. The words of the 32 threads of a warp lie side by side, so that threads that are at
the same column write to the same lines of memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int32, int64, uint64

from overlapper.kernels.common.edit_paths import CODES, TARGET_UNKNOWN, plain_path
from overlapper.kernels.common.myers import next_column
from overlapper.runtime.gpu.launch import kernel_of
from overlapper.runtime.gpu.memory import Arena

PAIR = 5
"""Integers of a pair: its layer; its interval of the target, and of the layer's bases."""
SIZES = ((64, 129), (704, 5632), (2048, 65_600))
"""Of each list: most rows of a pair's matrix, and most words of the rows' costs, of all columns together."""
MOST_THREADS = (1 << 17, 1 << 15, 1 << 11)
"""Threads that work on each list; more would not make it faster."""
WARP = 32
"""Threads of a block: the fewest, so that little memory is enough to start."""
_ONE = np.uint64(1)
_NONE = np.uint64(0)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_TOP = np.uint64(63)


class Pairs(NamedTuple):
    """Pairs of sequences that wait for their paths, in lists as `SIZES` has them.

    Attributes
    ----------
    small, medium, large : device array of int32, shape (most, PAIR)
    counts : device array of int32, shape (3,)
        Pairs in each list.
    """

    small: Any
    medium: Any
    large: Any
    counts: Any

    @classmethod
    def room_for(cls, pairs: int, bases: int, arena: Arena) -> Pairs:
        """Cut empty lists for ``pairs`` pairs, of ``bases`` bases of both sequences in all."""
        # Who is in the two others has more than 64 bases on one side.
        longer = min(pairs, bases // 64) + 1
        lists = [arena.array((most, PAIR), np.int32) for most in (pairs + 1, longer, longer)]
        return cls(*lists, arena.zeros(3, np.int32))


class Scratch(NamedTuple):
    """Memory of the threads that work on a list; word ``x`` of thread ``t`` is at ``x * threads + t``.

    Attributes
    ----------
    rows : device array of uint64
        Which rows hold each code, a bit a row.
    up, down : device array of uint64
        Of every column, the rows whose cost lies above that of the row before, and below it.
    threads : int
    """

    rows: Any
    up: Any
    down: Any
    threads: int

    @classmethod
    def for_list(cls, number: int, pairs: int, arena: Arena) -> Scratch:
        """Cut memory for as many threads as a list of ``pairs`` pairs can use, or as fit the arena."""
        rows, words = SIZES[number]
        codes = (rows + 63 >> 6) * CODES
        threads = min(MOST_THREADS[number], pairs, arena.free // (8 * (codes + 2 * words)))
        threads = WARP * max(1, threads // WARP)
        return cls(*(arena.array(size * threads, np.uint64) for size in (codes, words, words)), threads)

    @property
    def grid(self) -> tuple[int, int]:
        """Blocks and threads of a launch, perhaps more than there is memory for."""
        return self.threads // WARP, WARP


@cuda.jit(device=True)
def add_pair(small, medium, large, counts, layer, t_start, t_end, r_start, r_end, starts, at):
    """Write the path of two intervals where it is plain, else put the pair on its list.

    Parameters
    ----------
    small, medium, large, counts
        As in `Pairs`.
    layer : int
    t_start, t_end, r_start, r_end : int64
        Half open.
    starts : device array of int32
    at : int64
        Row ``i`` of the layer's path is ``starts[at + i]``.
    """
    m, n = t_end - t_start, r_end - r_start
    if plain_path(m, n, starts, at + t_start, r_start):
        return
    words = (m + 63) >> 6
    if m <= SIZES[0][0] and n + 1 <= SIZES[0][1]:
        _put(small, cuda.atomic.add(counts, 0, 1), layer, t_start, t_end, r_start, r_end)
    elif m <= SIZES[1][0] and (n + 1) * words <= SIZES[1][1]:
        _put(medium, cuda.atomic.add(counts, 1, 1), layer, t_start, t_end, r_start, r_end)
    else:
        _put(large, cuda.atomic.add(counts, 2, 1), layer, t_start, t_end, r_start, r_end)


@cuda.jit(device=True)
def _put(pairs, place, layer, t_start, t_end, r_start, r_end):
    pairs[place, 0] = layer
    pairs[place, 1], pairs[place, 2] = t_start, t_end
    pairs[place, 3], pairs[place, 4] = r_start, r_end


@cuda.jit(device=True)
def fill(target, t_at, read, r_at, step, m, n, rows, up, down, thread, threads):
    """Fill the matrix; return the first column whose last row is lowest.

    Parameters
    ----------
    target, read : device array of uint8
        Codes.
    t_at, r_at : int64
        Their first bases.
    step : int64
        1, or -1 for both sequences reversed.
    m, n : int64
        Bases of each, 1 or more.
    rows, up, down, threads
        As in `Scratch`.
    thread : int64
    """
    words = (m + 63) >> 6
    for x in range(words * CODES):
        rows[x * threads + thread] = _NONE
    for i in range(m):
        x = ((i >> 6) * CODES + target[t_at + step * i]) * threads + thread
        rows[x] = uint64(rows[x] | uint64(_ONE << uint64(i & 63)))
    for w in range(words):
        rows[(w * CODES + TARGET_UNKNOWN) * threads + thread] = _NONE
    if words == 1:
        return _fill_word(read, r_at, step, m, n, rows, up, down, thread, threads)
    return _fill_words(read, r_at, step, m, n, words, rows, up, down, thread, threads)


@cuda.jit(device=True)
def _fill_word(read, r_at, step, m, n, rows, up, down, thread, threads):
    last = uint64(m - 1)
    above, below = _ALL, _NONE
    up[thread], down[thread] = above, below
    cost, lowest, best = int64(m), int64(m), int64(0)
    for j in range(n):
        equal = rows[read[r_at + step * j] * threads + thread]
        above, below, rises, falls = next_column(equal, above, below, _ONE, _NONE)
        cost += int64((rises >> last) & _ONE) - int64((falls >> last) & _ONE)
        up[(j + 1) * threads + thread], down[(j + 1) * threads + thread] = above, below
        if cost < lowest:
            lowest, best = cost, int64(j + 1)
    return best


@cuda.jit(device=True)
def _fill_words(read, r_at, step, m, n, words, rows, up, down, thread, threads):
    last = uint64((m - 1) & 63)
    for w in range(words):
        up[w * threads + thread], down[w * threads + thread] = _ALL, _NONE
    cost, lowest, best = int64(m), int64(m), int64(0)
    for j in range(n):
        code = int64(read[r_at + step * j])
        rises_in, falls_in = _ONE, _NONE
        rises, falls = _ONE, _NONE
        for w in range(words):
            before = (j * words + w) * threads + thread
            equal = rows[(w * CODES + code) * threads + thread]
            above, below, rises, falls = next_column(equal, up[before], down[before], rises_in, falls_in)
            rises_in, falls_in = uint64(rises >> _TOP), uint64(falls >> _TOP)
            here = before + words * threads
            up[here], down[here] = above, below
        cost += int64((rises >> last) & _ONE) - int64((falls >> last) & _ONE)
        if cost < lowest:
            lowest, best = cost, int64(j + 1)
    return best


@cuda.jit(device=True)
def trace(m, n, up, down, thread, threads, starts, at, offset):
    """Trace from the last cell to row 0; what is left of the read then belongs to the base before."""
    words = (m + 63) >> 6
    i, j = m - 1, n
    while i >= 0:
        if j == 0:
            for row in range(i + 1):
                starts[at + row] = offset
            return
        place = (j * words + (i >> 6)) * threads + thread
        bit = uint64(i & 63)
        if (up[place] >> bit) & _ONE:
            starts[at + i] = offset + j
            i -= 1
        else:
            j -= 1
            place -= words * threads
            if not (down[place] >> bit) & _ONE:
                starts[at + i] = offset + j
                i -= 1


@cuda.jit
def align_pairs(
    pairs, counts, number, targets, target_first, window, bases, first, at, rows, up, down, threads, starts
):
    """Write the paths of all pairs of a list; a thread a pair, in turn.

    Parameters
    ----------
    pairs, counts
        A list and their counts, as in `Pairs`.
    number : int
        Of the list.
    targets, target_first : device array of uint8, of int64
        Codes of the targets of all windows, and where each starts.
    window : device array of int32
        Of each layer.
    bases, first : device array of uint8, of int64
        Codes of all layers, and where each starts.
    at : device array of int64
        Row ``i`` of a layer's path is ``starts[at + i]``.
    rows, up, down, threads
        As in `Scratch`.
    starts : device array of int32
    """
    thread = cuda.grid(1)
    if thread >= threads:
        return
    for pair in range(thread, counts[number], threads):
        layer = pairs[pair, 0]
        t_start, r_start = int64(pairs[pair, 1]), int64(pairs[pair, 3])
        m, n = pairs[pair, 2] - t_start, pairs[pair, 4] - r_start
        t_at, r_at = target_first[window[layer]] + t_start, first[layer] + r_start
        fill(targets, t_at, bases, r_at, int64(1), m, n, rows, up, down, thread, threads)
        trace(m, n, up, down, thread, threads, starts, at[layer] + t_start, int32(r_start))


def align_all(pairs: Pairs, targets: Any, target_first: Any, layers: Any, starts: Any, arena: Arena) -> None:
    """Write the paths of all pairs.

    Parameters
    ----------
    pairs : Pairs
    targets, target_first
        As for `align_pairs`.
    layers : Layers
    starts : device array of int32
    arena : Arena
    """
    mark = arena.mark()
    for number, count in enumerate(arena.download(pairs.counts)):
        if count:
            scratch = Scratch.for_list(number, int(count), arena)
            kernel_of(align_pairs).launch(
                *scratch.grid, arena.stream,
                pairs[number], pairs.counts, number, targets, target_first, layers.window,
                layers.bases, layers.first, layers.at, *scratch, starts,
            )  # fmt: skip
            arena.release(mark)
