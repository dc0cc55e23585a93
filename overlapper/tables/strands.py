"""Intervals on either strand."""

from __future__ import annotations

import numpy as np


def forward_intervals(
    start: np.ndarray, end: np.ndarray, reverse: np.ndarray, lengths: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Turn intervals on the strand that matches into those on the forward strand of the read.

    Parameters
    ----------
    start, end : ndarray of int64, shape (n,)
        Half open.
    reverse : ndarray of bool, shape (n,)
    lengths : ndarray of int64, shape (n,)
        Of the reads.

    Returns
    -------
    start, end : ndarray of int64, shape (n,)
    """
    return np.where(reverse, lengths - end, start), np.where(reverse, lengths - start, end)
