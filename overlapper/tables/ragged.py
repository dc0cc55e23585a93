"""Ragged columns: where the values of each row are, values gathered by rows, runs within rows."""

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
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, dtype=np.int64, out=offsets[1:])
    return offsets


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


def runs_of(marked: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the runs of marked values within the rows of a ragged column.

    Parameters
    ----------
    marked : ndarray of bool
        Of the values of all rows.
    offsets : ndarray of int64, shape (n + 1,)
        Where each row starts.

    Returns
    -------
    start, end : ndarray of int32
        Interval of each run within its row, half open.
    runs : ndarray of int64, shape (n,)
        Number of runs of each row.
    """
    if not marked.any():
        return np.empty(0, np.int32), np.empty(0, np.int32), np.zeros(len(offsets) - 1, np.int64)
    borders = np.zeros(len(marked) + 1, bool)
    borders[offsets] = True
    starts, ends = marked.copy(), marked.copy()
    starts[1:] &= ~marked[:-1] | borders[1:-1]
    ends[:-1] &= ~marked[1:] | borders[1:-1]
    at = np.flatnonzero(starts)
    row = np.searchsorted(offsets, at, "right") - 1
    first = offsets[row]
    runs = np.bincount(row, minlength=len(offsets) - 1)
    return (at - first).astype(np.int32), (np.flatnonzero(ends) + 1 - first).astype(np.int32), runs
