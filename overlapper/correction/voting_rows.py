"""Which rows of a window vote (``docs/algorithms/correction.md``, section 1)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.correction.pileups import Rows
from overlapper.kernels.consensus import layers
from overlapper.kernels.consensus.layer_paths import STRETCH
from overlapper.kernels.consensus.layers import Settings, Windows
from overlapper.kernels.consensus.window_rows import LEAST, cut_rows, reach_beyond, within_depth
from overlapper.tables.ragged import offsets_of

LOOKED_AT = 4
"""In a crowded window, the rows that vote are chosen from up to this many times as many."""

MOST_SURPLUS = 4 * STRETCH
"""Surplus anchors on each stretch of a row from which on it is skipped: as many as six rows have on a
satellite of short units, or fifteen on a homopolymer."""
BEYOND = 1000
"""Successive bases that a row which touches rows that were left out must cover beyond these, to be like its
target where there are many copies."""
TWO_COPIES = 125
"""A window has two copies at most, as those of two haplotypes, where the rows left out have no more than this
percentage of the bases of those that stay."""
UNTOLD_FROM = 0.01
"""Error rate of reads from which on the rows in such windows that no site tells are like their targets: what
is no site is then not kept by the vote of all rows either."""


class Chosen(NamedTuple):
    """Windows and the rows that vote on them, or that those which vote are chosen from."""

    windows: Windows
    rows: layers.Rows
    crowded: np.ndarray
    """bool, shape (windows,); whether the rows that vote are still to be chosen, by aligning them."""


def rows_of_windows(rows: Rows, excess: np.ndarray, windows: Windows, settings: Settings) -> Chosen:
    """Cut rows to windows, and keep as many as vote on each; more on crowded windows, to choose from.

    Parameters
    ----------
    rows : Rows
        On the targets of the windows, in canonical order.
    excess : ndarray of float32, shape (rows,)
        How much more rows diverge than the nearest ones of their reads; NaN where that is unknown.
    windows : Windows
        Here, ``first`` has where the rows of each target start, from the target of the first window on.
    settings : Settings
    """
    none = np.zeros(len(rows), np.int32)
    whole = layers.Rows(
        rows.read, rows.reverse, rows.t_start, rows.t_end, rows.r_start, rows.r_end, none, none
    )
    first, on, of = cut_rows(whole, windows._replace(target=windows.target - windows.target[0]))
    first, on = take_rows(first, on, _nearest(first, on, excess[of], LOOKED_AT * settings.max_depth))
    taken = within_depth(first, on.t_start, on.t_end, settings.max_depth)
    crowded = np.zeros(len(windows.target), bool)
    if settings.haplotype_filter:
        crowded = _by_window(first, ~taken) > 0
    first, on = take_rows(first, on, taken | np.repeat(crowded, np.diff(first)))
    return Chosen(windows._replace(first=first), on, crowded)


def _nearest(first: np.ndarray, on: layers.Rows, excess: np.ndarray, most: int) -> np.ndarray:
    """Return a mask of the rows of windows with the least excess, ``most`` on a stretch; of equals the first.

    Most windows have no more rows than that; only where one has are rows put in this order.
    """
    order = np.arange(len(excess))
    if (np.diff(first) > most).any():
        order = np.lexsort((excess, np.repeat(np.arange(len(first) - 1), np.diff(first))))
    mask = np.zeros(len(order), bool)
    mask[order] = within_depth(first, on.t_start[order], on.t_end[order], most)
    return mask


def most_left_out(error_rate: float) -> int:
    """Return the ``most`` of `turned` for reads of an error rate."""
    return TWO_COPIES if error_rate >= UNTOLD_FROM else 0


def turned(chosen: Chosen, marks: np.ndarray, start: np.ndarray, stop: np.ndarray, most: int) -> Rows:
    """Return, for reads alike to a target, rows with read and target exchanged, without margins of windows.

    Rows that were left out show that there are other copies. Where there are many, a read that touches such
    rows may be of another one as well, unless it reaches beyond them, or sites tell that it is not.

    Parameters
    ----------
    chosen : Chosen
    marks : ndarray of uint8, shape (rows,)
    start, stop : ndarray of int64, shape (windows,)
        Interval of the target without margins.
    most : int
        Bases of rows left out, in percent of those that stay, up to which there are not many copies.
    """
    first, on = chosen.windows.first, chosen.rows
    window = np.repeat(np.arange(len(first) - 1), np.diff(first))
    left_out = np.flatnonzero(marks == layers.ELSEWHERE)
    left_out = left_out[np.lexsort((on.t_start[left_out], window[left_out]))]
    others_first = np.searchsorted(window[left_out], np.arange(len(first)))
    beyond = reach_beyond(
        first, on.t_start, on.t_end, others_first, on.t_start[left_out], on.t_end[left_out], BEYOND
    )
    bases = on.t_end - on.t_start
    staying = bases * ((marks != layers.ELSEWHERE) & (marks != layers.IDLE))
    gone = np.bincount(window[left_out], bases[left_out], len(first) - 1)
    few = 100 * gone <= most * np.bincount(window, staying, len(first) - 1)
    alike = (marks == layers.ALIKE) & (beyond | few[window])
    which = np.flatnonzero(alike | (marks == layers.CIS))
    window = window[which]
    on = layers.Rows(*(column[which] for column in chosen.rows))
    begin, bases = on.t_start + chosen.windows.start[window], on.t_end - on.t_start
    low, high = np.maximum(begin, start[window]), np.minimum(begin + bases, stop[window])
    # Rows are cut proportionally, as by `cut_rows`.
    run = on.r_end - on.r_start
    left, right = ((place - begin) * run // np.maximum(bases, 1) for place in (low, high))
    rows = Rows(
        on.read, chosen.windows.target[window], on.reverse,
        np.where(on.reverse, on.r_end - right, on.r_start + left),
        np.where(on.reverse, on.r_end - left, on.r_start + right),
        low, high, high - low, np.full(len(which), np.nan),
    )  # fmt: skip
    return rows.take(np.flatnonzero((high - low >= LEAST) & (right > left)))


def _by_window(first: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Count the marked rows of every window."""
    before = offsets_of(rows)
    return before[first[1:]] - before[first[:-1]]


def take_rows(first: np.ndarray, on: layers.Rows, taken: np.ndarray) -> tuple[np.ndarray, layers.Rows]:
    """Select rows; return where those of each window start, and the rows."""
    if taken.all():
        return first, on
    return offsets_of(taken)[first], type(on)(*(values[taken] for values in on))
