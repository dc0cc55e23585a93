"""D-SOFT over the seed index (Turakhia 2018, section 4); `overlapper.candidates.dsoft` has the definition.

GPU twin: cuda/dsoft.py.
"""

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.growth import grow, grow_rows
from overlapper.kernels.common.inlining import inner
from overlapper.kernels.common.packed import prefetch, uncounted
from overlapper.kernels.common.sorting import sort_few
from overlapper.kernels.seeds.occurrences import SPARE, occurrence_at, position_in, read_in, strand_in
from overlapper.runtime.compile.cache import njit

U64 = np.uint64
LINE = 64
"""Bytes in a line of memory."""
AHEAD = 16
"""Seeds that are processed together; occurrences of this many seeds ahead are prefetched."""
QUERY, TARGET, REVERSE, QUERY_POS, TARGET_POS, SEEDS, SPAN = range(7)
"""Columns of a candidate, as in `overlapper.tables.Candidates`."""
HEADER = 7


class Bands(NamedTuple):
    """Where hits of a pair are counted, and which counts are candidates."""

    k: int
    """Bases of a hit."""
    band_bits: int
    """A band is ``2 ** band_bits`` wide."""
    min_bases: int
    """Least support of the first candidate of a pair on a strand."""
    drift: int
    """In thousandths of the overlap."""
    most_windows: int
    min_share: int
    """`most_windows`, `min_share`: most candidates of a pair on a strand; least support of a further one, in
    percent of that of the first."""


@njit(nogil=True, cache=True)
def find_candidates(
    occurrences, width, position_bits, list_starts, numbers, lengths, query_start, query_stop, first_target,
    limit, bands,
):  # fmt: skip
    """Find the candidates of queries ``[query_start, query_stop)``.

    Parameters
    ----------
    occurrences : ndarray of uint8
        The seed index.
    width, position_bits : int
        Its layout (`overlapper.kernels.seeds.occurrences`).
    list_starts : ndarray of int64, shape (reads + 1,)
        Where the seeds of each read start among those of all reads.
    numbers : ndarray of uint32 or int64
        Numbers of the occurrences of the queries, read by read; the last occurrence of a group has one that
        is out of range.
    lengths : ndarray of int64, shape (reads,)
    query_start, query_stop : int
    first_target : int
        Reads before this one are not targets.
    limit : int
        Most occurrences of a group.
    bands : Bands

    Returns
    -------
    rows : ndarray of int32, shape (candidates, HEADER)
        By query, target, strand, the best first.
    hit_counts : ndarray of int64, shape (candidates,)
    hit_query_pos, hit_target_pos : ndarray of int32
        By candidate, query position, target position.
    """
    rows = np.empty((1024, HEADER), np.int32)
    hit_counts = np.empty(1024, np.int64)
    n_rows = 0
    out_q, out_t = np.empty(1 << 15, np.int32), np.empty(1 << 15, np.int32)
    n_out = 0
    met = np.zeros(2 * len(lengths), np.uint8)
    group_count = np.zeros(2 * len(lengths), np.int32)
    group_start = np.empty(2 * len(lengths), np.int64)
    touched = np.empty(2 * len(lengths) + 1, np.int32)
    hit_keys, hits = np.empty(1 << 15, np.int32), np.empty(1 << 15, np.uint64)
    grouped, diagonals = np.empty(0, np.uint64), np.empty(0, np.int32)
    inside = diagonals
    windows = np.zeros((1024, 2), np.int32)
    k, band_bits, most_windows = bands.k, bands.band_bits, bands.most_windows
    fewest = 1 if k >= bands.min_bases else 2
    for query in range(query_start, query_stop):
        own = numbers[list_starts[query] - list_starts[query_start] :]
        n, hit_keys, hits = _collect_hits(
            occurrences, width, position_bits, own[: list_starts[query + 1] - list_starts[query]],
            max(query, first_target - 1), limit, hit_keys, hits, met,
        )  # fmt: skip
        n, n_keys = _count_groups(hit_keys[:n], hits, met, fewest, group_count, touched)
        start, longest, q_length = 0, 0, lengths[query]
        for key in touched[:n_keys]:
            group_start[key] = start
            start += group_count[key]
            longest = max(longest, lengths[key >> 1])
        n_windows = ((q_length + longest) >> band_bits) + 4
        if len(windows) < n_windows:
            windows = np.zeros((2 * n_windows, 2), np.int32)
        if len(grouped) < start:
            grouped, diagonals = np.empty(2 * start, np.uint64), np.empty(2 * start, np.int32)
            inside = np.empty(2 * start, np.int32)
        _group_hits(hit_keys[:n], hits, group_start, grouped)
        if fewest == 2:
            n_keys = _leave_apart(touched[:n_keys], group_start, group_count, grouped, lengths, k, band_bits)
        sort_few(touched[:n_keys])
        # Most pairs meet by chance: counting references to arrays would take as long as finding that out.
        pairs, pair_diagonals, pair_windows = uncounted(grouped), uncounted(diagonals), uncounted(windows)
        for key in touched[:n_keys]:
            stop, count = group_start[key], group_count[key]
            group_count[key] = 0
            target, reverse = key >> 1, key & 1
            t_length = lengths[target]
            pair = pairs[stop - count : stop]
            _write_diagonals(pair, reverse, t_length - k, pair_diagonals)
            lowest = (-q_length >> band_bits) - 1
            bases, window = _best_window(pair, pair_diagonals, k, band_bits, lowest, pair_windows)
            if bases < bands.min_bases:
                continue
            if n_rows + most_windows > len(rows):
                rows = grow_rows(rows, 2 * (n_rows + most_windows))
                hit_counts = grow(hit_counts, 2 * (n_rows + most_windows))
            if n_out + count > len(out_q):
                out_q, out_t = grow(out_q, 2 * (n_out + count)), grow(out_t, 2 * (n_out + count))
            n_new, n_hits = _write_windows(
                query, target, reverse, q_length, t_length, pair, pair_diagonals, bands, lowest, bases,
                window, pair_windows, inside, rows[n_rows:], hit_counts[n_rows:], out_q[n_out:],
                out_t[n_out:],
            )  # fmt: skip
            n_rows, n_out = n_rows + n_new, n_out + n_hits
    return rows[:n_rows], hit_counts[:n_rows], out_q[:n_out], out_t[:n_out]


@njit(nogil=True, cache=True)
def _collect_hits(
    occurrences, width, position_bits, numbers, last_skipped, limit, keys, hits, met
):  # fmt: skip
    """Collect the hits of a query with later reads; return their number, and the arrays of keys and hits.

    A hit is ``query position << 32 | target position``, its key ``2 * target + reverse``. A seed meets later
    occurrences of its group alone, in reads after ``last_skipped`` (the query or a later read), so that every
    pair is met once. ``met`` is 1 for a key that is met once, and 2 for more: most keys are met once, by
    chance, and bytes fit the cache. The arrays grow to hold ``limit`` hits of each seed.
    """
    seeds = np.empty(len(numbers) + AHEAD, np.uint64)
    last, n_seeds = U64((len(occurrences) - SPARE) // width - 1), U64(0)
    for i in range(len(numbers)):
        seeds[n_seeds] = U64(numbers[i])
        n_seeds += U64(U64(numbers[i]) < last)
    seeds[n_seeds:] = 0
    n = np.int64(0)
    for start in range(0, np.int64(n_seeds), AHEAD):
        most = n + AHEAD * limit
        if most > len(keys):
            keys, hits = grow(keys, 2 * most), grow(hits, 2 * most)
        n = _meet(
            occurrences, width, position_bits, seeds, start, np.int64(n_seeds), U64(last_skipped), keys, hits,
            met, n,
        )  # fmt: skip
    return n, keys, hits


@inner
def _meet(
    occurrences, width, position_bits, seeds, start, n_seeds, skipped, keys, hits, met, n
):  # fmt: skip
    """Append the hits of the next `AHEAD` seeds to ``n`` others; return their new number."""
    n = U64(n)
    for i in range(start, min(start + AHEAD, n_seeds)):
        # Two lines of the index, the size of most groups: the loop below would wait for each of them.
        ahead = np.int64(seeds[i + AHEAD]) * width
        prefetch(occurrences, ahead)
        prefetch(occurrences, ahead + LINE)
        number = seeds[i]
        own = occurrence_at(occurrences, number, width)
        position = position_in(own, width, position_bits) << U64(32)
        here = own
        while not here >> U64(63):
            number += U64(1)
            here = occurrence_at(occurrences, number, width)
            target = read_in(here, width, position_bits)
            key = (target << U64(1)) | strand_in(own ^ here, width)
            keys[n] = np.int32(key)
            hits[n] = position | position_in(here, width, position_bits)
            other = U64(target > skipped)
            met[key] = np.uint8((np.uint8(1) + np.uint8(met[key] > 0)) * np.uint8(other))
            n += other
    return np.int64(n)


@inner
def _count_groups(keys, hits, met, fewest, group_count, touched):
    """Move the hits of keys that are met ``fewest`` times or more to the front; count them by key.

    Keys are listed in ``touched``. Returns the numbers of hits and keys, with ``met`` cleared.
    """
    kept, n_touched = U64(0), U64(0)
    for i in range(len(keys)):
        key = U64(keys[i])
        keys[kept], hits[kept] = keys[i], hits[i]
        stays = np.uint8(met[key] >= fewest)
        met[key] = np.uint8(met[key] * stays)
        kept += U64(stays)
    for key in keys[: np.int64(kept)]:
        touched[n_touched] = key
        n_touched += U64(group_count[key] == 0)
        group_count[key] += 1
    for key in touched[: np.int64(n_touched)]:
        met[key] = 0
    return np.int64(kept), np.int64(n_touched)


@inner
def _group_hits(keys, hits, group_start, grouped):
    """Scatter hits to the groups of their keys; ``group_start`` becomes the end of each group."""
    for i in range(len(keys)):
        key = U64(keys[i])
        place = group_start[key]
        grouped[U64(place)] = hits[i]
        group_start[key] = place + 1


@inner
def _diagonal(hit, reverse, last_start):
    """Return the diagonal of a hit, where the last k-mer of the target begins at ``last_start``."""
    target = np.int32(hit)
    if reverse:
        target = np.int32(last_start - target)
    return np.int32(target - np.int32(hit >> U64(32)))


@inner
def _write_diagonals(pair, reverse, last_start, diagonals):
    last = np.int32(last_start)
    for i in range(len(pair)):
        diagonals[i] = _diagonal(pair[i], reverse, last)


@inner
def _leave_apart(keys, group_stop, group_count, grouped, lengths, k, band_bits):
    """Move the keys whose hits may share a window to the front; return their number. Other counts become 0.

    No window holds both of two hits in most pairs that meet by chance.
    """
    kept = U64(0)
    for key in keys:
        stop, count = group_stop[key], group_count[key]
        first, second = grouped[stop - 2], grouped[stop - 1]
        last_start = np.int32(lengths[key >> 1] - k)
        one = _diagonal(first, key & 1, last_start) >> band_bits
        other = _diagonal(second, key & 1, last_start) >> band_bits
        stays = (count > 2) | (abs(one - other) <= 1)
        group_count[key] = count * stays
        keys[kept] = key
        kept += U64(stays)
    return np.int64(kept)


@inner
def _write_windows(
    query, target, reverse, q_length, t_length, pair, diagonals, bands, lowest, bases, window, windows,
    inside, rows, hit_counts, hit_query_pos, hit_target_pos,
):  # fmt: skip
    """Write the candidates of a pair on a strand: its best window, and others that come near it.

    Parameters
    ----------
    query, target, reverse, q_length, t_length : int
    pair : ndarray of uint64
        Hits of the pair, with their ``diagonals``; both are scratch afterwards.
    bands : Bands
    lowest : int
        Band that bands are counted from.
    bases, window : int
        Support and number of the best window.
    windows, inside : ndarray
        Scratch, as `_best_window` and `_keep_near` take them.
    rows, hit_counts, hit_query_pos, hit_target_pos : ndarray
        Out, with room for ``most_windows`` rows and all hits: what `find_candidates` returns.

    Returns
    -------
    n, n_hits : int
        Candidates and hits.
    """
    k, band_bits, min_bases, drift, most_windows, min_share = bands
    band_width, n_hits, left = np.int64(1) << band_bits, np.int64(0), np.int64(len(pair))
    enough = max(min_bases, bases * min_share // 100)
    for n in range(most_windows):
        if n:
            bases, window = _best_window(pair[:left], diagonals, k, band_bits, lowest, windows)
            if bases < enough:
                return n, n_hits
        centre = (window + lowest + 1) << band_bits
        span = min(q_length, t_length - centre) - max(0, -centre)
        reach = max(band_width, max(span, 0) * drift // 1000)
        near_query_pos, near_target_pos = hit_query_pos[n_hits:], hit_target_pos[n_hits:]
        n_near, seed = _keep_near(
            pair[:left], diagonals, centre, band_width, reach, near_query_pos, near_target_pos, inside
        )
        row = rows[n]
        row[QUERY], row[TARGET], row[REVERSE] = query, target, reverse
        row[QUERY_POS], row[TARGET_POS] = near_query_pos[seed], near_target_pos[seed]
        row[SEEDS], row[SPAN] = bases, max(span, 1)
        hit_counts[n] = n_near
        n_hits += n_near
        if k * (left - n_near) < enough:
            return n + 1, n_hits
        left = _leave_near(pair[:left], diagonals, centre, reach)
    return np.int64(most_windows), n_hits


@inner
def _best_window(pair, diagonals, k, band_bits, lowest, windows):
    """Return the support of the best window, two neighbouring bands, and its lower band.

    Bands count from ``lowest``. ``windows`` is scratch, 0 before and after: covered bases of each window, and
    the end of its last seed.
    """
    best, band = np.int32(0), U64((diagonals[0] >> band_bits) - lowest)
    # The windows of a band stay in registers as long as seeds are in it.
    low, low_end, high, high_end = np.int32(0), np.int32(0), np.int32(0), np.int32(0)
    for i in range(len(pair)):
        here = U64((diagonals[i] >> band_bits) - lowest)
        if here != band:
            best = max(best, _put(windows, band, low, low_end, high, high_end))
            band = here
            low, low_end = windows[band - U64(1), U64(0)], windows[band - U64(1), U64(1)]
            high, high_end = windows[band, U64(0)], windows[band, U64(1)]
        end = np.int32(np.int32(pair[i] >> U64(32)) + k)
        low = np.int32(low + min(np.int32(k), np.int32(end - low_end)))
        high = np.int32(high + min(np.int32(k), np.int32(end - high_end)))
        low_end = high_end = end
    best = max(best, _put(windows, band, low, low_end, high, high_end))
    best_window, band = np.int64(len(windows)), U64(0)
    for i in range(len(pair)):
        here = U64((diagonals[i] >> band_bits) - lowest)
        if here == band:
            continue
        band = here
        for window in (band - U64(1), band):
            if windows[window, U64(0)] == best:
                best_window = min(best_window, np.int64(window))
            windows[window, U64(0)] = 0
            windows[window, U64(1)] = 0
    return best, best_window


@inner
def _put(windows, band, low, low_end, high, high_end):
    """Write the support of the two windows of a band; return the larger one."""
    windows[band - U64(1), U64(0)], windows[band - U64(1), U64(1)] = low, low_end
    windows[band, U64(0)], windows[band, U64(1)] = high, high_end
    return max(low, high)


@inner
def _keep_near(pair, diagonals, centre, band_width, reach, out_q, out_t, inside):
    """Copy the hits within ``reach`` of the centre; return their number, and the middle hit of the window.

    ``inside`` is scratch of one value for each hit.
    """
    n, n_inside = U64(0), U64(0)
    for i in range(len(pair)):
        distance = np.int64(diagonals[i]) - centre
        out_q[n], out_t[n] = np.int32(pair[i] >> U64(32)), np.int32(pair[i])
        inside[n_inside] = np.int32(n)
        # One unsigned comparison for -reach <= distance < reach.
        n_inside += U64(U64(distance + band_width) < U64(2 * band_width))
        n += U64(U64(distance + reach) < U64(2 * reach))
    return np.int64(n), np.int64(inside[n_inside // U64(2)])


@inner
def _leave_near(pair, diagonals, centre, reach):
    """Move hits beyond ``reach`` of the centre to the front, with their diagonals; return their number."""
    n = 0
    for i in range(len(pair)):
        if not -reach <= diagonals[i] - centre < reach:
            pair[n], diagonals[n] = pair[i], diagonals[i]
            n += 1
    return n
