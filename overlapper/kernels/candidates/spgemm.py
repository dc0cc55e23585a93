"""The sparse product A·Aᵀ of reads x k-mers under the semiring that collects position pairs.

CPU only.

`transpose` turns the occurrences by k-mer (the columns of A) into rows by read. `multiply_rows` goes through
rows of A (Gustavson 1978): for every k-mer of the query, the occurrences behind it in its column are hits on
later reads. Hits of a query are gathered by target and strand, and each gathering is binned.

**Binning.** On the query's strand a hit starts at ``q`` on the query and at ``t`` on the target, and
estimates the overlap as ``min(q, t) + min(tails) + k``, where a tail is what follows the k-mer on its read.
In a dovetail the estimate moves one base a base of the diagonal ``q - t``; in a containment it is the length
of the shorter read for every diagonal, and the diagonal alone tells hits apart. So bins are made of
diagonals: bin ``b`` holds those from ``b * half`` to below ``b * half + 2 * half``, half being half the bin
size, rounded up. Each diagonal lies in two bins, so that hits that differ by half a bin share one wherever
they lie.

**Support.** In order of ``(q, t)``, a hit of a bin counts when it starts k or more query bases after the last
one that counted. The best bin has the highest support; of equal ones, the lowest. Its seed is the middle one
of the hits that counted, index ``support // 2``. The hits of a candidate are those of diagonals no further
than the bin size from the best bin.
"""

import numpy as np

from overlapper.kernels.candidates.dsoft import QUERY, QUERY_POS, REVERSE, SEEDS, SPAN, TARGET, TARGET_POS
from overlapper.kernels.common.sorting import sort_few
from overlapper.runtime.compile.cache import njit

HITS = 7
"""Column behind those of a candidate: number of its hits."""
_POSITION = (1 << 31) - 1


@njit(nogil=True, cache=True)
def transpose(column_offsets, occurrences, reads):
    """Build the rows of A.

    Parameters
    ----------
    column_offsets : ndarray of int64, shape (columns + 1,)
    occurrences : ndarray of int64, shape (n,)
        ``read << 32 | position << 1 | reverse``, ascending within a column.
    reads : int

    Returns
    -------
    row_offsets : ndarray of int64, shape (reads + 1,)
    entries : ndarray of int64, shape (n,)
        Row by row, which occurrence; in no particular order within a row.
    behind : ndarray of int32, shape (n,)
        How many occurrences follow it in its column.
    """
    row_offsets = np.zeros(reads + 1, np.int64)
    for i in range(len(occurrences)):
        row_offsets[(occurrences[i] >> 32) + 1] += 1
    for read in range(reads):
        row_offsets[read + 1] += row_offsets[read]
    cursors = row_offsets[:-1].copy()
    entries = np.empty(len(occurrences), np.int64)
    behind = np.empty(len(occurrences), np.int32)
    for column in range(len(column_offsets) - 1):
        stop = column_offsets[column + 1]
        for i in range(column_offsets[column], stop):
            read = occurrences[i] >> 32
            at = cursors[read]
            cursors[read] = at + 1
            entries[at] = i
            behind[at] = stop - 1 - i
    return row_offsets, entries, behind


@njit(nogil=True, cache=True)
def sort_rows(occurrences, row_offsets, entries, behind, first, last, lengths, positions, products):
    """Sort rows ``[first, last)`` by position, and sum how many later occurrences each row meets.

    Parameters
    ----------
    occurrences, row_offsets, entries, behind : ndarray
        As from `transpose`; ``entries`` and ``behind`` are sorted in place.
    first, last : int
    lengths : ndarray of int64
        Of the reads.
    positions : ndarray of int32, shape (n,)
        Receives the positions of the entries.
    products : ndarray of int64, shape (reads,)
        Receives the sums: those of ``behind`` over each row.
    """
    longest = np.int64(0)
    for read in range(first, last):
        longest = max(longest, lengths[read])
    at_position = np.full(longest, -1)
    for read in range(first, last):
        start, stop = row_offsets[read], row_offsets[read + 1]
        row, row_behind = entries[start:stop].copy(), behind[start:stop].copy()
        for i in range(len(row)):
            at_position[(occurrences[row[i]] >> 1) & _POSITION] = i
        at = start
        for position in range(lengths[read]):
            i = at_position[position]
            if i >= 0:
                entries[at] = row[i]
                behind[at] = row_behind[i]
                positions[at] = position
                at += 1
                at_position[position] = -1
        products[read] = 0
        for i in range(len(row_behind)):
            products[read] += row_behind[i]


@njit(nogil=True, cache=True)
def multiply_rows(
    occurrences, row_offsets, entries, behind, lengths, first, last, first_target, k, bin_size, min_kmers,
    pairs, hit_q, hit_t,
):  # fmt: skip
    """Multiply the rows ``[first, last)`` and bin their products.

    Parameters
    ----------
    occurrences, row_offsets, entries, behind : ndarray
        As from `transpose`, rows sorted by position.
    lengths : ndarray of int64
        Of the reads.
    first, last : int
    first_target : int
        Reads with lower numbers are not targets.
    k, bin_size, min_kmers : int
        Length of a k-mer; width of a bin; least support of the best bin.
    pairs : ndarray of int32, shape (n, HITS + 1)
        Receives the columns of each candidate (`overlapper.kernels.candidates.dsoft`) and `HITS`, by query,
        target and strand; ``SEEDS`` is the support.
    hit_q, hit_t : ndarray of int32, shape (n,)
        Receive the hits of the candidates: positions on the forward strands, ascending by query position,
        then by target position.

    Returns
    -------
    candidates, hits : int
        Their numbers, at most the sum of ``behind`` over the rows.
    """
    counts = np.zeros(2 * len(lengths), np.int32)
    touched = np.empty(2 * len(lengths), np.int64)
    bins = _unused_bins(0)
    candidates, hits = 0, 0
    for query in range(first, last):
        row = entries[row_offsets[query] : row_offsets[query + 1]]
        row_behind = behind[row_offsets[query] : row_offsets[query + 1]]
        found, total = _count_hits(occurrences, row, row_behind, query, first_target, counts, touched)
        groups = touched[:found]
        sort_few(groups)
        positions = _gather_hits(
            occurrences, row, row_behind, query, first_target, lengths, k, counts, groups, total
        )
        start = 0
        for group in groups:
            target, reverse = group >> 1, group & 1
            stop = int(counts[group])
            counts[group] = 0
            one = positions[start:stop]
            start = stop
            if reverse:
                _turn_ties(one[:, 0], one[:, 1])
            lowest = -((lengths[target] - k) // ((bin_size + 1) // 2)) - 2
            needed = (lengths[query] - k) // ((bin_size + 1) // 2) - lowest + 2
            if needed > len(bins[0]):
                bins = _unused_bins(2 * needed)
            best, support, seed = _best_bin(one, k, bin_size, lowest, *bins)
            if support < min_kmers:
                continue
            q, t = one[seed]
            tails = min(lengths[query] - q, lengths[target] - t) - k
            kept = _keep_hits(one, best, bin_size, k, lengths[target], reverse, hit_q, hit_t, hits)
            pairs[candidates, QUERY] = query
            pairs[candidates, TARGET] = target
            pairs[candidates, REVERSE] = reverse
            pairs[candidates, QUERY_POS] = q
            pairs[candidates, TARGET_POS] = lengths[target] - k - t if reverse else t
            pairs[candidates, SEEDS] = support
            pairs[candidates, SPAN] = min(q, t) + tails + k
            pairs[candidates, HITS] = kept
            candidates += 1
            hits += kept
    return candidates, hits


@njit(nogil=True, cache=True)
def _unused_bins(size):
    """Return last counted query position and support of ``size`` bins, all unused, and room to list some."""
    return np.empty(size, np.int64), np.zeros(size, np.int32), np.empty(size, np.int64)


@njit(nogil=True, cache=True)
def _count_hits(occurrences, row, behind, query, first_target, counts, touched):
    """Count the hits of a query by ``target << 1 | reverse``; list those that have any."""
    found, total = 0, 0
    for i in range(len(row)):
        strand = occurrences[row[i]] & 1
        for j in range(row[i] + 1, row[i] + 1 + behind[i]):
            target = occurrences[j] >> 32
            if target == query or target < first_target:
                continue
            group = target << 1 | ((occurrences[j] & 1) ^ strand)
            if counts[group] == 0:
                touched[found] = group
                found += 1
            counts[group] += 1
            total += 1
    return found, total


@njit(nogil=True, cache=True)
def _gather_hits(occurrences, row, behind, query, first_target, lengths, k, counts, groups, total):
    """Return the hits of a query, group by group, as positions on its strand.

    ``counts`` then holds where each group ends.
    """
    start = 0
    for group in groups:
        size = counts[group]
        counts[group] = start
        start += size
    positions = np.empty((total, 2), np.int32)
    for i in range(len(row)):
        strand = occurrences[row[i]] & 1
        q = (occurrences[row[i]] >> 1) & _POSITION
        for j in range(row[i] + 1, row[i] + 1 + behind[i]):
            target = occurrences[j] >> 32
            if target == query or target < first_target:
                continue
            reverse = (occurrences[j] & 1) ^ strand
            t = (occurrences[j] >> 1) & _POSITION
            at = counts[target << 1 | reverse]
            counts[target << 1 | reverse] = at + 1
            positions[at, 0] = q
            positions[at, 1] = lengths[target] - k - t if reverse else t
    return positions


@njit(nogil=True, cache=True)
def _turn_ties(q, t):
    """Reverse the hits that share a query position: on the other strand the target positions descend."""
    start = 0
    for stop in range(1, len(q) + 1):
        if stop == len(q) or q[stop] != q[start]:
            low, high = start, stop - 1
            while low < high:
                t[low], t[high] = t[high], t[low]
                low += 1
                high -= 1
            start = stop


@njit(nogil=True, cache=True)
def _best_bin(hits, k, bin_size, lowest, last_counted, support, used):
    """Return the best bin, its support and the row of its seed.

    ``last_counted`` and ``support`` belong to the bins from ``lowest`` on; they are reset before return.
    """
    half = (bin_size + 1) // 2
    best, most, bins = 0, np.int32(0), 0
    for i in range(len(hits)):
        q = np.int64(hits[i, 0])
        upper = (q - hits[i, 1]) // half
        for number in (upper - 1, upper):
            slot = number - lowest
            if support[slot] == 0:
                used[bins] = slot
                bins += 1
            elif q < last_counted[slot] + k:
                continue
            last_counted[slot] = q
            support[slot] += 1
            if support[slot] > most or (support[slot] == most and number < best):
                best, most = number, support[slot]
    for i in range(bins):
        support[used[i]] = 0
    return best, most, _seed_of(hits, k, best * half, (best + 2) * half, most // 2)


@njit(nogil=True, cache=True)
def _seed_of(hits, k, first_diagonal, last_diagonal, wanted):
    """Return the row of the wanted one of the hits that count in ``[first_diagonal, last_diagonal)``."""
    counted, last = -1, np.int64(0)
    for i in range(len(hits)):
        q = np.int64(hits[i, 0])
        if first_diagonal <= q - hits[i, 1] < last_diagonal and (counted < 0 or q >= last + k):
            counted += 1
            last = q
            if counted == wanted:
                return i
    return -1


@njit(nogil=True, cache=True)
def _keep_hits(hits, best, bin_size, k, target_length, reverse, hit_q, hit_t, at):
    """Append the hits near the best bin, on the forward strands; return how many."""
    half = (bin_size + 1) // 2
    kept = 0
    for i in range(len(hits)):
        diagonal = np.int64(hits[i, 0]) - hits[i, 1]
        if best * half - bin_size <= diagonal < (best + 2) * half + bin_size:
            hit_q[at + kept] = hits[i, 0]
            hit_t[at + kept] = target_length - k - hits[i, 1] if reverse else hits[i, 1]
            kept += 1
    if reverse:
        _turn_ties(hit_q[at : at + kept], hit_t[at : at + kept])
    return kept
