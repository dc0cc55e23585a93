"""Colinear chaining of seeds: coordinates without base-level alignment.

Definition
----------
The seeds of a candidate are anchors ``(x, y)``: first base on the query and on the target, the target on the
query's strand, ascending by x, then y. The score of the best chain that ends at anchor i is, in 256ths of a base::

    f(i) = max(256 k, max over j of f(j) + 256 min(k, dx, dy) - gap_cost |dx - dy| - distance_cost min(dx, dy))

over the ``look_back`` anchors j before i with ``0 < dx, dy <= max_gap``; of equal predecessors the nearest wins,
of equal ends the first (after Li 2018, section 2.1, with integer costs).

The best chain is kept when it has ``min_seeds`` seeds, scores ``min_score`` bases, and has at least
``min_agreement`` percent of the seeds that the accuracy of the two reads lets expect: the longer interval times
the share of the query's bases that start a seeding k-mer times the share of the target's sketched k-mers that
seed. Two copies of a repeat that differ more than the reads do fall below.

An end that stops short of the nearer read end by at most ``max_reach`` bases is carried on to it along the
diagonal, unless seeds are missing there. Missing are the seeding k-mers of the query in that stretch, times the
share of those within the chain that the chain has, seeds that overlap each other counted once; or the same for
the target, whichever is less. More than ``reach`` of them say that the overlap ends; fewer, that the chain could
not get there: minimizers are as rare near the end of a read as anywhere, and bad stretches and masked repeats
have none.
"""

from __future__ import annotations

import numpy as np

from overlapper.errors import ParameterError
from overlapper.params import ChainParams
from overlapper.tables import Candidates, OverlapClass, Overlaps, Reads, Seeding


def extend(reads: Reads, candidates: Candidates, params: ChainParams) -> tuple[Overlaps, dict[str, int]]:
    """Chain the seeds of candidates.

    Parameters
    ----------
    reads : Reads
    candidates : Candidates
        With seeds (``hit_offsets``).
    params : ChainParams

    Returns
    -------
    overlaps : Overlaps
        By candidate, not classified.
    dropped : dict of str to int
        Chains dropped, by reason.

    Raises
    ------
    ParameterError
        When the candidates carry no seeds.
    """
    from overlapper.kernels.cpu.chain import chain_candidates

    seeding = candidates.seeding
    if candidates.hit_offsets is None or seeding is None:
        raise ParameterError("the chain extender needs candidates that carry their seeds (hit_offsets, seeding)")
    p = params
    rows, n_few, n_disagree = chain_candidates(
        candidates.query, candidates.target, candidates.reverse,
        candidates.hit_offsets, candidates.hit_query_pos, candidates.hit_target_pos,
        reads.lengths, candidates.seed_length, seeding.sketched, seeding.positions, seeding.starts,
        p.look_back, p.max_gap, p.gap_cost, p.distance_cost,
        p.min_seeds, p.min_score, p.min_agreement, p.reach, p.max_reach,
    )  # fmt: skip
    q_start, q_end, t_start, t_end, covered, score, seeds, source = rows.T
    overlaps = Overlaps(
        query=candidates.query[source],
        target=candidates.target[source],
        reverse=candidates.reverse[source],
        q_start=q_start,
        q_end=q_end,
        t_start=t_start,
        t_end=t_end,
        matches=covered,
        block_length=np.maximum(q_end - q_start, t_end - t_start),
        score=score,
        seeds=seeds,
        divergence=_divergence(
            reads,
            seeding,
            candidates.query[source],
            np.maximum(q_end - q_start, t_end - t_start),
            seeds,
            candidates.seed_length,
        ),
        kind=np.full(len(rows), OverlapClass.INTERNAL, np.uint8),
    )
    return overlaps, {"few seeds": n_few, "disagreement": n_disagree}


def _divergence(
    reads: Reads, seeding: Seeding, query: np.ndarray, span: np.ndarray, seeds: np.ndarray, k: int
) -> np.ndarray:
    """Estimate differences a base from the share of the query's sketched k-mers that match (Li 2018, section 2.1)."""
    sketched = span * (seeding.sketched[query] / reads.lengths[query])
    return (1 - np.minimum(1, seeds / np.maximum(sketched, 1)) ** (1 / k)).astype(np.float32)
