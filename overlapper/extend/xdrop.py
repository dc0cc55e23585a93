"""The X-drop extender: score, both ends and an estimate of the identity, without an alignment.

docs/algorithms/xdrop.md defines the extension. A seed of k bases scores ``k * match``; the score of an
overlap is that of its seed plus those of the extensions to both sides.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from overlapper.errors import ParameterError
from overlapper.extend.gact import check_seeds
from overlapper.kernels.common.walks import PackedReads, Seeds, exact_seeds
from overlapper.kernels.xdrop.xdrop import Scheme, extend_seeds
from overlapper.params.stages import XdropParams
from overlapper.runtime.threads import even_ranges, map_in_order
from overlapper.tables import Candidates, Intervals, Overlaps, Reads
from overlapper.tables.overlaps import UNCLASSIFIED

if TYPE_CHECKING:
    from overlapper.gpu.gpus import Gpus

REQUEUED = "extensions requeued to wider kernels"
"""Name of a count of the funnel: extensions that grew too wide for a kernel and went to the next one."""
_BLOCK_BASES = 1 << 20
"""Most bases of the reads of a block of candidates: a hundred candidates of 10 kb, ten milliseconds."""


def extend(
    reads: Reads, candidates: Candidates, params: XdropParams, threads: int, gpus: Gpus | None = None
) -> tuple[Overlaps, dict[str, int]]:
    """Extend the seed of every candidate (`overlapper.extend.registry.Extender`); none is dropped.

    ``matches``, ``block_length`` and ``divergence`` are the estimates of `estimate_columns`.

    Raises
    ------
    ParameterError
        When a seed lies outside its reads or is no exact match, or a score could exceed 32 bits.
    DeviceError
        When the GPUs have too little memory.
    """
    if not len(candidates):
        return Overlaps.empty(), {}
    check_seeds(reads, candidates)
    room = _room(reads, candidates)
    if not fits_scores(int(room.max()), params):
        raise ParameterError(
            f"match is {params.match}, with which the {int(room.max())} bases of an overlap score more than "
            "32 bits hold; use smaller scores"
        )
    packed = PackedReads.of(reads)
    scheme = Scheme(**vars(params))

    def seeds_of(rows: slice) -> Seeds:
        return Seeds(
            candidates.query[rows], candidates.target[rows], candidates.reverse[rows],
            candidates.query_pos[rows], candidates.target_pos[rows], candidates.seed_length,
        )  # fmt: skip

    def extend_rows(rows: slice) -> np.ndarray:
        seeds = seeds_of(rows)
        _check_exact(reads, candidates, int(rows.start), exact_seeds(packed, seeds))
        return extend_seeds(packed, seeds, scheme)

    if gpus is None:
        blocks = [slice(*rows) for rows in even_ranges(room, _BLOCK_BASES)]
        extensions = np.concatenate(list(map_in_order(extend_rows, blocks, threads)))
    else:
        seeds = seeds_of(slice(None))
        _check_exact(reads, candidates, 0, exact_seeds(packed, seeds))
        extensions = _extend_on(gpus, seeds, scheme)
    return _overlaps(candidates, extensions, params), {}


def _extend_on(gpus: Gpus, seeds: Seeds, scheme: Scheme) -> np.ndarray:
    from overlapper.kernels.xdrop.cuda import xdrop

    found = gpus.run(partial(xdrop.extend_seeds, scheme=scheme), seeds)
    gpus.count(REQUEUED, sum(found.tried.values()) - 2 * len(seeds.query))
    return found.extensions


def fits_scores(bases: int, params: XdropParams) -> bool:
    """Return whether the scores of overlaps of that many bases fit 32 bits."""
    return bases * params.match < 2**31


def estimate_columns(
    score: np.ndarray, q_bases: np.ndarray, t_bases: np.ndarray, params: XdropParams
) -> tuple[np.ndarray, np.ndarray]:
    """Estimate the columns of alignments from their scores and the lengths of their intervals.

    An alignment of M matches, D mismatches and G gap bases satisfies two equations,
    ``2 M + 2 D + G = q_bases + t_bases`` and ``match M + mismatch D + gap G = score``. What they leave open
    is settled by taking mismatches, insertions and deletions as equally frequent (G = 2 D), with G at least
    the difference of the lengths and of the parity of their sum; D and M follow from the equations. Where
    ``mismatch == 2 * gap``, M does not depend on G and is exact.

    Parameters
    ----------
    score, q_bases, t_bases : ndarray of int, shape (n,)

    Returns
    -------
    matches, columns : ndarray of int64, shape (n,)
        M, rounded down, and M + D + G.
    """
    match, mismatch, gap = params.match, params.mismatch, params.gap
    both = q_bases.astype(np.int64) + t_bases
    apart = np.abs(q_bases.astype(np.int64) - t_bases)
    gaps = np.maximum((match * both - 2 * score) // (2 * match - mismatch - 2 * gap), apart)
    gaps += (gaps ^ both) & 1
    pairs = (both - gaps) // 2
    matches = (score - gap * gaps - mismatch * pairs) // (match - mismatch)
    return np.clip(matches, 0, pairs), pairs + gaps


def _check_exact(reads: Reads, candidates: Candidates, first: int, exact: np.ndarray) -> None:
    if not exact.all():
        row = first + int(np.argmin(exact))
        raise ParameterError(
            f"candidate {row}: the {candidates.seed_length} bases at position {candidates.query_pos[row]} of "
            f"read {reads.name(candidates.query[row])} do not match those at {candidates.target_pos[row]} of "
            f"read {reads.name(candidates.target[row])}; X-drop extends exact seeds"
        )


def _room(reads: Reads, candidates: Candidates) -> np.ndarray:
    """Return the most bases of the shorter interval that an overlap can have."""
    q_before = candidates.query_pos.astype(np.int64)
    q_after = reads.lengths[candidates.query] - q_before - candidates.seed_length
    t_below = candidates.target_pos.astype(np.int64)
    t_above = reads.lengths[candidates.target] - t_below - candidates.seed_length
    t_before = np.where(candidates.reverse, t_above, t_below)
    t_after = np.where(candidates.reverse, t_below, t_above)
    return np.minimum(q_before, t_before) + np.minimum(q_after, t_after) + candidates.seed_length


def _overlaps(candidates: Candidates, extensions: np.ndarray, params: XdropParams) -> Overlaps:
    before, after = extensions[:, 0], extensions[:, 1]
    below = np.where(candidates.reverse, after[:, 2], before[:, 2])
    above = np.where(candidates.reverse, before[:, 2], after[:, 2])
    intervals = Intervals(
        candidates.query, candidates.target, candidates.reverse,
        candidates.query_pos - before[:, 1],
        candidates.query_pos + candidates.seed_length + after[:, 1],
        candidates.target_pos - below,
        candidates.target_pos + candidates.seed_length + above,
    )  # fmt: skip
    score = before[:, 0] + after[:, 0] + candidates.seed_length * params.match
    return estimated(intervals, score, candidates.seeds, params)


def estimated(intervals: Intervals, score: np.ndarray, seeds: np.ndarray, params: XdropParams) -> Overlaps:
    """Make unclassified overlaps of intervals and scores, with the estimates of `estimate_columns`.

    Parameters
    ----------
    score, seeds : ndarray of int32
        Columns of `Overlaps`.
    """
    i = intervals
    matches, columns = estimate_columns(score, i.q_end - i.q_start, i.t_end - i.t_start, params)
    divergence = np.full(len(score), np.nan)
    np.divide(columns - matches, columns, out=divergence, where=columns > 0)
    return Overlaps(
        i.query, i.target, i.reverse, i.q_start, i.q_end, i.t_start, i.t_end,
        matches, columns, score, seeds, divergence, np.full(len(score), UNCLASSIFIED),
    )  # fmt: skip
