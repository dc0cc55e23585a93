"""Chained exact matches between a target and a read that is known to overlap it.

**Anchors.** All maximal exact matches of ``k`` bases and more between the intervals of the two, from their
first k-mer on that *counts*: one within ``band`` diagonals of the line from corner to corner of the
intervals, and not *frequent*: with more than `MOST_PLACES` places in the target's interval near the line. (A
match may begin in a long homopolymer run, of which two reads have different lengths, and go on for thousands
of bases.) Tandem arrays are *followed* across differences, copy by copy: of each k-mer with several places
near the line that begins ``gap`` bases behind the match followed, 0 or more, that place is followed next that
is nearest to its diagonal, of equals the first, if it is at most ``1 + gap / TURN`` bases off, rounded down;
and there a frequent k-mer counts, too. The first k-mer with several places, and one behind `AWAY` k-mers
without, follow the *sure* anchor so far that ends last on the read, of equals the latest, or from where it
begins itself the line where there is none; where the band holds all of the target, there is no line. Anchors
``(i, j, length)``, first bases on read and target, ascend by ``i``, then by ``j``. Sure is one so near to the
diagonal of the sure one before, or else of any one that ends last before it, or else longer than those on
which the sure one went on: errors make k-mers of copies that have a single place, on any diagonal.

**Chain.** The score of the best chain that ends at anchor a is, in quarters of a base::

    f(a) = max(4 length(a), max over b of f(b) + 4 min(length(a), di, dj) - 2 |di - dj|)

over the `LOOK_BACK` anchors b before a, and of those before these the last one on each of the diagonals
``j - i`` up to `NEAR` from that of a. Here di, dj > 0 are how far a ends behind b on read and target, a
starts behind b on both, at most ``max_gap`` bases lie between the two on either, and
``|di - dj| <= MAX_SHIFT``. Of equal predecessors the nearest wins, of equal ends the
first.

The long matches of accurate reads follow each other on nearly the same diagonal, but among tandem copies
hundreds of short ones on other diagonals lie between them.
"""

from __future__ import annotations

import numpy as np

from overlapper.kernels.common.inlining import always_inline, inner
from overlapper.kernels.common.vectors import (
    Lanes,
    lanes_above,
    largest,
    load,
    maximum,
    minimum,
    select,
    splat,
)
from overlapper.kernels.consensus.equal_runs import equal_bases
from overlapper.kernels.consensus.kmer_places import (
    MOST_PLACES,
    PASSED,
    bucket_of,
    lone_place,
    next_flagged,
    shift_of_words,
)
from overlapper.runtime.compile.cache import njit

U64 = np.uint64
LOOK_BACK = 50
MAX_SHIFT = 200
NEAR = 8
AWAY = 128
"""Chosen: k-mers without several places, more than errors leave in an array."""
TURN = 8
"""Chosen: reads that err in 14 % of their bases have gained or lost fewer over so many."""
DIAGONALS = 8192
"""Diagonals are told apart modulo this: more than the band of the longest window is wide, and `MAX_SHIFT`
besides, so that no anchor hides one on another diagonal before it is out of reach."""
_I, _J, _LENGTH, _SCORE, _BEFORE, _HIGHEST = range(6)
_COLUMNS = 6
"""Columns of an anchor while chains are found; `_HIGHEST` is the highest score up to it."""
_LANES, _WIDTH = Lanes(16), 16
"""Predecessors that are tried at a time."""
_STEPS = -(-LOOK_BACK // _WIDTH)
_FAR = 1 << 30


@inner
def reach_of(band):
    """Return how many bases two places near the line are at most apart, as it is rounded for each of them."""
    return 2 * band + 2


@njit(nogil=True, cache=True)
def find_anchors(target, read, limits, k, band, index, anchors):
    """Find the anchors of a target and a read.

    Parameters
    ----------
    target, read : ndarray of uint8
        Codes; those above 3 equal nothing.
    limits : tuple of int
        The intervals ``(t_start, t_end, r_start, r_end)``, half open.
    k, band : int
    index : Index
        Of the target, with a ``reach`` of `reach_of` this band or a larger one.
    anchors : ndarray of int32, shape (most, 3)
        Out: the anchors, as many as it holds.

    Returns
    -------
    n : int
        How many there are.
    in_arrays : bool
        Whether a k-mer is frequent.
    """
    heads, following, kmers, unique, later, flags, moved = index
    t_start, t_end, r_start, r_end = limits
    shift = shift_of_words(len(flags))
    places = np.empty(MOST_PLACES, np.int64)
    kmer, known, n = U64(0), np.int64(0), 0
    rise, run = t_end - t_start, max(1, r_end - r_start)
    last, n_moved = r_start - 1, 0
    frequent_from = behind_frequent = np.int64(-AWAY)  # the last k-mers in a row that are frequent
    diagonal = farthest_end = farthest_diagonal = np.int64(0)  # farthest: the match that ends last
    sure_end = sure_diagonal = sure_length = np.int64(0)
    behind_several = np.int64(-AWAY)
    followed_end = followed_diagonal = np.int64(0)
    array_end = array_diagonal = np.int64(0)  # the last match that a frequent k-mer follows
    while True:
        if last + 1 < farthest_end:  # the next k-mer is in the farthest match, and so on the target
            last += 1
            kmer = U64(kmers[last - k + 1 + farthest_diagonal])
        else:
            last, kmer = next_flagged(read, last, r_end, k, kmer, known, flags, shift)
            if last >= r_end:
                break
        known, i = np.int64(k), last - k + 1
        line = t_start + (i - r_start) * rise // run
        first_near, last_near = max(t_start, line - band), min(line + band, t_end - k)
        places[0] = lone_place(kmers, unique, kmer, i + diagonal, first_near, last_near)
        n_places = np.int64(places[0] >= 0)
        if n_places == 0:
            bucket = np.int64(bucket_of(kmer, shift))
            j, passed = np.int64(heads[bucket]), 0
            while j >= 0 and j < first_near:
                j = np.int64(following[j])
                passed += 1
            if passed >= PASSED:
                # The line ascends: places left of the band are not passed again and again.
                moved[n_moved, 0], moved[n_moved, 1] = bucket, heads[bucket]
                heads[bucket] = j
                n_moved += 1
            is_frequent = False
            while 0 <= j <= last_near and not is_frequent:
                if U64(kmers[j]) == kmer:
                    is_frequent = n_places == 0 and later[j] <= last_near
                    places[n_places] = j
                    n_places += 1
                j = np.int64(following[j])
            if n_places > 1 or is_frequent:
                if i - behind_several >= AWAY:
                    followed_end, followed_diagonal = sure_end, sure_diagonal
                    if n == 0:
                        followed_end, followed_diagonal = i if band < len(target) else r_end, line - i
                behind_several = i + 1
                j, gap, follows = places[0], i - followed_end, False
                if gap >= 0:
                    j = _nearest(j, i + followed_diagonal, last_near, kmers, following)
                    follows = abs(j - i - followed_diagonal) <= 1 + gap // TURN
                if follows:
                    left = min(t_end - j, r_end - i) - k
                    followed_end = i + k + equal_bases(target, j + k, read, i + k, left)
                    followed_diagonal = j - i
                if is_frequent:
                    frequent_from = frequent_from if behind_frequent == i else i
                    behind_frequent = i + 1
                    places[0], n_places = j, np.int64(follows)
                    if follows:
                        array_end, array_diagonal = followed_end, followed_diagonal
        in_array = behind_frequent >= i
        first = frequent_from if in_array else i
        for place in range(n_places):
            j = places[place]
            in_match = behind_frequent == i and j - i == array_diagonal and i + k <= array_end
            if in_match or _begins_before(target, read, i, j, r_start, t_start, first):
                # Within a long match, which is then the farthest one, a repeat starts others.
                behind = max(farthest_end - i - k, np.int64(0)) if j - i == farthest_diagonal else np.int64(0)
            elif n == len(anchors):
                _move_back(heads, moved, n_moved)
                return n, behind_frequent >= r_start
            else:
                behind = equal_bases(target, j + k, read, i + k, min(t_end - j, r_end - i) - k)
                anchors[n, 0], anchors[n, 1], anchors[n, 2] = i, j, k + behind
                diagonal = j - i
                end, length = i + k + behind, k + behind
                goes_on = abs(diagonal - sure_diagonal) <= 1 + max(i - sure_end, np.int64(0)) // TURN
                again = abs(diagonal - farthest_diagonal) <= 1 + max(i - farthest_end, np.int64(0)) // TURN
                if end >= sure_end and (goes_on or again or length > sure_length):
                    sure_length = max(length, sure_length) if goes_on else length
                    sure_end, sure_diagonal = end, diagonal
                if end >= farthest_end:
                    farthest_end, farthest_diagonal = end, diagonal
                n += 1
            if n_places == 1 and behind > 0:
                # Within the match, k-mers with a single place near by start no other anchor, if the match
                # stays near the line: other places are then beyond it.
                within = min(np.int64(behind), np.int64(unique[j + 1]))
                line_behind = t_start + (i + within - r_start) * rise // run
                if abs(j + within - line_behind) <= band:
                    last += within
                    kmer = U64(kmers[j + within])
    _move_back(heads, moved, n_moved)
    return n, behind_frequent >= r_start


@inner
def _nearest(j, wanted, last_near, kmers, following):
    """Return that of the places of a k-mer from ``j`` to ``last_near`` that is nearest to the one wanted."""
    kmer, nearest = kmers[j], j
    while 0 <= j <= last_near and j < wanted + abs(nearest - wanted):
        if kmers[j] == kmer and abs(j - wanted) < abs(nearest - wanted):
            nearest = j
        j = np.int64(following[j])
    return nearest


@inner
def _begins_before(target, read, i, j, r_start, t_start, first):
    """Return whether the match at bases ``i`` of the read and ``j`` of the target begins before ``first``."""
    while i > r_start and j > t_start and read[i - 1] == target[j - 1]:
        if i == first:
            return True
        i, j = i - 1, j - 1
    return False


@inner
def _move_back(heads, moved, n_moved):
    """Restore the starts of buckets, in reverse order."""
    for m in range(n_moved - 1, -1, -1):
        heads[moved[m, 0]] = moved[m, 1]


@njit(nogil=True, cache=True)
def new_columns(most):
    """Return memory for chains of up to ``most`` anchors."""
    return np.empty((_COLUMNS, LOOK_BACK + most), np.int32)


@inner
def best_chain(anchors, n, max_gap, columns, latest):
    """Move the anchors of the best chain to the front.

    Parameters
    ----------
    anchors : ndarray of int32, shape (n or more, 3)
    n : int
        1 or more.
    max_gap : int
    columns : ndarray of int32
        Memory (`new_columns`).
    latest : ndarray of int32, shape (DIAGONALS,)
        Memory.

    Returns
    -------
    int
        Anchors in the chain.
    """
    score, before, highest = columns[_SCORE], columns[_BEFORE], columns[_HIGHEST]
    # Anchor a is in column LOOK_BACK + a. Nothing follows what stands before the first one.
    columns[:, :LOOK_BACK] = 0
    columns[_I, :LOOK_BACK] = _FAR
    end = 0
    latest[:] = -1
    for a in range(n):
        best, best_before = 4 * int(anchors[a, 2]), -1
        here = LOOK_BACK + a
        for column in range(3):
            columns[column, here] = anchors[a, column]
        for step in range(_STEPS):
            at = here - min((step + 1) * _WIDTH, LOOK_BACK)
            # No anchor up to the last one of these, whose highest score this is, wins any more.
            if a <= step * _WIDTH or highest[here - step * _WIDTH - 1] + 4 * anchors[a, 2] <= best:
                break
            through = _scores_through(columns, here, at, max_gap)
            highest_through = largest(through)
            if highest_through > best:
                best = highest_through
                last = _WIDTH - 1 - lanes_above(through == splat(_LANES, score, best))
                best_before = at + last - LOOK_BACK
        far = a - 1 - LOOK_BACK
        if far >= 0 and highest[LOOK_BACK + far] + 4 * anchors[a, 2] > best:
            diagonal = anchors[a, 1] - anchors[a, 0]
            for other in range(diagonal - NEAR, diagonal + NEAR + 1):
                b = latest[other & (DIAGONALS - 1)]
                if 0 <= b <= far:
                    through_b = _score_through(anchors, a, b, max_gap, score[LOOK_BACK + b])
                    if through_b > best or (through_b == best and 0 <= best_before < b):
                        best, best_before = through_b, b
        latest[(anchors[a, 1] - anchors[a, 0]) & (DIAGONALS - 1)] = a
        score[here], before[here] = best, best_before
        if best > score[LOOK_BACK + end]:
            end = a
        highest[here] = score[LOOK_BACK + end]
    size, a = 0, end
    while a >= 0:
        size += 1
        a = before[LOOK_BACK + a]
    a = end
    for place in range(size - 1, -1, -1):
        # Anchors of a chain ascend, so that none is overwritten before it is read.
        score[place], a = a, before[LOOK_BACK + a]
    for place in range(size):
        for column in range(3):
            anchors[place, column] = anchors[score[place], column]
    return size


@inner
def _score_through(anchors, a, b, max_gap, score):
    """Return the score of the best chain that ends with anchors b, a; -1 where a cannot follow b."""
    i, j, length = int(anchors[a, 0]), int(anchors[a, 1]), int(anchors[a, 2])
    behind_i, behind_j, shorter = i - anchors[b, 0], j - anchors[b, 1], anchors[b, 2]
    di, dj = behind_i + length - shorter, behind_j + length - shorter
    if min(behind_i, behind_j) <= 0 or min(di, dj) <= 0:
        return -1
    if max(behind_i, behind_j) - shorter > max_gap or abs(di - dj) > MAX_SHIFT:
        return -1
    return score + 4 * min(length, di, dj) - 2 * abs(di - dj)


@always_inline
def _scores_through(columns, here, at, max_gap):
    """Return `_score_through` for `_WIDTH` predecessors, from ``at`` on."""
    i, j, lengths = columns[_I], columns[_J], columns[_LENGTH]
    length, shorter = splat(_LANES, i, int(lengths[here])), load(_LANES, lengths, at)
    behind_i = splat(_LANES, i, int(i[here])) - load(_LANES, i, at)
    behind_j = splat(_LANES, i, int(j[here])) - load(_LANES, j, at)
    longer = length - shorter
    di, dj = behind_i + longer, behind_j + longer
    shift, least = maximum(di - dj, dj - di), minimum(di, dj)
    follows = minimum(minimum(behind_i, behind_j), least) > splat(_LANES, i, 0)
    gap = maximum(behind_i, behind_j) - shorter
    close = (splat(_LANES, i, max_gap) >= gap) & (splat(_LANES, i, MAX_SHIFT) >= shift)
    two, one = splat(_LANES, i, 2), splat(_LANES, i, 1)
    gained = (minimum(length, least) << two) - (shift << one)
    through = load(_LANES, columns[_SCORE], at) + gained
    return select(follows & close, through, splat(_LANES, i, -1))
