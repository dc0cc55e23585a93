"""Where overlaps of chains end: at a read end, or as far as an alignment from the chain (a walk) goes.

Definition of a walk
--------------------
Query and target run from the seed outwards. A walk goes in tiles, from ``(x, y)`` query and target bases, at
first ``(0, 0)``. A tile has the next ``h`` query bases: 64, or as many as are left of the query, or of the
target behind y. Its columns run from ``l = max(l of the tile before, y - 24)``, at first 0, to
``r = y + h + 24`` or the target's end. ``E(i, j)`` are the edits up to i query and j target bases::

    E(i, j) = min(E(i - 1, j) + 1, E(i, j - 1) + 1, E(i - 1, j - 1) + (0 if the bases are equal else 1))

Column l has ``E(i, l) = E(i - 1, l) + 1``. Row x is that of the tile before, and rises by one a column beyond
the last column there; at first ``E(0, j) = j``. Unknown bases equal nothing. The tile leads to
``(x + h, y')``, where y' is the column of the least ``E(x + h, .)``, of equals the lowest.

The walk scores ``end_edits (x + h) - 100 E(x + h, y')``. It goes on until one of the reads ends, or the score
is more than ``100 end_drop`` below the best so far, and ends where the score was best, of equals first, at
first 0.

Edits between reads are a quarter of the bases, between unrelated sequences about half.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from overlapper.kernels.chain import chain as kernel
from overlapper.kernels.chain.end_walks import LANES, EndScheme, walk_ends
from overlapper.kernels.common.walks import PackedReads, Seeds
from overlapper.params.stages import ChainParams
from overlapper.tables import Reads

LEFT, RIGHT = range(2)
Walker = Callable[[Seeds, np.ndarray, EndScheme], np.ndarray]
"""``walk(seeds, items, scheme)`` is `walk_ends` with the reads already given."""


class Chains(NamedTuple):
    """Chains and their pairs of reads.

    Attributes
    ----------
    query, target : ndarray of int32, shape (n,)
    reverse : ndarray of bool, shape (n,)
    rows : ndarray of int32, shape (n, kernel.COLUMNS)
    """

    query: np.ndarray
    target: np.ndarray
    reverse: np.ndarray
    rows: np.ndarray


def walker(reads: Reads) -> Walker:
    """Return `walk_ends` for these reads, on the CPU."""
    packed = PackedReads.of(reads)
    return lambda seeds, items, scheme: walk_ends(LANES, packed, seeds, items, scheme)


def chain_intervals(
    reads: Reads, chains: Chains, k: int, params: ChainParams, walk: Walker
) -> tuple[np.ndarray, np.ndarray]:
    """Return the intervals of the overlaps of chains, the target's on the query's strand.

    Parameters
    ----------
    reads : Reads
    chains : Chains
    k : int
        Seed length.
    params : ChainParams
    walk : Walker

    Returns
    -------
    q_ends, t_ends : ndarray of int64, shape (2, n)
        Starts and ends.
    """
    query, target, reverse, rows = chains
    q_length, t_length = reads.lengths[query], reads.lengths[target]
    x = rows[:, [kernel.FIRST_X, kernel.LAST_X]].T.astype(np.int64)
    y = rows[:, [kernel.FIRST_Y, kernel.LAST_Y]].T.astype(np.int64)
    missing = rows[:, [kernel.LEFT_MISSING, kernel.RIGHT_MISSING]].T
    q_beyond = np.stack([x[LEFT], q_length - k - x[RIGHT]])
    t_beyond = np.stack([y[LEFT], t_length - k - y[RIGHT]])
    sure = (missing <= params.reach) & (np.minimum(q_beyond, t_beyond) <= params.max_reach)
    sure &= rows[:, kernel.SEEDS] >= params.sure_seeds

    walked = ~sure & (missing <= params.give_up)
    q_reach, t_reach = np.zeros_like(x), np.zeros_like(y)

    def reach(ends: np.ndarray) -> np.ndarray:
        """Walk from the given ends of chains, extend those near a read end to it; return which reach one."""
        end, row = np.nonzero(ends & walked)
        seeds = Seeds(
            query[row], target[row], reverse[row], x[end, row],
            np.where(reverse[row], t_length[row] - k - y[end, row], y[end, row]), k,
        )  # fmt: skip
        items = 2 * np.arange(len(row)) + (end == RIGHT)
        q_more, t_more = walk(seeds, items, EndScheme(params.end_edits, params.end_drop)).T
        q_reach[end, row], t_reach[end, row] = q_more, t_more
        rest = np.minimum(q_beyond - q_reach, t_beyond - t_reach)
        carried = np.where(ends & (sure | (walked & (rest <= params.end_tolerance))), rest, 0)
        q_reach[:] += carried
        t_reach[:] += carried
        return carried == rest

    # A chain of few seeds is kept only if it reaches a read end on both sides; the left one is tried first.
    first = np.stack([np.ones(len(rows), bool), rows[:, kernel.SEEDS] >= params.sure_seeds])
    at_end = reach(first)
    reach(~first & at_end[LEFT])
    return (
        np.stack([x[LEFT] - q_reach[LEFT], x[RIGHT] + k + q_reach[RIGHT]]),
        np.stack([y[LEFT] - t_reach[LEFT], y[RIGHT] + k + t_reach[RIGHT]]),
    )
