"""Windows of targets, with margins that neighbours share.

The consensus of two neighbours is joined at the base of the target where they meet without margins.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from overlapper.tables.ragged import places_within


@dataclasses.dataclass(frozen=True)
class WindowBounds:
    """Windows of targets, without and with the margins that they share with their neighbours."""

    target: np.ndarray
    start: np.ndarray
    end: np.ndarray
    start_with_margin: np.ndarray
    end_with_margin: np.ndarray
    """`target`, `start`, `end`, `start_with_margin`, `end_with_margin`: int64, shape (windows,); half-open
    intervals of targets; windows go by target, then by start. Margins of circular targets may begin before
    the first base and end behind the last one."""


def windows_of(
    lengths: np.ndarray, most: int, margin: int, circular: np.ndarray | bool = False
) -> WindowBounds:
    """Cut targets into windows of equal size.

    Parameters
    ----------
    lengths : ndarray of int64, shape (targets,)
    most : int
        Bases of a window, without margins.
    margin : int
        Bases of a margin; a quarter of the target at most.
    circular : ndarray of bool, shape (targets,)
        Circular targets, whose first and last windows are neighbours; those of linear targets have no outer
        margins.
    """
    windows = np.maximum(1, -(-lengths // most))
    target = np.repeat(np.arange(len(lengths)), windows)
    number = places_within(windows)
    start, end = (x * lengths[target] // windows[target] for x in (number, number + 1))
    margins = np.minimum(margin, lengths // 4)[target]
    low, high = start - margins, end + margins
    linear = ~np.broadcast_to(circular, lengths.shape)[target]
    low[linear], high[linear] = low[linear].clip(0), np.minimum(high, lengths[target])[linear]
    return WindowBounds(target, start, end, low, high)


def without_margins(
    made: tuple[np.ndarray, ...], shift: np.ndarray, start: np.ndarray, end: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Cut the margins off the consensus of every window.

    Parameters
    ----------
    made : tuple of ndarray
        Result of `overlapper.kernels.consensus.consensus.correct_windows`.
    shift : ndarray of int64, shape (windows,)
        First base of each window on the target, with margins.
    start, end : ndarray of int64, shape (windows,)
        Interval of the target, half open, whose consensus is kept.

    Returns
    -------
    tuple of ndarray
        The same columns, with lengths in place of offsets, and origins counted on the target.
    """
    offsets, *columns, origin, counts = made
    window = np.repeat(np.arange(len(start)), np.diff(offsets))
    place = origin + shift[window]
    inside = (place >= start[window]) & (place < end[window])
    lengths = np.bincount(window[inside], minlength=len(start))
    return lengths, *(values[inside] for values in columns), place[inside].astype(np.int32), counts
