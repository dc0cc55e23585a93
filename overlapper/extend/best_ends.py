"""The best overlaps of every read end (option ``--best``).

Definition
----------
An overlap *reaches* an end of a read when, on that side of the match, the read sticks out no farther than
the other read does. It is among the ``n`` best of an end that it reaches when its score is at least the
``n``-th highest of all overlaps that reach the end: overlaps that tie are kept together, so that the order of
the reads does not matter. An overlap is kept when it is among the best of any of the ends that it reaches.
"""

from __future__ import annotations

import numpy as np

from overlapper.extend.classify import ends
from overlapper.kernels.selection.best_ends import add_scores
from overlapper.tables import Overlaps


class BestEnds:
    """Finds the best overlaps of all read ends, from overlaps in parts: `add` all parts, then ask `among`.

    Parameters
    ----------
    lengths : ndarray of int64, shape (reads,)
    n : int
        1 or more; memory is 8 n bytes a read.
    """

    def __init__(self, lengths: np.ndarray, n: int) -> None:
        self._lengths = lengths
        self._best = np.full((2 * len(lengths), n), -1, np.int32)

    def add(self, overlaps: Overlaps) -> None:
        """Enter the scores of a part of the overlaps."""
        reached, end_of = self._ends(overlaps)
        for column in range(4):
            rows = reached[:, column]
            add_scores(end_of[rows, column], overlaps.score[rows], self._best)

    def among(self, overlaps: Overlaps) -> np.ndarray:
        """Return a mask of the overlaps that are kept."""
        reached, end_of = self._ends(overlaps)
        least = self._best[:, -1][end_of]
        return (reached & (overlaps.score[:, None] >= least)).any(axis=1)

    def _ends(self, overlaps: Overlaps) -> tuple[np.ndarray, np.ndarray]:
        """Return which of the four read ends each overlap reaches (bool), and the numbers of these ends.

        The start of read ``i`` has number ``2 i``, its end ``2 i + 1``.
        """
        left_query, right_query, left_target, right_target = ends(overlaps, self._lengths)
        reached = np.stack(
            [
                left_query <= left_target,
                right_query <= right_target,
                left_target <= left_query,
                right_target <= right_query,
            ],
            axis=1,
        )
        query, target = 2 * overlaps.query.astype(np.int64), 2 * overlaps.target.astype(np.int64)
        left = overlaps.reverse.astype(np.int64)
        return reached, np.stack([query, query + 1, target + left, target + 1 - left], axis=1)
