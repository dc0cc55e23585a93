"""Which rows of a window vote (``docs/algorithms/correction.md``, section 1)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.correct.pileups import Rows
from overlapper.kernels.consensus import copy_filter, layers
from overlapper.kernels.consensus.layer_paths import STRETCH, Paths, no_paths
from overlapper.kernels.consensus.layers import Sequences, Settings, Windows
from overlapper.kernels.consensus.window_rows import cut_rows, within_depth
from overlapper.tables.base import offsets_of

LOOKED_AT = 10
"""Rows that are looked at where they have to be chosen, in multiples of those that vote."""


MOST_SURPLUS = 4 * STRETCH
"""Surplus anchors that the rows before have on each stretch of a row that is not looked at: those of six rows
of a satellite of short units, and of fifteen of a homopolymer."""


class Chosen(NamedTuple):
    """Windows and the rows that vote on them.

    Attributes
    ----------
    number : ndarray of int64, shape (windows,)
        Of the windows, among all.
    windows : Windows
    rows : layers.Rows
    paths : Paths
        Of rows that had to be aligned to be chosen.
    elsewhere : ndarray of int64, shape (windows,)
        Rows that were left out because they are of another place.
    """

    number: np.ndarray
    windows: Windows
    rows: layers.Rows
    paths: Paths
    elsewhere: np.ndarray


def choose_rows(
    rows: Rows, number: np.ndarray, windows: Windows, targets: Sequences, reads: Sequences, settings: Settings
) -> Chosen:
    """Cut rows to windows and choose those of each window.

    Parameters
    ----------
    rows : Rows
        On the targets of the windows, in canonical order.
    number : ndarray of int64, shape (windows,)
    windows : Windows
        With the rows of each target, from that of the first window on, not of each window, in ``first``.
    targets, reads : Sequences
    settings : Settings
    """
    whole = layers.Rows(rows.read, rows.reverse, rows.t_start, rows.t_end, rows.r_start, rows.r_end)
    first, on = cut_rows(whole, windows._replace(target=windows.target - windows.target[0]))
    paths = no_paths(len(on.read))
    looked_at = within_depth(first, on.t_start, on.t_end, LOOKED_AT * settings.max_depth)
    first, on, paths = take_rows(first, on, looked_at, paths)
    taken = within_depth(first, on.t_start, on.t_end, settings.max_depth)
    elsewhere = np.zeros(len(windows.target), np.int64)
    if settings.haplotype_filter and not taken.all():
        crowded = _by_window(first, ~taken) > 0
        same, paths = copy_filter.choose_rows(
            targets, reads, windows._replace(first=first), on, settings, MOST_SURPLUS, crowded
        )
        elsewhere = _by_window(first, ~same)
        first, on, paths = take_rows(first, on, same, paths)
        taken = within_depth(first, on.t_start, on.t_end, settings.max_depth)
    first, on, paths = take_rows(first, on, taken, paths)
    return Chosen(number, windows._replace(first=first), on, paths, elsewhere)


def _by_window(first: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Count the rows of every window that are marked."""
    before = offsets_of(rows)
    return before[first[1:]] - before[first[:-1]]


def take_rows(
    first: np.ndarray, on: layers.Rows, taken: np.ndarray, paths: Paths
) -> tuple[np.ndarray, layers.Rows, Paths]:
    """Return some of the rows, where those of each window start, and their paths."""
    before = offsets_of(taken)
    rows = type(on)(*(values[taken] for values in on))
    known = paths._replace(
        start=paths.start[taken], end=paths.end[taken], at=paths.at[taken],
        run_start=paths.run_start[taken], run_end=paths.run_end[taken],
    )  # fmt: skip
    return before[first], rows, known
