"""Where chains end: carried on to the read end, or settled by X-drop (`overlapper.extend.chain`)."""

from __future__ import annotations

import numpy as np

from overlapper.kernels.cpu import chain as kernel
from overlapper.kernels.cpu.walks import PackedReads, Seeds
from overlapper.kernels.cpu.xdrop import Scheme, extend_items
from overlapper.params import ChainParams
from overlapper.tables import Candidates, Reads

LEFT, RIGHT = range(2)


def settle_ends(
    reads: Reads, candidates: Candidates, chains: np.ndarray, params: ChainParams
) -> tuple[np.ndarray, np.ndarray]:
    """Return the intervals of chains, the target's on the query's strand.

    Parameters
    ----------
    reads : Reads
    candidates : Candidates
    chains : ndarray of int32, shape (n, kernel.COLUMNS)
        Chains of these candidates.
    params : ChainParams

    Returns
    -------
    q_ends, t_ends : ndarray of int64, shape (2, n)
        Starts and ends.
    """
    rows = chains[:, kernel.CANDIDATE]
    query, target, reverse = candidates.query[rows], candidates.target[rows], candidates.reverse[rows]
    q_length, t_length = reads.lengths[query], reads.lengths[target]
    k = candidates.seed_length
    x = chains[:, [kernel.FIRST_X, kernel.LAST_X]].T.astype(np.int64)
    y = chains[:, [kernel.FIRST_Y, kernel.LAST_Y]].T.astype(np.int64)
    missing = chains[:, [kernel.LEFT_MISSING, kernel.RIGHT_MISSING]].T
    q_beyond = np.stack([x[LEFT], q_length - k - x[RIGHT]])
    t_beyond = np.stack([y[LEFT], t_length - k - y[RIGHT]])
    sure = (missing <= params.reach) & (np.minimum(q_beyond, t_beyond) <= params.max_reach)

    extended = ~sure & (missing <= params.give_up)
    end, row = np.nonzero(extended)
    seeds = Seeds(
        query[row], target[row], reverse[row], x[end, row],
        np.where(reverse[row], t_length[row] - k - y[end, row], y[end, row]), k,
    )  # fmt: skip
    packed = PackedReads(
        reads.words, reads.word_offsets, reads.lengths,
        reads.unknown_start, reads.unknown_end, reads.unknown_offsets,
    )  # fmt: skip
    items = 2 * np.arange(len(row)) + (end == RIGHT)
    _, q_more, t_more = extend_items(packed, seeds, Scheme(**vars(params.ends)), items).T
    q_reach, t_reach = np.zeros_like(x), np.zeros_like(y)
    q_reach[end, row], t_reach[end, row] = q_more, t_more

    rest = np.minimum(q_beyond - q_reach, t_beyond - t_reach)
    carried = np.where(sure | (extended & (rest <= params.end_tolerance)), rest, 0)
    q_reach += carried
    t_reach += carried
    return (
        np.stack([x[LEFT] - q_reach[LEFT], x[RIGHT] + k + q_reach[RIGHT]]),
        np.stack([y[LEFT] - t_reach[LEFT], y[RIGHT] + k + t_reach[RIGHT]]),
    )
