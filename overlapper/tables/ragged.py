"""Ragged columns: where the values of each row are, and values gathered by rows."""

from __future__ import annotations

import numpy as np


def offsets_of(counts: np.ndarray) -> np.ndarray:
    """Return where the values of each row of a ragged column start, and where those of the last one end.

    Parameters
    ----------
    counts : ndarray of int, shape (n,)
        Values of each row.

    Returns
    -------
    ndarray of int64, shape (n + 1,)
    """
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def places_within(counts: np.ndarray) -> np.ndarray:
    """Return the place of each item within its group: 0, 1, 2 ... for every group in turn.

    Parameters
    ----------
    counts : ndarray of int, shape (groups,)
        Items of each group.
    """
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def gather_ragged(values: np.ndarray, starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Concatenate ``values[starts[i] : starts[i] + counts[i]]`` over all ``i``.

    Parameters
    ----------
    values : ndarray, shape (v,)
    starts, counts : ndarray of int64, shape (n,)

    Returns
    -------
    ndarray, shape (counts.sum(),)
    """
    ends = starts + counts
    total = int(counts.sum())
    # Rows that follow each other in the values are copied as one piece.
    breaks = np.flatnonzero(starts[1:] != ends[:-1]) + 1
    if len(breaks) * 64 < total:
        begins, stops = starts[np.r_[0, breaks]], ends[np.r_[breaks - 1, -1]]
        return np.concatenate([values[b:e] for b, e in zip(begins.tolist(), stops.tolist(), strict=True)])
    before = np.cumsum(counts) - counts
    return values[np.arange(total) + np.repeat(starts - before, counts)]
