"""GACT: base-level alignments of candidates, with CIGAR, in memory that does not grow with the reads.

A seed is extended to either side through tiles of T x T bases, each of which starts where the path through
the last one was left (Turakhia 2018, section 5). docs/algorithms/gact.md holds the exact definition; in
short:

- The alignment passes through the corner before the first base of the seed. Both sides are extended from
  there.
- In a tile the best path from its anchor to its far edges is found; its first T - O bases count.
- An extension ends with a read, or when `GactParams.give_up` columns brought no better end. It is then
  trimmed to the end with the highest gain, where an equal pair gains ``100 - min_identity`` and any other
  column loses ``min_identity``. This is what ends an extension in unrelated sequence, whatever the scores.
- An alignment starts and ends with an equal pair; where not one column is worth keeping, interval and CIGAR
  are empty.
- Unknown bases equal nothing, not even each other.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from overlapper.errors import ParameterError
from overlapper.params.stages import GactParams
from overlapper.runtime.threads import even_ranges, map_in_order
from overlapper.tables.candidates import Candidates
from overlapper.tables.overlaps import UNCLASSIFIED, Overlaps
from overlapper.tables.reads import Reads
from overlapper.tables.strands import forward_intervals

if TYPE_CHECKING:
    from overlapper.gpu.gpus import Gpus

BLOCK_BASES = 1 << 22
"""Bases of the reads of the candidates that one thread works on at a time."""


def extend(
    reads: Reads, candidates: Candidates, params: GactParams, threads: int, gpus: Gpus | None = None
) -> tuple[Overlaps, dict[str, int]]:
    """Align every candidate (`overlapper.extend.registry.Extender`); none is dropped.

    Overlaps have ``edits`` and ``cigar``; the CIGAR runs along the forward strand of the query. ``score`` is
    the score of the CIGAR, ``matches`` its equal pairs, ``block_length`` its columns, ``divergence`` the
    share of columns that are not equal pairs (NaN without columns), ``seeds`` that of the candidate.

    Raises
    ------
    ParameterError
        When a seed lies outside its read, or scores of such reads may not fit 32 bits.
    DeviceError
        When the GPUs have too little memory.
    """
    q_lengths, t_lengths = reads.lengths[candidates.query], reads.lengths[candidates.target]
    check_seeds(reads, candidates)
    _check_range(int((q_lengths + t_lengths).max(initial=0)), params)
    if gpus and len(candidates):
        return _extend_on(gpus, reads, candidates, params), {}
    seed_end = candidates.target_pos.astype(np.int64) + candidates.seed_length
    t_anchors = np.where(candidates.reverse, t_lengths - seed_end, candidates.target_pos)

    def work(block: tuple[int, int]) -> Overlaps:
        return _extend_rows(reads, candidates, t_anchors, slice(*block), params)

    blocks = list(map_in_order(work, even_ranges(q_lengths + t_lengths, BLOCK_BASES), threads))
    return Overlaps.concat(blocks or [_extend_rows(reads, candidates, t_anchors, slice(0, 0), params)]), {}


def _extend_rows(
    reads: Reads, candidates: Candidates, t_anchors: np.ndarray, rows: slice, params: GactParams
) -> Overlaps:
    # Imported here, as numba takes long to load.
    from overlapper.kernels.common.walks import PackedReads
    from overlapper.kernels.gact.gact import extend_candidates

    found, cigar, cigar_offsets = extend_candidates(
        PackedReads.of(reads),
        candidates.query[rows], candidates.target[rows], candidates.reverse[rows],
        candidates.query_pos[rows].astype(np.int64), t_anchors[rows],
        params.match, params.mismatch, params.gap_open, params.gap_extend,
        params.tile, params.overlap, params.min_identity, params.give_up,
    )  # fmt: skip
    return _overlaps(reads, candidates, rows, found, cigar, cigar_offsets)


def _extend_on(gpus: Gpus, reads: Reads, candidates: Candidates, params: GactParams) -> Overlaps:
    from overlapper.kernels.common.walks import Seeds
    from overlapper.kernels.gact.cuda import gact

    seeds = Seeds(
        candidates.query, candidates.target, candidates.reverse,
        candidates.query_pos, candidates.target_pos, candidates.seed_length,
    )  # fmt: skip
    found = gpus.run(partial(gact.extend_seeds, scheme=gact.Scheme(**vars(params))), seeds)
    return _overlaps(reads, candidates, slice(None), found.rows, found.cigar, found.cigar_offsets)


def _overlaps(
    reads: Reads, candidates: Candidates, rows: slice,
    found: np.ndarray, cigar: np.ndarray, cigar_offsets: np.ndarray,
) -> Overlaps:  # fmt: skip
    """Return the overlaps of some candidates; target intervals are found on the query's strand."""
    query, target, reverse = candidates.query[rows], candidates.target[rows], candidates.reverse[rows]
    q_start, q_end, t_start, t_end, score, matches, columns = found.T
    t_start, t_end = forward_intervals(t_start, t_end, reverse, reads.lengths[target])
    edits, kind = columns - matches, np.full(len(query), UNCLASSIFIED, np.uint8)
    divergence = np.full(len(query), np.nan, np.float32)
    np.divide(edits, columns, out=divergence, where=columns > 0, casting="unsafe")
    return Overlaps(
        query, target, reverse, q_start, q_end, t_start, t_end, matches, columns, score,
        candidates.seeds[rows], divergence, kind, edits, cigar=cigar, cigar_offsets=cigar_offsets,
    )  # fmt: skip


def check_seeds(reads: Reads, candidates: Candidates) -> None:
    """Raise a `ParameterError` if the seed of a candidate does not lie within its reads."""
    for side, read, first in (
        ("query", candidates.query, candidates.query_pos),
        ("target", candidates.target, candidates.target_pos),
    ):
        outside = (first < 0) | (first.astype(np.int64) + candidates.seed_length > reads.lengths[read])
        if outside.any():
            row = int(np.argmax(outside))
            raise ParameterError(
                f"candidate {row}: its seed of {candidates.seed_length} bases at {side} position "
                f"{first[row]} lies outside read {reads.name(read[row])} of {reads.lengths[read[row]]} bases"
            )


def _check_range(longest_pair: int, params: GactParams) -> None:
    column = max(params.match, -params.mismatch, -params.gap_open - params.gap_extend)
    if column * longest_pair >= 2**31:
        raise ParameterError(
            f"scores of up to {column} a column may pass 2^31 on two reads of {longest_pair} bases together, "
            f"expected less than {2**31 // longest_pair}; use smaller scores"
        )
