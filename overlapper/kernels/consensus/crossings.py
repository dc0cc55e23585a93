"""How reads cross targets, whatever the targets lack or have too much.

CPU only. What is made of it is in ``docs/algorithms/correction.md``, section 8.

The chain of a read goes on across any gap: a gap costs half of the bases by which its two sides differ, or
`JUMP` bases and an eighth of them (rounded down) if that is less. Its score is, in quarters of a base::

    f(a) = max(4 length(a), max over b of f(b) + 4 min(length(a), di, dj) - min(2 s, 4 JUMP + s / 2))

over the `LOOK_BACK` anchors b before a, and of all before a that with the highest score (the first of equal
ones) of those that begin in each `BUCKET` bases of the target. Here di, dj > 0 are how far a ends behind b on
read and target, s is their difference; a starts behind b on both. Of equal predecessors the nearest of the
`LOOK_BACK` wins, then the one farthest to the right, of equal ends the first.

Anchors are those of `kernels.consensus.mem_anchors`, without a band. Of a read with a frequent k-mer they are
found once more from its last base to the first: where it begins in a tandem array, copies are told from what
is behind alone. They begin at all places where one of either begins, and go on as far as bases are equal. In
the order of the chain an anchor gives up the first bases that overlap the one before; one that has none left
is dropped.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.edit_paths import READ_UNKNOWN, edit_distance, edit_path, new_matrix
from overlapper.kernels.common.growth import grow_rows
from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.oriented import unpack_bases
from overlapper.kernels.common.sorting import sort_few
from overlapper.kernels.consensus import kmer_places, mem_anchors
from overlapper.kernels.consensus.equal_runs import equal_bases
from overlapper.kernels.consensus.layers import unpack_window
from overlapper.runtime.compile.cache import njit

JUMP, LOOK_BACK, BUCKET = 60, 24, 4096
LONGEST = 2048
"""Bases of the longest gap whose edits are counted; a longer one has as many as its longer side has bases."""
_WORD = 64
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
T_START, R_START, LENGTH, EDITS = range(4)
COLUMNS = 4
"""An anchor of a chain: its first base on the target and on the read, turned to the strand that matches, its
length, and the edits of the gap before it (0 before the first)."""


@njit(nogil=True, cache=True)
def cross(targets, reads, windows, rows, k):
    """Chain reads to the windows that they are on.

    Parameters
    ----------
    targets, reads : Sequences
    windows : Windows
    rows : Rows
        Of these only the interval of the read and its strand count.
    k : int
        Bases of the shortest anchor.

    Returns
    -------
    first : ndarray of int64, shape (rows + 1,)
        Where the anchors of each row start.
    anchors : ndarray of int32, shape (n, COLUMNS)
        Bases of a reverse read count from the end of its interval.
    """
    longest = widest = np.int64(0)
    for p in range(len(windows.target)):
        longest = max(longest, windows.end[p] - windows.start[p])
    for row in range(len(rows.read)):
        widest = max(widest, np.int64(rows.r_end[row] - rows.r_start[row]))
    index, back, matrix = kmer_places.new_index(longest), kmer_places.new_index(longest), new_matrix(LONGEST)
    found, path = np.empty((2 * (longest + widest), 3), np.int32), np.empty(LONGEST + 1, np.int32)
    once, places = found[: len(found) // 2], np.empty(len(found), np.uint64)
    score, before = np.empty(len(found), np.int64), np.empty(len(found), np.int32)
    room, highest = np.empty(widest, np.uint8), np.empty((longest // BUCKET + 1, 2), np.int64)
    first, n = np.zeros(len(rows.read) + 1, np.int64), np.int64(0)
    anchors = np.empty((len(found), COLUMNS), np.int32)
    for p in range(len(windows.target)):
        target = unpack_window(targets, windows, p)
        size = len(target)
        kmer_places.index_kmers(target, size, k, mem_anchors.reach_of(size), index)
        turned = target[:0]
        for row in range(windows.first[p], windows.first[p + 1]):
            start, end = np.int64(rows.r_start[row]), np.int64(rows.r_end[row])
            read = room[: end - start]
            unpack_bases(reads, rows.read[row], start, end, rows.reverse[row], READ_UNKNOWN, read)
            limits = np.int64(0), np.int64(size), np.int64(0), np.int64(len(read))
            m, in_arrays = mem_anchors.find_anchors(target, read, limits, k, np.int64(size), index, once)
            if in_arrays:
                if not len(turned):
                    turned = target[::-1].copy()
                    kmer_places.index_kmers(turned, size, k, mem_anchors.reach_of(size), back)
                n_places = _add_places(once, m, places, 0, False, size, len(read))
                m, _ = mem_anchors.find_anchors(
                    turned, read[::-1].copy(), limits, k, np.int64(size), back, once
                )
                n_places = _add_places(once, m, places, n_places, True, size, len(read))
                m = _anchors_at(target, read, places[:n_places], found)
            m = _best_chain(found, m, score, before, highest)
            if n + m > len(anchors):
                anchors = grow_rows(anchors, 2 * (n + m))
            n = _write(target, read, found[:m], matrix, path, anchors, n)
            first[row + 1] = n
    return first, anchors[:n]


@inner
def _add_places(anchors, n, places, n_places, is_turned, size, length):
    """Append where anchors begin, of read and target or of both from their last base on; return how many."""
    for a in range(n):
        i, j = np.int64(anchors[a, 0]), np.int64(anchors[a, 1])
        if is_turned:
            i, j = length - i - anchors[a, 2], size - j - anchors[a, 2]
        places[n_places] = np.uint64(i) << _HALF | np.uint64(j)
        n_places += 1
    return n_places


@inner
def _anchors_at(target, read, places, anchors):
    """Write the anchors that begin at places, in order and each once; return their number."""
    sort_few(places)
    n = np.int64(0)
    for x in range(len(places)):
        if x and places[x] == places[x - 1]:
            continue
        i, j = np.int64(places[x] >> _HALF), np.int64(places[x] & _LOW)
        anchors[n, 0], anchors[n, 1] = i, j
        anchors[n, 2] = equal_bases(target, j, read, i, min(len(target) - j, len(read) - i))
        n += 1
    return n


@inner
def _best_chain(anchors, n, score, before, highest):
    """Move the anchors of the best chain to the front; return their number."""
    end = 0
    highest[:] = 0
    for a in range(n):
        whole = 4 * np.int64(anchors[a, 2])
        best, best_before = whole, np.int64(-1)
        for b in range(a - 1, max(a - LOOK_BACK, 0) - 1, -1):
            if score[b] + whole > best:
                through = _through(anchors, a, b, score)
                if through > best:
                    best, best_before = through, np.int64(b)
        bucket = anchors[a, 1] // BUCKET
        for behind in range(bucket, -1, -1):
            if highest[behind, 0] + whole > best:
                b = highest[behind, 1]
                through = _through(anchors, a, b, score)
                if through > best:
                    best, best_before = through, b
        score[a], before[a] = best, best_before
        if best > highest[bucket, 0]:
            highest[bucket, 0], highest[bucket, 1] = best, a
        if best > score[end]:
            end = a
    size, a = 0, end if n else -1
    while a >= 0:
        score[size] = a
        size += 1
        a = int(before[a])
    for place in range(size // 2):
        score[place], score[size - 1 - place] = score[size - 1 - place], score[place]
    for place in range(size):
        for column in range(3):
            anchors[place, column] = anchors[score[place], column]
    return size


@inner
def _through(anchors, a, b, score):
    """Return the score of the best chain that ends with anchors b, a; -1 where a cannot follow b."""
    di, dj = np.int64(anchors[a, 0] - anchors[b, 0]), np.int64(anchors[a, 1] - anchors[b, 1])
    longer = np.int64(anchors[a, 2] - anchors[b, 2])
    near = min(np.int64(anchors[a, 2]), di + longer, dj + longer)
    if min(di, dj) <= 0 or near <= 0:
        return np.int64(-1)
    return score[b] + 4 * near - min(2 * abs(di - dj), 4 * JUMP + abs(di - dj) // 2)


@inner
def _write(target, read, chain, matrix, path, anchors, n):
    """Append the anchors of a chain with the edits before each; return the new number of anchors."""
    i = j = np.int64(0)
    for a in range(len(chain)):
        next_i, next_j, length = np.int64(chain[a, 0]), np.int64(chain[a, 1]), np.int64(chain[a, 2])
        edits = np.int64(0)
        if a > 0:
            overlap = max(np.int64(0), i - next_i, j - next_j)
            if overlap >= length:
                continue
            next_i, next_j, length = next_i + overlap, next_j + overlap, length - overlap
            edits = _edits(target, j, next_j, read, i, next_i, matrix, path)
        anchors[n, T_START], anchors[n, R_START] = next_j, next_i
        anchors[n, LENGTH], anchors[n, EDITS] = length, edits
        i, j, n = next_i + length, next_j + length, n + 1
    return n


@inner
def _edits(target, t_start, t_end, read, r_start, r_end, matrix, path):
    """Return the edit distance of two stretches, or the bases of the longer one if that is over `LONGEST`."""
    m, n = t_end - t_start, r_end - r_start
    if min(m, n) == 0 or max(m, n) > LONGEST:
        return max(m, n)
    if m <= _WORD:
        return edit_distance(target[t_start:t_end], m, read, r_start, r_end, matrix)
    edit_path(target, t_start, t_end, read, r_start, r_end, matrix, path, -t_start)
    path[m] = r_end
    edits = np.int64(path[0] - r_start)
    for c in range(m):
        bases = path[c + 1] - path[c]
        paired = bases > 0 and read[path[c]] == target[t_start + c]
        edits += max(bases, 1) - paired
    return edits
