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

from overlapper.kernels.chain import intervals
from overlapper.kernels.chain.end_walks import LANES, EndScheme, walk_ends
from overlapper.kernels.common.walks import PackedReads, Seeds
from overlapper.params.stages import ChainParams
from overlapper.tables import Reads

Walker = Callable[[Seeds, np.ndarray, EndScheme], np.ndarray]
"""``walk(seeds, items, scheme)`` is `walk_ends` with the reads already given."""


class Chains(NamedTuple):
    """Chains and their pairs of reads."""

    query: np.ndarray
    target: np.ndarray
    """`query`, `target`: int32, shape (n,)."""
    reverse: np.ndarray
    """bool, shape (n,)."""
    rows: np.ndarray
    """int32, shape (n, COLUMNS); as `overlapper.kernels.chain.chain.chain_candidates` returns them."""


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
    k : int
        Seed length.

    Returns
    -------
    q_ends, t_ends : ndarray of int32, shape (2, n)
        Starts and ends.
    """
    query, target, reverse, rows = chains
    ending = intervals.Ending(*(getattr(params, name) for name in intervals.Ending._fields))
    scheme = EndScheme(params.end_edits, params.end_drop)
    q_ends, t_ends, ends = intervals.begin(rows, query, target, reads.lengths, k, ending)
    while len(ends):
        seeds = intervals.seeds_at(ends, rows, query, target, reverse, reads.lengths, k)
        items = 2 * np.arange(len(ends)) + (ends & 1)
        walked = walk(seeds, items, scheme)
        ends = intervals.carry_on(
            ends, walked, rows, query, target, reads.lengths, ending, q_ends, t_ends
        )  # fmt: skip
    return q_ends, t_ends
