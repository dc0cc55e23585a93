"""Which rows of a piece vote (``docs/algorithms/correction.md``, section 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from overlapper.tables.base import offsets_of

if TYPE_CHECKING:
    from graph.consensus import Rows
    from overlapper.kernels.cpu import correct as kernel
    from overlapper.kernels.cpu import row_paths

LOOKED_AT = 10
"""Rows that are looked at where they have to be chosen, in multiples of those that vote."""


def rows_of_pieces(
    rows: Rows,
    pieces: kernel.Pieces,
    targets: kernel.Sequences,
    reads: kernel.Sequences,
    settings: kernel.Settings,
    max_depth: int,
    accurate: bool,
) -> tuple[kernel.Pieces, kernel.Rows, row_paths.Paths, np.ndarray]:
    """Cut rows to pieces and choose those of each piece.

    Parameters
    ----------
    rows : Rows
        In canonical order.
    pieces : kernel.Pieces
        With the rows of each target, not of each piece, in ``first``.
    targets, reads : kernel.Sequences
    settings : kernel.Settings
    max_depth : int
        Rows that vote on a base.
    accurate : bool
        Whether reads err so rarely that what several of them hold is no error.

    Returns
    -------
    kernel.Pieces, kernel.Rows, row_paths.Paths
    elsewhere : ndarray of int64, shape (pieces,)
        Rows that were left out because they are of another place.
    """
    from overlapper.kernels.cpu import correct as kernel
    from overlapper.kernels.cpu import piece_rows, row_paths, same_place

    first, row, cut = piece_rows.cut_rows(
        pieces.first, rows.t_start, rows.t_end, rows.r_start, rows.r_end, rows.reverse,
        pieces.target, pieces.start, pieces.end,
    )  # fmt: skip
    columns = np.ascontiguousarray(cut.T)
    on = kernel.Rows(rows.read[row], rows.reverse[row], columns[0], columns[1], columns[2], columns[3])
    paths = row_paths.no_paths(len(on.read))
    first, on, paths = take_rows(first, on, _within(first, on, LOOKED_AT * max_depth), paths)
    taken = _within(first, on, max_depth)
    elsewhere = np.zeros(len(pieces.target), np.int64)
    if settings.guard and not taken.all():
        crowded = _by_piece(first, ~taken) > 0
        same, paths = same_place.choose_rows(
            targets, reads, pieces._replace(first=first), on, settings, max_depth, crowded, accurate
        )
        elsewhere = _by_piece(first, ~same)
        first, on, paths = take_rows(first, on, same, paths)
        taken = _within(first, on, max_depth)
    first, on, paths = take_rows(first, on, taken, paths)
    return pieces._replace(first=first), on, paths, elsewhere


def _within(first: np.ndarray, on: kernel.Rows, max_depth: int) -> np.ndarray:
    from overlapper.kernels.cpu.piece_rows import within_depth

    return within_depth(first, on.t_start, on.t_end, max_depth)


def _by_piece(first: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Count the rows of every piece that are marked."""
    before = offsets_of(rows)
    return before[first[1:]] - before[first[:-1]]


def take_rows(
    first: np.ndarray, on: kernel.Rows, taken: np.ndarray, paths: row_paths.Paths
) -> tuple[np.ndarray, kernel.Rows, row_paths.Paths]:
    """Return some of the rows, where those of each piece start, and their paths."""
    before = offsets_of(taken)
    rows = type(on)(*(values[taken] for values in on))
    known = paths._replace(start=paths.start[taken], end=paths.end[taken], at=paths.at[taken])
    return before[first], rows, known
