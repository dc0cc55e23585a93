"""The table `Seeding` of k-mers at known positions."""

from __future__ import annotations

import numpy as np

from overlapper.tables import Seeding


def seeding_at(
    sketched: np.ndarray, positions: np.ndarray, starts: np.ndarray, word_offsets: np.ndarray
) -> Seeding:
    """Return `Seeding` of the k-mers at these positions of the reads.

    Parameters
    ----------
    sketched : ndarray of int32, shape (reads,)
    positions : ndarray of int32
        First bases of the k-mers, in any order within a read.
    starts : ndarray of int64, shape (reads + 1,)
        Where the positions of each read start.
    word_offsets : ndarray of int64, shape (reads + 1,)
        Column of the read table.
    """
    from overlapper.kernels.seeds.seed_marks import mark_positions

    marks = np.zeros(int(word_offsets[-1]), np.uint32)
    mark_positions(positions, starts, word_offsets, marks)
    return Seeding(sketched, marks, word_offsets)
