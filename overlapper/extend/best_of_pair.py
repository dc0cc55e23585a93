"""The best overlaps of each pair of reads (option ``--best-of-pair``).

Reads of tandem copies match in several ways, reads that go round a small circle at both ends, and where a bad
stretch divides an overlap its halves are two. Of a pair the ``most`` overlaps of the highest scores are
reported; of equal ones that of the forward strand goes first, then the first. One that begins or ends at the
same bases of both reads as a better one, on the same strand, is that one found again, and does not count.
"""

from __future__ import annotations

import numpy as np

from overlapper.tables import Overlaps


def best_of_pair(overlaps: Overlaps, among: np.ndarray, most: int = 1) -> np.ndarray:
    """Return the best-scoring rows of each read pair.

    Parameters
    ----------
    among : ndarray of bool, shape (n,)
        The rows to choose from.
    most : int
        Rows of a pair; 0 for all.

    Returns
    -------
    ndarray of int64
        In canonical order (`Overlaps.SORT_KEYS`).
    """
    rows = np.flatnonzero(among)
    pair = _pairs(overlaps, rows)
    # Rows usually come sorted by pair, which a stable sort takes little time for.
    by_pair = np.argsort(pair, kind="stable")
    rows, pair = rows[by_pair], pair[by_pair]
    starts = np.flatnonzero(np.diff(pair, prepend=-1))
    sizes = np.diff(starts, append=len(rows))
    rank = 2 * overlaps.score[rows].astype(np.int64) - overlaps.reverse[rows]
    if most == 1:
        highest = np.maximum.reduceat(rank, starts)
        best = np.flatnonzero(rank == np.repeat(highest, sizes))
        return rows[best[np.diff(pair[best], prepend=-1) > 0]]
    # Most pairs have one overlap, and keep it.
    alone = np.repeat(sizes == 1, sizes)
    several = ~alone
    kept = np.concatenate(
        [rows[alone], _best_of_several(overlaps, rows[several], pair[several], rank[several], most)]
    )
    return kept[np.argsort(_pairs(overlaps, kept), kind="stable")]


def _pairs(overlaps: Overlaps, rows: np.ndarray) -> np.ndarray:
    """Return the pair of reads of each row, packed in one int64."""
    return (overlaps.query[rows].astype(np.int64) << 32) | overlaps.target[rows]


def _best_of_several(
    overlaps: Overlaps, rows: np.ndarray, pair: np.ndarray, rank: np.ndarray, most: int
) -> np.ndarray:
    """Return the best rows of pairs that have several, in canonical order; columns are sorted by pair."""
    best_first = np.lexsort([-rank, pair])
    rows = rows[best_first]
    o = overlaps
    reverse, q_start, q_end = o.reverse[rows], o.q_start[rows], o.q_end[rows]
    t_start, t_end = o.t_start[rows], o.t_end[rows]
    again = _again(pair, reverse, q_start, np.where(reverse, t_end, t_start))
    again |= _again(pair, reverse, q_end, np.where(reverse, t_start, t_end))
    rows, pair = rows[~again], pair[~again]
    if most:
        best = np.arange(len(rows)) - np.searchsorted(pair, pair) < most
        rows = rows[best]
    return rows[np.lexsort([getattr(o, key)[rows] for key in reversed(o.SORT_KEYS)])]


def _again(*columns: np.ndarray) -> np.ndarray:
    """Return a mask of the rows that repeat the values of an earlier row."""
    order = np.lexsort(columns[::-1])
    same = np.ones(max(0, len(order) - 1), np.bool_)
    for column in columns:
        same &= column[order[1:]] == column[order[:-1]]
    again = np.zeros(len(order), np.bool_)
    again[order[1:]] = same
    return again
