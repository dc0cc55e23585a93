"""Colinear chaining of the seeds of candidates; ``docs/algorithms/chaining.md`` is the definition.

GPU twin: cuda/chain.py.
"""

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.inlining import inner
from overlapper.kernels.seeds.seed_marks import fetch_marks, marked_between
from overlapper.runtime.compile.cache import njit
from overlapper.tables.reads import BASES_PER_WORD

CANDIDATE, SEEDS, COVERED, SCORE = range(4)
FIRST_X, FIRST_Y, LAST_X, LAST_Y = range(4, 8)
LEFT_MISSING, RIGHT_MISSING, AGREEMENT = range(8, 11)
COLUMNS = 11
"""Integers of a chain: its candidate, seeds, covered bases of the read that has fewer, and score; first base
of its first and last anchor on the query and on the target, the latter on the query's strand; seeds missing
between either end and the nearer read end; agreement in thousandths."""
KEPT, FEW, DISAGREES = range(3)
"""Verdicts on a chain: kept; dropped for few seeds or a low score; dropped for its agreement."""
AHEAD = 4
"""How many candidates ahead the seeds of targets are prefetched, which are hardly ever in the cache."""


class SeededReads(NamedTuple):
    """What chains need of the reads: lengths and starts of their words, and columns of `Seeding`."""

    lengths: np.ndarray
    """`lengths`, `word_offsets`: int64."""
    sketched: np.ndarray
    """`sketched`, `marks`, `ranks`, `starts`: its minimizers, its seeds, a bit a base, and counts of
    seeds."""
    marks: np.ndarray
    word_offsets: np.ndarray
    ranks: np.ndarray
    starts: np.ndarray


class Chaining(NamedTuple):
    """How seeds are chained; see `overlapper.params.stages.ChainParams`."""

    look_back: int
    max_gap: int
    gap_cost: int
    distance_cost: int


class Asked(NamedTuple):
    """What is asked of a chain; see `overlapper.params.stages.ChainParams`."""

    min_seeds: int
    min_score: int
    min_agreement: int
    typical_agreement: int
    typical_shares: int
    chance_share: int
    reach: int
    sure_seeds: int
    sure_score: int
    give_up: int


@njit(nogil=True, cache=True)
def chain_candidates(
    query, target, reverse, hit_offsets, hit_query_pos, hit_target_pos, reads, k, chaining, asked
):
    """Chain the seeds of every candidate and keep the chains that are good enough.

    Parameters
    ----------
    query, target, reverse, hit_offsets, hit_query_pos, hit_target_pos
        Columns of the candidate table.
    reads : SeededReads
    k : int
        Seed length.
    chaining : Chaining
    asked : Asked

    Returns
    -------
    rows : ndarray of int32, shape (kept, COLUMNS)
        By candidate; see `COLUMNS`.
    n_few, n_disagree : int
        Chains dropped for their seeds or score, and for their agreement.
    """
    rows = np.empty((len(query), COLUMNS), np.int32)
    n_rows, n_few, n_disagree = 0, 0, 0
    longest = 0
    for i in range(len(query)):
        longest = max(longest, hit_offsets[i + 1] - hit_offsets[i])
    x, y = np.empty(longest, np.int32), np.empty(longest, np.int32)
    score, before = np.empty(longest, np.int32), np.empty(longest, np.int32)
    highest = np.empty(longest, np.int32)
    for i in range(len(query)):
        if i + AHEAD < len(query):
            later, first, last = target[i + AHEAD], hit_offsets[i + AHEAD], hit_offsets[i + AHEAD + 1] - 1
            first_base = reads.word_offsets[later] * BASES_PER_WORD
            fetch_marks(reads.marks, reads.ranks, first_base + hit_target_pos[first])
            fetch_marks(reads.marks, reads.ranks, first_base + hit_target_pos[last])
        hits = slice(hit_offsets[i], hit_offsets[i + 1])
        verdict = chain_candidate(
            query[i], target[i], reverse[i], hit_query_pos[hits], hit_target_pos[hits], reads, k, chaining,
            asked, x, y, score, before, highest, rows[n_rows],
        )  # fmt: skip
        rows[n_rows, CANDIDATE] = i
        n_rows += verdict == KEPT
        n_few += verdict == FEW
        n_disagree += verdict == DISAGREES
    return rows[:n_rows], n_few, n_disagree


@inner
def chain_candidate(
    query, target, reverse, hit_query_pos, hit_target_pos, reads, k, chaining, asked,
    x, y, score, before, highest, row,
):  # fmt: skip
    """Chain the seeds of a candidate; return the verdict on its best chain.

    Parameters
    ----------
    query, target, reverse
        Reads and strand of the candidate.
    hit_query_pos, hit_target_pos : ndarray of int32, shape (n,)
        Its seeds.
    x, y, score, before, highest : ndarray of int32
        Scratch memory for n values or more.
    row : ndarray of int32, shape (COLUMNS,)
        Out: the chain, but for `CANDIDATE`; arbitrary unless it is kept.

    The others are those of `chain_candidates`.
    """
    n = len(hit_query_pos)
    _anchors(hit_query_pos, hit_target_pos, reverse, reads.lengths[target] - k, x, y)
    end = _chain_scores(x, y, n, k, chaining, score, before, highest)
    start, seeds, runs, covered = trace(x, y, end, before, k)
    row[SEEDS], row[COVERED], row[SCORE] = seeds, covered, score[end] >> 8
    row[FIRST_X], row[FIRST_Y], row[LAST_X], row[LAST_Y] = x[start], y[start], x[end], y[end]
    return judge(query, target, reverse, runs, reads, k, asked, row)


@inner
def judge(query, target, reverse, runs, reads, k, asked, row):
    """Return the verdict on a chain; complete its row by agreement and the seeds missing beyond its ends.

    Parameters
    ----------
    runs : int
        Its seeds, overlapping ones counted once.
    row : ndarray of int32, shape (COLUMNS,)
        In and out: the chain.

    The others are those of `chain_candidate`.
    """
    seeds = np.int64(row[SEEDS])
    if seeds < asked.min_seeds or row[SCORE] < asked.min_score:
        return FEW
    q_length, t_length = reads.lengths[query], reads.lengths[target]
    x0, y0 = np.int64(row[FIRST_X]), np.int64(row[FIRST_Y])
    x1, y1 = np.int64(row[LAST_X]) + k, np.int64(row[LAST_Y]) + k
    t0, t1 = _forward(y0, y1, reverse, t_length)
    agreement, inside, t_inside = _agreement(query, target, x0, x1, t0, t1, seeds, reads, k)
    if not _is_enough(agreement, query, target, reads, asked):
        return DISAGREES
    q_base, t_base = _first_base(reads, query), _first_base(reads, target)
    left, right = min(x0, y0), min(q_length - x1, t_length - y1)
    row[LEFT_MISSING] = runs * _count_seeds(reads, q_base, x0 - left, x0, k) // inside
    row[RIGHT_MISSING] = runs * _count_seeds(reads, q_base, x1, x1 + right, k) // inside
    if row[LEFT_MISSING] > asked.reach or row[RIGHT_MISSING] > asked.reach:
        if reverse:
            left, right = right, left
        below = runs * _count_seeds(reads, t_base, t0 - left, t0, k) // t_inside
        above = runs * _count_seeds(reads, t_base, t1, t1 + right, k) // t_inside
        if reverse:
            below, above = above, below
        row[LEFT_MISSING] = min(row[LEFT_MISSING], below)
        row[RIGHT_MISSING] = min(row[RIGHT_MISSING], above)
    missing = max(row[LEFT_MISSING], row[RIGHT_MISSING])
    if missing > asked.give_up and not is_sure(row, asked.sure_seeds, asked.sure_score):
        return FEW  # it needs walks to both read ends, and one would not be tried
    row[AGREEMENT] = agreement
    return KEPT


@inner
def is_sure(row, sure_seeds, sure_score):
    """Return whether a chain has more seeds, and a higher score, than chance gives."""
    return row[SEEDS] >= sure_seeds and row[SCORE] >= sure_score


@njit(nogil=True, cache=True)
def judge_overlaps(query, target, reverse, rows, q_ends, t_ends, reads, k, asked):
    """Judge the overlaps of chains from end to end.

    Parameters
    ----------
    query, target, reverse
        Reads and strands of the chains.
    rows : ndarray of int32, shape (n, COLUMNS)
        The chains.
    q_ends, t_ends : ndarray of int32, shape (2, n)
        Starts and ends of the overlaps, the target's on the query's strand.

    The others are those of `chain_candidates`.

    Returns
    -------
    ndarray of uint8, shape (n,)
        `KEPT`; `FEW`, maybe chance and not from read end to read end; `DISAGREES`.
    """
    verdicts = np.empty(len(query), np.uint8)
    for i in range(len(query)):
        if i + AHEAD < len(query):
            later = i + AHEAD
            start, end = np.int64(t_ends[0, later]), np.int64(t_ends[1, later])
            start, end = _forward(start, end, reverse[later], reads.lengths[target[later]])
            first_base = reads.word_offsets[target[later]] * BASES_PER_WORD
            fetch_marks(reads.marks, reads.ranks, first_base + start)
            fetch_marks(reads.marks, reads.ranks, first_base + end - k + 1)
        q_start, q_end = np.int64(q_ends[0, i]), np.int64(q_ends[1, i])
        t_start, t_end = np.int64(t_ends[0, i]), np.int64(t_ends[1, i])
        left = min(q_start, t_start)
        q_length, t_length = reads.lengths[query[i]], reads.lengths[target[i]]
        right = min(q_length - q_end, t_length - t_end)
        if max(left, right) > 0 and not is_sure(rows[i], asked.sure_seeds, asked.sure_score):
            verdicts[i] = FEW
            continue
        t_start, t_end = _forward(t_start, t_end, reverse[i], t_length)
        agreement, _, _ = _agreement(
            query[i], target[i], q_start, q_end, t_start, t_end, np.int64(rows[i, SEEDS]), reads, k
        )
        enough = _is_enough(agreement, query[i], target[i], reads, asked)
        verdicts[i] = KEPT if enough else DISAGREES
    return verdicts


@inner
def _forward(start, end, reverse, length):
    """Return where an interval of the query's strand starts and ends on the forward strand of a target."""
    return (length - end, length - start) if reverse else (start, end)


@njit(nogil=True, cache=True)
def shares(query, target, reads):
    """Return the share of k-mers that seed, that of the query times that of the target, in millionths."""
    found = np.empty(len(query), np.int64)
    for i in range(len(query)):
        found[i] = _shares(query[i], target[i], reads, 0)
    return found


@inner
def _first_base(reads, read):
    """Return the word-aligned number of the first base of a read."""
    return reads.word_offsets[read] * BASES_PER_WORD


@inner
def _seeds_of(reads, read):
    return reads.starts[read + 1] - reads.starts[read]


@inner
def _agreement(query, target, q_start, q_end, t_start, t_end, seeds, reads, k):
    """Return the agreement of two intervals, in thousandths, and the seeds of each one, 1 at least."""
    q_inside = max(1, _count_seeds(reads, _first_base(reads, query), q_start, q_end, k))
    t_inside = max(1, _count_seeds(reads, _first_base(reads, target), t_start, t_end, k))
    agreement = min(
        1000 * seeds * np.int64(reads.sketched[target]) // (q_inside * _seeds_of(reads, target)),
        1000 * seeds * np.int64(reads.sketched[query]) // (t_inside * _seeds_of(reads, query)),
    )
    return agreement, q_inside, t_inside


@inner
def _is_enough(agreement, query, target, reads, asked):
    """Return whether two reads agree as much as is asked of them, by their shares of seeds."""
    shares_of_both = _shares(query, target, reads, asked.chance_share)
    part = _part_of_agreement(shares_of_both, asked.typical_shares)
    return 100_000 * agreement >= asked.min_agreement * asked.typical_agreement * part


@inner
def _shares(query, target, reads, chance_share):
    """Return the share of k-mers that seed beyond chance, that of the query times that of the target."""
    of_query = max(0, 1000 * _seeds_of(reads, query) // np.int64(reads.sketched[query]) - chance_share)
    of_target = max(0, 1000 * _seeds_of(reads, target) // np.int64(reads.sketched[target]) - chance_share)
    return of_query * of_target


@inner
def _part_of_agreement(shares, typical_shares):
    """Return which part of the least agreement is asked of two reads, by their shares, in thousandths."""
    if typical_shares == 0:
        return 1000
    part = min(1000, 1000 * shares // typical_shares)
    return part * part // 1000


@inner
def _count_seeds(reads, first_base, start, stop, k):
    """Return how many seeds lie within bases ``[start, stop)`` of the read that starts at ``first_base``."""
    if stop - start < k:
        return 0
    return marked_between(reads.marks, reads.ranks, first_base + start, first_base + stop - k + 1)


@inner
def _anchors(hit_query_pos, hit_target_pos, reverse, last_start, x, y):
    """Put hits on the query's strand, ascending by query position, then by target position."""
    n = len(hit_query_pos)
    for i in range(n):
        x[i], y[i] = hit_query_pos[i], hit_target_pos[i]
    if not reverse:
        return
    start = 0
    while start < n:
        stop = start + 1
        while stop < n and x[stop] == x[start]:
            stop += 1
        for i in range(start, stop):
            y[i] = last_start - hit_target_pos[start + stop - 1 - i]
        start = stop


@inner
def _chain_scores(x, y, n, k, chaining, score, before, highest):
    """Score the best chain that ends at each anchor; return the last anchor of the best chain of all.

    ``highest[j]`` is the highest score up to anchor j: where even that plus a whole seed does not beat the
    best predecessor so far, no earlier anchor does, and the search ends.

    A seed that overlaps its predecessor on the same diagonal follows that one: an anchor farther back could
    as well precede the predecessor, and a nearer one pays for a gap, which ``highest`` shows not to win.
    """
    end = 0
    overlapping = min(k, chaining.max_gap) if chaining.distance_cost < 256 else 0
    for i in range(n):
        if i > 0 and 0 < x[i] - x[i - 1] == y[i] - y[i - 1] <= overlapping:
            if highest[i - 1] - chaining.gap_cost <= score[i - 1]:
                score[i] = score[i - 1] + (256 - chaining.distance_cost) * (x[i] - x[i - 1])
                before[i] = i - 1
                if score[i] > score[end]:
                    end = i
                highest[i] = score[end]
                continue
        best, best_before = 256 * k, -1
        for j in range(i - 1, max(-1, i - 1 - chaining.look_back), -1):
            if highest[j] + 256 * k <= best:
                break
            dx, dy = x[i] - x[j], y[i] - y[j]
            near = min(dx, dy)
            if near <= 0 or max(dx, dy) > chaining.max_gap:
                continue
            cost = chaining.gap_cost * abs(dx - dy) + chaining.distance_cost * near
            through_j = score[j] + 256 * min(k, near) - cost
            if through_j > best:
                best, best_before = through_j, j
        score[i], before[i] = best, best_before
        if best > score[end]:
            end = i
        highest[i] = score[end]
    return end


@inner
def trace(x, y, end, before, k):
    """Return the first anchor, and the numbers of seeds, of seeds that do not overlap, and of covered bases.

    Covered are those of the read that has fewer.
    """
    seeds, runs, on_query, on_target = 1, 1, k, k
    i = end
    while before[i] >= 0:
        j = before[i]
        on_query += min(k, x[i] - x[j])
        on_target += min(k, y[i] - y[j])
        seeds += 1
        runs += min(x[i] - x[j], y[i] - y[j]) >= k
        i = j
    return i, seeds, runs, min(on_query, on_target)
