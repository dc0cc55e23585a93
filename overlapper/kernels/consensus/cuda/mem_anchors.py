"""Chained exact matches of layers on windows; the twin of ../mem_anchors.py, which defines them.

The k-mers of all windows are listed at once, a thread a base, in buckets whose order is that in which threads
got there; places are sorted where they are found. A thread finds the anchors of a stretch of a layer twice:
to count them, and to write them where there is room for so many.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int32, int64, uint32

from overlapper.kernels.common.cuda.offsets import gather, owner
from overlapper.kernels.common.cuda.scan import exclusive_sums, last_of
from overlapper.kernels.consensus.layer_paths import SPARE_ANCHORS
from overlapper.kernels.consensus.mem_anchors import DIAGONALS, LOOK_BACK, MAX_SHIFT, MOST_PLACES, NEAR
from overlapper.runtime.gpu.launch import launch
from overlapper.runtime.gpu.memory import Arena

_SCATTER = np.uint32(2654435769)
_KNOWN = 4
_FEWEST_BUCKETS = 64
STRETCH = 64
"""First bases of k-mers that a thread looks up."""


class KmerIndex(NamedTuple):
    """Places of the k-mers of windows.

    Attributes
    ----------
    heads : device array of int32
        Some place, on its window, of the k-mers of each bucket; -1 where there is none.
    head_first : device array of int64, shape (windows,)
        First bucket of each window.
    shift : device array of int32, shape (windows,)
        Of a scattered k-mer, to its bucket.
    following : device array of int32
        Of each base, another place of its bucket, or -1.
    k : int
    """

    heads: Any
    head_first: Any
    shift: Any
    following: Any
    k: int


class Anchors(NamedTuple):
    """Anchors of layers; those of layer ``m`` are at ``first[m]`` to ``first[m + 1]``.

    Attributes
    ----------
    first : device array of int64, shape (layers + 1,)
    found : device array of int32, shape (n, 3)
        First base on the layer and on the window, and length.
    score, before : device array of int32, shape (n,)
        Memory.
    """

    first: Any
    found: Any
    score: Any
    before: Any


def bytes_of_index(lengths: np.ndarray) -> np.ndarray:
    """Return the device memory that the index of each window takes, at most."""
    return 20 * lengths + 4 * _FEWEST_BUCKETS


def index_windows(targets: Any, target_first: Any, lengths: np.ndarray, k: int, arena: Arena) -> KmerIndex:
    """List the places of all k-mers of windows.

    Parameters
    ----------
    targets, target_first : device array of uint8, of int64
        Codes of all windows, and where each starts.
    lengths : ndarray of int64
        Of the windows.
    k : int
    arena : Arena
    """
    bits = np.ceil(np.log2(np.maximum(2 * lengths, _FEWEST_BUCKETS))).astype(np.int32)
    sizes = np.int64(1) << bits.astype(np.int64)
    heads = arena.array(int(sizes.sum()), np.int32)
    index = KmerIndex(
        heads, arena.upload(np.cumsum(sizes) - sizes), arena.upload(32 - bits),
        arena.array(len(targets), np.int32), k,
    )  # fmt: skip
    launch(clear, len(heads), arena, heads, -1)
    launch(index_kmers, len(targets), arena, targets, target_first, *index)
    return index


@cuda.jit
def clear(values, value):
    """Set all items of an array."""
    x = cuda.grid(1)
    if x < len(values):
        values[x] = value


@cuda.jit
def index_kmers(targets, target_first, heads, head_first, shift, following, k):
    """Put every k-mer into its bucket; a thread a base."""
    x = cuda.grid(1)
    if x >= target_first[len(target_first) - 1]:
        return
    window = owner(target_first, x)
    if x + k > target_first[window + 1]:
        return
    kmer = uint32(0)
    for y in range(x, x + k):
        if targets[y] >= _KNOWN:
            return
        kmer = uint32(uint32(kmer << uint32(2)) | uint32(targets[y]))
    bucket = head_first[window] + int64(uint32(kmer * _SCATTER) >> uint32(shift[window]))
    following[x] = cuda.atomic.exch(heads, bucket, int32(x - target_first[window]))


def find_chains(
    targets: Any,
    target_first: Any,
    layers: Any,
    index: KmerIndex,
    limits: tuple[int, int, int],
    arena: Arena,
) -> tuple[Anchors, Any]:
    """Find the best chain of anchors of every layer.

    Parameters
    ----------
    targets, target_first
        As for `index_windows`.
    layers : Layers
    index : KmerIndex
    limits : tuple of int
        Diagonals by which anchors may lie off the line, the share of a layer's bases that comes on top, and
        bases between anchors of a chain.
    arena : Arena

    Returns
    -------
    anchors : Anchors
        Those of the chain lead a layer's anchors.
    sizes : device array of int32
        Anchors of each chain; 0 where there is none.
    """
    band, share, max_gap = limits
    n = len(layers.window)
    sizes = arena.array(n, np.int32)
    launch(count_stretches, n, arena, layers.t_start, layers.first, sizes)
    stretch_first = exclusive_sums(sizes, arena)
    stretches = last_of(stretch_first, arena)
    counts = arena.zeros(stretches, np.int32)
    nowhere = arena.zeros(1, np.int64), arena.array((1, 3), np.int32)
    of_layers = (layers.window, layers.t_start, layers.t_end, layers.bases, layers.first)
    arguments = (targets, target_first, *of_layers, *index, band, share, stretch_first)
    launch(find_anchors, stretches, arena, *arguments, False, *nowhere, counts)
    found_first = exclusive_sums(counts, arena)
    total = last_of(found_first, arena)
    anchors = Anchors(
        arena.array(n + 1, np.int64),
        arena.array((total + 1, 3), np.int32),
        arena.array(total, np.int32),
        arena.array(total, np.int32),
    )
    launch(gather, n + 1, arena, found_first, stretch_first, anchors.first)
    launch(find_anchors, stretches, arena, *arguments, True, found_first, anchors.found, counts)
    latest = arena.zeros(n * DIAGONALS, np.int32)
    launch(best_chains, n, arena, *anchors, layers.window, target_first, max_gap, latest, sizes)
    return anchors, sizes


@cuda.jit
def count_stretches(t_start, first, sizes):
    """Count the stretches of every layer, none of targets; a thread a layer."""
    m = cuda.grid(1)
    if m < len(sizes):
        sizes[m] = 0 if t_start[m] < 0 else (first[m + 1] - first[m] + STRETCH - 1) // STRETCH


@cuda.jit
def find_anchors(
    targets, target_first, window, t_start, t_end, bases, first,
    heads, head_first, shift, following, k, band, share, stretch_first, write, found_first, found, counts,
):  # fmt: skip
    """Count the anchors of every stretch of layers, or write them; a thread a stretch.

    Parameters
    ----------
    targets, target_first
        As for `index_windows`.
    window, t_start, t_end, bases, first
        As in `Layers`.
    heads, head_first, shift, following, k
        As in `KmerIndex`.
    band, share : int
        As for `find_chains`.
    stretch_first : device array of int64, shape (layers + 1,)
        First stretch of each layer: its k-mers that start at the first `STRETCH` bases, at the next ones ...
    write : bool
        Whether to write to ``found``, as in `Anchors`.
    found_first : device array of int64
        Where the anchors of each stretch go.
    found
    counts : device array of int32
        Gets how many there are.
    """
    stretch = cuda.grid(1)
    if stretch >= stretch_first[len(window)]:
        return
    m = owner(stretch_first, stretch)
    p, low, high = window[m], t_start[m], t_end[m]
    target, read = target_first[p], first[m]
    length = first[m + 1] - read
    width = band + length // share
    places = cuda.local.array(MOST_PLACES, int32)
    mask = uint32((int64(1) << int64(2 * k)) - int64(1))
    kmer, known, n = uint32(0), int64(0), int64(0)
    frequent = -1  # whether the k-mer before is: 1, 0, or not known yet
    rise, run = int64(high - low), max(int64(1), length)
    begin = (stretch - stretch_first[m]) * STRETCH
    for last in range(begin, min(begin + STRETCH + k - 1, length)):
        base = bases[read + last]
        known = known + 1 if base < _KNOWN else int64(0)
        kmer = uint32(uint32(uint32(kmer << uint32(2)) | uint32(base & 3)) & mask)
        if known < k:
            continue
        i = last - k + 1
        frequent_before, frequent = frequent, 0
        line = low + i * rise // run
        n_places = int64(0)
        j = int64(heads[head_first[p] + int64(uint32(kmer * _SCATTER) >> uint32(shift[p]))])
        while j >= 0:
            if abs(j - line) <= width and j >= low and j + k <= high:
                if _equal(targets, target + j, bases, read + i, k):
                    if n_places < MOST_PLACES:
                        _insert(places, n_places, j)
                    n_places += 1
            j = int64(following[target + j])
        if n_places > MOST_PLACES:
            frequent = 1
            continue
        for place in range(n_places):
            j = int64(places[place])
            if _begins_before(
                targets, target, bases, read, i, j, low, high, width, rise, run, k,
                heads, head_first[p], shift[p], following, frequent_before,
            ):  # fmt: skip
                continue
            if write:
                size = int64(k)
                while (
                    i + size < length
                    and j + size < high
                    and bases[read + i + size] == targets[target + j + size]
                ):
                    size += 1
                at = found_first[stretch] + n
                found[at, 0], found[at, 1], found[at, 2] = i, j, size
            n += 1
    counts[stretch] = n


@cuda.jit(device=True)
def _begins_before(
    targets, target, bases, read, i, j, low, high, width, rise, run, k, heads, head_first, shift, following,
    frequent_before,
):  # fmt: skip
    """Return whether a match has a k-mer before the one at base ``i``, and this one is not frequent.

    Whether the k-mer right before is frequent may be known; -1 if not.
    """
    x = int64(0)
    while i > x and j > low + x and bases[read + i - x - 1] == targets[target + j - x - 1]:
        x += 1
        frequent = frequent_before
        if x > 1 or frequent < 0:
            line = low + (i - x) * rise // run
            frequent = _is_frequent(
                targets, target, bases, read, i - x, line, low, high, width, k, heads, head_first, shift,
                following,
            )  # fmt: skip
        if not frequent:
            return True
    return False


@cuda.jit(device=True)
def _is_frequent(
    targets, target, bases, read, i, line, low, high, width, k, heads, head_first, shift, following
):  # fmt: skip
    """Return 1 if a k-mer, of known bases, has more than `MOST_PLACES` places near the line, else 0."""
    kmer = uint32(0)
    for x in range(i, i + k):
        kmer = uint32(uint32(kmer << uint32(2)) | uint32(bases[read + x] & 3))
    n_places = 0
    j = int64(heads[head_first + int64(uint32(kmer * _SCATTER) >> uint32(shift))])
    while j >= 0 and n_places <= MOST_PLACES:
        if abs(j - line) <= width and j >= low and j + k <= high:
            n_places += _equal(targets, target + j, bases, read + i, k)
        j = int64(following[target + j])
    return 1 if n_places > MOST_PLACES else 0


@cuda.jit(device=True)
def _equal(targets, j, bases, i, k):
    for x in range(k):
        if targets[j + x] != bases[i + x]:
            return False
    return True


@cuda.jit(device=True)
def _insert(places, n, j):
    """Put a place among the ``n`` that are there, ascending."""
    x = int64(n)
    while x > 0 and places[x - 1] > j:
        places[x] = places[x - 1]
        x -= 1
    places[x] = j


@cuda.jit
def best_chains(anchor_first, found, score, before, window, target_first, max_gap, latest, sizes):
    """Move the anchors of every layer's best chain to its front; a thread a layer.

    Parameters
    ----------
    anchor_first, found, score, before
        As in `Anchors`.
    window, target_first
        Of the layers, and as for `index_windows`: they limit the anchors that count.
    max_gap : int
    latest : device array of int32, shape (layers * DIAGONALS,)
        Zeros, for the last anchor on each diagonal, and one more.
    sizes : device array of int32
        Gets the anchors of each chain.
    """
    m = cuda.grid(1)
    if m >= len(sizes):
        return
    p, first = window[m], anchor_first[m]
    n = min(anchor_first[m + 1] - first, target_first[p + 1] - target_first[p] + SPARE_ANCHORS)
    end = int64(0)
    for a in range(n):
        best, best_before = 4 * int64(found[first + a, 2]), int64(-1)
        for back in range(1, min(int64(LOOK_BACK), a) + 1):
            through_b = _score_through(found, score, first + a, first + a - back, max_gap)
            if through_b > best:
                best, best_before = through_b, a - back
        diagonal = int64(found[first + a, 1]) - int64(found[first + a, 0])
        for other in range(diagonal - NEAR, diagonal + NEAR + 1):
            b = int64(latest[m * DIAGONALS + (other & (DIAGONALS - 1))]) - 1
            if b >= 0 and b < a - LOOK_BACK:
                through_b = _score_through(found, score, first + a, first + b, max_gap)
                if through_b > best or (through_b == best and best_before >= 0 and best_before < b):
                    best, best_before = through_b, b
        latest[m * DIAGONALS + (diagonal & (DIAGONALS - 1))] = a + 1
        score[first + a], before[first + a] = best, best_before
        if best > score[first + end]:
            end = a
    size, a = int64(0), end if n > 0 else int64(-1)
    while a >= 0:
        size += 1
        a = int64(before[first + a])
    a = end
    for place in range(size - 1, -1, -1):
        # Anchors of a chain ascend, so that none is overwritten before it is read.
        following = int64(before[first + a])
        score[first + place], a = a, following
    for place in range(size):
        for column in range(3):
            found[first + place, column] = found[first + score[first + place], column]
    sizes[m] = size


@cuda.jit(device=True)
def _score_through(found, score, a, b, max_gap):
    """Return the score of the best chain that ends at anchor a behind b; -1 where a does not follow b."""
    length, shorter = int64(found[a, 2]), int64(found[b, 2])
    behind_i = int64(found[a, 0]) - int64(found[b, 0])
    behind_j = int64(found[a, 1]) - int64(found[b, 1])
    di, dj = behind_i + length - shorter, behind_j + length - shorter
    if min(behind_i, behind_j) <= 0 or min(di, dj) <= 0:
        return int64(-1)
    if max(behind_i, behind_j) - shorter > max_gap or abs(di - dj) > MAX_SHIFT:
        return int64(-1)
    return int64(score[b]) + 4 * min(length, min(di, dj)) - 2 * abs(di - dj)
