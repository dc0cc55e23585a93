"""Targets of the consensus are cut into pieces, with margins that neighbours share.

The consensus of neighbours is joined at the base of the target where their pieces meet.
"""

from __future__ import annotations

import dataclasses

import numpy as np

PIECE_BASES = 50_000
MARGIN = 1_000


@dataclasses.dataclass(frozen=True)
class PieceBounds:
    """Pieces of targets, without and with the margins that they share with their neighbours.

    Attributes
    ----------
    target, start, end, start_with_margin, end_with_margin : ndarray of int64, shape (pieces,)
        Half-open intervals of targets; pieces go by target, then by start.
    """

    target: np.ndarray
    start: np.ndarray
    end: np.ndarray
    start_with_margin: np.ndarray
    end_with_margin: np.ndarray


def pieces_of(lengths: np.ndarray) -> PieceBounds:
    """Cut targets of some lengths into equal pieces of at most about `PIECE_BASES`."""
    pieces = np.maximum(1, -(-lengths // PIECE_BASES))
    target = np.repeat(np.arange(len(lengths)), pieces)
    number = np.arange(len(target)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    start, end = (x * lengths[target] // pieces[target] for x in (number, number + 1))
    return PieceBounds(
        target, start, end, np.maximum(start - MARGIN, 0), np.minimum(end + MARGIN, lengths[target])
    )


def without_margins(
    made: tuple[np.ndarray, ...], shift: np.ndarray, start: np.ndarray, end: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Cut the consensus of every piece to what lies between its bounds.

    Parameters
    ----------
    made : tuple of ndarray
        What `overlapper.kernels.consensus.consensus.correct_pieces` returned.
    shift : ndarray of int64, shape (pieces,)
        Base of the target that each piece starts with.
    start, end : ndarray of int64, shape (pieces,)
        Bases of the target, half open, whose consensus is wanted.

    Returns
    -------
    tuple of ndarray
        The same, with the length of each consensus in place of offsets, and origins on the target.
    """
    offsets, *columns, origin, counts = made
    piece = np.repeat(np.arange(len(start)), np.diff(offsets))
    place = origin + shift[piece]
    inside = (place >= start[piece]) & (place < end[piece])
    lengths = np.bincount(piece[inside], minlength=len(start))
    return lengths, *(values[inside] for values in columns), place[inside].astype(np.int32), counts
