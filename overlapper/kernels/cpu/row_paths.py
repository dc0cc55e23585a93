"""Where the paths of the members of a piece are kept, and those that are known before the members vote.

Rows that had to be aligned to be chosen (`kernels.cpu.same_place`) need not be aligned again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit


class Paths(NamedTuple):
    """Paths of rows that are known before they vote; those of a piece are known together.

    Attributes
    ----------
    start, end : ndarray of int64, shape (rows,)
        Columns of the piece that the path of each row covers.
    at : ndarray of int64, shape (rows,)
        Where its entries ``start`` to ``end``, both included, begin in ``starts``; -1 where it is not known.
    starts : ndarray of int32
        As in `edit_paths`.
    """

    start: np.ndarray
    end: np.ndarray
    at: np.ndarray
    starts: np.ndarray


def no_paths(rows):
    """Return the paths of so many rows of which none is known."""
    return Paths(np.zeros(rows, np.int64), np.zeros(rows, np.int64), np.full(rows, -1), np.empty(0, np.int32))


@njit(nogil=True, cache=True)
def room_for_paths(target, members, rows, low, settings):
    """Return rows of the paths of all members; only that of the target is there."""
    own = len(members.start) - 1
    size = np.int64(len(target) + 1)
    for m in range(own):
        size += rows.t_end[low + m] - rows.t_start[low + m] + 1
    starts = np.empty(size, np.int32)
    for x in range(len(target) + 1):
        starts[x] = x
    members.start[own], members.end[own], members.at[own] = 0, len(target), 0
    members.used[own] = settings.target_votes
    return starts


@njit(nogil=True, cache=True)
def known_paths(target, members, rows, low, settings, paths):
    """Return rows of the paths of all members of a piece, those of the rows from ``low`` on being known."""
    starts = room_for_paths(target, members, rows, low, settings)
    at = np.int64(len(target) + 1)
    for m in range(len(members.start) - 1):
        row = low + m
        start, end = paths.start[row], paths.end[row]
        members.start[m], members.end[m], members.used[m] = start, end, True
        members.at[m] = at - start
        starts[at : at + end - start + 1] = paths.starts[paths.at[row] : paths.at[row] + end - start + 1]
        at += end - start + 1
    return starts
