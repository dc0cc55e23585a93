"""Targets of the consensus are cut into windows, with margins that neighbours share.

The consensus of neighbours is joined at the base of the target where their windows meet.
"""

from __future__ import annotations

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class WindowBounds:
    """Windows of targets, without and with the margins that they share with their neighbours.

    Attributes
    ----------
    target, start, end, start_with_margin, end_with_margin : ndarray of int64, shape (windows,)
        Half-open intervals of targets; windows go by target, then by start. Margins of circular targets may
        begin before the first base and end behind the last one.
    """

    target: np.ndarray
    start: np.ndarray
    end: np.ndarray
    start_with_margin: np.ndarray
    end_with_margin: np.ndarray


def windows_of(
    lengths: np.ndarray, most: int, margin: int, circular: np.ndarray | bool = False
) -> WindowBounds:
    """Cut targets into equal windows.

    Parameters
    ----------
    lengths : ndarray of int64, shape (targets,)
    most : int
        Bases of a window, without margins.
    margin : int
        Bases of a margin; a quarter of the target at most.
    circular : ndarray of bool, shape (targets,)
        Of which targets the last window and the first are neighbours, too; of others they have no margins.
    """
    windows = np.maximum(1, -(-lengths // most))
    target = np.repeat(np.arange(len(lengths)), windows)
    number = np.arange(len(target)) - np.repeat(np.cumsum(windows) - windows, windows)
    start, end = (x * lengths[target] // windows[target] for x in (number, number + 1))
    margins = np.minimum(margin, lengths // 4)[target]
    low, high = start - margins, end + margins
    linear = ~np.broadcast_to(circular, lengths.shape)[target]
    low[linear], high[linear] = low[linear].clip(0), np.minimum(high, lengths[target])[linear]
    return WindowBounds(target, start, end, low, high)


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
