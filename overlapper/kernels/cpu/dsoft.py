"""D-SOFT over the seed index (Turakhia 2018, section 4); `overlapper.candidates.dsoft` has the definition."""

import numpy as np
from numba import njit

from overlapper.kernels.cpu.seed_index import LAST_OF_GROUP, POSITION_MASK, READ_SHIFT, grow

U64 = np.uint64
LINE = 8
HEADER = 7
"""Integers a candidate: query, target, reverse, query_pos, target_pos, seeds, span."""


@njit(nogil=True, cache=True)
def find_candidates(
    occurrences,
    list_starts,
    by_read,
    lengths,
    query_start,
    query_stop,
    limit,
    k,
    band_bits,
    min_bases,
    drift,
):
    """Find the candidates of queries ``[query_start, query_stop)``.

    Parameters
    ----------
    occurrences : ndarray of uint64
        The seed index.
    list_starts : ndarray of int64, shape (reads + 1,)
        Where each read's part of ``by_read`` starts.
    by_read : ndarray of uint32 or int64
        Numbers of occurrences, read by read.
    lengths : ndarray of int64, shape (reads,)
    query_start, query_stop : int
    limit : int
        Occurrences of a group at most.
    k, band_bits, min_bases, drift : int
        A band is ``2 ** band_bits`` wide; drift is in thousandths of the overlap.

    Returns
    -------
    rows : ndarray of int32, shape (candidates, HEADER)
        By query, target, strand.
    hit_counts : ndarray of int64, shape (candidates,)
    hit_query_pos, hit_target_pos : ndarray of int32
        By candidate, query position, target position.
    """
    rows = np.empty((1024, HEADER), np.int32)
    hit_counts = np.empty(1024, np.int64)
    n_rows = 0
    out_q, out_t = np.empty(1 << 15, np.int32), np.empty(1 << 15, np.int32)
    n_out = 0
    band_width = 1 << band_bits
    group_count = np.zeros(2 * len(lengths), np.int32)
    group_start = np.empty(2 * len(lengths), np.int64)
    touched = np.empty(2 * len(lengths) + 1, np.int32)
    hit_keys = np.empty(0, np.int32)
    hit_q, hit_t = hit_keys, hit_keys
    grouped = np.empty((2, 1 << 12), np.int32)
    window_bases = np.zeros(1024, np.int32)
    window_end = np.zeros(1024, np.int32)
    for query in range(query_start, query_stop):
        numbers = by_read[list_starts[query] : list_starts[query + 1]]
        if len(hit_keys) < len(numbers) * limit:
            # Sized for the worst case: memory that is not written to costs nothing.
            hit_keys = np.empty(2 * len(numbers) * limit, np.int32)
            hit_q, hit_t = np.empty_like(hit_keys), np.empty_like(hit_keys)
        n, n_touched = _collect_hits(
            occurrences, numbers, query, hit_keys, hit_q, hit_t, group_count, touched
        )
        n_keys = _drop_lone_hits(touched, n_touched, group_count, group_start, k < min_bases)
        keys = np.sort(touched[:n_keys])
        start = 0
        for key in keys:
            group_start[key] = start
            start += group_count[key]
        if grouped.shape[1] < start:
            grouped = np.empty((2, 2 * start), np.int32)
        _group_hits(hit_keys[:n], hit_q, hit_t, group_start, grouped[0], grouped[1])
        for key in keys:
            stop, count = group_start[key], group_count[key]
            group_count[key] = 0
            q, t = grouped[0, stop - count : stop], grouped[1, stop - count : stop]
            target, reverse = key >> 1, key & 1
            q_length, t_length = lengths[query], lengths[target]
            n_windows = ((q_length + t_length) >> band_bits) + 4
            if len(window_bases) < n_windows:
                window_bases = np.zeros(2 * n_windows, np.int32)
                window_end = np.zeros(2 * n_windows, np.int32)
            bases, centre = _best_window(
                q, t, reverse, q_length, t_length, k, band_bits, window_bases, window_end
            )
            if bases < min_bases:
                continue
            if n_rows == len(rows):
                grown = np.empty((2 * n_rows, HEADER), np.int32)
                grown[:n_rows] = rows
                rows = grown
                hit_counts = grow(hit_counts, 2 * n_rows)
            if n_out + count > len(out_q):
                out_q, out_t = grow(out_q, 2 * (n_out + count)), grow(out_t, 2 * (n_out + count))
            span = min(q_length, t_length - centre) - max(0, -centre)
            reach = max(band_width, max(span, 0) * drift // 1000)
            n_near, seed = _keep_near(
                q, t, reverse, t_length, k, centre, band_width, reach, out_q[n_out:], out_t[n_out:]
            )
            row = rows[n_rows]
            row[0], row[1], row[2] = query, target, reverse
            row[3], row[4], row[5], row[6] = out_q[n_out + seed], out_t[n_out + seed], bases, max(span, 1)
            hit_counts[n_rows] = n_near
            n_out += n_near
            n_rows += 1
    return rows[:n_rows], hit_counts[:n_rows], out_q[:n_out], out_t[:n_out]


@njit(nogil=True, cache=True)
def _collect_hits(occurrences, numbers, query, keys, q, t, group_count, touched):
    """Write key, query position and target position of all hits; key is ``2 * target + reverse``.

    Only later occurrences of a group are met, so that every pair is met once; those in the query itself are
    written, but not counted.
    """
    # The lines of the index that the query needs are fetched first, many at a time: the loop below could not
    # go on before each of them arrives.
    owns, ahead = np.empty(len(numbers), np.uint64), np.empty(len(numbers), np.uint64)
    last = U64(len(occurrences) - 1)
    for i in range(len(numbers)):
        owns[i] = occurrences[U64(numbers[i])]
        ahead[i] = occurrences[min(U64(numbers[i]) + U64(LINE), last)]
    n, n_touched = U64(0), U64(0)
    own_read = U64(query)
    for i in range(len(numbers)):
        number, own = U64(numbers[i]), owns[i]
        position = np.int32((own >> U64(1)) & U64(POSITION_MASK))
        here = own
        while not here >> U64(63):
            number += U64(1)
            here = occurrences[number]
            target = (here & ~U64(LAST_OF_GROUP)) >> U64(READ_SHIFT)
            key = (target << U64(1)) | ((own ^ here) & U64(1))
            keys[n], q[n] = np.int32(key), position
            t[n] = np.int32((here >> U64(1)) & U64(POSITION_MASK))
            other = U64(target != own_read)
            touched[n_touched] = np.int32(key)
            n_touched += other & U64(group_count[key] == 0)
            group_count[key] += np.int32(other)
            n += other
    return np.int64(n), np.int64(n_touched)


@njit(nogil=True, cache=True)
def _drop_lone_hits(touched, n_touched, group_count, group_start, one_is_few):
    """Move the keys worth looking at to the front and forget the others; return how many there are."""
    kept = 0
    for i in range(n_touched):
        key = touched[i]
        if group_count[key] > 1 or not one_is_few:
            touched[kept] = key
            kept += 1
        else:
            group_start[key] = -1
            group_count[key] = 0
    return kept


@njit(nogil=True, cache=True)
def _group_hits(keys, q, t, group_start, grouped_q, grouped_t):
    """Scatter hits to their groups; leaves in ``group_start`` the end of each group that is kept."""
    for i in range(len(keys)):
        key = U64(keys[i])
        place = group_start[key]
        if place >= 0:
            grouped_q[U64(place)], grouped_t[U64(place)] = q[i], t[i]
            group_start[key] = place + 1


@njit(nogil=True, cache=True)
def _best_window(q, t, reverse, q_length, t_length, k, band_bits, window_bases, window_end):
    """Return the most query bases that the seeds of two neighbouring bands cover, and the bands' border.

    Both scratch arrays are zero before and after.
    """
    lowest = (-q_length >> band_bits) - 1
    best, best_window = 0, 0
    for i in range(len(q)):
        diagonal = (t_length - k - t[i] if reverse else t[i]) - q[i]
        band = (diagonal >> band_bits) - lowest
        for window in range(band - 1, band + 1):
            window_bases[window] += min(k, q[i] + k - window_end[window])
            window_end[window] = q[i] + k
            covered = window_bases[window]
            if covered > best or (covered == best and window < best_window):
                best, best_window = covered, window
    for i in range(len(q)):
        diagonal = (t_length - k - t[i] if reverse else t[i]) - q[i]
        band = (diagonal >> band_bits) - lowest
        window_bases[band - 1 : band + 1] = 0
        window_end[band - 1 : band + 1] = 0
    return best, (best_window + lowest + 1) << band_bits


@njit(nogil=True, cache=True)
def _keep_near(q, t, reverse, t_length, k, centre, band_width, reach, out_q, out_t):
    """Copy the hits within ``reach`` of the centre; return how many, and the middle one of the window."""
    n, n_inside = 0, 0
    for i in range(len(q)):
        distance = (t_length - k - t[i] if reverse else t[i]) - q[i] - centre
        if -reach <= distance < reach:
            out_q[n], out_t[n] = q[i], t[i]
            n += 1
            n_inside += -band_width <= distance < band_width
    wanted, seed = n_inside // 2, 0
    for i in range(n):
        distance = (t_length - k - out_t[i] if reverse else out_t[i]) - out_q[i] - centre
        if -band_width <= distance < band_width:
            if wanted == 0:
                seed = i
                break
            wanted -= 1
    return n, seed
