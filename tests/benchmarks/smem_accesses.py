"""Index accesses of published SMEM algorithms, counted on the same index.

The published codes have no table of k-mer intervals: extending a bi-interval by one base is an access. The
SMEMs over a base are sought together, the next ones over the base at the end of the longest of them.
"""

import numpy as np
from numba import njit

from overlapper.kernels.common.packed import base_at
from overlapper.kernels.index.fm_index import extend_backward, extend_forward


@njit(nogil=True)
def _forward_strings(bins, borders, rows, words, source, length, first, strings):
    """Fill in row, mirror, size and end of the strings from ``first`` on that have different sizes.

    Returns how many, shortest first, and accesses.
    """
    row, mirror, size = np.int64(0), np.int64(0), rows
    count, end = 0, first
    while True:
        next_row, next_mirror, next_size = row, mirror, np.int64(0)
        if end < length:
            base = base_at(words, source + end)
            next_row, next_mirror, next_size = extend_forward(bins, borders, base, row, mirror, size)
        if end > first and next_size != size:
            strings[count, 0], strings[count, 1], strings[count, 2], strings[count, 3] = (
                row,
                mirror,
                size,
                end,
            )
            count += 1
        if next_size == 0:
            return count, end - first + (end < length)
        row, mirror, size, end = next_row, next_mirror, next_size, end + 1


@njit(nogil=True)
def together(fm, words, sources, lengths, min_length):
    """Count Li 2012, as in bwa: all strings are extended backward together, and merge as they become equal.

    Returns
    -------
    smems, accesses : int
        Intervals of the minimum length, and accesses.
    """
    bins, borders, rows = fm.bins, fm.borders, 2 * fm.segments[-1, 0]
    strings = np.empty((lengths.max() + 1, 4), np.int64)
    smems, accesses = 0, 0
    for query in range(len(sources)):
        source, length, first = sources[query], lengths[query], 0
        while first < length:
            count, cost = _forward_strings(bins, borders, rows, words, source, length, first, strings)
            accesses += cost
            next_first = strings[count - 1, 3] if count else first + 1
            for low in range(count // 2):
                for column in range(4):
                    high = count - 1 - low
                    strings[low, column], strings[high, column] = strings[high, column], strings[low, column]
            start, smem_start = first - 1, first + 1
            while count:
                alive = 0
                for string in range(count):
                    row, mirror, size, end = strings[string]
                    if start >= 0:
                        base = base_at(words, source + start)
                        row, mirror, size = extend_backward(bins, borders, base, row, mirror, size)
                        accesses += 1
                    if start < 0 or size == 0:
                        if alive == 0 and start + 1 < smem_start:
                            smem_start = start + 1
                            smems += end - smem_start >= min_length
                    elif alive == 0 or size != strings[alive - 1, 2]:
                        strings[alive, 0], strings[alive, 1], strings[alive, 2] = row, mirror, size
                        strings[alive, 3] = end
                        alive += 1
                count, start = alive, start - 1
            first = next_first
    return smems, accesses


@njit(nogil=True)
def one_by_one(fm, words, sources, lengths, min_length, forward_limit):
    """Count Ahmed 2015: strings one by one, backward, or forward from kept intervals by at most some bases.

    Algorithm 2 with its forward limit; algorithm 1, without its shortcuts, if the limit is below 0.
    """
    bins, borders, rows = fm.bins, fm.borders, 2 * fm.segments[-1, 0]
    strings, kept = np.empty((lengths.max() + 1, 4), np.int64), np.empty((lengths.max() + 1, 3), np.int64)
    accesses = 0
    for query in range(len(sources)):
        source, length, first = sources[query], lengths[query], 0
        while first < length:
            count, cost = _forward_strings(bins, borders, rows, words, source, length, first, strings)
            accesses += cost
            before, kept_before, kept_end = first, -1, 0
            for string in range(count):
                row, mirror, size, end = strings[string]
                if forward_limit >= 0 and end - first + before < min_length:
                    continue
                if kept_before >= 0 and end - kept_end <= forward_limit:
                    deepest, before = min(kept_before, before), 0
                    for depth in range(deepest, 0, -1):
                        row, mirror, size = kept[depth]
                        place = kept_end
                        while place < end and size:
                            base = base_at(words, source + place)
                            row, mirror, size = extend_forward(bins, borders, base, row, mirror, size)
                            accesses += 1
                            place += 1
                        if size:
                            before = depth
                            break
                    continue
                before = 0
                while before < first:
                    base = base_at(words, source + first - 1 - before)
                    row, mirror, size = extend_backward(bins, borders, base, row, mirror, size)
                    accesses += 1
                    if size == 0:
                        break
                    before += 1
                    kept[before, 0], kept[before, 1], kept[before, 2] = row, mirror, size
                kept_before, kept_end = before, end
            first = strings[count - 1, 3] if count else first + 1
    return accesses


def report(fm, query, ours):
    """Print the accesses of the published algorithms and ours, on the same queries."""
    words, sources, lengths, _, _, min_length = query
    smems, bwa = together(fm, words, sources, lengths, min_length)
    print(f"{smems} SMEM intervals; index accesses, and share saved of those of bwa's loop (Li 2012):")
    counts = {
        "bwa's loop": bwa,
        "Ahmed 2015, algorithm 1": one_by_one(fm, words, sources, lengths, min_length, -1),
    }
    for limit in (1, 3, 5):
        count = one_by_one(fm, words, sources, lengths, min_length, limit)
        counts[f"Ahmed 2015, algorithm 2, at most {limit} bases forward"] = count
    counts["smems"] = ours
    for what, count in counts.items():
        print(f"  {what}: {count}, {1 - count / bwa:.1%}")
