"""Targets of the consensus are cut into windows, with margins that neighbours share.

The consensus of neighbours is joined at the base of the target where their windows meet.
"""

from __future__ import annotations

import dataclasses

import numpy as np

WINDOW_BASES = 50_000
MARGIN = 1_000


@dataclasses.dataclass(frozen=True)
class WindowBounds:
    """Windows of targets, without and with the margins that they share with their neighbours.

    Attributes
    ----------
    target, start, end, start_with_margin, end_with_margin : ndarray of int64, shape (windows,)
        Half-open intervals of targets; windows go by target, then by start.
    """

    target: np.ndarray
    start: np.ndarray
    end: np.ndarray
    start_with_margin: np.ndarray
    end_with_margin: np.ndarray


def windows_of(lengths: np.ndarray) -> WindowBounds:
    """Cut targets of some lengths into equal windows of at most about `WINDOW_BASES`."""
    windows = np.maximum(1, -(-lengths // WINDOW_BASES))
    target = np.repeat(np.arange(len(lengths)), windows)
    number = np.arange(len(target)) - np.repeat(np.cumsum(windows) - windows, windows)
    start, end = (x * lengths[target] // windows[target] for x in (number, number + 1))
    return WindowBounds(
        target, start, end, np.maximum(start - MARGIN, 0), np.minimum(end + MARGIN, lengths[target])
    )


def without_margins(
    made: tuple[np.ndarray, ...], shift: np.ndarray, start: np.ndarray, end: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Cut the consensus of every window to what lies between its bounds.

    Parameters
    ----------
    made : tuple of ndarray
        What `overlapper.kernels.consensus.consensus.correct_windows` returned.
    shift : ndarray of int64, shape (windows,)
        Base of the target that each window starts with.
    start, end : ndarray of int64, shape (windows,)
        Bases of the target, half open, whose consensus is wanted.

    Returns
    -------
    tuple of ndarray
        The same, with the length of each consensus in place of offsets, and origins on the target.
    """
    offsets, *columns, origin, counts = made
    window = np.repeat(np.arange(len(start)), np.diff(offsets))
    place = origin + shift[window]
    inside = (place >= start[window]) & (place < end[window])
    lengths = np.bincount(window[inside], minlength=len(start))
    return lengths, *(values[inside] for values in columns), place[inside].astype(np.int32), counts
