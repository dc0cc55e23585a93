"""Chains cut into gaps and the anchors behind them, which are aligned independently.

CPU only: the host cuts chains for GPUs, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from overlapper.kernels.common.edit_paths import CODES
from overlapper.kernels.mapping.chain_paths import room
from overlapper.runtime.compile.cache import njit

_MOST_CLASSES = 64


class Gaps(NamedTuple):
    """Gaps between anchors, each with what counts of the anchor behind it.

    Positions are on the read as turned to the strand that matches, and in the window of the chain.

    Attributes
    ----------
    chain : ndarray of int32, shape (n,)
    q_start, q_end, t_start, t_end : ndarray of int32, shape (n,)
        Of the gap; of the first anchor of a chain it is empty.
    anchor : ndarray of int32, shape (n,)
        Bases of the anchor behind the gap.
    """

    chain: np.ndarray
    q_start: np.ndarray
    q_end: np.ndarray
    t_start: np.ndarray
    t_end: np.ndarray
    anchor: np.ndarray


class Frames(NamedTuple):
    """What an alignment of each chain may need of its sequences, and where its ends begin.

    Attributes
    ----------
    t_first, t_last : ndarray of int64, shape (chains,)
        The window, on the reference sequence.
    q_left, t_left, q_right, t_right : ndarray of int32, shape (chains,)
        First base of the first anchor, and first one behind the last anchor, on read and window.
    """

    t_first: np.ndarray
    t_last: np.ndarray
    q_left: np.ndarray
    t_left: np.ndarray
    q_right: np.ndarray
    t_right: np.ndarray


@njit(nogil=True, cache=True)
def matrix_words(q_bases, t_bases):
    """Return the 64-bit words that the matrix of a gap takes (`edit_paths.Matrix`)."""
    return ((q_bases + 63) >> 6) * (CODES + 2 * (t_bases + 1))


@njit(nogil=True, cache=True)
def by_size(gaps, smallest, ratio):
    """Sort gaps by what their matrices take: up to ``smallest`` words, ``ratio`` times as many, and so on.

    Returns
    -------
    order : ndarray of int32, shape (n,)
        Within a class the gaps stay in order.
    bounds : ndarray of int64, shape (classes + 1,)
        Where the classes start.
    """
    n = len(gaps.chain)
    classes, counts = np.empty(n, np.uint8), np.zeros(_MOST_CLASSES + 1, np.int64)
    used = 0
    for gap in range(n):
        words = matrix_words(gaps.q_end[gap] - gaps.q_start[gap], gaps.t_end[gap] - gaps.t_start[gap])
        number, most = 0, smallest
        while words > most:
            number, most = number + 1, most * ratio
        classes[gap] = number
        counts[number + 1] += 1
        used = max(used, number + 1)
    bounds = np.cumsum(counts)
    order, ends = np.empty(n, np.int32), bounds.copy()
    for gap in range(n):
        order[ends[classes[gap]]] = gap
        ends[classes[gap]] += 1
    return order, bounds[: used + 1]


@njit(nogil=True, cache=True)
def cut_gaps(q_lengths, t_lengths, row_starts, x, y, length):
    """Cut chains into gaps; the arguments are as of `chain_paths.align_chains`, lengths by chain.

    Returns
    -------
    Gaps, Frames
    """
    n, most = len(q_lengths), len(x)
    gaps = Gaps(
        np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.int32),
        np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.int32),
    )  # fmt: skip
    frames = Frames(
        np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int32), np.empty(n, np.int32),
        np.empty(n, np.int32), np.empty(n, np.int32),
    )  # fmt: skip
    at = 0
    for chain in range(n):
        first, last = row_starts[chain], row_starts[chain + 1] - 1
        t_first = max(0, y[first] - room(x[first]))
        frames.t_first[chain] = t_first
        frames.t_last[chain] = min(
            t_lengths[chain], y[last] + room(q_lengths[chain] - x[last]) + length[last]
        )
        q_end, t_end = x[first], y[first] - t_first
        frames.q_left[chain], frames.t_left[chain] = q_end, t_end
        for anchor in range(first, last + 1):
            q, t = x[anchor], y[anchor] - t_first
            covered = max(q_end - q, t_end - t, 0)
            if covered >= length[anchor]:
                continue
            gaps.chain[at] = chain
            gaps.q_start[at], gaps.q_end[at] = q_end, q + covered
            gaps.t_start[at], gaps.t_end[at] = t_end, t + covered
            gaps.anchor[at] = length[anchor] - covered
            q_end, t_end = q + length[anchor], t + length[anchor]
            at += 1
        frames.q_right[chain], frames.t_right[chain] = q_end, t_end
    return Gaps(
        gaps.chain[:at], gaps.q_start[:at], gaps.q_end[:at], gaps.t_start[:at], gaps.t_end[:at],
        gaps.anchor[:at],
    ), frames  # fmt: skip
