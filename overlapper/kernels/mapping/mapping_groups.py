"""Which mappings of a read are for the same part of it; docs/algorithms/mapping.md has the definition.

CPU only.
"""

import numpy as np

from overlapper.kernels.mapping.cuts import COLUMNS, PATH, Q_END, Q_START
from overlapper.runtime.compile.cache import njit


@njit(nogil=True, cache=True)
def group_rows(starts, order, q_start, q_end, mask_level):
    """Group the rows of every read.

    Parameters
    ----------
    starts : ndarray of int64, shape (reads + 1,)
        Where the rows of each read start in ``order``.
    order : ndarray of int64, shape (n,)
        Rows of each read, the best first.
    q_start, q_end : ndarray of int64, shape (n,)
        Intervals of the rows on the read.
    mask_level : int
        Rows belong together that share this percentage of the shorter one.

    Returns
    -------
    ndarray of int64, shape (n,)
        Of each row, the head of its group: the first head before it that it belongs to, else itself.
    """
    head, heads = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    for read in range(len(starts) - 1):
        n_heads = 0
        for place in range(starts[read], starts[read + 1]):
            row = order[place]
            own = np.int64(-1)
            for number in range(n_heads):
                other = heads[number]
                shared = min(q_end[row], q_end[other]) - max(q_start[row], q_start[other])
                shorter = min(q_end[row] - q_start[row], q_end[other] - q_start[other])
                if shared > 0 and 100 * shared >= mask_level * shorter:
                    own = other
                    break
            if own < 0:
                own = heads[n_heads] = row
                n_heads += 1
            head[row] = own
    return head


@njit(nogil=True, cache=True)
def uncovered(read, q_start, q_end, covering, share):
    """Tell which intervals on reads lie for the greater part where nothing is aligned.

    Parameters
    ----------
    read, q_start, q_end : ndarray of int64, shape (n,)
    covering : ndarray of int64, shape (m, 3)
        Read, start and end of what is aligned, ascending.
    share : int
        Percentage of an interval that may not be covered.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    free = np.empty(len(read), np.bool_)
    for row in range(len(read)):
        covered, end = np.int64(0), q_start[row]
        for i in range(np.searchsorted(covering[:, 0], read[row]), len(covering)):
            if covering[i, 0] > read[row] or covering[i, 1] >= q_end[row]:
                break
            start, stop = max(end, covering[i, 1]), min(q_end[row], covering[i, 2])
            covered += max(0, stop - start)
            end = max(end, stop)
        free[row] = 100 * covered < share * (q_end[row] - q_start[row])
    return free


@njit(nogil=True, cache=True)
def covered_parts(read, reverse, lengths, covering):
    """Find what of the reads of chains is aligned, as `cut_chains` takes parts of alignments.

    Parameters
    ----------
    read, reverse : ndarray, shape (chains,)
    lengths : ndarray of int64, shape (reads,)
    covering : ndarray of int64, shape (m, 3)
        Read, start and end of what is aligned, ascending.

    Returns
    -------
    ndarray of int64, shape (parts, COLUMNS)
        Disjoint, by chain; of a part its chain and its interval on the read as turned to the chain's strand.
    """
    starts = np.searchsorted(covering[:, 0], np.arange(len(lengths) + 1))
    counts = np.diff(starts)
    parts, n = np.zeros((counts[read].sum(), COLUMNS), np.int64), 0
    for chain in range(len(read)):
        first = n
        for i in range(starts[read[chain]], starts[read[chain] + 1]):
            if n > first and covering[i, 1] <= parts[n - 1, Q_END]:
                parts[n - 1, Q_END] = max(parts[n - 1, Q_END], covering[i, 2])
                continue
            parts[n, PATH], parts[n, Q_START], parts[n, Q_END] = chain, covering[i, 1], covering[i, 2]
            n += 1
        if reverse[chain]:
            turned = parts[first:n][::-1].copy()
            for i in range(first, n):
                parts[i] = turned[i - first]
                parts[i, Q_START] = lengths[read[chain]] - turned[i - first, Q_END]
                parts[i, Q_END] = lengths[read[chain]] - turned[i - first, Q_START]
    return parts[:n]


@njit(nogil=True, cache=True)
def room_for(read, q_start, q_end, covering, lengths):
    """Find how far intervals on reads may grow: to what is aligned on either side of them.

    Parameters
    ----------
    read, q_start, q_end, covering
        As `uncovered` takes them.
    lengths : ndarray of int64, shape (reads,)

    Returns
    -------
    low, high : ndarray of int64, shape (n,)
    """
    low, high = np.zeros(len(read), np.int64), np.empty(len(read), np.int64)
    for row in range(len(read)):
        high[row] = lengths[read[row]]
        for i in range(np.searchsorted(covering[:, 0], read[row]), len(covering)):
            if covering[i, 0] > read[row]:
                break
            if covering[i, 1] + covering[i, 2] <= q_start[row] + q_end[row]:
                low[row] = max(low[row], min(covering[i, 2], q_start[row]))
            else:
                high[row] = min(high[row], max(covering[i, 1], q_end[row]))
    return low, high


@njit(nogil=True, cache=True)
def best_others(row_starts, row_start, row_end, starts, q_start, q_end, score, own, share):
    """Find, of every alignment, the best score that another chain has on its part of the read.

    Parameters
    ----------
    row_starts : ndarray of int64, shape (reads + 1,)
        Where the alignments of each read start.
    row_start, row_end : ndarray of int64, shape (n,)
        What their chains span.
    starts : ndarray of int64, shape (reads + 1,)
        Where the chains of each read start.
    q_start, q_end, score : ndarray of int64, shape (m,)
        Of all chains.
    own : ndarray of int64, shape (n,)
        Which chain is that of the alignment.
    share : int
        Percentage of the shorter interval that a chain has in common with the alignment's.

    Returns
    -------
    ndarray of int64, shape (n,)
        A chain that spans more counts for the part of it that lies there.
    """
    best = np.zeros(len(row_start), np.int64)
    for read in range(len(starts) - 1):
        for row in range(row_starts[read], row_starts[read + 1]):
            for other in range(starts[read], starts[read + 1]):
                shared = min(row_end[row], q_end[other]) - max(row_start[row], q_start[other])
                span = q_end[other] - q_start[other]
                shorter = min(row_end[row] - row_start[row], span)
                if other != own[row] and shared > 0 and 100 * shared >= share * shorter:
                    best[row] = max(best[row], score[other] * shared // span)
    return best
