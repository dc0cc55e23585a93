"""Colinear chaining of seeds: coordinates without base-level alignment.

``docs/algorithms/chaining.md`` is the definition: the best chain of a candidate, what agreement is asked of
it, and how its ends are carried on to read ends; `overlapper.extend.chain_ends` defines the walks.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable

import numpy as np

from overlapper.errors import ParameterError
from overlapper.extend.chain_ends import Chains, Walker, chain_intervals, walker
from overlapper.kernels.chain import chain as kernel
from overlapper.params.stages import ChainParams, Params
from overlapper.tables import Candidates, Overlaps, Reads, Seeding
from overlapper.tables.overlaps import UNCLASSIFIED
from overlapper.tables.samples import spread
from overlapper.tables.strands import forward_intervals

AGREEMENT_UNKNOWN = 400
MOST_TYPICAL = 450
"""Highest typical agreement, in thousandths. A set of mostly accurate reads has a higher one, which would
drop the overlaps of its other reads."""
FEWEST_CHAINS = 20
_WHOLE_CHAIN = 1_000_000
"""Weight of a chain whose query has no more chains than others have."""
SAMPLE_QUERIES = 64


def extend(
    reads: Reads, candidates: Candidates, params: ChainParams, threads: int
) -> tuple[Overlaps, dict[str, int]]:
    """Chain the seeds of candidates (`overlapper.extend.registry.Extender`); those dropped are chains.

    Raises
    ------
    ParameterError
        When the candidates carry no seeds (``hit_offsets``).
    """
    seeding, (rows, n_few, n_disagree) = _chains(reads, candidates, params)
    of = rows[:, kernel.CANDIDATE]
    chains = Chains(candidates.query[of], candidates.target[of], candidates.reverse[of], rows)
    overlaps, n_unsure, n_unlike = overlaps_of_chains(
        reads, chains, candidates.seed_length, seeding, params, walker(reads)
    )
    return overlaps, {"few seeds": n_few + n_unsure, "disagreement": n_disagree + n_unlike}


def overlaps_of_chains(
    reads: Reads, chains: Chains, k: int, seeding: Seeding, params: ChainParams, walk: Walker
) -> tuple[Overlaps, int, int]:
    """Make overlaps of chains: find their ends, drop those of few seeds or too little agreement.

    Parameters
    ----------
    k : int
        Seed length.

    Returns
    -------
    overlaps : Overlaps
        By chain, not classified.
    n_unsure, n_disagree : int
        Chains dropped for too few seeds, and for too little agreement.
    """
    q_ends, t_ends = chain_intervals(reads, chains, k, params, walk)
    verdicts = kernel.judge_overlaps(*chains, q_ends, t_ends, _seeded(reads, seeding), k, settings(params)[1])
    n_unsure, n_disagree = (int(np.count_nonzero(verdicts == why)) for why in (kernel.FEW, kernel.DISAGREES))
    kept = np.flatnonzero(verdicts == kernel.KEPT)
    query, target, reverse, rows = (column[kept] for column in chains)
    (q_start, q_end), (t_start, t_end) = q_ends[:, kept], t_ends[:, kept]
    span = np.maximum(q_end - q_start, t_end - t_start)
    sketched = span * (seeding.sketched[query] / reads.lengths[query])
    forward_start, forward_end = forward_intervals(t_start, t_end, reverse, reads.lengths[target])
    seeds = rows[:, kernel.SEEDS]
    overlaps = Overlaps(
        query=query,
        target=target,
        reverse=reverse,
        q_start=q_start,
        q_end=q_end,
        t_start=forward_start,
        t_end=forward_end,
        matches=rows[:, kernel.COVERED],
        block_length=span,
        score=rows[:, kernel.SCORE],
        seeds=seeds,
        divergence=_divergence(seeds, sketched, k),
        kind=np.full(len(rows), UNCLASSIFIED),
    )
    return overlaps, n_unsure, n_disagree


def sample_queries(n_reads: int) -> np.ndarray:
    """Return the queries on which the typical agreement is measured, evenly spread over the read set."""
    return spread(n_reads, SAMPLE_QUERIES)


def agreements(reads: Reads, sample: Candidates, params: ChainParams) -> np.ndarray:
    """Return agreement and shares of seeds of the chains of candidates, of any agreement.

    Returns
    -------
    ndarray of int64, shape (chains, 3)
        Agreement in thousandths; share of k-mers that seed, that of the query times that of the target, in
        millionths; the query.
    """
    seeds, score = max(params.min_seeds, params.sure_seeds), max(params.min_score, params.sure_score)
    of_sample = dataclasses.replace(params, min_agreement=0, min_seeds=seeds, min_score=score)
    seeding, (chains, _, _) = _chains(reads, sample, of_sample)
    rows = chains[:, kernel.CANDIDATE]
    shares = kernel.shares(sample.query[rows], sample.target[rows], _seeded(reads, seeding))
    return np.column_stack([chains[:, kernel.AGREEMENT], shares, sample.query[rows]])


def with_typical(params: Params, measured: Iterable[np.ndarray]) -> Params:
    """Set the typical agreement and shares of seeds of a read set, unless the parameters have them.

    They are the agreement of chains, the share of k-mers that seed beyond chance, and the share that seeds by
    chance; with few chains, `AGREEMENT_UNKNOWN` and no shares.

    Parameters
    ----------
    measured : iterable of ndarray, shape (chains, 3)
        Results of `agreements` for a sample of queries; not iterated if it is not needed.
    """
    if params.chain.typical_agreement:
        return params
    return dataclasses.replace(params, chain=_fitted(params.chain, measured))


def _fitted(params: ChainParams, measured: Iterable[np.ndarray]) -> ChainParams:
    chains = np.concatenate([np.empty((0, 3)), *measured])
    if len(chains) < FEWEST_CHAINS:
        return dataclasses.replace(params, typical_agreement=AGREEMENT_UNKNOWN)
    *columns, query = chains.T
    weights = _weights(query)
    agreement, shares = (_weighted_median(column, weights) for column in columns)
    seeding = math.sqrt(shares)
    in_common = seeding * math.sqrt(min(1, agreement / MOST_TYPICAL))
    by_chance = 1000 * (seeding - in_common) / max(1, 1000 - in_common)
    accurate = min(1, MOST_TYPICAL / max(agreement, 1)) ** 8
    return dataclasses.replace(
        params,
        typical_agreement=min(max(1, round(agreement)), MOST_TYPICAL),
        typical_shares=max(1, round(accurate * (seeding - by_chance) ** 2)),
        chance_share=round(by_chance),
    )


def _weights(query: np.ndarray) -> np.ndarray:
    """Return the weight of each chain: those of a query weigh at most four times the median, together.

    A query within a satellite has as many chains as all others together, most of them false.
    """
    _, numbers, counts = np.unique(query, return_inverse=True, return_counts=True)
    most = int(4 * np.median(counts))
    return np.minimum(_WHOLE_CHAIN, _WHOLE_CHAIN * most // counts)[numbers]


def _weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    """Return the weighted median, the mean of two values where it lies between them."""
    order = np.argsort(values, kind="stable")
    up_to = np.cumsum(weights[order])
    low, high = (int(np.searchsorted(2 * up_to, up_to[-1], side)) for side in ("left", "right"))
    return float(values[order[low]] + values[order[high]]) / 2


def _chains(
    reads: Reads, candidates: Candidates, params: ChainParams
) -> tuple[Seeding, tuple[np.ndarray, int, int]]:
    seeding = candidates.seeding
    if candidates.hit_offsets is None or seeding is None:
        raise ParameterError(
            "the chain extender needs candidates that carry their seeds (hit_offsets, seeding)"
        )
    return seeding, kernel.chain_candidates(
        candidates.query, candidates.target, candidates.reverse, candidates.hit_offsets,
        candidates.hit_query_pos, candidates.hit_target_pos, _seeded(reads, seeding), candidates.seed_length,
        *settings(params),
    )  # fmt: skip


def _seeded(reads: Reads, seeding: Seeding) -> kernel.SeededReads:
    """Return what kernels need of the reads."""
    s = seeding
    return kernel.SeededReads(reads.lengths, s.sketched, s.marks, s.word_offsets, s.ranks, s.starts)


def settings(params: ChainParams) -> tuple[kernel.Chaining, kernel.Asked]:
    """Return the parameters as kernels take them."""
    return (
        kernel.Chaining(*(getattr(params, name) for name in kernel.Chaining._fields)),
        kernel.Asked(*(getattr(params, name) for name in kernel.Asked._fields)),
    )


def _divergence(seeds: np.ndarray, sketched: np.ndarray, k: int) -> np.ndarray:
    """Estimate differences a base from the share of sketched k-mers that match (Li 2018, section 2.1)."""
    return 1 - np.minimum(1, seeds / np.maximum(sketched, 1)) ** (1 / k)
